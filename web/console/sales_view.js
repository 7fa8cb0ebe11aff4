// SPDX-License-Identifier: Apache-2.0
/* The list of sales, with search; one sale and a new one have screens of their own. */

import { element } from '../dom.js';
import { readAll } from './api.js';
import { moment, zoneName } from './format.js';
import { named, say } from './i18n.js';
import { chip, guarded, table, titleRow } from './parts.js';
import { saleFormShow } from './sale_form.js';
import { saleShow } from './sale_view.js';
import { may } from './session.js';

const ORDER = ['open', 'paused', 'scheduled', 'draft', 'ended'];

export const stateOfSale = (sale) => (sale.published || sale.gate === 'ended' ? sale.gate : 'draft');

/* What runs first, then what comes, the earliest first; what is over last, the latest first. */
export function salesSort(sales) {
    return [...sales].sort((a, b) => {
        const [one, other] = [a, b].map((sale) => ORDER.indexOf(stateOfSale(sale)));
        return one - other || (stateOfSale(a) === 'ended' ? b.start_ms - a.start_ms : a.start_ms - b.start_ms);
    });
}

function listShow(main) {
    let ended = false;
    const search = element('input', { type: 'search', placeholder: say('sales.search'), 'aria-label': say('sales.search') });
    const place = element('div', { class: 'panel' }, element('p', { class: 'none', textContent: say('list.loading') }));
    const fresh = element('a', { class: 'main', href: '#/sales/new', textContent: say('sale.new') });
    main.replaceChildren(titleRow(say('nav.sales'), element('div', { class: 'title-end' }, search, ...(may('admin') ? [fresh] : []))), place);
    guarded(place, async () => {
        const sales = salesSort(await readAll('/sales', 'sales'));
        const paint = () => {
            const wanted = search.value.trim().toLowerCase();
            const rows = sales.filter(({ title, id }) => title.toLowerCase().includes(wanted) || String(id) === wanted);
            place.replaceChildren(table(say('nav.sales'),
                [say('sale.title'), say('sale.state'), say('sale.start'), say('sale.end'), say('sale.check')],
                rows.map((sale) => [element('a', { href: `#/sales/${sale.id}`, textContent: sale.title }),
                    chip(named('gate', stateOfSale(sale)), stateOfSale(sale)), moment(sale.start_ms), moment(sale.end_ms),
                    `${named('check', sale.human_check)}${sale.waiting_room ? ` · ${say('sale.room')}` : ''}`]), say('sales.none')),
            element('p', { class: 'note', textContent: say('sale.zone', { zone: zoneName() }) }));
        };
        if (ended)
            return;
        search.addEventListener('input', paint);
        paint();
    }, () => ended);
    return () => {
        ended = true;
    };
}

export function salesShow(main, [which]) {
    if (which === undefined)
        return listShow(main);
    if (which === 'new')
        return saleFormShow(main);
    return saleShow(main, Number(which));
}
