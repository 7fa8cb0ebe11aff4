// SPDX-License-Identifier: Apache-2.0
/* One order as a list of facts: on the item's page after a purchase, and in the list of orders. */

import { element, textSet } from './dom.js';
import { count, minutesAndSeconds, moment, money } from './format.js';
import { say } from './i18n.js';
import { createOrderMoney } from './order_money.js';
import { createTimeline } from './order_timeline.js';
import { orderIsClosing, orderIsOpen } from './payment.js';

function factRow(list) {
    const name = element('dt');
    const value = element('dd');
    const row = element('div', { class: 'fact' }, name, value);
    list.append(row);
    return (key, text) => {
        row.hidden = text === '';
        textSet(name, say(key));
        textSet(value, text);
    };
}

function stateWords(order) {
    const state = say(`order.state.${orderIsClosing(order) ? 'closing' : order.state}`);
    return order.reason ? `${state} · ${say(`order.reason.${order.reason}`)}` : state;
}

/* `acts`: what its buttons do (order_acts.js). */
export function createOrderPanel(headingTag, acts) {
    const heading = element(headingTag, { class: 'order-heading' });
    const badge = element('span', { class: 'badge' });
    const list = element('dl', { class: 'facts' });
    const facts = {
        number: factRow(list),
        created: factRow(list),
        quantity: factRow(list),
        amount: factRow(list),
        payBy: factRow(list),
    };
    const hint = element('p', { class: 'order-hint' });
    const timeline = createTimeline();
    const moneyPart = createOrderMoney(acts);
    const node = element(
        'section',
        { class: 'order' },
        element('div', { class: 'order-top' }, heading, badge),
        list,
        timeline.node,
        hint,
        moneyPart.node,
    );

    function paint(order, title, now) {
        const payable = orderIsOpen(order, now);
        textSet(heading, title);
        textSet(badge, stateWords(order));
        badge.dataset.state = order.state;
        facts.number(
            order.order ? 'order.number' : 'order.ticket',
            order.order ?? order.ticket,
        );
        timeline.paint(order, payable || orderIsClosing(order));
        facts.created('order.created', order.created_ms && timeline.node.hidden ? moment(order.created_ms) : '');
        facts.quantity('order.quantity', count(order.quantity));
        facts.amount(
            'order.amount',
            order.amount === undefined ? '' : money(order.amount, order),
        );
        facts.payBy('order.payBy', payable ? minutesAndSeconds(order.pay_by_ms - now) : '');
        hint.hidden = !payable;
        if (payable) {
            const here = acts.waysKnown()?.providers.length > 0;
            const key = here ? 'order.payHere' : 'order.payHint';
            textSet(hint, say(key, { time: moment(order.pay_by_ms) }));
        }
        moneyPart.paint(order, now);
    }

    return { node, heading, paint };
}
