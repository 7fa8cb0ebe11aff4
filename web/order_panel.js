/* One order as a list of facts: on the item's page after a purchase, and in the list of orders. */

import { element, textSet } from './dom.js';
import { count, minutesAndSeconds, moment, money } from './format.js';
import { say } from './i18n.js';

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
    const state = say(`order.state.${order.state}`);
    return order.reason ? `${state} · ${say(`order.reason.${order.reason}`)}` : state;
}

/* `cancel` is called with the order once the user has confirmed; without it there is no button. */
export function createOrderPanel(headingTag, cancel = null) {
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
    const button = element('button', { class: 'order-cancel', type: 'button' });
    let shown = null;
    button.hidden = true;
    button.addEventListener('click', async () => {
        if (!window.confirm(say('order.cancelSure')))
            return;
        button.disabled = true;
        await cancel(shown);
        button.disabled = false;
    });
    const node = element(
        'section',
        { class: 'order' },
        element('div', { class: 'order-top' }, heading, badge),
        list,
        hint,
        button,
    );

    function paint(order, title, now) {
        const payable = order.state === 'pending' && now < order.pay_by_ms;
        shown = order;
        button.hidden = cancel === null || order.state !== 'pending';
        textSet(button, say('order.cancel'));
        textSet(heading, title);
        textSet(badge, stateWords(order));
        badge.dataset.state = order.state;
        facts.number(
            order.order ? 'order.number' : 'order.ticket',
            order.order ?? order.ticket,
        );
        facts.created('order.created', order.created_ms ? moment(order.created_ms) : '');
        facts.quantity('order.quantity', count(order.quantity));
        facts.amount(
            'order.amount',
            order.amount === undefined ? '' : money(order.amount, order.currency),
        );
        facts.payBy('order.payBy', payable ? minutesAndSeconds(order.pay_by_ms - now) : '');
        hint.hidden = !payable;
        if (payable)
            textSet(hint, say('order.payHint', { time: moment(order.pay_by_ms) }));
    }

    return { node, heading, paint };
}
