// SPDX-License-Identifier: Apache-2.0
/* What the screens have in common: titles, fields, tables, and lists that are being loaded. */

import { element, textSet } from '../dom.js';
import { fileSave, tableText } from './csv.js';
import { say } from './i18n.js';

let fieldsMade = 0;

export function titleRow(title, ...more) {
    return element('div', { class: 'title-row' }, element('h1', { textContent: title }), ...more);
}

export function button(words, act, kind = 'plain') {
    const node = element('button', { type: 'button', class: kind, textContent: words });
    node.addEventListener('click', act);
    return node;
}

export const chip = (words, state = '') => element('span', { class: 'chip', 'data-state': state, textContent: words });

/* A label with its input, and help under it. */
export function field(label, input, help = '') {
    const id = `field${++fieldsMade}`;
    input.id = id;
    const node = element('div', { class: 'field' }, element('label', { htmlFor: id, textContent: label }), input);
    if (help !== '') {
        input.setAttribute('aria-describedby', `${id}-help`);
        node.append(element('p', { class: 'help', id: `${id}-help`, textContent: help }));
    }
    return node;
}

export function choice(options, value) {
    const select = element('select', {}, ...options.map(([name, words]) => element('option', { value: name, textContent: words })));
    select.value = value ?? options[0][0];
    return select;
}

export function facts(rows) {
    return element('dl', { class: 'facts' }, ...rows.filter(Boolean).map(([name, value]) =>
        element('div', {}, element('dt', { textContent: name }), element('dd', {}, value instanceof Node ? value : String(value)))));
}

/* `rows`: lists of texts or nodes. On a phone each row is a small card, with the names of the columns in it. */
export function table(caption, columns, rows, none = say('list.none')) {
    if (rows.length === 0)
        return element('p', { class: 'none', textContent: none });
    const cells = (row) => row.map((cell, at) => {
        const node = element(at === 0 ? 'th' : 'td', at === 0 ? { scope: 'row' } : {}, cell instanceof Node ? cell : String(cell));
        if (columns[at])
            node.dataset.column = columns[at];
        return node;
    });
    return element('table', { class: 'rows' }, element('caption', { class: 'sr', textContent: caption }),
        element('thead', {}, element('tr', {}, ...columns.map((name) => (name ? element('th', { scope: 'col', textContent: name }) : element('td'))))),
        element('tbody', {}, ...rows.map((row) => element('tr', {}, ...cells(row)))));
}

export function panel(title, ...children) {
    return element('section', { class: 'panel' }, element('div', { class: 'panel-head' }, element('h2', { textContent: title })), ...children);
}

/* A panel with a list, which can be saved as a file for spreadsheets as it is shown. `file`: its name, without the ending. */
export function listPanel(title, file, list, ...more) {
    const head = element('div', { class: 'panel-head' }, element('h2', { textContent: title }));
    if (list.tagName === 'TABLE') {
        const save = button('CSV', () => fileSave(`${file}.csv`, tableText(list), 'text/csv'), 'plain small');
        save.setAttribute('aria-label', say('list.csv', { title }));
        head.append(save);
    }
    return element('section', { class: 'panel' }, head, list, ...more);
}

/* Runs `paint` and tells in the page when it fails. `ended()`: another screen is shown by now. */
export async function guarded(place, paint, ended = () => false) {
    try {
        await paint();
    } catch (wrong) {
        if (!ended() && wrong.status !== 401)
            place.replaceChildren(element('p', { class: 'told', role: 'alert', textContent: wrong.status ? wrong.message : say('sign.away') }));
    }
}

/* A part of the page that is read from the server. `load` reads; `paint(answer, node)` shows what came. Neither counts after the end.
 * `every_ms`: it is read again, but not while the page is hidden. */
export function loadedPlace({ load, paint, kind = 'stack', every_ms: every = 0 }) {
    let ended = false;
    let timer;
    const node = element('div', { class: kind }, element('p', { class: 'none', textContent: say('list.loading') }));
    const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => (document.hidden ? wait() : look()), every);
    };
    async function look(...how) {
        clearTimeout(timer);
        await guarded(node, async () => {
            const answer = await load(...how);
            if (!ended)
                paint(answer, node);
        }, () => ended);
        if (every > 0 && !ended)
            wait();
    }
    function end() {
        ended = true;
        clearTimeout(timer);
    }
    return { node, look, end };
}

/* A screen that is loaded, under the nodes `above`. Returns what ends it. */
export function loadedShow(main, above, place) {
    main.replaceChildren(...above, place.node);
    place.look();
    return place.end;
}

/* A line that tells what was done. */
export function tellerMake() {
    const node = element('p', { class: 'told', role: 'status', 'data-grade': 'good' });
    return { node, tell: (words) => textSet(node, words) };
}
