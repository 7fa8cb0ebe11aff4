// SPDX-License-Identifier: Apache-2.0
/* Which part of the past the charts show: the last minutes as they come, or an hour or a day that one can scroll. */

import { element, textSet } from '../dom.js';
import { readAll } from './api.js';
import { moment } from './format.js';
import { say } from './i18n.js';
import { pointsOf, RANGES } from './live_model.js';
import { button } from './parts.js';

const EVERY_MS = 10_000;
const SHIFT = 0.5; /* of what is shown, with each press */
const POINTS_MAX = 400;

/* Rows of the server after a time, the oldest first. */
export const pastRead = (step, after) => readAll(`/live/history?step_s=${step}`, 'rows', { first: after });

/* At most so many rows, evenly: more than a chart has pixels for. */
export function thinned(rows, most = POINTS_MAX) {
    const every = Math.ceil(rows.length / most);
    return every <= 1 ? rows : rows.filter((_, at) => (rows.length - 1 - at) % every === 0);
}

/* `points()`: what the charts show; null: what comes now. */
export function historyMake(paint) {
    let range = RANGES[0];
    let back = 0; /* seconds that the window ends before now */
    let points = null;
    let timer;
    let asked = 0;
    const label = element('span', { class: 'past-label', role: 'status' });
    const buttons = RANGES.map((one) => button(say(`range.${one.key}`), () => choose(one), 'plain small'));
    const earlier = button('‹', () => scroll(1), 'plain small');
    const later = button('›', () => scroll(-1), 'plain small');
    earlier.setAttribute('aria-label', say('range.earlier'));
    later.setAttribute('aria-label', say('range.later'));
    const node = element('div', { class: 'past', role: 'group', 'aria-label': say('range.label') }, ...buttons, earlier, later, label);

    async function look() {
        clearTimeout(timer);
        const turn = ++asked;
        const end = Date.now() - back * 1000;
        const live = range === RANGES[0] && back === 0;
        buttons.forEach((one, at) => one.setAttribute('aria-pressed', String(RANGES[at] === range)));
        later.disabled = back === 0;
        if (live) {
            points = null;
            textSet(label, say('range.live'));
            paint();
            return;
        }
        const rows = await pastRead(range.step_s, Math.round(end - range.span_s * 1000)).catch(() => null);
        if (turn !== asked)
            return;
        if (rows !== null) {
            points = pointsOf(thinned(rows.filter(({ time_ms: time }) => time <= end)));
            textSet(label, points.length === 0 ? say('range.none') : `${moment(points[0].time, true)} – ${moment(points.at(-1).time, true)}`);
            paint();
        }
        if (back === 0)
            timer = setTimeout(look, EVERY_MS);
    }
    function choose(one) {
        range = one;
        back = 0;
        look();
    }
    function scroll(way) {
        back = Math.max(0, back + way * range.span_s * SHIFT);
        look();
    }
    look();
    return {
        node,
        points: () => points,
        end() {
            asked++;
            clearTimeout(timer);
        },
    };
}
