// SPDX-License-Identifier: Apache-2.0
/* Who is signed in, for what the screens offer. The server decides by itself what a role may do. */

const RANKS = ['viewer', 'operator', 'admin'];
let session = { name: '', role: 'viewer' };

export function sessionSet(fresh) {
    session = fresh;
}

export const may = (role) => RANKS.indexOf(session.role) >= RANKS.indexOf(role);
