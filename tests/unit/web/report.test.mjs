// SPDX-License-Identifier: Apache-2.0
/* web/report_view.js and web/report_words.js: the public report does its own sums, and says the same in both languages. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { reportModel as modelOf } from '../../../web/report_view.js';

const reportModel = (sale, now) => modelOf(sale, now, (thing, member) => thing[member]);
import { REPORT_WORDS, tellIn } from '../../../web/report_words.js';

const item = (counts, more = {}) => ({ product: { name: 'Kettle' }, start_ms: 1000, counts: { given: 10, sold: 6, held: 1, free: 3, ...counts }, ...more });
const sale = (...items) => ({ state: 'open', end_ms: 5000, items });

test('figures that add up are said to, and others are named', () => {
    assert.deepEqual(reportModel(sale(item()), 2000).wrong, []);
    for (const counts of [{ free: 2 }, { sold: 7 }, { held: 0 }, { given: 11 }])
        assert.deepEqual(reportModel(sale(item(), item(counts)), 2000).wrong, ['Kettle']);
});

test('an item that is sold out tells after how long, unless nobody knows', () => {
    assert.equal(reportModel(sale(item({}, { sold_out_ms: 4200 })), 0).rows[0].goneMs, 3200);
    assert.equal(reportModel(sale(item()), 0).rows[0].goneMs, null);
    assert.equal(reportModel(sale(item({}, { sold_out_ms: 900 })), 0).rows[0].goneMs, null, 'opened by hand before its start');
});

test('a sale is over when it was ended, or when its time is', () => {
    assert.equal(reportModel(sale(item()), 4999).over, false);
    assert.equal(reportModel(sale(item()), 5000).over, true);
    assert.equal(reportModel({ ...sale(item()), state: 'ended' }, 2000).over, true);
});

test('both languages have the same words with the same values, and all that the page says', () => {
    const values = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
    const { en, 'zh-CN': zh } = REPORT_WORDS;
    assert.deepEqual(Object.keys(zh), Object.keys(en));
    for (const key of Object.keys(en))
        assert.deepEqual(values(zh[key]), values(en[key]), key);
    const view = readFileSync(new URL('../../../web/report_view.js', import.meta.url), 'utf8');
    for (const [, key] of view.matchAll(/\btell\('([\w.]+)'/g))
        assert.ok(key in en, key);
    assert.equal(tellIn('ar', 'given'), en.given, 'a language that has no words for it');
});

test('the report imports nothing that the first script has: else that would be split', () => {
    for (const file of ['report_view.js', 'report_words.js']) {
        const text = readFileSync(new URL(`../../../web/${file}`, import.meta.url), 'utf8');
        assert.deepEqual([...text.matchAll(/^import .* from '\.\/(.*)'/gm)].map((match) => match[1]).filter((name) => name !== 'report_words.js'), []);
    }
});
