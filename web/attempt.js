// SPDX-License-Identifier: Apache-2.0
/* One attempt to buy, remembered until its outcome is certain.
 *
 * An attempt has one Idempotency-Key. It is kept in this tab's storage from before the first
 * request until a definite answer, so asking again after a lost answer, or after a reload,
 * learns the outcome of the same attempt and never starts a second one. `sent` is true once a
 * buy request of it went unanswered: no later refusal short of a definite one takes that back.
 * `provider`: through whom it is paid, for an item that is bought by paying; else null. */

import { lasting, perTab } from './store.js';

const KEY_BYTES = 16;

/* Not crypto.randomUUID(), which browsers withhold from plain HTTP. */
function keyMake() {
    const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export const attemptRead = (item) => perTab.read(`attempt.${item}`);

export function attemptOpen(item, quantity, provider = null) {
    const kept = attemptRead(item);
    const same = kept?.quantity === quantity && (kept.provider ?? null) === provider;
    if (kept !== null && (kept.sent || same))
        return kept;
    const attempt = { key: keyMake(), quantity, provider, sent: false };
    perTab.write(`attempt.${item}`, attempt);
    return attempt;
}

export function attemptMark(item, attempt, sent) {
    attempt.sent = sent;
    perTab.write(`attempt.${item}`, attempt);
}

export const attemptClose = (item) => perTab.remove(`attempt.${item}`);

/* The ticket got for an item, so that the order is found again after a reload: { user, ticket, deciding }, or
 * null. `deciding`: how many units it is for, while it is not decided whether there will be an order. */
export function ticketRead(item, user) {
    const kept = lasting.read(`ticket.${item}`);
    return kept?.user === user ? kept : null;
}

export const ticketKeep = (item, user, ticket, deciding) => lasting.write(`ticket.${item}`, { user, ticket, deciding });

export const ticketForget = (item) => lasting.remove(`ticket.${item}`);
