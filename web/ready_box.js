// SPDX-License-Identifier: Apache-2.0
/* The checklist before the start as the page shows it. Rows stay and their words change, so that the
 * keyboard keeps its place. `acts`: { address, check } are called by the buttons of their rows,
 * { remind, reminded } by the one under them. */

import { createDetailsForm } from './details_form.js';
import { attributeSet, element, textSet } from './dom.js';
import { timeOfDay } from './format.js';
import { say } from './i18n.js';

function createRow(acted) {
    const mark = element('span', { class: 'ready-mark', 'aria-hidden': 'true' });
    const state = element('span', { class: 'visually-hidden' });
    const words = element('span', { class: 'ready-words' });
    const button = element('button', { class: 'link', type: 'button' });
    const link = element('a', { class: 'plain strong ready-link' });
    const node = element('li', { class: 'ready-row' }, mark, state, words, button, link);
    button.addEventListener('click', acted);
    return {
        node,
        focus: () => button.focus(),
        paint(row) {
            node.dataset.done = String(row.done);
            textSet(state, `${say(row.done ? 'ready.done' : 'ready.open')}: `);
            const from = row.fromMs === undefined ? '' : timeOfDay(row.fromMs);
            textSet(words, say(row.words, { ...row.values, time: from }));
            const linked = row.link !== undefined && row.link !== '';
            button.hidden = row.act === undefined || row.link !== undefined;
            link.hidden = !linked;
            if (linked)
                link.href = row.link;
            textSet(linked ? link : button, row.act === undefined ? '' : say(row.act));
        },
    };
}

export function createReadyBox(acts) {
    const title = element('h2', { class: 'ready-title' });
    const list = element('ul', { class: 'ready-list' });
    const words = element('p', { class: 'ready-sum' });
    const remind = element('button', { class: 'plain ready-remind', type: 'button' });
    const reminded = element('p', { class: 'ready-sum', role: 'status' });
    const form = createDetailsForm((details) => {
        editing = false;
        acts.detailsSaved(details);
        rows.get('address')?.focus();
    });
    const node = element('section', { class: 'ready' }, title, list, form.node, words, remind, reminded);
    remind.addEventListener('click', async () => {
        await acts.remind();
        remindPaint();
    });
    const rows = new Map();
    let editing = false;
    node.hidden = true;

    function rowOf(id) {
        if (!rows.has(id))
            rows.set(id, createRow(() => (id === 'address' ? edit() : acts.check())));
        return rows.get(id);
    }

    function edit() {
        editing = true;
        acts.changed();
        form.focus();
    }

    function remindPaint() {
        const set = acts.reminded();
        attributeSet(remind, 'aria-pressed', String(set));
        textSet(remind, say(set ? 'remind.on' : 'remind.set'));
        textSet(reminded, set ? say('remind.words') : '');
        reminded.hidden = !set;
    }

    /* An address that is being typed stays when the sale starts. `started`: the box keeps its place, so that nothing on the page moves
     * at the start; it goes with the screen. */
    function paint(model, started = false) {
        const over = model === null && started && !node.hidden && !editing;
        node.dataset.over = String(over);
        if (over)
            return;
        node.hidden = model === null && !editing;
        form.node.hidden = !editing;
        list.hidden = words.hidden = model === null;
        /* In a page of the shop's own, the address of the entry would not be ours. */
        remind.hidden = model === null || (globalThis.ShadowRoot !== undefined && node.getRootNode() instanceof ShadowRoot);
        reminded.hidden = true;
        if (!remind.hidden)
            remindPaint();
        form.paint();
        textSet(title, say('ready.title'));
        if (model === null)
            return;
        const nodes = model.rows.map((row) => {
            const shown = rowOf(row.id);
            shown.paint(row);
            return shown.node;
        });
        if (nodes.length !== list.childElementCount || nodes.some((one, at) => list.children[at] !== one))
            list.replaceChildren(...nodes);
        node.dataset.ready = String(model.ready);
        textSet(words, say(model.ready ? 'ready.all' : 'ready.some'));
    }

    return { node, paint };
}
