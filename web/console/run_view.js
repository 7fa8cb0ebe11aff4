// SPDX-License-Identifier: Apache-2.0
/* Run: what an operator can turn while a sale runs. Degrade switches from mild to harsh, how fast the waiting rooms let people
 * in, the sales that run, and who turned what. */

import { element, textSet } from '../dom.js';
import { auditOfAction } from './audit.js';
import { read } from './api.js';
import { number, rate } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { button, chip, loadedPlace, loadedShow, panel, table, titleRow } from './parts.js';
import { isTurned, roomsOf, SWITCHES } from './switch_kinds.js';
import { hitsSay, switchRow } from './switch_row.js';

const EVERY_MS = 2000;

const itemsOf = ({ sales }) => sales.flatMap(({ items }) => items.map(({ id, product }) => ({ id, name: nameIn(product) })));

/* Says what was done, with a way back while nobody has turned anything else. */
function undoTeller(again) {
    const words = element('span', { role: 'status' });
    const node = element('p', { class: 'told undo', 'data-grade': 'good', hidden: true }, words);
    return {
        node,
        tell(text, undo) {
            node.hidden = false;
            textSet(words, text);
            const back = button(say('undo'), async () => {
                back.disabled = true;
                await undo().then(() => textSet(words, say('undo.done')), (wrong) => textSet(words, wrong.status ? wrong.message : say('sign.away')));
                back.remove();
                again();
            }, 'plain small');
            node.replaceChildren(words, ...(undo === null ? [] : [back]));
        },
    };
}

function roomsPart(rows) {
    return table(say('live.rooms'), [say('live.sale'), say('room.in-line'), say('room.in'), say('room.speed')],
        rows.map(({ id, title, line, admitted, drawn, rate: speed }) => [element('a', { href: `#/sales/${id}`, textContent: title }), number(line), number(admitted),
            drawn ? say('switch.per_s', { count: rate(speed) }) : say('room.undrawn')]), say('room.none'));
}

function salesPart(snapshot) {
    return table(say('nav.sales'), [say('sale.title'), say('sale.state'), say('tile.left')],
        snapshot.sales.map((sale) => [element('a', { href: `#/sales/${sale.id}`, textContent: nameIn(sale) }), chip(named('gate', sale.state), sale.state),
            number(sale.items.reduce((sum, { counts }) => sum + counts.free, 0))]), say('state.idle'));
}

export function runShow(main) {
    let shown = '';
    let before = null;
    const now = { values: null, snapshot: null, rooms: [], seconds: 0 };
    const seen = () => ({
        values: now.values,
        items: itemsOf(now.snapshot),
        itemName: (id) => itemsOf(now.snapshot).find((item) => item.id === id)?.name ?? String(id),
        figures(kind) {
            if (kind.name === 'room_rate')
                return say('switch.line', { count: number(now.rooms.reduce((sum, { line }) => sum + line, 0)), rooms: number(now.rooms.length) });
            return hitsSay(kind, now.snapshot.metrics, before?.metrics ?? null, now.seconds);
        },
    });
    const teller = undoTeller(() => place.look());
    const rows = SWITCHES.map((kind) => switchRow(kind, seen, (words, undo) => {
        teller.tell(words, undo);
        place.look();
    }));
    const sentence = element('p', { class: 'pill', role: 'status' });
    const lists = element('div', { class: 'stack' });
    const trail = element('div', { class: 'stack' });
    const parts = [teller.node, element('div', { class: 'grid wide-left' },
        panel(say('switch.title'), element('p', { class: 'note', textContent: say('switch.note') }), element('ul', { class: 'switches' }, ...rows.map(({ node }) => node))), lists), trail];

    function listsPaint() {
        const said = JSON.stringify([now.rooms, now.snapshot.sales.map(({ id, title, state, items }) => [id, title, state, items.map(({ counts }) => counts.free)])]);
        if (said === shown)
            return;
        shown = said;
        lists.replaceChildren(panel(say('live.rooms'), roomsPart(now.rooms)), panel(say('switch.sales'), salesPart(now.snapshot)));
    }

    function paint([values, snapshot, entries], node) {
        before = now.snapshot;
        Object.assign(now, { values, snapshot, rooms: roomsOf(before, snapshot), seconds: before === null ? 0 : (snapshot.now_ms - before.now_ms) / 1000 });
        const turned = SWITCHES.filter((kind) => isTurned(kind, values[kind.name])).length;
        textSet(sentence, turned === 0 ? say('switch.calm') : say('switch.turned', { count: turned }));
        sentence.dataset.grade = turned === 0 ? 'calm' : 'warn';
        rows.forEach((row) => row.paint());
        listsPaint();
        if (trail.dataset.last !== String(entries.last)) {
            trail.dataset.last = String(entries.last);
            trail.replaceChildren(entries.node);
        }
        if (!node.contains(lists))
            node.replaceChildren(...parts);
    }
    const place = loadedPlace({ load: () => Promise.all([read('/switches'), read('/live'), auditOfAction('switch.set')]), paint, every_ms: EVERY_MS });
    return loadedShow(main, [titleRow(say('nav.run'), sentence)], place);
}
