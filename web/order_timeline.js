// SPDX-License-Identifier: Apache-2.0
/* What has happened to an order, step by step, with the time of each as far as the server knows it. */

import { attributeSet, element, textSet } from './dom.js';
import { moment, money } from './format.js';
import { say } from './i18n.js';

const REFUND_STEPS = { wanted: 'timeline.returning', stuck: 'timeline.returning', done: 'timeline.returned' };

/* The steps: [{ key, at, ahead }]. `at` 0: the server does not tell when. `ahead`: it is to come. A pure function of the order. */
export function timelineModel(order) {
    if (order.state === 'creating' || order.state === 'deciding')
        return [];
    const steps = [{ key: 'timeline.ordered', at: order.created_ms, ahead: false }];
    const paid = order.state === 'paid' || order.state === 'refunded';
    if (paid)
        steps.push({ key: 'timeline.paid', at: order.paid_ms ?? 0, ahead: false });
    else if (order.state === 'pending')
        steps.push({ key: 'timeline.payBy', at: order.pay_by_ms, ahead: true });
    else
        steps.push({ key: `order.reason.${order.limit ?? order.reason ?? 'cancelled'}`, at: 0, ahead: false });
    if (order.shipment !== undefined)
        steps.push({ key: 'timeline.shipped', at: order.shipment.shipped_ms, ahead: false, values: order.shipment });
    if (order.shipment?.state === 'delivered')
        steps.push({ key: 'timeline.delivered', at: order.shipment.delivered_ms, ahead: false });
    if (order.partly_refunded !== undefined)
        steps.push({ key: 'timeline.part', at: 0, ahead: false, values: { amount: money(order.partly_refunded, order) } });
    if (order.remedy?.coupon !== undefined)
        steps.push({ key: 'timeline.coupon', at: 0, ahead: false, values: { code: order.remedy.coupon.code, amount: money(order.remedy.coupon.value, order.remedy.coupon) } });
    if (order.refund !== undefined) {
        steps.push({ key: 'timeline.refund', at: order.refund.created_ms ?? 0, ahead: false });
        const key = REFUND_STEPS[order.refund.state];
        steps.push({ key, at: order.refund.done_ms ?? 0, ahead: order.refund.state !== 'done' });
    } else if (order.state === 'refunded') {
        steps.push({ key: 'timeline.refund', at: 0, ahead: false });
    }
    return steps;
}

export function createTimeline() {
    const node = element('ol', { class: 'timeline' });
    const rows = [];

    function rowMake() {
        const words = element('span');
        const time = element('time');
        const row = { words, time, node: element('li', {}, words, time) };
        node.append(row.node);
        rows.push(row);
        return row;
    }

    /* `open`: the time to pay runs elsewhere on the page; then there is nothing to look back at. */
    function paint(order, open) {
        const steps = open ? [] : timelineModel(order);
        node.hidden = steps.length < 2;
        attributeSet(node, 'aria-label', say('timeline.label'));
        for (const row of rows.splice(steps.length))
            row.node.remove();
        steps.forEach(({ key, at, ahead, values }, index) => {
            const row = rows[index] ?? rowMake();
            row.node.dataset.ahead = String(ahead);
            textSet(row.words, say(key, values));
            row.time.hidden = at === 0;
            textSet(row.time, at === 0 ? '' : moment(at, true));
            if (at > 0)
                attributeSet(row.time, 'datetime', new Date(at).toISOString());
        });
    }

    return { node, paint };
}
