// SPDX-License-Identifier: Apache-2.0
/* One sale: its state, its checklist, its items with their stock, what can be done to it, and who did what. */

import { element, pictureOf } from '../dom.js';
import { auditPanel } from './audit.js';
import { change, read, readAll } from './api.js';
import { bundlePanel } from './bundle_panel.js';
import { ask } from './dialog.js';
import { moment, money, number, zoneName } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { itemFields } from './item_form.js';
import { unitsBar } from './live_parts.js';
import { button, chip, facts, field, loadedPlace, loadedShow, panel, tellerMake, titleRow } from './parts.js';
import { presaleActs } from './presale_acts.js';
import { saleActs, stockAct } from './sale_acts.js';
import { saleChecks } from './sale_checks.js';
import { stateOfSale } from './sales_view.js';
import { may } from './session.js';

const EVERY_MS = 3000;

async function saleRead(id) {
    const [sale, items, alarms] = await Promise.all([read(`/sales/${id}`), readAll(`/items?sale=${id}`, 'items'), read('/alarms')]);
    const rows = await Promise.all(items.map(async (item) => {
        const [product, { counts }] = await Promise.all([read(`/products/${item.product}`), read(`/items/${item.id}/counts`)]);
        return { item, product, counts: counts ?? { given: item.total, free: item.total, held: 0, sold: 0, safety: 0, written_off: 0 }, preheated: counts !== null };
    }));
    const sandbox = alarms.alarms.some(({ name, up }) => name === 'test-mode' && up);
    const state = stateOfSale(sale);
    return { sale, rows, sandbox, state, bundle: state === 'ended' ? await read(`/sales/${id}/bundle`) : null };
}

function checklist(seen) {
    const checks = saleChecks(seen.sale, seen.rows, { now: Date.now(), sandbox: seen.sandbox });
    return panel(say('check.title'), element('ul', { class: 'checks' }, ...checks.map(([key, grade, values]) =>
        element('li', { 'data-grade': grade }, element('span', { class: 'sr', textContent: say(`grade.${grade}`) }), say(`ready.${key}`, values)))));
}

function itemRow(row, editable, again) {
    const { item, product, counts, preheated } = row;
    const acts = may('operator') && preheated && !row.left
        ? [button(say('act.add'), () => stockAct(item, product, counts, 1, again), 'plain small'),
            button(say('act.take'), () => stockAct(item, product, counts, -1, again), 'plain small')]
        : [];
    const edit = element('a', { class: 'plain small', href: `#/sales/${item.sale}/items/${item.id}`, textContent: say('form.edit'), 'aria-label': say('item.edit.of', { name: nameIn(product) }) });
    const price = money(item.flash_price, item.currency, item.minor_units);
    return element('li', { 'data-item': item.id }, pictureOf(product, { class: 'thumb', width: 44, height: 44 }),
        element('div', {}, element('div', { class: 'stock-head' }, element('b', { textContent: nameIn(product) }),
            element('span', { class: 'stock-left', textContent: `${price} · ${preheated ? say('item.left', { free: number(counts.free) }) : say('units.cold')}` })),
        ...unitsBar(counts), element('div', { class: 'acts' }, ...acts, ...presaleActs(row, again), ...(editable ? [edit] : []))));
}

/* What those in its waiting room are told, and writing another word to them. */
function messagePanel(sale, again) {
    const text = element('input', { type: 'text', maxLength: 120, value: sale.room_message });
    const write = button(say('room.message.write'), () => ask({ title: say('room.message'), text: say('room.message.text', { title: nameIn(sale) }), yes: say('form.save'),
        fields: [field(say('room.message.label'), text)], act: (key) => change('POST', `/sales/${sale.id}/message`, { message: text.value.trim() }, key) })
        .then((answer) => answer !== null && again()));
    return panel(say('room.message'), element('p', { class: sale.room_message === '' ? 'none' : 'room-message', textContent: sale.room_message || say('room.message.none') }),
        ...(may('operator') && !sale.archived ? [element('div', { class: 'acts' }, write)] : []));
}

function itemAdd(sale, again) {
    const form = itemFields();
    return ask({ title: say('item.add'), text: say('item.add.text'), yes: say('item.save'), fields: [form.node], act: () => form.save(sale.id) }).then((made) => made && again());
}

export function saleShow(main, id) {
    let shown = '';
    const teller = tellerMake();

    function paint(answer, node) {
        if (answer === null)
            return;
        const { seen, trail } = answer;
        const { sale, rows, state } = seen;
        const acts = saleActs(seen, (words) => {
            teller.tell(words);
            place.look(true);
        });
        const editable = may('admin') && state !== 'ended' && !sale.archived;
        const run = panel(say('run.title'), element('p', { class: 'note', textContent: say(`run.${state}`) }),
            acts.length > 0 ? element('div', { class: 'acts' }, ...acts) : element('p', { class: 'none', textContent: say('run.none') }), teller.node);
        const stock = panel(say('live.stock'), rows.length > 0
            ? element('ul', { class: 'stock' }, ...rows.map((row) => itemRow({ ...row, left: Boolean(seen.bundle?.sha256) }, editable, () => place.look(true))))
            : element('p', { class: 'none', textContent: say('ready.items.none') }));
        if (editable)
            stock.append(element('div', { class: 'acts' }, button(say('item.add'), () => itemAdd(sale, () => place.look(true)))));
        const about = panel(say('sale.about'), facts([[say('sale.start'), moment(sale.start_ms, true)], [say('sale.end'), moment(sale.end_ms, true)], [say('times.offset'), zoneName()],
            [say('sale.check'), named('check', sale.human_check)], [say('sale.room'), say(sale.waiting_room ? 'yes' : 'no')],
            [say('sale.limit'), sale.limit_per_user === 0 ? say('sale.limit.none') : number(sale.limit_per_user)]]));
        const links = [];
        if (editable)
            links.push(element('a', { class: 'plain small', href: `#/sales/${id}/edit`, textContent: say('form.edit') }));
        if (may('admin'))
            links.push(element('a', { class: 'plain small', href: `#/sales/${id}/clone`, textContent: say('clone.link') }));
        links.push(element('a', { class: 'plain small', href: `#/after/${id}`, textContent: say('nav.after') }));
        if (sale.published)
            links.push(element('a', { class: 'plain small', href: '/', target: '_blank', rel: 'noopener', textContent: say('sale.page') }));
        node.replaceChildren(titleRow(nameIn(sale), chip(named('gate', state), state), element('div', { class: 'title-end' }, ...links)),
            element('div', { class: 'grid wide-left' }, element('div', { class: 'stack' }, run, stock),
                element('div', { class: 'stack' }, ...(state === 'draft' || state === 'scheduled' ? [checklist(seen)] : []),
                    ...(sale.waiting_room ? [messagePanel(sale, () => place.look(true))] : []), about,
                    ...(seen.bundle ? [bundlePanel(sale, seen.bundle, () => place.look(true))] : []))), trail);
    }

    /* `now`: something was done; else it is only painted when something has changed, so that nobody loses his place. */
    async function load(now = false) {
        const seen = await saleRead(id);
        const said = JSON.stringify(seen);
        if (document.querySelector('dialog[open]') || (!now && said === shown))
            return null;
        shown = said;
        return { seen, trail: await auditPanel([`sale ${id}`, ...seen.rows.map(({ item }) => `item ${item.id}`)]) };
    }
    const place = loadedPlace({ load, paint, every_ms: EVERY_MS });
    return loadedShow(main, [element('p', { class: 'crumb' }, element('a', { href: '#/sales', textContent: say('nav.sales') }))], place);
}
