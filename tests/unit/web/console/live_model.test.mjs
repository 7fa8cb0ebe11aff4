// SPDX-License-Identifier: Apache-2.0
/* web/console/live_model.js: the funnel adds up, rates are per second, and a restart is no negative rate. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thinned } from '../../../../web/console/live_history.js';
import { funnelOf, HISTORY_S, modelMake, modelRows, modelTake, outcomesOf, pointsOf, ratesOf, saleMetrics, stateOf, stockOf, total } from '../../../../web/console/live_model.js';

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

const ROW = { requests: 0, arrived: 0, asked: 0, won: 0, sold_out: 0, too_fast: 0, closed: 0, refused: 0, ordered: 0, paid: 0, journal: 0, lag: 0, line: 0,
    purchase_p50_us: 0, purchase_p99_us: 0, sync_p50_us: 0, sync_p99_us: 0, free: {} };

test('an answer that was overtaken changes nothing', () => {
    const model = modelMake();
    modelTake(model, snapshot(2_000));
    const { last } = model;
    modelTake(model, snapshot(1_999));
    modelTake(model, snapshot(2_000));
    assert.equal(model.last, last);
});

test('history is bounded, and rows that came before are not taken again', () => {
    const model = modelMake();
    for (let second = 1; second <= HISTORY_S + 50; second++)
        modelRows(model, [{ ...ROW, time_ms: (second - 1) * 1_000 }, { ...ROW, time_ms: second * 1_000, free: { 1: second } }]);
    assert.ok(model.history.length <= HISTORY_S + 1);
    assert.equal(new Set(model.history.map(({ time }) => time)).size, model.history.length);
    assert.equal(model.history.at(-1).free[1], HISTORY_S + 50);
});

test('a point tells what happened a second since the row before, and no time where nothing was timed', () => {
    const rows = [{ ...ROW, time_ms: 0 }, { ...ROW, time_ms: 10_000, requests: 50, won: 20, sold_out: 5, lag: 3, purchase_p50_us: 1500, purchase_p99_us: 4000, free: { 7: 1 } }, { ...ROW, time_ms: 11_000 }];
    const [one, restarted] = pointsOf(rows);
    assert.deepEqual([one.requests, one.outcomes.won, one.outcomes.soldOut, one.lag, one.times.purchase_p50, one.times.sync_p50, one.free], [5, 2, 0.5, 3, 1.5, null, { 7: 1 }]);
    assert.deepEqual([restarted.requests, restarted.outcomes.won], [0, 0]);
});

test('a sale has a funnel of its own', () => {
    const steps = funnelOf(saleMetrics({ funnel: { 'door.go': 10, 'door.sold-out': 30, 'purchase.won': 7, 'purchase.already-bought': 3 }, items: [item(1, 0, 2, 5)] }));
    assert.deepEqual(Object.fromEntries(steps.map(({ key, count }) => [key, count])),
        { arrived: 40, window: 40, limits: 40, pass: 40, asked: 10, won: 7, ordered: 7, paid: 5 });
});

test('many rows are thinned evenly, and the last one stays', () => {
    const rows = Array.from({ length: 1000 }, (_, at) => at);
    assert.deepEqual(thinned(rows, 1000), rows);
    const few = thinned(rows, 400);
    assert.ok(few.length <= 400 && few.at(-1) === 999);
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
