// SPDX-License-Identifier: Apache-2.0
/* Afterwards: the final report of a sale, to read, print and hand over. */

import { element } from '../dom.js';
import { read, readAll } from './api.js';
import { csvText, fileSave } from './csv.js';
import { duration, moment, money, number, percent } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { button, chip, choice, facts, field, loadedPlace, loadedShow, panel, table, titleRow } from './parts.js';
import { salesSort } from './sales_view.js';

/* "door.sold-out": who said it, and what. */
export const layerOf = (name) => {
    const [layer, ...reason] = name.split('.');
    return { layer, reason: reason.join('.') };
};

function funnelPart(report) {
    const rows = Object.entries(report.funnel).sort((a, b) => b[1] - a[1]);
    const most = Math.max(1, ...rows.map(([, count]) => count));
    const bar = (count) => {
        const part = element('i', { class: 'funnel-bar' });
        part.style.width = `${(count / most) * 100}%`;
        return element('span', { class: 'funnel-track report-track', 'aria-hidden': 'true' }, part);
    };
    return panel(say('funnel.title'), table(say('funnel.title'), [say('after.answer'), say('after.by'), say('after.count'), ''], rows.map(([name, count]) => {
        const { layer, reason } = layerOf(name);
        return [reason === 'go' ? say('funnel.asked') : reason === 'won' ? say('funnel.won') : named('reason', reason), say(`after.${layer === 'door' ? 'door' : 'purchase'}`), number(count), bar(count)];
    }), say('after.nobody')));
}

function reportParts(report) {
    const orders = report.orders_pending + report.orders_paid + report.orders_refunded + report.orders_expired + report.orders_cancelled + report.orders_rejected;
    const result = panel(say('after.result'), facts([[say('after.opened'), moment(report.opened_ms, true)],
        [say('after.soldout'), report.sold_out_ms > 0 ? duration(report.sold_out_after_ms) : say('after.soldout.not')], [say('after.winners'), number(report.winners)],
        [say('after.paid'), `${number(report.orders_paid)} · ${percent(report.orders_paid, orders)}`], [say('after.median'), report.payments > 0 ? duration(report.payment_median_ms) : '–'],
        [say('after.p95'), report.payments > 0 ? duration(report.payment_p95_ms) : '–']]));
    const states = panel(say('nav.orders'), facts(['pending', 'paid', 'refunded', 'expired', 'cancelled', 'rejected'].map((name) => [say(`report.${name}`), number(report[`orders_${name}`])])));
    const cash = panel(say('after.money'), table(say('after.money'), [say('item.currency'), say('after.captured'), say('after.refunded')],
        report.money.map((row) => [row.currency, money(row.revenue, row.currency), money(row.refunded, row.currency)]), say('after.nomoney')));
    const proof = panel(say('after.proof'), element('p', { class: 'note', textContent: say('after.proof.text') }), element('pre', { tabIndex: 0, textContent: 'stampede verify DATA_FOLDER' }));
    return element('div', { class: 'grid wide-left' }, element('div', { class: 'stack' }, funnelPart(report), cash), element('div', { class: 'stack' }, result, states, proof));
}

function reportPaint(sales, chosen, report, place) {
    const pick = choice(sales.map((sale) => [String(sale.id), nameIn(sale)]), String(chosen));
    pick.addEventListener('change', () => {
        location.hash = `#/after/${pick.value}`;
    });
    const open = element('a', { class: 'plain small', href: `/?report=${chosen}`, target: '_blank', rel: 'noopener', textContent: say('after.public') });
    const acts = [open, button(say('after.print'), () => print(), 'plain small'),
        button('JSON', () => fileSave(`report-${chosen}.json`, JSON.stringify(report, null, 2), 'application/json'), 'plain small'),
        button('CSV', () => fileSave(`report-${chosen}.csv`, csvText(['name', 'value'], [...Object.entries(report).filter(([, value]) => typeof value !== 'object'),
            ...Object.entries(report.funnel)]), 'text/csv'), 'plain small')];
    place.replaceChildren(titleRow(nameIn(sales.find(({ id }) => id === chosen) ?? report), chip(named('gate', report.gate), report.gate), element('div', { class: 'title-end' }, ...acts)),
        element('div', { class: 'bar' }, field(say('live.sale'), pick)), reportParts(report));
}

export function afterShow(main, [id]) {
    return loadedShow(main, [], loadedPlace({
        async load() {
            const sales = salesSort(await readAll('/sales', 'sales')).reverse();
            const chosen = id === undefined ? sales[0]?.id : Number(id);
            return { sales, chosen, report: chosen === undefined ? null : await read(`/sales/${chosen}/report`) };
        },
        paint({ sales, chosen, report }, place) {
            if (report === null)
                place.replaceChildren(titleRow(say('nav.after')), element('p', { class: 'none', textContent: say('sales.none') }));
            else
                reportPaint(sales, chosen, report, place);
        },
    }));
}
