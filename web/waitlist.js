// SPDX-License-Identifier: Apache-2.0
/* A place in the line of one item: joined and left by a click, its position by polling, its end by an
 * offer, which is an order like any other. Nothing is asked for before the first click, unless this
 * browser remembers that somebody waits. `changed` is called whenever `state` has. */

import { waitlistDelete, waitlistGet, waitlistPost } from './api.js';
import { createPoll } from './poll.js';
import { lasting } from './store.js';

const INTERVAL_MS = 8_000;

/* A booking is a place in line, too: booked is waiting, and a deposit is an order to pay. */
const placeOf = (told) => told.state === 'booked' ? { ...told, state: 'waiting' }
    : told.state === 'deposit-due' ? { ...told, state: 'offered', ...told.deposit, due: true } : told;
/* It changes without a click: also when the deposit is paid. */
const goesOn = (place) => place?.state === 'waiting' || place?.due;

/* `passGet`: a pass for the item, with whatever the sale asks for before it gives one. `line`: tells waitlist or presale. */
export function createWaitlist(itemId, session, passGet, changed, line) {
    /* place: as the server shows it; null: none, or not known. */
    const state = { place: null, busy: false, refusal: null };
    const poll = createPoll(ask, () => (goesOn(state.place) ? INTERVAL_MS : Infinity));
    const name = `waits.${itemId}`;

    function stateSet(values) {
        Object.assign(state, values);
        changed();
    }

    function placeSet(told) {
        const place = told && placeOf(told);
        if (goesOn(place))
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
            placeSet(await waitlistGet(opened.session, itemId, line()));
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
            act(async (token) => waitlistPost(token, (await passGet(token)).pass, itemId, quantity, line())),
        leave: () => act((token) => waitlistDelete(token, itemId, line())),
        start() {
            const opened = session.current();
            if (opened !== null && lasting.read(name) === opened.user)
                poll.start();
        },
        stop: poll.stop,
    };
}

/* What the box and the button say: a pure function of what is known. null: there is no box. */
/* `terms`: what becomes of the deposit (never, unpaid, given-up); undefined: there is none. */
export function waitlistModel({ phase, owned, ordered, place, busy, refusal, line = 'waitlist', terms }) {
    const waiting = place?.state === 'waiting';
    if (!waiting && (phase !== 'soldOut' || owned || ordered))
        return null;
    const offer = line === 'presale' && terms ? `presale.deposit.${terms}` : `${line}.offer`;
    return {
        words: waiting && line === 'waitlist' ? 'waitlist.position' : place?.state === 'expired' && line === 'waitlist' ? 'waitlist.expired' : offer,
        position: place?.position ?? 0,
        button: `${line}.${waiting ? 'leave' : 'join'}`,
        line,
        waiting,
        busy,
        refusal,
    };
}
