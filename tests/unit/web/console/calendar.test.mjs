// SPDX-License-Identifier: Apache-2.0
/* web/console/calendar.js: days, sessions and plans in the reader's time zone, also where a day has 23 or 25 hours. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

process.env.TZ = 'Europe/Berlin'; /* its day of 25 hours in 2026 is October 25 */
const { dayAfter, dayRead, daySessions, dayStart, dayText, sessionsPlan, timesRead } = await import('../../../../web/console/calendar.js');
const HOUR = 3_600_000;

test('a day is read and written, and what is no day is refused', () => {
    assert.equal(dayText(dayRead('2026-11-16')), '2026-11-16');
    for (const wrong of ['2026-02-30', '2026-13-01', '26-11-16', '', undefined, 'x'])
        assert.equal(dayRead(wrong), null, wrong);
});

test('days count as days when the clocks change', () => {
    const day = dayRead('2026-10-25');
    assert.equal(dayAfter(day, 1) - day, 25 * HOUR);
    assert.equal(dayText(dayAfter(day, 7)), '2026-11-01');
    assert.equal(dayStart(day + 24.5 * HOUR), day);
});

test('a day has the sales that run in it, by their start, with the part that they fill', () => {
    const day = dayRead('2026-11-16');
    const sale = (id, from, to) => ({ id, start_ms: day + from * HOUR, end_ms: day + to * HOUR });
    const sales = [sale(1, 12, 13), sale(2, -2, 6), sale(3, 24, 25), sale(4, -3, 0), sale(5, 12, 12.5), sale(6, -1, 30)];
    assert.deepEqual(daySessions(sales, day).map(({ sale: { id }, from, to }) => [id, from, to]), [[2, 0, 0.25], [6, 0, 1], [5, 0.5, 12.5 / 24], [1, 0.5, 13 / 24]]);
});

test('times of day are read from a text, in order and once', () => {
    assert.deepEqual(timesRead('20:00, 9:30 12:00，9:30'), [570, 720, 1200]);
    for (const wrong of ['', '24:00', '12', '12:60', '10:00, noon'])
        assert.equal(timesRead(wrong), null, wrong);
});

test('a plan has each time on each day, by the clock on the wall', () => {
    const plan = sessionsPlan({ day: dayRead('2026-10-24'), days: 3, times: [600, 1200], lasts_ms: HOUR });
    assert.equal(plan.length, 6);
    for (const { start_ms: start, end_ms: end } of plan) {
        assert.ok([10, 20].includes(new Date(start).getHours()));
        assert.equal(end - start, HOUR);
    }
    assert.equal(dayText(plan[5].start_ms), '2026-10-26');
});
