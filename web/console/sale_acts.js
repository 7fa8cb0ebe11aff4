// SPDX-License-Identifier: Apache-2.0
/* What can be done to a sale in each state, what each act says before it is done, and after. */

import { element } from '../dom.js';
import { change } from './api.js';
import { ask } from './dialog.js';
import { moment, number } from './format.js';
import { nameIn, say } from './i18n.js';
import { button, field } from './parts.js';
import { may } from './session.js';

/* name; least role; states in which it makes sense; how grave it is */
const ACTS = [
    { name: 'publish', role: 'admin', states: ['draft'], kind: 'main' },
    { name: 'preheat', role: 'operator', states: ['draft', 'scheduled'], kind: 'plain' },
    { name: 'open', role: 'operator', states: ['scheduled'], kind: 'plain', warm: true },
    { name: 'pause', role: 'operator', states: ['open'], kind: 'main' },
    { name: 'resume', role: 'operator', states: ['paused'], kind: 'main' },
    { name: 'end', role: 'operator', states: ['open', 'paused', 'scheduled'], kind: 'danger', warm: true },
    { name: 'unpublish', role: 'admin', states: ['scheduled'], kind: 'danger' },
    { name: 'reopen', role: 'admin', states: ['ended'], kind: 'plain', warm: true },
    { name: 'archive', role: 'admin', states: ['ended'], kind: 'plain' },
    { name: 'unarchive', role: 'admin', states: ['archived'], kind: 'plain' },
];

/* The numbers that an act tells. */
export function numbersOf({ sale, rows }) {
    const sum = (name) => rows.reduce((total, { counts }) => total + counts[name], 0);
    return { title: nameIn(sale), items: number(rows.length), units: number(sum('given')), free: number(sum('free')), held: number(sum('held')),
        sold: number(sum('sold')), start: moment(sale.start_ms, true), end: moment(sale.end_ms, true) };
}

function run(act, seen, done) {
    const values = numbersOf(seen);
    ask({
        title: say(`act.${act.name}.title`, values),
        text: say(`act.${act.name}.text`, values),
        yes: say(`act.${act.name}`),
        danger: act.kind === 'danger',
        act: (key) => change('POST', `/sales/${seen.sale.id}/${act.name}`, act.name === 'unpublish' ? {} : undefined, key),
    }).then((answer) => answer !== null && done(say(`act.${act.name}.done`)));
}

/* Buttons, for who may and when it makes sense. */
export function saleActs(seen, done) {
    if (seen.bundle?.sha256)
        return []; /* its orders have left, or are leaving */
    const warm = seen.rows.some(({ preheated }) => preheated);
    const state = seen.sale.archived ? 'archived' : seen.state;
    return ACTS.filter(({ role, states, warm: needed }) => may(role) && states.includes(state) && (warm || !needed))
        .map((act) => button(say(`act.${act.name}`), () => run(act, seen, done), act.kind));
}

/* Adds units to an item (1), or takes free ones away (−1). */
export function stockAct(item, product, counts, sign, again) {
    const units = element('input', { type: 'number', required: true, min: 1, max: sign > 0 ? 100_000_000 : Math.max(1, counts.free), value: 1 });
    const name = sign > 0 ? 'add' : 'take';
    ask({
        title: say(`act.${name}.title`, { name: nameIn(product) }),
        text: say(`act.${name}.text`, { free: number(counts.free), given: number(counts.given) }),
        yes: say(`act.${name}`),
        fields: [field(say('item.units'), units)],
        act: (key) => change('POST', `/items/${item.id}/adjust`, { delta: sign * Number(units.value) }, key),
    }).then((answer) => answer !== null && again());
}
