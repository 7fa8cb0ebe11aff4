// SPDX-License-Identifier: Apache-2.0
/* web/console/sale_checks.js: what is wrong with a sale is found before it is published, and has words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saleChecks } from '../../../../web/console/sale_checks.js';
import { EN } from '../../../../web/console/words_en.js';

const NOW = 1_000_000;
const sale = (more) => ({ start_ms: NOW + 1, end_ms: NOW + 2, limit_per_user: 0, human_check: 'slider', waiting_room: false, ...more });
const row = (item, product) => ({
    item: { flash_price: 100, limit_per_user: 1, pay_window_ms: 900_000, total: 10, preheated: true, ...item },
    product: { images: ['/a.svg'], list_price: 200, ...product },
});
const grades = (one, rows, sandbox = false) => Object.fromEntries(saleChecks(one, rows, { now: NOW, sandbox }).map(([key, grade]) => [key, grade]));

test('a sale that is ready has nothing but good marks', () => {
    assert.deepEqual([...new Set(Object.values(grades(sale(), [row()])))], ['good']);
});

test('each thing that is missing or unusual is found', () => {
    assert.equal(grades(sale(), [])['items.none'], 'bad');
    assert.equal(grades(sale(), [row({ flash_price: 201 })]).dear, 'bad');
    assert.equal(grades(sale(), [row({ flash_price: 200 })]).prices, 'good');
    assert.equal(grades(sale(), [row({}, { images: [] })])['pictures.none'], 'warn');
    assert.equal(grades(sale({ end_ms: NOW }), [row()]).past, 'bad');
    assert.equal(grades(sale({ start_ms: NOW }), [row()])['at-once'], 'warn');
    assert.equal(grades(sale(), [row({ limit_per_user: 0 })])['limit.none'], 'warn');
    assert.equal(grades(sale({ limit_per_user: 2 }), [row({ limit_per_user: 0 })]).limit, 'good');
    assert.equal(grades(sale(), [row({ preheated: false })]).cold, 'warn');
    assert.equal(grades(sale({ human_check: 'none' }), [row()]).open, 'warn');
    assert.equal(grades(sale({ human_check: 'none', waiting_room: true }), [row()]).guarded, 'good');
    assert.equal(grades(sale(), [row()], true).sandbox, 'warn');
});

test('every mark has words', () => {
    for (const rows of [[], [row()], [row({ flash_price: 201, limit_per_user: 0, preheated: false }, { images: [] })]])
        for (const one of [sale(), sale({ end_ms: NOW, human_check: 'none' }), sale({ start_ms: NOW })])
            for (const [key] of saleChecks(one, rows, { now: NOW, sandbox: true }))
                assert.ok(`ready.${key}` in EN, key);
});
