// SPDX-License-Identifier: Apache-2.0
/* Keeps the name and role of the operator who is signed in. Screens hide what the role may not do; the server refuses it anyway. */

const RANKS = ['viewer', 'operator', 'admin'];
let session = { name: '', role: 'viewer' };

export function sessionSet(fresh) {
    session = fresh;
}

export const may = (role) => RANKS.indexOf(session.role) >= RANKS.indexOf(role);
