// SPDX-License-Identifier: Apache-2.0
/* Sales that are over. There may be hundreds, so they are asked for on request only, page by page,
 * and once: they do not change any more. */

import { saleWhole, salesGet } from './api.js';
import { element, textSet } from './dom.js';
import { say } from './i18n.js';
import { createKeyed } from './keyed.js';
import { createSale } from './sale_part.js';

export function createPastSales(clock) {
    const title = element('h2', { class: 'past-title', tabIndex: -1 });
    const list = element('div', { class: 'sales' });
    const notice = element('p', { class: 'notice', role: 'status' });
    const more = element('button', { type: 'button', class: 'plain more' });
    const node = element('section', { class: 'past', hidden: true }, title, list, notice, more);
    const salesPaint = createKeyed(list, (id) => createSale(() => wholeAsk(id), id));
    let sales = [];
    let next; /* where the next page begins */
    let opened = false;
    let asking = false;
    let troubled = false;
    let count = 0;

    async function ask(act) {
        if (asking)
            return;
        asking = true;
        troubled = false;
        paint();
        try {
            await act();
        } catch {
            troubled = true;
        }
        asking = false;
        paint();
    }

    const wholeAsk = (id) => ask(async () => {
        const whole = await saleWhole(id);
        sales = sales.map((sale) => (sale.id === id ? whole : sale));
    });

    const pageAsk = () => ask(async () => {
        const page = await salesGet({ ended: true, after: next });
        sales = [...sales, ...page.sales];
        ({ next } = page);
        opened = true;
    });

    more.addEventListener('click', async () => {
        const first = list.childElementCount;
        await pageAsk();
        list.children[first]?.querySelector('h2').focus(); /* the button may be gone by now */
    });

    function paint() {
        node.hidden = count === 0 && !opened;
        title.hidden = !opened;
        textSet(title, say('past.title'));
        textSet(notice, troubled ? say('past.trouble') : '');
        notice.hidden = !troubled;
        textSet(more, opened ? say('past.more') : say('past.show', { count }));
        more.hidden = opened && next === undefined;
        more.setAttribute('aria-busy', String(asking));
        const now = clock.now();
        salesPaint(sales, (part, sale) => part.paint(sale, now));
    }

    return {
        node,
        paint,
        /* How many there are, as the list of the others says. */
        countSet(ended) {
            count = ended;
        },
    };
}
