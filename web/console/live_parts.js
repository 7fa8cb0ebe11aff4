// SPDX-License-Identifier: Apache-2.0
/* The lists of the live screen: alarms, waiting rooms, stock of each item, who was refused. */

import { element, pictureOf, textSet } from '../dom.js';
import { moment, number, percent } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { told } from './server_words.js';

const UNITS = ['sold', 'held', 'free', 'safety', 'written_off'];

export function panelMake(title, id, ...children) {
    return element('section', { class: 'panel', 'aria-labelledby': id },
        element('div', { class: 'panel-head' }, element('h2', { id, textContent: title })), ...children);
}

const ENDED_MS = 10 * 60 * 1000; // so long an alarm that is over is still shown

/* Paints a list only when what it says has changed. */
export function listMake(node, rowMake, none) {
    let shown;
    return (rows) => {
        const said = JSON.stringify(rows);
        if (said === shown)
            return;
        shown = said;
        node.replaceChildren(...(rows.length > 0 ? rows.map(rowMake) : [element('li', { class: 'none', textContent: none })]));
    };
}

export function alarmsMake() {
    const list = element('ul', { class: 'alarms' });
    const paint = listMake(list, ({ name, detail, up, since_ms: since, last_since_ms: from, last_end_ms: to }) =>
        element('li', { 'data-grade': up && name !== 'test-mode' ? 'bad' : 'calm' }, element('b', { textContent: named('alarm', name) }),
            element('span', { textContent: told(detail) }),
            element('small', { textContent: up ? say('alarm.since', { time: moment(since, true) }) : say('alarm.ended', { from: moment(from, true), to: moment(to, true) }) })),
    say('alarm.none'));
    /* Those that are up, then those that ended within the last minutes. */
    const shown = ({ alarms, now_ms: now }) => [...alarms.filter(({ up }) => up), ...alarms.filter(({ up, last_end_ms: end }) => !up && end > now - ENDED_MS)];
    return { node: panelMake(say('live.alarms'), 'alarms-title', list), paint: (snapshot) => paint(shown(snapshot)) };
}

export function roomsMake() {
    const list = element('ul', { class: 'rooms' });
    const node = panelMake(say('live.rooms'), 'rooms-title', list);
    const paint = listMake(list, ({ title, room }) => {
        const line = Math.max(0, room.arrived - room.admitted);
        return element('li', {}, element('b', { textContent: title }),
            element('span', { class: 'room-line', textContent: say('room.line', { count: number(line) }) }),
            element('small', { textContent: say(room.drawn ? 'room.drawn' : 'room.waiting', { arrived: number(room.arrived), admitted: number(room.admitted) }) }));
    }, say('room.none'));
    return {
        node,
        paint: (snapshot, sale) => paint(snapshot.sales.filter((one) => one.room && (sale === null || one.id === sale))
            .map((one) => ({ title: nameIn(one), room: one.room }))),
    };
}

/* A bar of an item's units: sold, held, free and kept back, in that order. */
export function unitsBar(counts) {
    const given = Math.max(1, counts.given);
    const parts = UNITS.filter((name) => counts[name] > 0).map((name) => {
        const part = element('i', { class: `units ${name}` });
        part.style.width = `${(counts[name] / given) * 100}%`;
        return part;
    });
    const words = UNITS.filter((name) => counts[name] > 0).map((name) => `${say(`units.${name}`)} ${number(counts[name])}`);
    return [
        element('span', { class: 'units-bar', 'aria-hidden': 'true' }, ...parts),
        element('span', { class: 'units-words', textContent: words.join(' · ') }),
    ];
}

export function stockMake() {
    const list = element('ul', { class: 'stock' });
    const paint = listMake(list, ({ id, product, counts, preheated, state }) =>
        element('li', { 'data-item': id }, pictureOf(product, { class: 'thumb', width: 44, height: 44 }),
            element('div', {}, element('div', { class: 'stock-head' }, element('b', { textContent: nameIn(product) }),
                element('span', { class: 'chip', 'data-state': state, textContent: preheated && counts.free === 0 ? say('units.gone') : named('gate', state) }),
                element('span', { class: 'stock-left', textContent: preheated ? say('units.left', { free: number(counts.free), share: percent(counts.sold + counts.held, counts.given) }) : say('units.cold') })),
            ...unitsBar(counts))),
    say('stock.none'));
    return {
        node: panelMake(say('live.stock'), 'stock-title', list),
        paint: (snapshot, sale) => paint(snapshot.sales.filter((one) => sale === null || one.id === sale)
            .flatMap(({ items, state }) => items.map(({ id, product, counts, preheated }) => ({ id, product, counts, preheated, state })))),
    };
}

export function refusedMake() {
    const list = element('dl', { class: 'facts tight' });
    const rows = {};
    const node = panelMake(say('live.refused'), 'refused-title', list);
    const set = (key, words, value) => {
        if (!rows[key]) {
            rows[key] = element('dd');
            list.append(element('div', {}, element('dt', { textContent: words }), rows[key]));
        }
        textSet(rows[key], value);
    };
    return {
        node,
        paint({ metrics }) {
            for (const [layer, count] of Object.entries(metrics.stampede_limits_refused_total ?? {}))
                set(`limit-${layer}`, say('refused.limit', { layer: named('limit', layer) }), number(count));
            const human = metrics.stampede_human_total ?? {};
            set('human', say('refused.human'), number((human.failed ?? 0) + (human.spent ?? 0) + (human.refused ?? 0)));
            set('malformed', say('refused.malformed'), number(metrics.stampede_edge_requests_refused_total ?? 0));
            set('connections', say('refused.connections'), number(metrics.stampede_edge_connections_refused_total ?? 0));
            const bans = metrics.stampede_bans ?? {};
            set('bans', say('refused.bans'), say('refused.bans.value', { address: number(bans.address ?? 0), user: number(bans.user ?? 0) }));
            set('found', say('refused.found'), number(Object.values(metrics.stampede_watch_found_total ?? {}).reduce((a, b) => a + b, 0)));
            const open = (metrics.stampede_edge_connections_accepted_total ?? 0) - (metrics.stampede_edge_connections_closed_total ?? 0);
            set('open', say('refused.open'), number(Math.max(0, open)));
        },
    };
}

