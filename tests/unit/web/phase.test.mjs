// SPDX-License-Identifier: Apache-2.0
/* web/phase.js: where an item stands follows from its last status, what was told since, and the clock. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
    itemAfterPush,
    itemAfterRefusal,
    nextTickMs,
    phaseOf,
    refusalIsPast,
    statusIntervalMs,
} from '../../../web/phase.js';

const item = {
    state: 'open', started: true, accepting: true, sold_out: false, start_ms: 10_000, end_ms: 50_000,
    counts: { free: 3, given: 5 },
};
const scheduled = { ...item, state: 'scheduled', started: false, accepting: false };

test('the clock alone opens and ends a sale', () => {
    assert.equal(phaseOf(null, 0), 'unknown');
    assert.equal(phaseOf(item, NaN), 'unknown');
    assert.equal(phaseOf(scheduled, 9_999), 'before');
    assert.equal(phaseOf(scheduled, 10_000), 'open');
    assert.equal(phaseOf(item, 49_999), 'open');
    assert.equal(phaseOf(item, 50_000), 'ended');
});

test('a state that was told stands above the stock', () => {
    assert.equal(phaseOf({ ...item, state: 'ended' }, 20_000), 'ended');
    assert.equal(phaseOf({ ...item, state: 'paused', sold_out: true }, 20_000), 'paused');
    assert.equal(phaseOf({ ...item, sold_out: true }, 20_000), 'soldOut');
    assert.equal(phaseOf({ ...item, accepting: false }, 20_000), 'full');
});

test('a refusal is newer than the status', () => {
    const after = (type, body = {}) => itemAfterRefusal(item, { type, body });
    assert.equal(phaseOf(after('sold-out', { free: 0 }), 20_000), 'soldOut');
    assert.equal(after('sold-out', { free: 0 }).counts.free, 0);
    assert.equal(after('sold-out', { free: 1 }), item);
    assert.equal(phaseOf(after('paused'), 20_000), 'paused');
    assert.equal(phaseOf(after('not-started', { start_ms: 30_000 }), 20_000), 'before');
    assert.equal(after('pay-first').deduct, 'payment');
    assert.equal(after('never-heard-of'), item);
});

test('push is newer than the status, too', () => {
    const after = (state) => phaseOf(itemAfterPush(item, { state, free: 0 }), 20_000);
    assert.equal(after('sold-out'), 'soldOut');
    assert.equal(after('available'), 'open');
    assert.equal(after('paused'), 'paused');
    assert.equal(after('ended'), 'ended');
    assert.equal(itemAfterPush(null, { state: 'ended' }), null);
});

test('a return is told with its units: never "buy now" beside "0 left"', () => {
    const gone = itemAfterPush(item, { state: 'sold-out', free: 0 });
    assert.equal(gone.counts.free, 0);
    const back = itemAfterPush(gone, { state: 'available', free: 2 });
    assert.equal(phaseOf(back, 20_000), 'open');
    assert.deepEqual(back.counts, { free: 2, given: 5 });
});

test('a refusal is past once the phase contradicts it', () => {
    assert.equal(refusalIsPast({ type: 'paused', body: {} }, 'open'), true);
    assert.equal(refusalIsPast({ type: 'paused', body: {} }, 'paused'), false);
    assert.equal(refusalIsPast({ type: 'sold-out', body: { free: 0 } }, 'open'), true);
    assert.equal(refusalIsPast({ type: 'sold-out', body: { free: 2 } }, 'open'), false);
    assert.equal(refusalIsPast({ type: 'not-eligible', body: {} }, 'open'), false);
});

test('what is over is not asked for any more', () => {
    assert.equal(statusIntervalMs('ended', item, 0), Infinity);
    assert.ok(statusIntervalMs('open', item, 0) < statusIntervalMs('soldOut', item, 0));
    assert.ok(statusIntervalMs('before', item, 10_000 - 61_000) > statusIntervalMs('before', item, 9_000));
});

test('the page is painted again at the start itself', () => {
    assert.equal(nextTickMs(null, 0), 250);
    assert.equal(nextTickMs(item, 9_400), 600);
    assert.equal(nextTickMs(item, 9_000), 1_000);
    assert.equal(nextTickMs(item, 50_000), 1_000);
    assert.equal(nextTickMs(item, 9_400, (remaining) => remaining / 2), 300);
});
