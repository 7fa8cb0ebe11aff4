// SPDX-License-Identifier: Apache-2.0
/* What can be done about an order's money, and what is said of it. Pure functions of what is known:
 * the order, the ways to pay (null: not known yet) and the time. */

import { payAddress } from './pay_address.js';

/* Its payment is closed first; then the order is. */
export const orderIsClosing = (order) =>
    order.state === 'pending' && (order.closing === true || order.payment?.state === 'closing');

export const orderIsOpen = (order, now) =>
    order.state === 'pending' && !orderIsClosing(order) && now < order.pay_by_ms;

/* The server measures from the moment of payment, which came before the time to pay was over. */
function refundable(order, ways, now) {
    if (order.state !== 'paid' || !(ways?.refund_ms > 0))
        return false;
    return !(now >= order.pay_by_ms + ways.refund_ms);
}

/* A code for the phone to scan, '' when there is none. */
function codeOf(order, here) {
    const address = order.payment?.state === 'open' ? payAddress(order.payment.url, here) : null;
    return address?.kind === 'code' ? address.href : '';
}

/* What is said of money that goes back: a key of words.js, '' for nothing. */
export function refundWords(order) {
    if (order.refund === undefined)
        return '';
    const why = order.state === 'closed' ? 'late' : 'order';
    return `refund.${why}.${order.refund.state}`;
}

/* Closed without the provider's word: the server asks on, and the user may make it ask now. */
const unanswered = (order) => order.state === 'closed' && order.payment?.state === 'unanswered';

export function moneyModel(order, ways, now, here) {
    const open = orderIsOpen(order, now);
    const providers = open ? ways?.providers ?? [] : [];
    return {
        closing: orderIsClosing(order),
        providers,
        code: open ? codeOf(order, here) : '',
        /* An open payment may have been paid without our knowing, even when its time is over. */
        ask: (order.state === 'pending' && order.payment?.state === 'open') || unanswered(order),
        unanswered: unanswered(order),
        /* The last try to pay came to nothing, and there is time for another. */
        declined: open && order.payment?.state === 'closed' ? order.payment.provider : '',
        provider: order.payment?.provider ?? '',
        cancel: order.state === 'pending' && !orderIsClosing(order),
        refund: refundable(order, ways, now),
        refundWords: refundWords(order),
    };
}
