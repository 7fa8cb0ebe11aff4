// SPDX-License-Identifier: Apache-2.0
/* Cases: units that were sold twice, the orders that can't be filled, what is done for each, who was told, what it cost. */

import { element } from '../dom.js';
import { change, read, readAll } from './api.js';
import { ask } from './dialog.js';
import { moment, money, number } from './format.js';
import { say } from './i18n.js';
import { button, chip, choice, facts, field, listPanel, loadedPlace, loadedShow, panel, table, tellerMake, titleRow } from './parts.js';
import { may } from './session.js';

const input = (more = {}) => element('input', { required: true, maxLength: 60, ...more });
const linkTo = (id) => element('a', { href: `#/cases/${id}`, textContent: String(id) });

function newCase(done) {
    const fields = { item: input({ type: 'number', min: 1 }), channel: input({ maxLength: 16 }), reference: input(), missing: input({ type: 'number', min: 1, value: '1' }), reason: input({ maxLength: 100 }) };
    return button(say('cases.new'), () => ask({ title: say('cases.new'), text: say('cases.new.text'), yes: say('cases.new'), fields: Object.entries(fields).map(([name, node]) => field(say(`cases.${name}`), node)),
        act: (key) => change('POST', '/cases', { item: Number(fields.item.value), channel: fields.channel.value.trim(), reference: fields.reference.value.trim(), missing: Number(fields.missing.value),
            reason: fields.reason.value.trim() }, key) }).then((answer) => answer && done(answer)), 'main');
}

function costsPanel(costs) {
    return listPanel(say('case.costs'), 'costs', table(say('case.costs'), [say('case.costs'), say('case.orders'), say('case.refunds'), say('case.coupons'), say('case.losses')],
        costs.map(({ currency, orders, refunds, coupons, losses }) => [currency, number(orders), money(refunds, currency), money(coupons, currency), money(losses, currency)])));
}

function listShow(main) {
    const place = loadedPlace({
        load: () => Promise.all([readAll('/cases', 'cases'), read('/cases/costs')]),
        paint([cases, { costs }], node) {
            node.replaceChildren(listPanel(say('nav.cases'), 'cases', table(say('nav.cases'),
                [say('cases.number'), say('cases.state'), say('cases.item'), say('cases.channel'), say('cases.missing'), say('cases.undecided'), say('cases.assignee'), say('cases.created')],
                [...cases].reverse().map((row) => [linkTo(row.id), chip(say(`case.${row.state}`), row.state === 'open' ? 'bad' : 'good'), row.item, row.channel, number(row.missing), number(row.undecided),
                    row.assignee || '–', moment(row.created_ms, true)]), say('cases.none'))), ...(costs.length > 0 ? [costsPanel(costs)] : []));
        },
    });
    const acts = may('operator') ? [element('div', { class: 'title-end' }, newCase(({ id }) => { location.hash = `#/cases/${id}`; }))] : [];
    return loadedShow(main, [titleRow(say('nav.cases'), ...acts)], place);
}

/* What is done for one order. */
function applyButton(id, row, done) {
    const remedy = choice(row.proposed.map((name) => [name, say(`remedy.${name}`)]));
    const percent = element('input', { type: 'number', min: 0, max: 100 });
    const loss = element('input', { inputMode: 'decimal', maxLength: 20 });
    const note = element('input', { maxLength: 100 });
    return button(say('case.apply'), () => ask({ title: say('case.apply.title', { order: row.order }), text: say('case.apply.text'), yes: say('case.apply'), danger: true,
        fields: [field(say('case.remedy'), remedy), field(say('case.percent'), percent), field(say('case.loss'), loss), field(say('case.note'), note)],
        act: (key) => change('POST', `/cases/${id}/apply`, { order: row.order, remedy: remedy.value, ...(percent.value === '' ? {} : { coupon_percent: Number(percent.value) }),
            ...(loss.value.trim() === '' ? {} : { loss: loss.value.trim() }), ...(note.value.trim() === '' ? {} : { note: note.value.trim() }) }, key) })
        .then((answer) => answer && done(say('case.apply.done'))), 'plain small');
}

function ordersPanel(whole, done) {
    const mailOf = (order) => whole.mails.filter((mail) => mail.order === order).map(({ state }) => say(`mail.${state}`)).join(', ');
    return listPanel(say('case.orders'), `case-${whole.id}`, table(say('case.orders'), [say('order.order'), say('order.state'), say('order.quantity'), say('case.remedy'), say('case.coupon'), say('case.mails'), ''],
        whole.rows.map((row) => [element('a', { class: 'mono', href: `#/orders/${row.order}`, textContent: row.order }), chip(say(`order.${row.state}`), row.state), number(row.quantity),
            row.done ? say(`remedy.${row.done.remedy}`) : '–', row.done?.coupon ? `${row.done.coupon.code} · ${money(row.done.coupon.value, row.done.coupon.currency)}` : '–', mailOf(row.order) || '–',
            !row.done && whole.state === 'open' && may('admin') ? applyButton(whole.id, row, done) : ''])));
}

function caseActs(whole, done) {
    if (!may('operator'))
        return [];
    const { id } = whole;
    const assignee = input({ value: whole.assignee });
    const way = choice(['call', 'chat', 'mail', 'SMS'].map((name) => [name, name]));
    const words = element('textarea', { rows: 3, maxLength: 100, required: true });
    const outcome = input({ maxLength: 100 });
    const log = button(say('case.log.add'), () => ask({ title: say('case.log.add'), text: say('case.log.text'), yes: say('case.log.add'), fields: [field(say('case.log.way'), way), field(say('case.log.words'), words)],
        act: (key) => change('POST', `/cases/${id}/notes`, { way: way.value, text: words.value.trim() }, key) }).then((answer) => answer && done(say('case.log.done'))));
    if (whole.state !== 'open')
        return [log];
    return [button(say('case.assign'), () => ask({ title: say('case.assign'), text: say('case.assign.text'), yes: say('case.assign'), fields: [field(say('cases.assignee'), assignee)],
        act: (key) => change('POST', `/cases/${id}/assign`, { assignee: assignee.value.trim() }, key) }).then((answer) => answer && done(say('case.assign.done')))), log,
    ...(whole.undecided === 0 ? [button(say('case.close'), () => ask({ title: say('case.close.title', { id }), text: say('case.close.text'), yes: say('case.close'), fields: [field(say('case.outcome'), outcome)],
        act: (key) => change('POST', `/cases/${id}/close`, { outcome: outcome.value.trim() }, key) }).then((answer) => answer && done(say('case.close.done'))), 'main')] : [])];
}

function caseShow(main, id) {
    const teller = tellerMake();
    const place = loadedPlace({
        load: () => Promise.all([read(`/cases/${id}`), may('operator') ? readAll(`/cases/${id}/notes`, 'notes') : []]),
        paint([whole, notes], node) {
            const done = (words) => {
                teller.tell(words);
                place.look();
            };
            node.replaceChildren(titleRow(say('case.title', { id }), chip(say(`case.${whole.state}`), whole.state === 'open' ? 'bad' : 'good')), teller.node,
                element('div', { class: 'grid wide-left' }, ordersPanel(whole, done),
                    element('div', { class: 'stack' }, panel(say('sale.about'), facts([[say('cases.item'), whole.item], [say('cases.channel'), whole.channel], [say('cases.reference'), whole.reference],
                        [say('cases.missing'), number(whole.missing)], [say('cases.reason'), whole.reason], [say('cases.assignee'), whole.assignee || '–'], whole.outcome && [say('case.outcome'), whole.outcome]]),
                    element('div', { class: 'acts' }, ...caseActs(whole, done))), ...(whole.costs.length > 0 ? [costsPanel(whole.costs)] : []))),
                ...(notes.length > 0 ? [panel(say('case.log'), element('ol', { class: 'steps' }, ...notes.map((note) => element('li', {},
                    element('span', { textContent: `${note.way} · ${note.actor}: ${note.text}` }), element('small', { textContent: moment(note.time_ms, true) })))))] : []));
        },
    });
    return loadedShow(main, [element('p', { class: 'crumb' }, element('a', { href: '#/cases', textContent: say('nav.cases') }))], place);
}

export const casesShow = (main, [id]) => (id === undefined ? listShow(main) : caseShow(main, id));
