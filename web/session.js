/* Who is buying. The shop hands its signed token over in the address (#token=…); it is taken out
 * of the address at once and exchanged one time. Without a token the server decides: a guest in
 * demo mode, session-required otherwise. A guest's session is opened by the first click, not by
 * looking. */

import { sessionPost } from './api.js';
import { lasting } from './store.js';

const EXPIRY_MARGIN_MS = 10_000;

export function createSession(clock) {
    let token = null;
    let opening = null;

    function current() {
        const kept = lasting.read('session');
        if (kept === null)
            return null;
        if (clock.known() && clock.now() > kept.expires_ms - EXPIRY_MARGIN_MS) {
            lasting.remove('session');
            return null;
        }
        return kept;
    }

    async function open() {
        try {
            const opened = await sessionPost(token);
            lasting.write('session', opened);
            token = null;
            return opened;
        } catch (refusal) {
            /* A refused token is of no more use; a token that met no answer is tried again. */
            if (refusal.status >= 400 && refusal.status < 500 && refusal.status !== 429)
                token = null;
            throw refusal;
        }
    }

    function ensure() {
        const kept = token === null ? current() : null;
        if (kept !== null)
            return Promise.resolve(kept);
        opening ??= open().finally(() => {
            opening = null;
        });
        return opening;
    }

    /* True when the address carried a token, which ensure() will then exchange. */
    function tokenTake() {
        const match = /[#&]token=([^&]+)/.exec(location.hash);
        if (match === null)
            return false;
        token = decodeURIComponent(match[1]);
        history.replaceState(history.state, '', location.pathname + location.search);
        return true;
    }

    return { current, ensure, tokenTake, forget: () => lasting.remove('session') };
}
