// SPDX-License-Identifier: Apache-2.0
/* Who is buying. The shop hands its signed token over in the address (#token=…); it is taken out
 * of the address at once and exchanged one time. Without a token the server decides: a guest in
 * demo mode, session-required otherwise. A guest's session is opened by the first click, not by
 * looking.
 *
 * Anybody can send a link with a token of their own. So a token never replaces the session of
 * another user by itself: `ask` decides, and "no" keeps the old session. */

import { readAs, sessionPost } from './api.js';
import { lasting } from './store.js';

const EXPIRY_MARGIN_MS = 10_000;
const NAME_CHARS = 32;

/* Across the tabs of this browser; where it can't (plain HTTP), across this page. */
function oneAtATime(work) {
    const locks = globalThis.navigator?.locks;
    return locks === undefined ? work() : locks.request('stampede.session', work);
}

/* What the address carries behind #token=, or null; a fragment that can't be decoded is none. */
export function tokenOf(hash) {
    const match = /[#&]token=([^&]*)/.exec(hash);
    if (match === null)
        return null;
    try {
        return decodeURIComponent(match[1]);
    } catch {
        return '';
    }
}

/* Whom the token is about: its subject, short enough to be shown; null: it does not say so. */
export function subjectOf(token) {
    try {
        const part = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
        const bytes = Uint8Array.from(atob(part), (char) => char.charCodeAt(0));
        const { sub } = JSON.parse(new TextDecoder().decode(bytes));
        if (typeof sub !== 'string' || sub === '')
            return null;
        return sub.length > NAME_CHARS ? `${sub.slice(0, NAME_CHARS - 1)}…` : sub;
    } catch {
        return null; /* not ours to judge: the server looks at the whole token */
    }
}

/* `ask(from, to)`: whether the session `to` may replace the session `from` of another user. */
export function createSession(clock, ask) {
    let token = null;
    let opening = null;
    readAs(lasting.read('session'));

    function current() {
        const kept = lasting.read('session');
        if (kept === null)
            return null;
        if (clock.known() && clock.now() > kept.expires_ms - EXPIRY_MARGIN_MS) {
            forget();
            return null;
        }
        return kept;
    }

    function forget() {
        lasting.remove('session');
        lasting.write('session.ended', true);
    }

    /* The session that counts from now on: the opened one, unless the user of another one that is
     * still good says no. */
    async function chosen(opened) {
        if (current() === null)
            return opened;
        await clock.sync(); /* whether the old one is still good, only the server's clock tells */
        const kept = current();
        if (kept === null || kept.user === opened.user || (await ask(kept, opened)))
            return opened;
        return kept;
    }

    async function open() {
        const shown = token;
        try {
            const opened = await sessionPost(shown);
            token = null;
            if (shown !== null)
                opened.name = subjectOf(shown);
            const counting = shown === null ? opened : await chosen(opened);
            lasting.write('session', counting);
            lasting.remove('session.ended');
            readAs(counting);
            return counting;
        } catch (refusal) {
            /* A refused token is of no more use; a token that met no answer is tried again. */
            if (refusal.status >= 400 && refusal.status < 500 && refusal.status !== 429)
                token = null;
            throw refusal;
        }
    }

    function ensure() {
        if (opening !== null)
            return opening;
        const kept = known();
        if (kept !== null)
            return Promise.resolve(kept);
        /* What another tab has opened meanwhile is this one's, too: one guest, one session. */
        opening = oneAtATime(async () => known() ?? open()).finally(() => {
            opening = null;
        });
        return opening;
    }

    const known = () => (token === null ? current() : null);

    /* True when the address carried a token, which ensure() will then exchange. */
    function tokenTake() {
        const found = tokenOf(location.hash);
        if (found === null)
            return false;
        history.replaceState(history.state, '', location.pathname + location.search);
        token = found === '' ? null : found;
        return token !== null;
    }

    return {
        current,
        ensure,
        tokenTake,
        /* The shop's page has it; ensure() exchanges it. */
        tokenGive(given) {
            token = given;
        },
        forget,
        /* There was a session, and it is over. */
        ended: () => lasting.read('session.ended') === true,
    };
}
