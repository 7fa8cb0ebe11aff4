// SPDX-License-Identifier: Apache-2.0
/* web/console/health.js: what is wrong with a part is told of that part, and every part has words. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf } from '../../../../web/console/health.js';
import { EN } from '../../../../web/console/words_en.js';

const grades = (metrics = {}, ...up) => Object.fromEntries(healthOf({ metrics: { stampede_ready: 1, ...metrics }, alarms: up.map((name) => ({ name, up: true })) }).map(([key, grade]) => [key, grade]));

test('a server without trouble is well in all parts', () => {
    assert.deepEqual([...new Set(Object.values(grades()))], ['good']);
});

test('each trouble is told of its part', () => {
    assert.equal(grades({ stampede_wins_stopped: 2 }).inventory, 'bad');
    assert.equal(grades({ stampede_store_away: 1 }).database, 'bad');
    assert.equal(grades({ stampede_ready: 0 }).database, 'bad');
    assert.equal(grades({ stampede_order_lag: 5000 }).orders, 'warn');
    assert.equal(grades({ stampede_dead_letters_open: 1 }).orders, 'warn');
    assert.equal(grades({}, 'refund-stuck').payments, 'bad');
    assert.equal(grades({}, 'test-mode').payments, 'warn');
    assert.equal(grades({}, 'webhook-failed').webhooks, 'bad');
    assert.equal(grades({ stampede_reconcile_findings: 2 }).reconcile, 'warn');
});

test('every part has words', () => {
    for (const [key] of healthOf({ metrics: {}, alarms: [] }))
        for (const part of ['', '.good', '.wrong'])
            assert.ok(`health.${key}${part}` in EN, key + part);
});
