// SPDX-License-Identifier: Apache-2.0
/* Orders: search, list, one order with its story, what can be done to it, and a file for spreadsheets. */

import { element } from '../dom.js';
import { auditPanel } from './audit.js';
import { change, read, readAll, readFile } from './api.js';
import { csvText, fileSave } from './csv.js';
import { ask } from './dialog.js';
import { moment, money, number } from './format.js';
import { named, say } from './i18n.js';
import { button, chip, choice, facts, field, guarded, listPanel, loadedPlace, loadedShow, panel, table, tellerMake, titleRow } from './parts.js';
import { messageTold, told } from './server_words.js';
import { may } from './session.js';

const STATES = ['pending', 'paid', 'closed', 'refunded'];
const CSV_MAX = 20_000;
const REFUNDS_MAX = 2000;
const ORDER_ID = /^[0-9a-f]{16}$/;

const amountOf = ({ amount, currency }) => money(amount, currency);

function queryOf(fields) {
    const query = new URLSearchParams();
    for (const [name, input] of Object.entries(fields))
        if (input.value.trim() !== '')
            query.set(name, input.value.trim());
    return query.toString();
}

function listShow(main) {
    let next;
    let rows = [];
    const id = element('input', { type: 'search', maxLength: 16, spellcheck: false });
    const fields = {
        state: choice([['', say('orders.any')], ...STATES.map((state) => [state, say(`order.${state}`)])], ''),
        sale: element('input', { type: 'number', min: 1 }),
        item: element('input', { type: 'number', min: 1 }),
        subject: element('input', { type: 'search', maxLength: 128 }),
    };
    const search = element('form', { class: 'panel bar', role: 'search' }, field(say('orders.id'), id), field(say('order.state'), fields.state), field(say('orders.sale'), fields.sale),
        field(say('orders.item'), fields.item), field(say('orders.customer'), fields.subject), element('button', { type: 'submit', class: 'main', textContent: say('orders.search') }));
    const save = button(say('orders.csv'), () => guarded(place.node, async () => {
        if (may('operator')) { /* with addresses, as the server writes it */
            fileSave('orders.csv', await readFile(`/orders/export?${queryOf(fields)}`), 'text/csv');
            return;
        }
        const all = await readAll(`/orders?${queryOf(fields)}`, 'orders', { turn: 'before', most: CSV_MAX });
        fileSave('orders.csv', csvText(['order', 'ticket', 'number', 'state', 'reason', 'item', 'quantity', 'amount', 'currency', 'user', 'customer', 'created'],
            all.map(({ number: place_, user, customer, view }) => [view.order, view.ticket, place_, view.state, view.reason, view.item, view.quantity, view.amount,
                view.currency, user, customer, new Date(view.created_ms).toISOString()])), 'text/csv');
    }));

    function paint(answer, node) {
        ({ rows, next } = answer);
        node.replaceChildren(table(say('nav.orders'), [say('order.order'), say('order.state'), say('orders.item'), say('order.quantity'), say('order.amount'), say('orders.customer'), say('order.created')],
            rows.map(({ user, customer, view }) => [element('a', { class: 'mono', href: `#/orders/${view.order}`, textContent: view.order }),
                chip(say(`order.${view.state}`), view.state), view.item, number(view.quantity), amountOf(view), customer ?? user, moment(view.created_ms, true)]), say('orders.none')));
        if (next !== undefined)
            node.append(element('div', { class: 'acts' }, button(say('list.more'), () => place.look(true))));
    }
    const place = loadedPlace({
        kind: 'panel',
        async load(more = false) {
            const answer = await read(`/orders?${queryOf(fields)}${more ? `&before=${next}` : ''}`);
            return { next: answer.next ?? undefined, rows: more ? rows.concat(answer.orders) : answer.orders };
        },
        paint,
    });
    search.addEventListener('submit', (event) => {
        event.preventDefault();
        const wanted = id.value.trim().toLowerCase();
        if (ORDER_ID.test(wanted))
            location.hash = `#/orders/${wanted}`;
        else
            place.look();
    });
    return loadedShow(main, [titleRow(say('nav.orders'), element('div', { class: 'title-end' }, save)), search], place);
}

/* What happened to the order, in order. */
function storyOf({ number: place, view }, payments, refunds) {
    const story = [[view.created_ms, say('story.won', { position: number(place), ticket: view.ticket })]];
    for (const payment of [...payments].reverse()) {
        story.push([payment.created_ms, say('story.payment', { provider: payment.provider, amount: money(payment.amount, payment.currency), reference: payment.reference })]);
        if (payment.captured_ms)
            story.push([payment.captured_ms, say('story.captured', { amount: money(payment.captured, payment.currency), provider: payment.provider })]);
    }
    for (const refund of refunds) {
        const values = { amount: money(refund.amount, refund.currency), provider: refund.provider };
        story.push([refund.created_ms, say(refund.why === 'part' ? 'story.part' : 'story.refund', values)]);
        if (refund.done_ms)
            story.push([refund.done_ms, say('story.refund.done', values)]);
    }
    if (view.shipment !== undefined)
        story.push([view.shipment.shipped_ms, say('story.shipped', view.shipment)]);
    if (view.shipment?.delivered_ms)
        story.push([view.shipment.delivered_ms, say('story.delivered')]);
    if (view.state === 'pending')
        story.push([view.pay_by_ms, say('story.until')]);
    if (view.state === 'closed')
        story.push([null, say('story.closed', { reason: named('closed', view.limit ?? view.reason ?? '') })]);
    if (view.state === 'refunded')
        story.push([null, say('story.refunded')]);
    return element('ol', { class: 'steps' }, ...story.map(([time, words]) => element('li', {}, element('span', { textContent: words }),
        element('small', { textContent: time === null ? '' : moment(time, true) }))));
}

/* The goods on their way, and a part of the money back. */
function goodsActs({ view }, values, done) {
    const acts = [];
    const { shipment } = view;
    const carrier = element('input', { maxLength: 64, required: true, value: shipment?.carrier ?? '' });
    const tracking = element('input', { maxLength: 64, required: true, value: shipment?.tracking ?? '' });
    const amount = element('input', { inputMode: 'decimal', required: true, maxLength: 20 });
    const reason = element('input', { maxLength: 60 });
    if (view.state === 'paid' && shipment?.state !== 'delivered' && may('operator'))
        acts.push(button(say(shipment === undefined ? 'order.ship' : 'order.ship.correct'), () => ask({ title: say('order.ship.title', values), text: say('order.ship.text'), yes: say('order.ship'),
            fields: [field(say('order.carrier'), carrier), field(say('order.tracking'), tracking)],
            act: (key) => change('POST', `/orders/${view.order}/ship`, { carrier: carrier.value.trim(), tracking: tracking.value.trim(), replace: shipment !== undefined }, key) })
            .then((answer) => answer && done(say('order.ship.done')))));
    if (shipment?.state === 'shipped' && may('operator'))
        acts.push(button(say('order.deliver'), () => ask({ title: say('order.deliver.title', values), text: say('order.deliver.text'), yes: say('order.deliver'),
            act: (key) => change('POST', `/orders/${view.order}/deliver`, undefined, key) }).then((answer) => answer && done(say('order.deliver.done')))));
    if (view.state === 'paid' && may('admin'))
        acts.push(button(say('order.part'), () => ask({ title: say('order.part.title', values), text: say('order.part.text', values), yes: say('order.part'), danger: true,
            fields: [field(say('order.part.amount'), amount), field(say('order.part.reason'), reason)],
            act: (key) => change('POST', `/orders/${view.order}/refund-part`, { amount: amount.value.trim(), currency: view.currency, key, reason: reason.value.trim() }, key) })
            .then((answer) => answer && done(say('order.part.done'))), 'danger'));
    return acts;
}

function orderActs(order, done) {
    const { view } = order;
    const values = { order: view.order, amount: amountOf(view), units: number(view.quantity) };
    const to = choice(['stock', 'safety', 'write-off'].map((name) => [name, say(`refund.${name}`)]), 'stock');
    const acts = [];
    if (view.state === 'pending' && may('operator'))
        acts.push(button(say('order.cancel'), () => ask({ title: say('order.cancel.title', values), text: say('order.cancel.text', values), yes: say('order.cancel'), danger: true,
            act: (key) => change('POST', `/orders/${view.order}/cancel`, undefined, key) }).then((answer) => answer && done(say('order.cancel.done'))), 'danger'));
    if (view.state === 'paid' && may('admin'))
        acts.push(button(say('order.refund'), () => ask({ title: say('order.refund.title', values), text: say('order.refund.text', values), yes: say('order.refund'), danger: true,
            fields: [field(say('refund.to'), to)], act: (key) => change('POST', `/orders/${view.order}/refund`, { to: to.value }, key) })
            .then((answer) => answer && done(say('order.refund.done'))), 'danger'));
    acts.push(...goodsActs(order, values, done));
    if (may('operator')) {
        const note = element('textarea', { rows: 3, maxLength: 100, required: true });
        acts.push(button(say('note.add'), () => ask({ title: say('note.add'), text: say('note.text'), yes: say('note.save'), fields: [field(say('letter.note'), note)],
            act: (key) => change('POST', `/orders/${view.order}/notes`, { note: note.value }, key) }).then((answer) => answer && done(say('note.done')))));
    }
    return acts;
}

/* What the shop was told about it: sent or not, when, and sending it again. */
function webhooksPanel(webhooks, done) {
    const again = (row) => (may('operator') && row.state !== 'waiting'
        ? button(say('webhooks.replay'), () => ask({ title: say('webhooks.replay'), text: say('webhooks.replay.text'), yes: say('webhooks.replay'),
            act: (key) => change('POST', `/webhooks/${row.id}/replay`, undefined, key) }).then((answer) => answer && done(say('webhooks.replay.done'))), 'plain small')
        : '');
    const result = (row) => (row.state === 'delivered' || row.tries === 0 ? '' : told(row.error) || `HTTP ${row.http_status}`);
    return listPanel(say('webhooks.order'), 'webhooks', table(say('webhooks.order'), [say('webhooks.event'), say('order.state'), say('webhooks.tried'), say('webhooks.tries'), say('webhooks.error'), ''],
        webhooks.map((row) => [messageTold(row.type), chip(say(`webhooks.${row.state}`), { delivered: 'good', failed: 'bad' }[row.state] ?? ''),
            row.tried_ms === 0 ? '–' : moment(row.tried_ms, true), number(row.tries), result(row), again(row)])));
}

async function contactPanel(order) {
    if (!may('operator'))
        return null;
    const details = await read(`/orders/${order.view.order}/details`).catch(() => null);
    return details === null ? null : panel(say('order.details'), facts(Object.entries(details).filter(([, value]) => value)
        .map(([name, value]) => [named('details', name), value])));
}

/* Of an order whose money came in; there are few refunds, and they have no list by order. */
async function refundsOf({ view }, payments) {
    if (!payments.some(({ captured }) => captured > 0))
        return [];
    const rows = await readAll('/refunds', 'refunds', { most: REFUNDS_MAX });
    return rows.filter(({ order }) => order === view.order);
}

function orderShow(main, id) {
    const teller = tellerMake();
    async function load() {
        const [order, { payments }] = await Promise.all([read(`/orders/${id}`), read(`/orders/${id}/payments`)]);
        const [contact, trail, refunds, webhooks] = await Promise.all([contactPanel(order), auditPanel([`order ${id}`]), refundsOf(order, payments),
            readAll(`/webhooks?order=${id}`, 'webhooks')]);
        return { order, payments, contact, trail, refunds, webhooks };
    }
    function paint({ order, payments, contact, trail, refunds, webhooks }, node) {
        const { view } = order;
        const done = (words) => {
            teller.tell(words);
            place.look();
        };
        const acts = orderActs(order, done);
        node.replaceChildren(titleRow(say('order.title', { order: view.order }), chip(say(`order.${view.state}`), view.state)), teller.node,
            element('div', { class: 'grid wide-left' }, panel(say('order.story'), storyOf(order, payments, refunds), element('div', { class: 'acts' }, ...acts)),
                element('div', { class: 'stack' }, panel(say('sale.about'), facts([[say('order.order'), element('span', { class: 'mono', textContent: view.order })],
                    [say('order.ticket'), element('span', { class: 'mono', textContent: view.ticket })], [say('orders.item'), view.item], [say('order.quantity'), number(view.quantity)],
                    [say('order.amount'), amountOf(view)],
                    view.partly_refunded && [say('order.parts'), money(view.partly_refunded, view.currency)],
                    view.shipment && [say('order.shipment'), `${say(`order.${view.shipment.state}`)} · ${view.shipment.carrier} ${view.shipment.tracking}`],
                    view.remedy && [say('case.remedy'), say(`remedy.${view.remedy.remedy}`)], [say('orders.customer'), order.customer ?? order.user]])), ...(contact ? [contact] : []))), ...(webhooks.length > 0 ? [webhooksPanel(webhooks, done)] : []), trail);
    }
    const place = loadedPlace({ load, paint });
    return loadedShow(main, [element('p', { class: 'crumb' }, element('a', { href: '#/orders', textContent: say('nav.orders') }))], place);
}

export const ordersShow = (main, [id]) => (id === undefined ? listShow(main) : orderShow(main, id));
