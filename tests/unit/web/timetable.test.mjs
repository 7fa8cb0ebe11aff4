// SPDX-License-Identifier: Apache-2.0
/* web/timetable.js: the times over the list of sales. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh, seen } from './page.mjs';

const { createTimetable, timesOf, timeWords } = await import('../../../web/timetable.js');
const { languageSet } = await import('../../../web/i18n.js');

const HOUR = 3_600_000;
const NOW = new Date(2026, 10, 16, 12).getTime();
const saleOf = (id, start, more = {}) => ({ id, state: 'scheduled', start_ms: start, end_ms: start + HOUR, ...more });

beforeEach(() => {
    fresh();
    languageSet('en');
});

test('what runs is one entry, each start to come is one, and what is over is none', () => {
    const sales = [saleOf(1, NOW - 1_000), saleOf(2, NOW - HOUR + 1_000, { state: 'paused' }), saleOf(3, NOW + HOUR), saleOf(4, NOW + HOUR), saleOf(5, NOW + 2 * HOUR), saleOf(6, NOW - 2 * HOUR)];
    assert.deepEqual(timesOf(sales, NOW), [{ id: 0, sale: 1 }, { id: NOW + HOUR, sale: 3 }, { id: NOW + 2 * HOUR, sale: 5 }]);
});

test('there is no timetable where there is nothing to choose, and it is never endless', () => {
    assert.deepEqual(timesOf([saleOf(1, NOW - 1_000), saleOf(2, NOW - 2_000)], NOW), []);
    assert.equal(timesOf(Array.from({ length: 30 }, (_, at) => saleOf(at + 1, NOW + (at + 1) * HOUR)), NOW).length, 8);
});

test('a near start counts down, one of today says so, another one names its day', () => {
    assert.deepEqual(timeWords({ id: 0 }, NOW), ['Now', 'On sale now']);
    assert.deepEqual(timeWords({ id: NOW + 90_000 }, NOW), ['12:01', 'in 01:30']);
    assert.deepEqual(timeWords({ id: NOW + 2 * HOUR }, NOW), ['14:00', 'Starting soon']);
    assert.deepEqual(timeWords({ id: NOW + 24 * HOUR }, NOW), ['12:00', 'Nov 17']);
    languageSet('zh-CN');
    assert.deepEqual(timeWords({ id: NOW + 90_000 }, NOW), ['12:01', '01:30 后']);
});

test('a button leads to its sale, and what has started goes to the front', () => {
    const gone = [];
    const times = createTimetable((sale) => gone.push(sale));
    const sales = [saleOf(3, NOW + HOUR), saleOf(5, NOW + 2 * HOUR)];
    times.paint(sales, NOW);
    assert.equal(times.node.hidden, false);
    times.node.querySelectorAll('button')[1].click();
    times.paint(sales, NOW + HOUR);
    times.node.querySelectorAll('button')[0].click();
    assert.deepEqual(gone, [5, 3]);
    assert.match(seen(times.node), /^Now/);
    times.paint([], NOW);
    assert.equal(times.node.hidden, true);
});
