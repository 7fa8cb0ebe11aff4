// SPDX-License-Identifier: Apache-2.0
/* The fields of a sale, for a new one and for one that is changed. What is left as it was is not sent. */

import { element } from '../dom.js';
import { zoneName } from './format.js';
import { say } from './i18n.js';
import { choice, field } from './parts.js';
import { textsField } from './texts_field.js';

const HOUR_MS = 3_600_000;
const CHECKS = ['none', 'image', 'slider', 'pow'];
const LABELS = { start_ms: 'start', end_ms: 'end', human_check: 'check', waiting_room: 'room', limit_per_user: 'limit' };
const labelOf = (name) => say(`sale.${LABELS[name] ?? name}`);

/* What <input type="datetime-local"> takes: local time, to the second where it has one. */
export function localText(ms) {
    const two = (value) => String(value).padStart(2, '0');
    const date = new Date(ms);
    const seconds = date.getSeconds() === 0 ? '' : `:${two(date.getSeconds())}`;
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}${seconds}`;
}

const whole = (value, most, min = 0) => element('input', { type: 'number', required: true, min, max: most, value });
const titleInput = (value, required = false) => element('input', { type: 'text', required, maxLength: 120, value });
const flag = (checked) => element('input', { type: 'checkbox', checked });

/* How each member is shown and read: [name, input, help]. */
function inputsOf(sale) {
    const time = (ms) => element('input', { type: 'datetime-local', required: true, step: 1, value: localText(ms) });
    return {
        title: titleInput(sale.title, true),
        start_ms: time(sale.start_ms),
        end_ms: time(sale.end_ms),
        human_check: choice(CHECKS.map((kind) => [kind, say(`check.${kind}`)]), sale.human_check),
        waiting_room: flag(sale.waiting_room),
        details_required: flag(sale.details_required),
        one_open_order: flag(sale.one_open_order),
        eligible_only: flag(sale.eligible_only),
        pass_once: flag(sale.pass_once),
        limit_per_user: whole(sale.limit_per_user, 100_000_000),
        pace_per_s: whole(sale.pace_per_s, 1_000_000),
        drop_percent: whole(sale.drop_percent, 100),
        start_draw_ms: whole(sale.start_draw_ms, 60_000),
        return_draw_ms: whole(sale.return_draw_ms, 60_000),
        cooldown_s: whole(sale.cooldown_s, 43_200),
        shards: whole(sale.shards, 32, 1),
    };
}

function newSale() {
    const start = Math.ceil(Date.now() / HOUR_MS) * HOUR_MS;
    return { title: '', start_ms: start, end_ms: start + HOUR_MS, human_check: 'none', waiting_room: false, details_required: false, one_open_order: false,
        eligible_only: false, pass_once: false, limit_per_user: 0, pace_per_s: 0, drop_percent: 0, start_draw_ms: 3000, return_draw_ms: 5000, cooldown_s: 60, shards: 1 };
}

function valueOf(name, input) {
    if (input.type === 'checkbox')
        return input.checked;
    if (input.type === 'datetime-local')
        return new Date(input.value).getTime();
    return input.type === 'number' ? Number(input.value) : input.value;
}

/* `sale`: null for a new one. `members()`: what is to be sent. */
export function saleFields(sale) {
    const inputs = inputsOf(sale ?? newSale());
    const texts = textsField(sale?.texts, [['title', say('sale.title'), titleInput]], inputs);
    const raw = (input) => (input.type === 'checkbox' ? input.checked : input.value);
    const first = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, raw(input)]));
    const textsFirst = texts.now();
    const one = (name, help = '') => field(labelOf(name), inputs[name], help);
    const box = (name) => element('div', { class: 'check-row' }, field(labelOf(name), inputs[name], say(`sale.${name}.help`)));
    const more = element('details', { class: 'more' }, element('summary', { textContent: say('sale.more') }),
        element('div', { class: 'fields' }, ...['one_open_order', 'eligible_only', 'pass_once'].map(box),
            element('div', { class: 'field-row' }, ...['pace_per_s', 'drop_percent', 'cooldown_s', 'start_draw_ms', 'return_draw_ms', 'shards'].map((name) => one(name, say(`sale.${name}.help`))))));
    return {
        node: element('fieldset', { class: 'fields' }, element('legend', { textContent: say('sale.when') }), one('title'), texts.node,
            element('div', { class: 'field-row dates' }, one('start_ms', say('sale.zone', { zone: zoneName() })), one('end_ms'), one('limit_per_user', say('item.limit.help'))),
            element('div', { class: 'field-row' }, one('human_check')), ...['waiting_room', 'details_required'].map(box), more),
        focus: () => inputs.title.focus(),
        members() {
            const given = Object.entries(inputs).filter(([name, input]) => sale === null || raw(input) !== first[name]).map(([name, input]) => [name, valueOf(name, input)]);
            const same = JSON.stringify(texts.now()) === JSON.stringify(textsFirst);
            return { ...Object.fromEntries(given), ...(same ? {} : { texts: texts.now() }) };
        },
    };
}
