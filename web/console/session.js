// SPDX-License-Identifier: Apache-2.0
/* Keeps the name and role of the operator who is signed in. Screens hide what the role may not do; the server refuses it anyway. */

const RANKS = ['viewer', 'operator', 'admin'];
let session = { name: '', role: 'viewer' };

export function sessionSet(fresh) {
    session = fresh;
}

/* Whether the operator signed in by this name. */
export const isMine = (key) => key.name === session.name && key.role === session.role;
export const may = (role) => RANKS.indexOf(session.role) >= RANKS.indexOf(role);
