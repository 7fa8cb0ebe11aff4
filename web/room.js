// SPDX-License-Identifier: Apache-2.0
/* A place in the waiting room of a sale: entered by a click, its position by polling and push, its end by
 * a turn. Nothing is asked for before the first click, unless this browser remembers that somebody
 * waits: so a reload goes on where it was. `changed` is called whenever `state` has. */

import { arrivalsGet, drawGet, roomGet, roomPost } from './api.js';
import { createPoll } from './poll.js';
import { lasting, perTab } from './store.js';

const FAR_OFF_MS = 30_000; /* a look now and then, while push tells */

export function createRoom(session, changed) {
    /* standing: as the server shows it, at the page's time toldAt; null: none, or not known. from: the most
     * people ahead so far. turnEnds: time of this device until which the room waits for its visitor; null: not
     * known, since this page did not see the turn come. */
    const state = { standing: null, from: 0, busy: false, refusal: null, toldAt: 0, turnEnds: null };
    let sale = null;
    let pushIsLive = () => false;
    const poll = createPoll(ask, () => {
        if (state.standing === null || state.standing.state === 'admitted')
            return Infinity;
        return pushIsLive() && state.standing.drawn ? FAR_OFF_MS : state.standing.poll_after_ms;
    });

    const name = () => `room.${sale}`;

    function stateSet(values) {
        Object.assign(state, values);
        changed();
    }

    function standingSet(standing) {
        lasting.write(name(), session.current()?.user);
        const from = Math.max(state.from, standing.ahead ?? 0);
        if (state.standing?.state === 'waiting' && standing.state === 'admitted')
            perTab.write(`turn.${sale}`, Date.now() + standing.turn_ms);
        stateSet({ standing, from, refusal: null, toldAt: performance.now(), turnEnds: perTab.read(`turn.${sale}`) });
    }

    async function ask() {
        const opened = session.current();
        if (opened === null || sale === null)
            return;
        try {
            standingSet(await roomGet(opened.session, sale));
        } catch (refusal) {
            if (refusal.status !== 404)
                throw refusal;
            lasting.remove(name());
            stateSet({ standing: null });
        }
    }

    /* What the server has committed itself to before the draw: noted here, so that it can't be another later. */
    async function commitmentNote() {
        if (state.standing.drawn || lasting.read(`commitment.${sale}`) !== null)
            return;
        try {
            lasting.write(`commitment.${sale}`, (await drawGet(sale)).commitment);
        } catch {
            /* Then the check goes without. */
        }
    }

    return {
        state,
        /* Checks the draw from what is published: { wrong, place, count } (draw_check.js). */
        async check() {
            const [{ drawCheck }, draw, marks] =
                await Promise.all([import('./draw_check.js'), drawGet(sale), arrivalsGet(sale)]);
            const { user } = session.current();
            const noted = lasting.read(`commitment.${sale}`);
            return drawCheck({ draw, marks, user, number: state.standing.number, noted });
        },
        /* The sale is known once the item is. */
        follow(next, live) {
            pushIsLive = live;
            if (sale !== null || next === undefined)
                return;
            sale = next;
            const opened = session.current();
            if (opened !== null && lasting.read(name()) === opened.user)
                poll.start();
        },
        async enter() {
            if (state.busy)
                return;
            stateSet({ busy: true, refusal: null });
            try {
                const opened = await session.ensure();
                standingSet(await roomPost(opened.session, sale));
                commitmentNote();
            } catch (refusal) {
                stateSet({ refusal });
            }
            stateSet({ busy: false });
            poll.soon(state.standing?.poll_after_ms ?? FAR_OFF_MS);
        },
        /* From push: as new as polling. */
        told(standing) {
            if (standing.sale === sale)
                standingSet(standing);
        },
        look: () => poll.start(),
        stop: poll.stop,
    };
}

const SOON_MS = 20_000;

function etaOf({ eta_ms }, agoMs) {
    if (eta_ms === null)
        return { eta: 'room.eta.unknown' };
    const left = eta_ms - agoMs;
    if (left < SOON_MS)
        return { eta: 'room.eta.soon' };
    return { eta: 'room.eta.minutes', minutes: Math.max(1, Math.round(left / 60_000)), inMs: left };
}

/* The server's odds are some seconds old; what the page shows beside them must not contradict them. */
function oddsOf({ odds, ahead }, item) {
    return odds === 'poor' && ahead < (item.counts?.free ?? 0) ? 'fair' : odds;
}

/* What the box says: a pure function of what is known. null: there is no box. */
export function roomModel({ item, phase, owned, standing, from, agoMs = 0, turnLeftMs = 0 }) {
    if (!item?.waiting_room || owned || phase === 'ended' || phase === 'unknown')
        return null;
    if (standing === null)
        return phase === 'soldOut' ? null : { kind: 'out', words: phase === 'before' ? 'room.offer' : 'room.offerLate' };
    const message = standing.message ? { message: standing.message } : {}; /* the operator's */
    if (standing.state === 'admitted')
        return phase === 'soldOut' ? null : { kind: 'in', words: 'room.admitted', ...message, ...(turnLeftMs > 0 ? { turnLeftMs } : {}) };
    /* Nothing moves in the line while there is nothing to sell: no time, no odds. */
    if (standing.state === 'sold-out' || phase === 'soldOut')
        return { kind: 'over', words: 'room.soldOut' };
    if (!standing.drawn)
        return {
            kind: 'early',
            words: standing.waits_for_beacon ? 'room.beacon' : 'room.early',
            number: ['room.arrived', standing.arrived],
            ...message,
        };
    return {
        kind: 'line',
        words: 'room.line',
        number: standing.ahead === 0 ? ['room.next', 0] : ['room.ahead', standing.ahead],
        ...etaOf(standing, agoMs),
        agoS: Math.floor(agoMs / 1000),
        odds: `room.odds.${oddsOf(standing, item)}`,
        done: from - standing.ahead,
        of: Math.max(1, from),
        ...message,
    };
}

/* Waiting is a screen of its own. */
export const roomIsScreen = (model) => model !== null && (model.kind === 'early' || model.kind === 'line');

/* What stands before the page's title, for who looks elsewhere: a key of words.js and its number. */
export function roomTitle(model) {
    if (model?.kind === 'in')
        return { words: 'room.titleTurn', count: 0 };
    return model?.kind === 'line' ? { words: 'room.titleLine', count: model.number[1] } : null;
}

/* What the room means for the button: none (no room, or one's turn), enter, wait. */
export function roomGate(model) {
    if (model === null || model.kind === 'in')
        return 'none';
    return model.kind === 'out' ? 'enter' : 'wait';
}
