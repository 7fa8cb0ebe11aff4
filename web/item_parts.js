/* The parts of an item that its page and its card in the list have in common. */

import { attributeSet, element, textSet } from './dom.js';
import { count, money, saving } from './format.js';
import { say } from './i18n.js';

export function createPrices() {
    const flashName = element('span', { class: 'visually-hidden' });
    const flash = element('strong', { class: 'price-flash' });
    const listName = element('span', { class: 'visually-hidden' });
    const listAmount = element('span');
    const list = element('s', { class: 'price-list' }, listName, listAmount);
    const off = element('span', { class: 'price-saving' });
    const node = element('p', { class: 'prices' }, flashName, flash, ' ', list, ' ', off);

    function paint(item) {
        textSet(flashName, `${say('price.flash')} `);
        textSet(flash, money(item.flash_price, item));
        textSet(listName, `${say('price.list')} `);
        textSet(listAmount, money(item.list_price, item));
        list.hidden = !(item.list_price > item.flash_price);
        const words = saving(item.list_price, item.flash_price, say);
        textSet(off, words);
        off.hidden = words === '';
    }

    return { node, paint };
}

function limitWords(limit) {
    if (limit === 1)
        return say('limit.one');
    return limit > 1 ? say('limit.many', { limit }) : '';
}

export function createStock() {
    const words = element('span', { class: 'stock-words' });
    const limit = element('span', { class: 'stock-limit' });
    const bar = element('progress', { class: 'stock-bar' });
    const node = element(
        'div',
        { class: 'stock' },
        element('p', { class: 'stock-line' }, words, limit),
        bar,
    );

    function paint(item) {
        const { free, given } = item.counts;
        textSet(words, say('stock.left', { free: count(free), given: count(given) }));
        textSet(limit, limitWords(item.limit_per_user));
        attributeSet(bar, 'max', String(Math.max(1, given)));
        attributeSet(bar, 'value', String(Math.max(0, Math.min(free, given))));
        attributeSet(bar, 'aria-label', say('stock.label'));
        node.dataset.low = String(free * 5 <= given);
    }

    return { node, paint };
}

export function createPhaseBadge() {
    const node = element('span', { class: 'badge' });
    return {
        node,
        paint(phase) {
            textSet(node, say(`phase.${phase}`));
            node.dataset.phase = phase;
        },
    };
}
