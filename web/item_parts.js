// SPDX-License-Identifier: Apache-2.0
/* The parts of an item that its page and its card in the list have in common. */

import { attributeSet, element, textSet } from './dom.js';
import { clockText, count, moment, money, saving } from './format.js';
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

/* `share`: how much is taken, for a list; else how much is left. */
export function createStock({ share = false } = {}) {
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
        const taken = share && item.started && given > 0;
        const gone = Math.max(0, Math.min(given, given - free));
        textSet(words, taken ? say('stock.taken', { percent: count(Math.floor((100 * gone) / given)) }) : stockWords(item));
        textSet(limit, limitWords(item.limit_per_user));
        attributeSet(bar, 'max', String(Math.max(1, given)));
        attributeSet(bar, 'value', String(taken ? gone : given - gone));
        attributeSet(bar, 'aria-label', say(taken ? 'stock.takenLabel' : 'stock.label'));
        node.dataset.low = String(free * 5 <= given);
    }

    return { node, paint };
}

const LAST_HOUR_MS = 3_600_000;

/* When an item is sold, in one line: its start, its end, or that it is over. */
export function whenWords(phase, item, now) {
    if (phase === 'before')
        return say('countdown.at', { time: moment(item.start_ms) });
    /* A sale ended by hand ended before its planned end, at a moment the page does not know. */
    if (phase === 'ended')
        return now < item.end_ms ? '' : say('countdown.over', { time: moment(item.end_ms) });
    if (phase !== 'open' && phase !== 'full')
        return ''; /* when something ends that can't be had is no news */
    if (item.end_ms - now < LAST_HOUR_MS)
        return say('countdown.left', { time: clockText(item.end_ms - now, '') });
    return say('countdown.until', { time: moment(item.end_ms) });
}

export function stockWords({ counts: { free, given } }) {
    return say('stock.left', { free: count(free), given: count(given) });
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
