// SPDX-License-Identifier: Apache-2.0
/* What is said and offered when nothing is left: how it went, and what else there is. */

import { element, routeLink, textSet } from './dom.js';
import { count, money } from './format.js';
import { nameOf, say } from './i18n.js';
import { createKeyed } from './keyed.js';

const OTHERS_MAX = 3;
const SECONDS_MAX_MS = 100_000;
const LATE_MAX_MS = 60_000; /* who came minutes after the start need not be told by how much */

/* Items of the same sale that can still be bought. */
export const othersOf = (items, id) =>
    items.filter((item) => item.id !== id && item.accepting && item.counts.free > 0).slice(0, OTHERS_MAX);

/* null: there is something left, or one has it. `tappedMs`: server time of a tap that was refused, or 0. */
export function lostModel({ phase, item, owned, waiting, tappedMs, others }) {
    if (phase !== 'soldOut' || owned)
        return null;
    const after = tappedMs - item.start_ms;
    const tried = tappedMs > 0 && after >= 0 && after <= LATE_MAX_MS;
    const goneMs = (item.sold_out_ms ?? 0) - item.start_ms; /* negative: not known, or opened by hand before its start */
    return {
        gone: goneMs <= 0 ? null : goneMs < SECONDS_MAX_MS ? ['lost.after', { seconds: (goneMs / 1000).toFixed(1) }] : ['lost.afterMinutes', { minutes: count(Math.round(goneMs / 60_000)) }],
        words: item.counts.given === 0 ? 'lost.nothing' : tried ? 'lost.came' : waiting ? 'lost.waiting' : 'lost.gone',
        values: { after: (after / 1000).toFixed(1), given: count(item.counts.given) },
        others,
        sale: item.sale,
    };
}

export function createLostBox() {
    const title = element('h2', { class: 'lost-title' });
    const gone = element('p', { class: 'lost-gone' });
    const words = element('p', { class: 'lost-words' });
    const more = element('p', { class: 'lost-more' });
    const list = element('ul', { class: 'lost-others' });
    const report = routeLink('/', { class: 'sale-report' });
    const node = element('section', { class: 'lost' }, title, gone, words, report, more, list);
    const othersPaint = createKeyed(list, () => {
        const name = element('span', { class: 'lost-name' });
        const price = element('strong');
        const link = routeLink('/', { class: 'lost-link' }, name, price);
        return {
            node: element('li', {}, link),
            paint(item) {
                link.href = `/items/${item.id}/`;
                textSet(name, nameOf(item));
                textSet(price, money(item.flash_price, item));
            },
        };
    });
    node.hidden = true;

    return {
        node,
        paint(model) {
            node.hidden = model === null;
            if (model === null)
                return;
            textSet(title, say('lost.title'));
            textSet(gone, model.gone === null ? '' : say(...model.gone));
            gone.hidden = model.gone === null;
            textSet(words, say(model.words, model.values));
            report.href = `/?report=${model.sale}`;
            textSet(report, say('sale.report'));
            textSet(more, say('lost.others'));
            more.hidden = list.hidden = model.others.length === 0;
            othersPaint(model.others, (part, item) => part.paint(item));
        },
    };
}
