// SPDX-License-Identifier: Apache-2.0
/* Timetables: which sale is the model of a session, when it is held, and the calendar of what was made, skipped and missed. */

import { element } from '../dom.js';
import { change, read, readAll } from './api.js';
import { ask } from './dialog.js';
import { momentAt, number } from './format.js';
import { nameIn, named, say } from './i18n.js';
import { button, chip, choice, field, listPanel, loadedPlace, loadedShow, panel, table, titleRow } from './parts.js';
import { may } from './session.js';

const MINUTE_S = 60;
const OFFSET_LEAST_MIN = -12 * MINUTE_S, OFFSET_MOST_MIN = 14 * MINUTE_S;
const CHIPS = { planned: 'scheduled', made: 'open', skipped: 'paused', missed: 'ended' };

/* 480 is +08:00. */
export function offsetText(minutes) {
    const two = (value) => String(value).padStart(2, '0');
    return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(Math.abs(minutes) / MINUTE_S))}:${two(Math.abs(minutes) % MINUTE_S)}`;
}

/* Whole hours, and the time zones of the world that are not: the visitor's own and the timetable's are always there. */
function offsetChoice(present) {
    const offsets = new Set([present, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765]);
    for (let minutes = OFFSET_LEAST_MIN; minutes <= OFFSET_MOST_MIN; minutes += MINUTE_S)
        offsets.add(minutes);
    return choice([...offsets].sort((a, b) => a - b).map((minutes) => [String(minutes), offsetText(minutes)]), String(present));
}

const weekdaysText = (days) => (days.length === 7 ? say('times.every') : days.map((day) => say(`times.day${day}`)).join(' '));

function inputsOf(table_, sales) {
    const input = (properties) => element('input', { required: true, ...properties });
    return {
        model: choice(sales.map((sale) => [String(sale.id), `${sale.id} · ${nameIn(sale)}`]), table_ && String(table_.model)),
        title: input({ type: 'text', maxLength: 100, value: table_?.title ?? '' }),
        start: input({ type: 'time', value: table_?.start ?? '20:00' }),
        minutes: input({ type: 'number', min: 1, max: 7 * 24 * MINUTE_S, value: (table_?.duration_s ?? 3600) / MINUTE_S }),
        offset: offsetChoice(table_?.offset_min ?? -new Date().getTimezoneOffset()),
        days: [1, 2, 3, 4, 5, 6, 7].map((day) => element('input', { type: 'checkbox', checked: table_?.weekdays.includes(day) ?? true, 'aria-label': say(`times.day${day}`) })),
    };
}

async function edit(present, again) {
    const sales = await readAll('/sales?archived=0', 'sales');
    const inputs = inputsOf(present, sales);
    const days = element('fieldset', { class: 'fields' }, element('legend', { textContent: say('times.days') }),
        ...inputs.days.map((box, at) => element('label', { class: 'check' }, box, ` ${say(`times.day${at + 1}`)}`)));
    const wish = () => ({ model: Number(inputs.model.value), title: inputs.title.value, start: inputs.start.value, duration_s: Math.round(Number(inputs.minutes.value) * MINUTE_S),
        offset_min: Number(inputs.offset.value), weekdays: inputs.days.flatMap((box, at) => (box.checked ? [at + 1] : [])) });
    const answer = await ask({
        title: say(present ? 'times.edit' : 'times.new'),
        text: say('times.text'),
        yes: say('form.save'),
        fields: [field(say('times.model'), inputs.model), field(say('sale.title'), inputs.title), field(say('times.start'), inputs.start), field(say('times.minutes'), inputs.minutes),
            field(say('times.offset'), inputs.offset), days],
        act: (key) => (present ? change('PATCH', `/timetables/${present.id}`, wish(), key) : change('POST', '/timetables', wish(), key)),
    });
    if (answer !== null)
        again();
}

function dayRow(table_, day, again) {
    const skip = day.state === 'planned' || day.state === 'skipped';
    const act = button(say(day.state === 'skipped' ? 'times.hold' : 'times.skip'),
        () => change('POST', `/timetables/${table_.id}/days`, { day: day.day, skip: day.state !== 'skipped' }).then(again), 'plain small');
    act.setAttribute('aria-label', `${act.textContent}: ${day.day}`);
    return [day.sale ? element('a', { href: `#/sales/${day.sale}`, textContent: day.day }) : day.day, chip(named('times.state', day.state), CHIPS[day.state]),
        momentAt(day.start_ms, table_.offset_min), momentAt(day.end_ms, table_.offset_min), skip && may('operator') && day.end_ms > Date.now() ? act : ''];
}

function timetablePanel(table_, again) {
    const zone = offsetText(table_.offset_min);
    const turn = button(say(table_.active ? 'times.pause' : 'times.resume'), () => change('PATCH', `/timetables/${table_.id}`, { active: !table_.active }).then(again), 'plain small');
    return panel(table_.title, element('p', { class: 'note' }, say('times.when', { start: table_.start, zone, minutes: number(table_.duration_s / MINUTE_S),
        days: weekdaysText(table_.weekdays) }), ' ', element('a', { href: `#/sales/${table_.model}`, textContent: say('times.model.link', { model: table_.model }) })),
    table(say('times.calendar'), [say('times.date'), say('sale.state'), say('times.start.zone', { zone }), say('times.end.zone', { zone }), ''], table_.days.map((day) => dayRow(table_, day, again)), say('times.none.days')),
    ...(may('admin') ? [element('div', { class: 'acts' }, button(say('form.edit'), () => edit(table_, again), 'plain small'), turn)] : []));
}

/* What procurement is to buy, for all presales. */
function purchasesPanel(lines) {
    return listPanel(say('presale.purchases'), 'purchases', table(say('presale.purchases'), [say('item.name'), say('presale.item'), say('presale.bookings'), say('presale.units'), say('presale.deposits'), say('presale.kept'), say('presale.bought')],
        lines.map((line) => [line.name, line.item, number(line.bookings), number(line.units), number(line.deposits), number(line.kept), number(line.bought)]), say('presale.none')));
}

export function timetablesShow(main, ways) {
    const again = () => place.look();
    const place = loadedPlace({
        async load() {
            const [{ timetables }, lines] = await Promise.all([read('/timetables'), readAll('/purchases', 'purchases')]);
            return { tables: await Promise.all(timetables.map(({ id }) => read(`/timetables/${id}`))), lines };
        },
        paint: ({ tables, lines }, node) => node.replaceChildren(...(tables.length === 0 ? [element('p', { class: 'none', textContent: say('times.none') })] : tables.map((one) => timetablePanel(one, again))),
            purchasesPanel(lines)),
    });
    const add = may('admin') ? [button(say('times.new'), () => edit(null, again), 'main')] : [];
    return loadedShow(main, [titleRow(say('nav.sales'), ways, element('div', { class: 'title-end' }, ...add))], place);
}
