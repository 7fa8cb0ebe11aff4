// SPDX-License-Identifier: Apache-2.0
/* The calendar of sales: a week to choose a day from, and the sessions of that day along its hours. */

import { element } from '../dom.js';
import { dayAfter, daySessions, dayStart, dayText } from './calendar.js';
import { clockTime, number } from './format.js';
import { language, nameIn, named, say } from './i18n.js';
import { chip } from './parts.js';

const WEEK = 7;
const HOURS = [0, 6, 12, 18, 24];

const dayName = (ms, options) => new Intl.DateTimeFormat(language(), options).format(ms);
const shortTime = (ms) => clockTime(ms).replace(/:\d\d$/, '');

function weekPart(sales, day, stateOf) {
    const monday = dayAfter(day, -((new Date(day).getDay() + 6) % WEEK));
    const link = (to, words, label) => element('a', { class: 'plain small', href: `#/sales/day/${dayText(to)}`, textContent: words, 'aria-label': label });
    const days = Array.from({ length: WEEK }, (_, at) => dayAfter(monday, at)).map((one) => {
        const sessions = daySessions(sales, one);
        const busy = sessions.some(({ sale }) => stateOf(sale) !== 'ended');
        const node = element('a', { href: `#/sales/day/${dayText(one)}`, 'data-busy': String(busy) }, element('span', { textContent: dayName(one, { weekday: 'short' }) }),
            element('b', { textContent: String(new Date(one).getDate()) }), element('small', { textContent: sessions.length === 0 ? '·' : say('day.count', { count: number(sessions.length) }) }));
        if (one === day)
            node.setAttribute('aria-current', 'date');
        return element('li', {}, node);
    });
    return element('div', { class: 'week' }, link(dayAfter(monday, -WEEK), '‹', say('day.before')), element('ol', {}, ...days), link(dayAfter(monday, WEEK), '›', say('day.after')));
}

function sessionRow({ sale, from, to }, state) {
    const bar = element('i', { class: 'day-bar', 'data-state': state });
    bar.style.marginLeft = `${from * 100}%`;
    bar.style.width = `${Math.max(1, (to - from) * 100)}%`;
    return element('li', {}, element('div', { class: 'day-words' }, element('time', { textContent: `${shortTime(sale.start_ms)} – ${shortTime(sale.end_ms)}` }),
        element('a', { href: `#/sales/${sale.id}`, textContent: nameIn(sale) }), chip(named('gate', state), state)),
    element('span', { class: 'day-track', 'aria-hidden': 'true' }, bar));
}

/* `stateOf(sale)`: its state in one word. */
export function calendarPart(sales, day, stateOf) {
    const sessions = daySessions(sales, day);
    const today = dayStart(Date.now()) === day ? ` · ${say('day.today')}` : '';
    return element('div', { class: 'stack' }, weekPart(sales, day, stateOf),
        element('h2', { textContent: `${dayName(day, { year: 'numeric', month: 'long', day: 'numeric', weekday: 'long' })}${today}` }),
        sessions.length === 0 ? element('p', { class: 'none', textContent: say('day.none') }) : element('ol', { class: 'day' }, ...sessions.map((session) => sessionRow(session, stateOf(session.sale)))),
        element('div', { class: 'day-hours', 'aria-hidden': 'true' }, ...HOURS.map((hour) => element('span', { textContent: `${hour}:00` }))));
}
