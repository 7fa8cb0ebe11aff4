// SPDX-License-Identifier: Apache-2.0
/* What a refusal means for the purchase, and how it is said. The table is the specification. */

import { hasWords, say } from './i18n.js';
import { moment } from './format.js';

/* settle  the outcome is certain: say it, forget the key
 * wait    nothing is decided: ask again with the same key, after Retry-After and a random while
 * pass    the pass is of no use: fetch a new one, then ask again with the same key
 * session the session is of no use: open a new one, then ask again with the same key */
const REACTIONS = {
    'sold-out': 'settle',
    'already-bought': 'settle',
    'limit-reached': 'settle',
    'open-order': 'settle',
    'cooling-down': 'settle',
    'not-your-moment': 'wait',
    'not-sold-out': 'settle',
    'waitlist-full': 'settle',
    'not-your-turn': 'settle',
    'not-in-room': 'settle',
    'room-not-open': 'settle',
    'no-room': 'settle',
    'not-started': 'settle',
    'ended': 'settle',
    'paused': 'settle',
    'not-eligible': 'settle',
    'banned': 'settle',
    'human-check-required': 'settle',
    'human-check-failed': 'settle',
    'human-check-spent': 'settle',
    'human-check-refused': 'settle',
    'session-required': 'settle',
    'key-reused': 'settle',
    'key-required': 'settle',
    'bad-key': 'settle',
    'bad-body': 'settle',
    'bad-channel': 'settle',
    'token-invalid': 'settle',
    'bad-quantity': 'settle',
    'unknown-item': 'settle',
    'pay-first': 'settle',
    'intent-invalid': 'settle',
    'no-provider': 'settle',
    'details-required': 'settle',
    'too-many-payments': 'settle',
    'payment-refused': 'settle',
    'order-closed': 'settle',
    'already-paid': 'settle',
    'already-shipped': 'settle',
    'bad-value': 'settle',
    'in-progress': 'wait',
    'too-popular': 'wait',
    'too-fast': 'wait',
    'unavailable': 'wait',
    'network': 'wait',
    'pass-required': 'pass',
    'pass-invalid': 'pass',
    'pass-expired': 'pass',
    'pass-foreign': 'pass',
    'pass-spent': 'pass',
    'session-invalid': 'session',
};

export function reactionTo(refusal) {
    return REACTIONS[refusal.type] ?? (refusal.status >= 500 ? 'wait' : 'settle');
}

export function sentenceFor(refusal) {
    if (refusal.type === 'not-started' && refusal.body.start_ms > 0)
        return say('problem.not-started.at', { time: moment(refusal.body.start_ms) });
    if (refusal.type === 'sold-out' && refusal.body.free > 0)
        return say('problem.sold-out.some', { free: refusal.body.free });
    if (refusal.type === 'room-not-open' && refusal.body.opens_ms > 0)
        return say('room.opens', { time: moment(refusal.body.opens_ms) });
    if (refusal.type === 'cooling-down' && refusal.body.again_ms > 0)
        return say('problem.cooling-down.at', { time: moment(refusal.body.again_ms) });
    if (refusal.type === 'limit-reached' && refusal.body.limit === 'period')
        return say('problem.limit-reached.period');
    const key = `problem.${refusal.type}`;
    return say(hasWords(key) ? key : 'problem.refused');
}
