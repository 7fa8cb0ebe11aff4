// SPDX-License-Identifier: Apache-2.0
/* web/order_timeline.js: what has happened to an order, with the times that the server tells. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORDS } from '../../../web/words.js';

globalThis.navigator ??= { language: 'en', languages: ['en'] };
const { timelineModel } = await import('../../../web/order_timeline.js');

const ORDER = { state: 'pending', reason: null, created_ms: 1000, pay_by_ms: 9000 };
const told = (more) => timelineModel({ ...ORDER, ...more }).map(({ key, at, ahead }) => [key, at, ahead]);

test('an order that is being written has no past', () => {
    assert.deepEqual(told({ state: 'creating' }), []);
    assert.deepEqual(told({ state: 'deciding', ticket: 't' }), []);
});

test('a paid order was ordered and paid, each at its time', () => {
    assert.deepEqual(told({ state: 'paid', paid_ms: 4000 }), [['timeline.ordered', 1000, false], ['timeline.paid', 4000, false]]);
    assert.deepEqual(told({ state: 'paid' })[1], ['timeline.paid', 0, false], 'paid in the shop: when is not known');
});

test('a refund is told from its beginning to the end, or that it is under way', () => {
    const paid = { state: 'refunded', paid_ms: 4000 };
    assert.deepEqual(told({ ...paid, refund: { state: 'done', created_ms: 5000, done_ms: 6000 } }).slice(2), [['timeline.refund', 5000, false], ['timeline.returned', 6000, false]]);
    for (const state of ['wanted', 'stuck'])
        assert.deepEqual(told({ ...paid, refund: { state, created_ms: 5000 } })[3], ['timeline.returning', 0, true]);
    assert.deepEqual(told(paid)[2], ['timeline.refund', 0, false]);
});

test('a closed order tells why, and what became of money that came too late', () => {
    for (const reason of ['expired', 'cancelled', 'rejected'])
        assert.deepEqual(told({ state: 'closed', reason })[1], [`order.reason.${reason}`, 0, false]);
    assert.deepEqual(told({ state: 'closed', reason: 'expired', refund: { state: 'done', created_ms: 10_000, done_ms: 11_000 } }).map(([key]) => key),
        ['timeline.ordered', 'order.reason.expired', 'timeline.refund', 'timeline.returned']);
});

test('every step has words in both languages', () => {
    const states = [{ state: 'pending' }, { state: 'paid' }, { state: 'refunded' }, ...['expired', 'cancelled', 'rejected'].map((reason) => ({ state: 'closed', reason })),
        ...['wanted', 'stuck', 'done'].map((state) => ({ state: 'refunded', refund: { state } }))];
    for (const words of Object.values(WORDS))
        for (const { key } of states.flatMap((state) => timelineModel({ ...ORDER, ...state })))
            assert.ok(words[key], key);
});
