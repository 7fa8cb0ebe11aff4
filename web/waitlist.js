// SPDX-License-Identifier: Apache-2.0
/* A place in the line of one item: joined and left by a click, its position by polling, its end by an
 * offer, which is an order like any other. Nothing is asked for before the first click, unless this
 * browser remembers that somebody waits. `changed` is called whenever `state` has. */

import { waitlistDelete, waitlistGet, waitlistPost } from './api.js';
import { createPoll } from './poll.js';
import { lasting } from './store.js';

const INTERVAL_MS = 8_000;

/* `passGet`: a pass for the item, with whatever the sale asks for before it gives one. */
export function createWaitlist(itemId, session, passGet, changed) {
    /* place: as the server shows it; null: none, or not known. */
    const state = { place: null, busy: false, refusal: null };
    const poll = createPoll(ask, () => (state.place?.state === 'waiting' ? INTERVAL_MS : Infinity));
    const name = `waits.${itemId}`;

    function stateSet(values) {
        Object.assign(state, values);
        changed();
    }

    function placeSet(place) {
        if (place?.state === 'waiting')
            lasting.write(name, session.current()?.user);
        else
            lasting.remove(name);
        stateSet({ place, refusal: null });
    }

    async function ask() {
        const opened = session.current();
        if (opened === null)
            return;
        try {
            placeSet(await waitlistGet(opened.session, itemId));
        } catch (refusal) {
            if (refusal.status !== 404)
                throw refusal;
            placeSet(null);
        }
    }

    async function act(request) {
        if (state.busy)
            return;
        stateSet({ busy: true, refusal: null });
        try {
            const opened = await session.ensure();
            placeSet(await request(opened.session));
        } catch (refusal) {
            stateSet({ refusal });
        }
        stateSet({ busy: false });
        poll.soon(INTERVAL_MS);
    }

    return {
        state,
        join: (quantity) =>
            act(async (token) => waitlistPost(token, (await passGet(token)).pass, itemId, quantity)),
        leave: () => act((token) => waitlistDelete(token, itemId)),
        start() {
            const opened = session.current();
            if (opened !== null && lasting.read(name) === opened.user)
                poll.start();
        },
        stop: poll.stop,
    };
}

/* What the box and the button say: a pure function of what is known. null: there is no box. */
export function waitlistModel({ phase, owned, ordered, place, busy, refusal }) {
    const waiting = place?.state === 'waiting';
    if (!waiting && (phase !== 'soldOut' || owned || ordered))
        return null;
    return {
        words: waiting ? 'waitlist.position' : place?.state === 'expired' ? 'waitlist.expired' : 'waitlist.offer',
        position: place?.position ?? 0,
        button: waiting ? 'waitlist.leave' : 'waitlist.join',
        waiting,
        busy,
        refusal,
    };
}
