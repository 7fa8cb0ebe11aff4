// SPDX-License-Identifier: Apache-2.0
/* The countdown to the start, then to the end. Read on demand, not announced every second. */

import { element, textSet } from './dom.js';
import { durationParts, moment } from './format.js';
import { say } from './i18n.js';

const UNITS = ['days', 'hours', 'minutes', 'seconds'];

export function createCountdown() {
    const label = element('p', { class: 'countdown-label' });
    const when = element('p', { class: 'countdown-when' });
    const cells = UNITS.map((unit) => {
        const digits = element('span', { class: 'digits' });
        const name = element('span', { class: 'unit' });
        return { unit, digits, name, box: element('span', { class: 'cell' }, digits, name) };
    });
    const timer = element('div', { class: 'cells', role: 'timer' }, ...cells.map((c) => c.box));
    const node = element('div', { class: 'countdown' }, label, when, timer);

    /* `timed` has start_ms and end_ms: an item or a sale. */
    function paint(phase, timed, now) {
        const before = phase === 'before';
        const target = before ? timed.start_ms : timed.end_ms;
        const over = phase === 'ended';
        node.hidden = phase === 'unknown';
        node.dataset.phase = phase;
        timer.hidden = over;
        label.hidden = over;
        textSet(label, say(before ? 'countdown.toStart' : 'countdown.toEnd'));
        const sentence = over ? 'countdown.over' : before ? 'countdown.at' : 'countdown.until';
        /* A sale ended by hand ended before its planned end, at a moment the page does not know. */
        when.hidden = over && now < timed.end_ms;
        textSet(when, say(sentence, { time: moment(target) }));
        const parts = durationParts(target - now);
        for (const cell of cells) {
            cell.box.hidden = cell.unit === 'days' && parts.days === 0;
            textSet(cell.digits, String(parts[cell.unit]));
            const one = cell.unit === 'days' && parts.days === 1;
            textSet(cell.name, say(one ? 'unit.day' : `unit.${cell.unit}`));
        }
    }

    return { node, paint };
}
