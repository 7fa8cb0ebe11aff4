// SPDX-License-Identifier: Apache-2.0
/* Sales as a list with search and as a calendar; which address shows which screen of a sale. */

import { element } from '../dom.js';
import { readAll } from './api.js';
import { dayRead, dayStart, dayText } from './calendar.js';
import { calendarPart } from './calendar_view.js';
import { cloneShow } from './clone_view.js';
import { moment, zoneName } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { chip, choice, listPanel, loadedPlace, loadedShow, table, titleRow } from './parts.js';
import { itemEditShow, saleEditShow, saleFormShow } from './sale_form.js';
import { saleShow } from './sale_view.js';
import { may } from './session.js';
import { timetablesShow } from './timetables_view.js';

const ORDER = ['open', 'paused', 'scheduled', 'draft', 'ended'];

export const stateOfSale = (sale) => (sale.published || sale.gate === 'ended' ? sale.gate : 'draft');

/* What runs first, then what comes, the earliest first; what is over last, the latest first. */
export function salesSort(sales) {
    return [...sales].sort((a, b) => {
        const [one, other] = [a, b].map((sale) => ORDER.indexOf(stateOfSale(sale)));
        return one - other || (stateOfSale(a) === 'ended' ? b.start_ms - a.start_ms : a.start_ms - b.start_ms);
    });
}

/* The ways to look at sales. */
function waysPart(now) {
    const way = (name, href) => {
        const link = element('a', { href, textContent: say(`sales.${name}`) });
        if (name === now)
            link.setAttribute('aria-current', 'page');
        return link;
    };
    return element('div', { class: 'ways', role: 'group', 'aria-label': say('sales.ways') }, way('list', '#/sales'), way('calendar', `#/sales/day/${dayText(Date.now())}`),
        way('times', '#/sales/times'));
}

const newLink = () => (may('admin') ? [element('a', { class: 'main', href: '#/sales/new', textContent: say('sale.new') })] : []);

function tableOf(sales, wanted) {
    const rows = sales.filter(({ title, id }) => title.toLowerCase().includes(wanted) || String(id) === wanted);
    return table(say('nav.sales'), [say('sale.title'), say('sale.state'), say('sale.start'), say('sale.end'), say('sale.check')],
        rows.map((sale) => [element('a', { href: `#/sales/${sale.id}`, textContent: nameIn(sale) }),
            chip(named('gate', stateOfSale(sale)), stateOfSale(sale)), moment(sale.start_ms), moment(sale.end_ms),
            `${named('check', sale.human_check)}${sale.waiting_room ? ` · ${say('sale.room')}` : ''}`]), say('sales.none'));
}

function listShow(main) {
    let sales = [];
    const search = element('input', { type: 'search', placeholder: say('sales.search'), 'aria-label': say('sales.search') });
    const which = choice([['0', say('sales.used')], ['1', say('sales.archived')]], '0');
    which.setAttribute('aria-label', say('sales.which'));
    const paint = () => place.node.replaceChildren(listPanel(say('sales.list'), 'sales', tableOf(sales, search.value.trim().toLowerCase())), element('p', { class: 'note', textContent: say('sale.zone', { zone: zoneName() }) }));
    const place = loadedPlace({
        load: () => readAll(`/sales?archived=${which.value}`, 'sales'),
        paint(found) {
            sales = salesSort(found);
            paint();
        },
    });
    search.addEventListener('input', paint);
    which.addEventListener('change', () => place.look());
    return loadedShow(main, [titleRow(say('nav.sales'), waysPart('list'), element('div', { class: 'title-end' }, which, search, ...newLink()))], place);
}

function dayShow(main, text) {
    const day = dayRead(text) ?? dayStart(Date.now());
    const jump = element('input', { type: 'date', value: dayText(day), required: true, 'aria-label': say('day.jump') });
    jump.addEventListener('change', () => {
        if (dayRead(jump.value) !== null)
            location.hash = `#/sales/day/${jump.value}`;
    });
    return loadedShow(main, [titleRow(say('nav.sales'), waysPart('calendar'), element('div', { class: 'title-end' }, jump, ...newLink()))], loadedPlace({
        kind: 'panel',
        load: () => readAll('/sales', 'sales'),
        paint: (sales, place) => place.replaceChildren(calendarPart(sales, day, stateOfSale), element('p', { class: 'note', textContent: say('sale.zone', { zone: zoneName() }) })),
    }));
}

/* "3", "3/edit", "3/clone", "3/items/7", "new", "times", "day/2026-11-16". */
export function salesShow(main, [which, what, item]) {
    if (which === undefined)
        return listShow(main);
    if (which === 'new')
        return saleFormShow(main);
    if (which === 'times')
        return timetablesShow(main, waysPart('times'));
    if (which === 'day')
        return dayShow(main, what);
    if (what === 'edit')
        return saleEditShow(main, Number(which));
    if (what === 'clone')
        return cloneShow(main, Number(which));
    return what === 'items' ? itemEditShow(main, Number(which), Number(item)) : saleShow(main, Number(which));
}
