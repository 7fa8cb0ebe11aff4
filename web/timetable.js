// SPDX-License-Identifier: Apache-2.0
/* The times of the sales as a row of buttons over the list: what runs now, then the next starts. A button leads to its sale. */

import { element, textSet } from './dom.js';
import { clockText, dayAndMonth, hourAndMinute } from './format.js';
import { say } from './i18n.js';
import { createKeyed } from './keyed.js';
import { salePhase } from './sale_part.js';

const TIMES_MAX = 8;
const NEAR_MS = 3_600_000;
const LIVE = 0; /* its id */

/* One entry for what runs now, one for each start that is to come; none where there is nothing to choose. */
export function timesOf(sales, now) {
    const times = new Map();
    for (const sale of sales) {
        const phase = salePhase(sale, now);
        if (phase === 'ended')
            continue;
        const id = phase === 'before' ? sale.start_ms : LIVE;
        if (!times.has(id))
            times.set(id, { id, sale: sale.id });
    }
    return times.size < 2 ? [] : [...times.values()].sort((a, b) => a.id - b.id).slice(0, TIMES_MAX);
}

export function timeWords({ id }, now) {
    if (id === LIVE)
        return [say('times.now'), say('phase.open')];
    const left = id - now;
    const today = new Date(id).toDateString() === new Date(now).toDateString();
    return [hourAndMinute(id), left < NEAR_MS ? say('times.in', { time: clockText(left, '') }) : today ? say('phase.before') : dayAndMonth(id)];
}

/* `go(sale)` shows the sale. */
export function createTimetable(go) {
    const list = element('ul', { class: 'times' });
    const node = element('nav', { class: 'timetable', hidden: true }, list);
    const entriesPaint = createKeyed(list, (id) => {
        const time = element('b');
        const note = element('span');
        const button = element('button', { type: 'button', class: 'time' }, time, note);
        let sale;
        button.dataset.live = String(id === LIVE);
        button.addEventListener('click', () => go(sale));
        return {
            node: element('li', {}, button),
            paint(entry, now) {
                ({ sale } = entry);
                const words = timeWords(entry, now);
                textSet(time, words[0]);
                textSet(note, words[1]);
            },
        };
    });
    return {
        node,
        paint(sales, now) {
            const times = timesOf(sales, now);
            node.hidden = times.length === 0;
            node.setAttribute('aria-label', say('times.label'));
            const shown = [];
            entriesPaint(times, (part, entry) => {
                part.paint(entry, now);
                shown.push(part.node);
            });
            if (shown.some((one, at) => list.children[at] !== one) && !list.contains(document.activeElement))
                list.replaceChildren(...shown); /* one has started, and goes to the front */
        },
    };
}
