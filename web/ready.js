// SPDX-License-Identifier: Apache-2.0
/* The checklist before the start: what is done, what is to do. A pure function of what is known. */

/* who: { opened, shop } (opened: the session or null). details: null when none are wanted, else what was
 * typed or 'missing'. check: as preparation.js says it. null: there is nothing to get ready for. */
export function readyModel({ phase, opened, shop, login, details, quantity, choices, check, checkFrom, pass, room }) {
    if (phase !== 'before' || shop === null)
        return null;
    const rows = [signInRow(opened, shop, login)];
    if (details !== null)
        rows.push(details === 'missing'
            ? { id: 'address', done: false, words: 'ready.address', act: 'ready.fill' }
            : { id: 'address', done: true, words: 'ready.addressGiven', values: details, act: 'details.change' });
    if (choices > 1)
        rows.push({ id: 'quantity', done: true, words: 'ready.quantity', values: { quantity } });
    if (check !== 'none')
        rows.push(checkRow(check, checkFrom));
    const todo = rows.filter((row) => !row.done).length;
    return { rows, todo, ready: todo === 0, oneTap: todo === 0 && pass && !room };
}

function signInRow(opened, shop, login) {
    if (opened !== null && !opened.guest)
        return { id: 'signIn', done: true, words: opened.name ? 'ready.signedInAs' : 'ready.signedIn', values: { name: opened.name } };
    if (opened !== null || shop.guests)
        return { id: 'signIn', done: true, words: 'ready.guest' };
    return { id: 'signIn', done: false, words: 'ready.signIn', link: login, act: 'ready.signInNow' };
}

function checkRow(check, checkFrom) {
    switch (check) {
    case 'done':
        return { id: 'check', done: true, words: 'ready.checkDone' };
    case 'doing':
        return { id: 'check', done: false, words: 'ready.checkDoing' };
    case 'later':
        return { id: 'check', done: false, words: 'ready.checkLater', fromMs: checkFrom };
    default:
        return { id: 'check', done: false, words: 'ready.check', act: 'ready.checkNow' };
    }
}
