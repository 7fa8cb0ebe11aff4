// SPDX-License-Identifier: Apache-2.0
/* The panel "Channels and safety stock" of an item: units of each channel, how they would be shared out, moves, the safety stock
 * with its suggestion, and units that leave it with a reason. */

import { element } from '../dom.js';
import { change, read } from './api.js';
import { ask } from './dialog.js';
import { number } from './format.js';
import { say } from './i18n.js';
import { button, choice, facts, field, panel, table } from './parts.js';
import { may } from './session.js';

const SHARE_ONE = 1_000_000;
const RATE_ONE = 1000;
const REASONS = ['exchange', 'damage', 'loss', 'other'];
const UNITS_MAX = 100_000_000;

const percent = (value, whole) => `${number(Math.round((value / whole) * 1000) / 10)} %`;
const unitsInput = (value, max = UNITS_MAX) => element('input', { type: 'number', required: true, min: 1, max: Math.max(1, max), value: Math.max(1, value) });

export async function channelsRead(id) {
    const [allocation, safety] = await Promise.all([read(`/items/${id}/allocation`), read(`/items/${id}/safety`)]);
    return { allocation, safety };
}

/* What each place has now: the channels, and the safety stock. */
function placesOf(item, counts, safety) {
    return { ...(counts?.channels ?? item.channels), safety: safety.safety };
}

const placeName = (name) => (name === 'safety' ? say('channels.safety') : name);

function moveAct(item, places, from, to, units, again) {
    const options = Object.keys(places).map((name) => [name, placeName(name)]);
    const [source, target, quantity] = [choice(options, from), choice(options, to), unitsInput(units)];
    ask({
        title: say('channels.move'),
        text: say('channels.move.text'),
        yes: say('channels.move.yes'),
        fields: [field(say('channels.from'), source), field(say('channels.to'), target), field(say('item.units'), quantity)],
        act: (key) => change('POST', `/items/${item.id}/move`, { from: source.value, to: target.value, quantity: Number(quantity.value) }, key),
    }).then((answer) => answer !== null && again());
}

function allocateAct(item, allocation, again) {
    const shares = Object.fromEntries(allocation.channels.map(({ channel, share }) => [channel, share]));
    ask({
        title: say('channels.apply'),
        text: say('channels.apply.text', { units: allocation.channels.map(({ channel, proposed }) => `${channel} ${number(proposed)}`).join(', ') }),
        yes: say('channels.apply'),
        act: (key) => change('POST', `/items/${item.id}/allocation`, { shares }, key),
    }).then((answer) => answer !== null && again());
}

function useAct(item, safety, again) {
    const quantity = unitsInput(1, safety.safety);
    const reason = choice(REASONS.map((name) => [name, say(`channels.reason.${name}`)]));
    const note = element('input', { type: 'text', maxLength: 200 });
    ask({
        title: say('channels.use'),
        text: say('channels.use.text', { units: number(safety.safety) }),
        yes: say('channels.use.yes'),
        danger: true,
        fields: [field(say('item.units'), quantity), field(say('channels.reason'), reason), field(say('channels.note'), note)],
        act: (key) => change('POST', `/items/${item.id}/safety`,
            { quantity: Number(quantity.value), reason: reason.value, ...(note.value.trim() ? { note: note.value.trim() } : {}) }, key),
    }).then((answer) => answer !== null && again());
}

function sharesTable(places, allocation) {
    const shared = new Map(allocation.channels.map((row) => [row.channel, row]));
    return table(say('channels.title'), [say('channels.channel'), say('channels.units'), say('channels.share'), say('channels.proposed')],
        Object.keys(places).filter((name) => name !== 'safety').map((name) => {
            const row = shared.get(name);
            return [name, number(places[name]), row ? percent(row.share, SHARE_ONE) : '–', row ? number(row.proposed) : number(places[name])];
        }));
}

function safetyFacts({ safety, suggested, base, rate, least, most, history }) {
    return facts([
        [say('channels.safety'), number(safety)],
        [say('channels.suggested'), say('channels.suggested.value', { units: number(suggested), rate: percent(rate, RATE_ONE) })],
        [say('channels.base'), say('channels.base.value', { base: percent(base, RATE_ONE), least: percent(least, RATE_ONE), most: percent(most, RATE_ONE) })],
        [say('channels.history'), say(`channels.history.${history.of}`, { sold: number(history.sold) })],
    ]);
}

/* `again` loads the page anew. */
export function channelsPanel({ item, counts, allocation, safety }, again) {
    const places = placesOf(item, counts, safety);
    const many = Object.keys(places).length > 2;
    const warm = counts !== null;
    const more = safety.suggested - safety.safety;
    const acts = !may('operator') ? [] : [
        ...(many ? [button(say('channels.apply'), () => allocateAct(item, allocation, again), 'main')] : []),
        ...(warm ? [button(say('channels.move'), () => moveAct(item, places, 'web', 'safety', 1, again))] : []),
        ...(warm && more !== 0 ? [button(say(more > 0 ? 'channels.raise' : 'channels.release', { units: number(Math.abs(more)) }),
            () => moveAct(item, places, more > 0 ? 'web' : 'safety', more > 0 ? 'safety' : 'web', Math.abs(more), again))] : []),
        ...(warm && safety.safety > 0 ? [button(say('channels.use'), () => useAct(item, safety, again), 'danger')] : []),
    ];
    return panel(say('channels.title'), sharesTable(places, allocation),
        ...(many && !allocation.conversion_known ? [element('p', { class: 'note', textContent: say('channels.no_visits') })] : []),
        safetyFacts(safety), element('p', { class: 'note', textContent: say('channels.note.safety') }), element('div', { class: 'acts' }, ...acts));
}
