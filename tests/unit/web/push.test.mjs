// SPDX-License-Identifier: Apache-2.0
/* The page's push connection with a socket that the test holds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemAfterPush, phaseOf } from '../../../web/phase.js';
import { createPush, retryMs } from '../../../web/push.js';

function held() {
    const sockets = [];
    const timers = [];
    const told = [];
    const push = createPush('secret', [3], (item) => told.push([item.state, item.version]), {
        open: (session, items) => {
            const socket = { session, items, close: (code) => (socket.closed = code) };
            sockets.push(socket);
            return socket;
        },
        after: (run, ms) => timers.push({ run, ms }),
    });
    const say = (message) => sockets.at(-1).onmessage({ data: JSON.stringify(message) });
    return { push, sockets, timers, told, say };
}

const order = (version, state = 'pending') => ({ ticket: 't', version, state });
const state = (...orders) => ({ type: 'state', now_ms: 1, orders, items: [] });
const event = (one) => ({ type: 'order', event: 'changed', version: one.version, order: one });

test('an order is told when it differs from what is known, the newest one', async () => {
    const { push, say } = held();
    say(state(order(2)));
    assert.deepEqual(await push.next('t', 1), order(2));
    const next = push.next('t', 2);
    say(event(order(1, 'old')));
    say(event(order(3, 'paid')));
    assert.deepEqual(await next, order(3, 'paid'));
    say(event(order(2)));
    assert.deepEqual(await push.next('t', undefined), order(3, 'paid'));
});

test('who waits goes back to polling when the connection is away', async () => {
    const { push, sockets, timers, say } = held();
    assert.equal(push.live(), false);
    assert.equal(await push.next('t', 1), null);
    say(state(order(1)));
    assert.equal(push.live(), true);
    const next = push.next('t', 1);
    sockets[0].onclose({ code: 1006, reason: '' });
    assert.equal(await next, null);
    assert.equal(push.live(), false);
    timers[0].run();
    assert.equal(sockets.length, 2);
    say(state(order(2)));
    assert.deepEqual(await push.next('t', 1), order(2));
});

test('it stays away longer each time, as long as the server says, or for good', () => {
    const { sockets, timers, say } = held();
    for (let i = 0; i < 8; i++) {
        sockets.at(-1).onclose({ code: 1006, reason: '' });
        timers.at(-1).run();
    }
    assert.ok(timers[0].ms >= 600 && timers[0].ms <= 1400);
    assert.ok(timers[7].ms >= 60_000 * 0.6 && timers[7].ms <= 60_000 * 1.4);
    say(state());
    sockets.at(-1).onclose({ code: 1001, reason: 'retry_ms=4321' });
    assert.equal(timers.at(-1).ms, 4321);
    timers.at(-1).run();
    sockets.at(-1).onclose({ code: 1008, reason: 'the session has expired' });
    assert.equal(timers.length, 9);
    assert.ok(retryMs(1, 'retry_ms=-1') >= 600);
});

test('an ended connection does not come back', () => {
    const { push, sockets, timers, say } = held();
    say(state());
    push.end();
    assert.equal(sockets[0].closed, 1000);
    sockets[0].onclose({ code: 1000, reason: '' });
    assert.equal(timers.length, 0);
});

test('a change that was missed is told with the next state', () => {
    const { told, say } = held();
    const items = (name, version) => ({ type: 'state', orders: [], items: [{ item: 3, state: name, version }] });
    say(items('available', 10));
    say(items('available', 20));
    say(items('sold-out', 30));
    assert.deepEqual(told, [['sold-out', 30]]);
});

test('items are told in growing versions', () => {
    const { told, say } = held();
    const item = (name, version) => ({ item: 3, state: name, version });
    say({ type: 'state', orders: [], items: [item('available', 10)] });
    say({ type: 'item', ...item('sold-out', 12) });
    say({ type: 'item', ...item('available', 11) });
    say({ type: 'items', items: [item('sold-out', 12)] });
    say({ type: 'item', ...item('available', 13) });
    assert.deepEqual(told, [['sold-out', 12], ['available', 13]]);
});

test('what push says of an item is what a status would say', () => {
    const status = { state: 'open', started: true, accepting: true, sold_out: false, start_ms: 0, end_ms: 9, counts: { free: 1 } };
    const phaseAfter = (name, item = status) => phaseOf(itemAfterPush(item, { state: name }), 5);
    assert.equal(phaseAfter('sold-out'), 'soldOut');
    assert.equal(phaseAfter('paused'), 'paused');
    assert.equal(phaseAfter('ended'), 'ended');
    assert.equal(phaseAfter('available', itemAfterPush(status, { state: 'sold-out' })), 'open');
    assert.equal(phaseAfter('available', { ...status, state: 'paused' }), 'open');
    assert.equal(itemAfterPush(null, { state: 'ended' }), null);
});
