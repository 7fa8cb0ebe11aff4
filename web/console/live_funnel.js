// SPDX-License-Identifier: Apache-2.0
/* The funnel as it flows: a bar for each step from the door to the money, who went no further, and how many a second pass. */

import { element, textSet } from '../dom.js';
import { number, percent, rate } from './format.js';
import { named, say } from './i18n.js';
import { funnelOf, saleMetrics } from './live_model.js';

const REASONS_MAX = 3;
const BAR_LEAST = 0.6; /* percent: one of a million is still seen */

function stepMake(step) {
    const bar = element('i', { class: 'funnel-bar' });
    const count = element('b', { class: 'funnel-count' });
    const speed = element('span', { class: 'funnel-rate' });
    const share = element('span', { class: 'funnel-share' });
    const lost = element('ul', { class: 'funnel-lost' });
    const node = element('li', { 'data-step': step.key },
        element('span', { class: 'funnel-name', textContent: say(`funnel.${step.key}`) }),
        element('span', { class: 'funnel-track', 'aria-hidden': 'true' }, bar), count, share, speed, lost);
    return { node, bar, count, speed, share, lost };
}

/* The largest reasons first; the rest together. */
function lostPaint(list, lost) {
    const rows = Object.entries(lost).sort((a, b) => b[1] - a[1]);
    const shown = rows.slice(0, REASONS_MAX);
    const rest = rows.slice(REASONS_MAX).reduce((sum, [, count]) => sum + count, 0);
    const texts = shown.map(([name, count]) => `${named('reason', name)} ${number(count)}`);
    if (rest > 0)
        texts.push(`${say('funnel.others')} ${number(rest)}`);
    while (list.children.length > texts.length)
        list.lastChild.remove();
    texts.forEach((text, at) => {
        if (!list.children[at])
            list.append(element('li'));
        textSet(list.children[at], text);
    });
}

export function funnelMake() {
    const list = element('ol', { class: 'funnel' });
    const note = element('span', { class: 'panel-note' });
    let of = null;
    const node = element('section', { class: 'panel', 'aria-labelledby': 'funnel-title' },
        element('div', { class: 'panel-head' }, element('h2', { id: 'funnel-title', textContent: say('funnel.title') }),
            note), list);
    let rows = [];
    let before = null;
    let beforeMs = 0;
    return {
        node,
        paint(model, sale) {
            const one = model.last.sales.find(({ id }) => id === sale);
            if (sale !== of) { /* rates of another one mean nothing */
                before = null;
                of = sale;
            }
            textSet(note, say(one ? 'funnel.sale' : 'funnel.since'));
            const steps = funnelOf(one ? saleMetrics(one) : model.last.metrics);
            if (rows.length === 0) {
                rows = steps.map(stepMake);
                list.replaceChildren(...rows.map((row) => row.node));
            }
            const most = Math.max(1, ...steps.map(({ count }) => count));
            const seconds = (model.last.now_ms - beforeMs) / 1000;
            steps.forEach((step, at) => {
                const row = rows[at];
                const speed = before && seconds > 0 ? Math.max(0, step.count - before[at].count) / seconds : 0;
                row.bar.style.width = `${step.count > 0 ? Math.max(BAR_LEAST, (step.count / most) * 100) : 0}%`;
                textSet(row.count, number(step.count));
                textSet(row.share, at === 0 ? '' : percent(step.count, steps[0].count));
                textSet(row.speed, speed > 0 ? `+${rate(speed)}/s` : '');
                lostPaint(row.lost, step.lost);
            });
            if (model.last.now_ms > beforeMs) {
                before = steps;
                beforeMs = model.last.now_ms;
            }
        },
    };
}
