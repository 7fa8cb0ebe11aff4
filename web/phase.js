// SPDX-License-Identifier: Apache-2.0
/* Where an item stands at a moment of server time. The start and the end come from the clock, so
 * the button turns live on time even though the last status is some seconds old. */

/* One of unknown, before, open, full, soldOut, paused, ended. */
export function phaseOf(item, now) {
    if (item === null || Number.isNaN(now))
        return 'unknown';
    if (item.state === 'ended' || now >= item.end_ms)
        return 'ended';
    if (!item.started && now < item.start_ms)
        return 'before';
    if (item.state === 'paused')
        return 'paused';
    if (item.sold_out)
        return 'soldOut';
    /* `accepting` says nothing when the status was taken before the start. */
    return item.started && !item.accepting ? 'full' : 'open';
}

/* A refusal is newer than the last status: what the item looks like in its light. */
export function itemAfterRefusal(item, { type, body }) {
    switch (type) {
    case 'sold-out':
        return body.free > 0
            ? item
            : { ...item, sold_out: true, counts: { ...item.counts, free: 0 } };
    case 'not-started':
        return { ...item, started: false, start_ms: body.start_ms ?? item.start_ms };
    case 'pay-first':
        return { ...item, deduct: 'payment' };
    case 'paused':
    case 'ended':
        return { ...item, state: type };
    default:
        return item;
    }
}

/* One's own units are gone from the stock at once, and not with the next status. */
export function itemAfterWin(item, quantity) {
    const free = Math.max(0, item.counts.free - quantity);
    return { ...item, counts: { ...item.counts, free } };
}

/* What push says of an item is newer than the last status, too. */
export function itemAfterPush(item, { state, free }) {
    if (item === null)
        return item;
    const counts = { ...item.counts, free: free ?? item.counts.free };
    switch (state) {
    case 'sold-out':
        return { ...item, state: 'open', sold_out: true, counts };
    case 'available':
        return { ...item, state: 'open', started: true, sold_out: false, accepting: true, counts };
    case 'paused':
    case 'ended':
        return { ...item, state };
    default:
        return item;
    }
}

/* The phases in which a refusal's sentence is still true; the others are true until the next
 * click. */
const TRUE_IN = { 'not-started': 'before', 'paused': 'paused', 'ended': 'ended' };

export function refusalIsPast({ type, body }, phase) {
    const trueIn = type === 'sold-out' && !(body.free > 0) ? 'soldOut' : TRUE_IN[type];
    return trueIn !== undefined && trueIn !== phase;
}

const NEAR_START_MS = 60_000;

/* How often the status of something in this phase is worth asking for. */
export function statusIntervalMs(phase, item, now) {
    switch (phase) {
    case 'before':
        return item.start_ms - now > NEAR_START_MS ? 40_000 : 15_000;
    case 'open':
    case 'full':
        return 4_000;
    case 'soldOut':
        return 12_000;
    case 'ended':
        return Infinity;
    default:
        return 8_000;
    }
}

/* Milliseconds until the shown countdown has to change, or until the phase does. `tickMs` of the
 * remaining time: when the countdown changes, once a second unless it says otherwise. */
export function nextTickMs(item, now, tickMs = (remaining) => Math.max(1, remaining % 1000 || 1000)) {
    if (item === null || Number.isNaN(now))
        return 250;
    const target = now < item.start_ms ? item.start_ms : item.end_ms;
    const remaining = target - now;
    return remaining <= 0 ? 1000 : tickMs(remaining);
}
