// SPDX-License-Identifier: Apache-2.0
/* New sessions after the model of a sale: one, or many at chosen times of day on several days. Each becomes a draft. */

import { element, textSet } from '../dom.js';
import { change, changeKey, read } from './api.js';
import { dayText, dayAfter, dayRead, dayStart, SESSIONS_MAX, sessionsPlan, timesRead } from './calendar.js';
import { clockTime, moment, number, zoneName } from './format.js';
import { say } from './i18n.js';
import { field, loadedPlace, loadedShow, table, titleRow } from './parts.js';
import { crumbs, formMake } from './sale_form.js';

const MINUTE_MS = 60_000;
const DAYS_MAX = 31;

const shortTime = (ms) => clockTime(ms).replace(/:\d\d$/, '');

/* What the fields say: { plan } or { wrong }, the key of words. */
function planRead({ title, day, days, times, minutes }) {
    const start = dayRead(day.value);
    const hours = timesRead(times.value);
    if (start === null || hours === null)
        return { wrong: 'clone.wrong-times' };
    const plan = sessionsPlan({ day: start, days: Number(days.value), times: hours, lasts_ms: Math.round(Number(minutes.value) * MINUTE_MS) });
    if (plan.length > SESSIONS_MAX)
        return { wrong: 'clone.too-many' };
    if (plan.some(({ end_ms: end }) => end <= Date.now()))
        return { wrong: 'clone.past' };
    return { plan: plan.map((one) => ({ ...one, title: plan.length === 1 ? title.value : `${title.value} · ${dayText(one.start_ms).slice(5)} ${shortTime(one.start_ms)}` })) };
}

function clonePaint(sale, place) {
    const number_ = (value, most) => element('input', { type: 'number', required: true, min: 1, max: most, step: 'any', value });
    const inputs = {
        title: element('input', { type: 'text', required: true, maxLength: 100, value: sale.title }),
        day: element('input', { type: 'date', required: true, value: dayText(dayAfter(dayStart(Date.now()), 1)) }),
        days: Object.assign(number_(1, DAYS_MAX), { step: 1 }),
        times: element('input', { type: 'text', required: true, value: shortTime(sale.start_ms), spellcheck: false }),
        minutes: number_(Math.max(1, Math.round((sale.end_ms - sale.start_ms) / MINUTE_MS)), 7 * 24 * 60),
    };
    const shown = element('div', { class: 'stack', role: 'status' });
    const made = [];
    const keys = Array.from({ length: SESSIONS_MAX }, () => changeKey());
    const paint = () => {
        const { plan, wrong } = planRead(inputs);
        shown.replaceChildren(element('p', { class: 'note', textContent: wrong ? say(wrong, { most: number(SESSIONS_MAX) }) : say('clone.count', { count: number(plan.length) }) }),
            ...(plan ? [table(say('clone.title'), [say('sale.title'), say('sale.start'), say('sale.end')], plan.map((one) => [one.title, moment(one.start_ms), moment(one.end_ms)]))] : []));
    };
    const progress = element('p', { class: 'note', role: 'status' });
    const back = `#/sales/${sale.id}`;
    const form = formMake({ back, words: say('clone.make'), nodes: [
        element('fieldset', { class: 'fields' }, element('legend', { textContent: say('clone.when') }), field(say('sale.title'), inputs.title),
            element('div', { class: 'field-row' }, field(say('clone.day'), inputs.day, say('sale.zone', { zone: zoneName() })), field(say('clone.days'), inputs.days, say('clone.days.help')),
                field(say('clone.minutes'), inputs.minutes)), field(say('clone.times'), inputs.times, say('clone.times.help'))), shown, progress],
    save: async () => {
        const { plan, wrong } = planRead(inputs);
        if (wrong)
            throw Object.assign(new Error(say(wrong, { most: number(SESSIONS_MAX) })), { status: 422 });
        Object.values(inputs).forEach((input) => {
            input.disabled = true; /* what is made is made: a second try goes on with the same plan */
        });
        while (made.length < plan.length) {
            made.push(await change('POST', `/sales/${sale.id}/clone`, plan[made.length], keys[made.length]));
            textSet(progress, say('clone.progress', { done: number(made.length), count: number(plan.length) }));
        }
        return made.length === 1 ? `#/sales/${made[0].id}` : `#/sales/day/${dayText(plan[0].start_ms)}`;
    } });
    form.addEventListener('input', paint);
    place.replaceChildren(crumbs(['#/sales', say('nav.sales')], [back, sale.title]), titleRow(say('clone.title')),
        element('p', { class: 'note', textContent: say('clone.note', { title: sale.title }) }), form);
    paint();
    inputs.title.focus();
}

export const cloneShow = (main, id) => loadedShow(main, [], loadedPlace({ load: () => read(`/sales/${id}`), paint: clonePaint }));
