// SPDX-License-Identifier: Apache-2.0
/* web/console/live_model.js: the funnel adds up, rates are per second, and a restart is no negative rate. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { funnelOf, HISTORY_S, modelMake, modelTake, outcomesOf, ratesOf, stateOf, stockOf, total } from '../../../../web/console/live_model.js';

const METRICS = {
    stampede_door_total: { go: 100, 'not-started': 7, 'too-fast': 20, 'pass-required': 5, 'bad-body': 1, 'sold-out': 60, 'no-chance': 4 },
    stampede_purchases_total: { won: 40, 'sold-out': 55, repeated: 3, 'limit-reached': 2 },
    stampede_orders_written_total: 39,
    stampede_orders_expired_total: 2,
    stampede_payment_news_total: { paid: 20, late: 1 },
    stampede_orders_reported_paid_total: 3,
    stampede_edge_requests_total: 1000,
    stampede_journal_durable_position: 300,
    stampede_order_lag: 1,
    stampede_ready: 1,
    stampede_wins_stopped: 0,
};
const counts = (free, held = 0, sold = 0) => ({ given: free + held + sold, free, held, sold, safety: 0, written_off: 0 });
const item = (id, ...units) => ({ id, product: { name: `Item ${id}` }, preheated: true, counts: counts(...units) });
const sale = (id, state, ...items) => ({ id, title: `Sale ${id}`, state, start_ms: 5_000 * id, end_ms: 90_000, items });
const snapshot = (now, metrics = METRICS, sales = [], alarms = []) => ({ now_ms: now, metrics, sales, alarms });

test('the funnel begins with everybody at the door and loses at each step whom it names', () => {
    const steps = funnelOf(METRICS);
    assert.deepEqual(steps.map(({ key, count }) => [key, count]), [
        ['arrived', 197], ['window', 190], ['limits', 170], ['pass', 164], ['asked', 100], ['won', 40], ['ordered', 39], ['paid', 23],
    ]);
    for (const [at, step] of steps.entries())
        if (at > 0 && at <= 5)
            assert.equal(steps[at - 1].count - total(step.lost), step.count, step.key);
});

test('every reason of the door belongs to a layer: what is new would not be lost silently', () => {
    const door = { go: 1 };
    for (const reason of ['unknown-item', 'not-started', 'ended', 'paused', 'unavailable', 'banned', 'too-fast', 'session-invalid', 'pass-required',
        'pass-invalid', 'pass-expired', 'pass-foreign', 'pass-spent', 'bad-body', 'bad-quantity', 'bad-channel', 'bad-key', 'key-required',
        'sold-out', 'no-chance', 'too-popular', 'not-your-turn'])
        door[reason] = 1;
    const steps = funnelOf({ stampede_door_total: door });
    assert.equal(steps[0].count - steps.slice(1, 5).reduce((sum, { lost }) => sum + total(lost), 0), 1);
});

test('each purchase has one outcome', () => {
    const outcomes = outcomesOf(METRICS);
    assert.deepEqual(outcomes, { won: 40, soldOut: 119, tooFast: 20, closed: 7, refused: 11 });
    assert.equal(total(outcomes), 197 - 100 + 100);
});

test('rates are per second, and a counter that fell has none', () => {
    const later = { ...METRICS, stampede_orders_written_total: 49, stampede_purchases_total: { ...METRICS.stampede_purchases_total, won: 48 } };
    const rates = ratesOf(snapshot(1_000), snapshot(3_000, later));
    assert.equal(rates.ordered, 5);
    assert.equal(rates.outcomes.won, 4);
    const restarted = ratesOf(snapshot(1_000), snapshot(2_000, { stampede_orders_written_total: 1 }));
    assert.equal(restarted.ordered, 0);
    assert.equal(restarted.outcomes.won, 0);
});

test('history is bounded, and an answer that was overtaken changes nothing', () => {
    const model = modelMake();
    for (let second = 1; second <= HISTORY_S + 50; second++)
        modelTake(model, snapshot(second * 1_000, METRICS, [sale(1, 'open', item(1, 100 - (second % 100)))]));
    assert.ok(model.history.length <= HISTORY_S + 1);
    const { last, history } = model;
    const length = history.length;
    modelTake(model, snapshot(last.now_ms - 1));
    modelTake(model, snapshot(last.now_ms));
    assert.equal(model.last, last);
    assert.equal(model.history.length, length);
    assert.equal(history.at(-1).free[1], 100 - ((HISTORY_S + 50) % 100));
});

test('units are of one sale, or of all', () => {
    const seen = snapshot(1, METRICS, [sale(1, 'open', item(1, 5, 2, 1), item(2, 1)), sale(2, 'open', item(3, 10))]);
    assert.equal(stockOf(seen).free, 16);
    assert.deepEqual(stockOf(seen, 1), { given: 9, free: 6, held: 2, sold: 1, safety: 0, written_off: 0 });
});

test('the sentence names the gravest thing', () => {
    const alarm = { name: 'disk-full', up: true };
    const open = [sale(1, 'open', item(1, 5))];
    const of = (metrics, sales, alarms) => stateOf(snapshot(1, { ...METRICS, ...metrics }, sales, alarms)).key;
    assert.equal(of({ stampede_wins_stopped: 1, stampede_ready: 0 }, open, [alarm]), 'stopped-disk');
    assert.equal(of({ stampede_ready: 0 }, open, [alarm]), 'not-ready');
    assert.equal(of({}, open, [alarm]), 'alarms');
    assert.equal(of({}, open, [{ name: 'test-mode', up: true }]), 'selling');
    assert.equal(of({}, [sale(1, 'open', item(1, 0, 5))], []), 'sold-out');
    assert.equal(of({}, [sale(1, 'paused', item(1, 5)), sale(2, 'scheduled')], []), 'paused');
    assert.equal(stateOf(snapshot(1, METRICS, [sale(3, 'scheduled'), sale(2, 'scheduled')])).start, 10_000);
    assert.equal(of({}, [sale(1, 'ended')], []), 'idle');
});
