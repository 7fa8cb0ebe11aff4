// SPDX-License-Identifier: Apache-2.0
/* A line chart over time as SVG, with a legend and the same numbers as a table. Series have a name, a place in the palette
 * (0 … 5, console.css) and values, one for each time; null where there is none. */

import { element, textSet } from '../dom.js';
import { clockTime, rate } from './format.js';
import { say } from './i18n.js';

const WIDTH_LEAST = 280;
const WIDTH_FIRST = 600; /* until it is on the page */
const HEIGHT = 200;
const EDGE = { left: 44, right: 8, top: 8, bottom: 22 };
const ROWS_MAX = 30;
const TICKS = 4;
const SVG = 'http://www.w3.org/2000/svg';

export function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes))
        node.setAttribute(name, value);
    node.append(...children);
    return node;
}

/* A round number that is not below the largest value. */
export function ceiling(value) {
    if (value <= TICKS)
        return TICKS;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 4, 5, 8, 10].map((step) => step * power).find((step) => step >= value);
}

const missing = (value) => value === null || value === undefined;
const told = (value) => (missing(value) ? '–' : rate(value));

/* "M0 10L5 8": a gap where a value is missing; a value alone is a dot. */
export function pathOf(values, x, y) {
    let line = '';
    let gap = true;
    values.forEach((value, at) => {
        if (missing(value)) {
            gap = true;
            return;
        }
        line += `${gap ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
        if (gap && missing(values[at + 1]))
            line += 'h0';
        gap = false;
    });
    return line;
}

export function sparkMake() {
    const line = svg('path', { class: 'spark-line' });
    const area = svg('path', { class: 'spark-area' });
    const node = svg('svg', { class: 'spark', viewBox: '0 0 100 28', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, area, line);
    return {
        node,
        paint(values) {
            const top = Math.max(1, ...values);
            const drawn = pathOf(values, (at) => (at / Math.max(1, values.length - 1)) * 100, (value) => 27 - (value / top) * 25);
            line.setAttribute('d', drawn);
            area.setAttribute('d', drawn ? `${drawn}L100 28L0 28Z` : '');
        },
    };
}

export function chartMake(title, { unit = '' } = {}) {
    const grid = svg('g', { class: 'chart-grid' });
    const lines = svg('g', { class: 'chart-lines' });
    const picture = svg('svg', { class: 'chart', role: 'img', 'aria-label': title }, grid, lines);
    const legend = element('ul', { class: 'legend' });
    const head = element('tr');
    const body = element('tbody');
    const summary = element('summary', { textContent: say('chart.table') });
    const table = element('details', { class: 'chart-table' }, summary,
        element('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': title },
            element('table', {}, element('caption', { class: 'sr', textContent: title }), element('thead', {}, head), body)));
    const node = element('figure', { class: 'panel chart-panel' },
        element('figcaption', {}, element('h2', { textContent: title }), legend), picture, table);

    let width = WIDTH_FIRST; /* a unit is a pixel, so that words have their size */
    const x = (at, count) => EDGE.left + (count < 2 ? 1 : at / (count - 1)) * (width - EDGE.left - EDGE.right);

    function gridPaint(top, times) {
        const y = (value) => HEIGHT - EDGE.bottom - (value / top) * (HEIGHT - EDGE.top - EDGE.bottom);
        const parts = [];
        for (let tick = 0; tick <= TICKS; tick++) {
            const at = y((top * tick) / TICKS);
            parts.push(svg('line', { x1: EDGE.left, x2: width - EDGE.right, y1: at, y2: at }));
            const label = svg('text', { x: EDGE.left - 6, y: at + 4, 'text-anchor': 'end' });
            label.textContent = rate((top * tick) / TICKS);
            parts.push(label);
        }
        if (times.length > 1)
            for (const [place, anchor] of [[0, 'start'], [times.length - 1, 'end']]) {
                const label = svg('text', { x: x(place, times.length), y: HEIGHT - 5, 'text-anchor': anchor });
                label.textContent = clockTime(times[place]);
                parts.push(label);
            }
        grid.replaceChildren(...parts);
        return y;
    }

    function tablePaint(times, series) {
        head.replaceChildren(element('th', { scope: 'col', textContent: say('chart.time') }),
            ...series.map(({ name }) => element('th', { scope: 'col', textContent: name })));
        const rows = [];
        for (let at = times.length - 1; at >= 0 && rows.length < ROWS_MAX; at--)
            rows.push(element('tr', {}, element('th', { scope: 'row', textContent: clockTime(times[at]) }),
                ...series.map(({ values }) => element('td', { textContent: told(values[at]) }))));
        body.replaceChildren(...rows);
    }

    return {
        node,
        paint(times, series) {
            width = Math.max(WIDTH_LEAST, picture.clientWidth || WIDTH_FIRST);
            picture.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
            const top = ceiling(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
            const y = gridPaint(top, times);
            lines.replaceChildren(...series.map(({ values, place }) =>
                svg('path', { class: `series s${place}`, d: pathOf(values, (at) => x(at, times.length), y) })));
            const last = series.map(({ name, values }) => `${name} ${told(values.at(-1))}${unit}`);
            picture.setAttribute('aria-label', `${title}: ${last.join(', ')}`);
            if (legend.children.length !== series.length)
                legend.replaceChildren(...series.map(() => element('li', {}, element('i'), element('span'), element('b'))));
            series.forEach(({ name, place, values }, at) => {
                const [mark, word, value] = legend.children[at].children;
                mark.className = `key s${place}`;
                textSet(word, name);
                textSet(value, told(values.at(-1)));
            });
            if (table.open)
                tablePaint(times, series);
        },
        table,
    };
}
