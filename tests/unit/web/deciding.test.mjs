// SPDX-License-Identifier: Apache-2.0
/* A purchase that is not decided yet, on whole pages: web/purchase.js, order_follow.js, item_view.js, orders_view.js. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { fresh, part, problem, seen, server, settle, timersLoose } from './page.mjs';

timersLoose();

globalThis.WebSocket = class extends EventTarget {
    close() {}
};
const { mountOrders } = await import('../../../web/orders_view.js');
const { mountItem } = await import('../../../web/item_view.js');
const { orderFollow } = await import('../../../web/order_follow.js');
const { lasting } = await import('../../../web/store.js');
const { languageSet } = await import('../../../web/i18n.js');

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 16, 12);
const clock = { now: () => NOW, known: () => true, sync: async () => {} };
const opened = { session: 's', user: 'u', guest: true };
const session = { current: () => opened, ended: () => false, ensure: async () => opened, forget: () => {} };
const shop = { known: () => ({ guests: true, pass_early_ms: 0, challenge_ms: 0 }), ask: async () => {} };
const item = {
    id: 7, sale: 1, product: { name: 'Watch' }, flash_price: 100, list_price: 200, currency: 'CNY', limit_per_user: 1,
    start_ms: NOW - 1_000, end_ms: NOW + HOUR, counts: { free: 3, given: 10 }, accepting: true, started: true, state: 'open',
    sold_out: false, human_check: 'none', waiting_room: false, details_required: false,
};
const order = { ticket: 't1', order: 'o1', item: 7, state: 'pending', quantity: 1, amount: 100, currency: 'CNY', version: 1, created_ms: NOW, pay_by_ms: NOW + HOUR };
const undecided = { ticket: 't1', state: 'deciding' };

let root;
let view;
let outcome; /* of a tap */
let answers; /* of GET /v1/tickets/t1, one after another; a function is held until it is called */
let orders; /* of the list */
let asked;

const mount = async (how, ...more) => {
    root = document.createElement('main');
    document.body.append(root);
    view = how(root, ...more, { clock, session, shop, titleSet: () => {} });
    await settle(10);
};
/* Answers the question that the page has open. */
let answer;
const ticketTold = async (told) => {
    answer([200, told]);
    await settle(20);
};

beforeEach(() => {
    fresh();
    languageSet('en');
    outcome = { outcome: 'deciding', ticket: 't1', item: 7, quantity: 1 };
    answers = [];
    orders = [];
    asked = server((_, path) => {
        if (path.includes('/tickets/'))
            return path.includes('wait=0')
                ? answers.shift() ?? [200, undecided]
                : new Promise((resolve) => { answer = resolve; });
        if (path === '/v1/orders')
            return [200, { orders }];
        if (path.endsWith('/pass'))
            return [201, { pass: 'p' }];
        if (path.endsWith('/buy'))
            return [202, outcome];
        return path.startsWith('/v1/items/') ? [200, item] : [200, { providers: ['sandbox'], items: [] }];
    });
});
afterEach(() => view?.stop());

const button = () => part(root, 'buy');
const title = () => seen(part(root, 'won-title'));
const kept = () => lasting.read('ticket.7');
const buys = () => asked.filter(({ path }) => path.endsWith('/buy')).length;

async function tapped() {
    await mount(mountItem, 7);
    button().click();
    await settle(50);
}

test('a tap that is not decided yet says so where it would say won, and shows no order', async () => {
    await tapped();
    assert.equal(part(root, 'item').dataset.view, 'order');
    assert.equal(part(root, 'won').dataset.kind, 'deciding');
    assert.equal(title(), 'You are in line: we are deciding');
    assert.equal(part(root, 'order').hidden, true);
    assert.doesNotMatch(seen(root), /You got it/);
    assert.deepEqual(kept(), { user: 'u', ticket: 't1', deciding: 1 });
    languageSet('zh-CN');
    assert.equal(title(), '正在排队中');
});

test('once it is kept it is a win, and remembered as one', async () => {
    await tapped();
    await ticketTold(undecided);
    assert.equal(title(), 'You are in line: we are deciding');
    await settle(1_600); /* rounds are not shorter */
    await ticketTold(order);
    assert.equal(title(), 'You got it!');
    assert.equal(part(root, 'order').hidden, false);
    assert.deepEqual(kept(), { user: 'u', ticket: 't1' });
    assert.equal(buys(), 1);
});

test('one that is not kept is said, and the button is live at once', async () => {
    await tapped();
    await ticketTold({ ticket: 't1', state: 'void' });
    assert.equal(part(root, 'item').dataset.view, 'item');
    assert.equal(seen(part(root, 'status')), 'Your purchase was not kept. You were not charged. Try again.');
    assert.deepEqual([seen(button()), button().getAttribute('aria-disabled')], ['Buy now', 'false']);
    assert.equal(kept(), null);
    languageSet('zh-CN');
    assert.equal(seen(part(root, 'status')), '这次购买没有保留，未扣款。请再试一次。');
    languageSet('en');
    outcome = { outcome: 'won', ticket: 't2' };
    button().click();
    await settle(50);
    assert.equal(buys(), 2);
    assert.equal(title(), 'You got it!');
    const keys = asked.filter(({ path }) => path.endsWith('/buy')).map(({ headers }) => headers?.['Idempotency-Key']);
    assert.notEqual(keys[0], keys[1], 'another purchase, another key');
});

test('after a reload it is still in line, before anything is answered', async () => {
    lasting.write('ticket.7', { user: 'u', ticket: 't1', deciding: 1 });
    await mount(mountItem, 7);
    assert.equal(title(), 'You are in line: we are deciding');
    await ticketTold({ ticket: 't1', state: 'void' });
    assert.match(seen(part(root, 'status')), /was not kept/);
    assert.equal(button().getAttribute('aria-disabled'), 'false');
});

test('one that the server does not know leaves nobody in line for ever', async () => {
    await tapped();
    answer(problem(404, 'unknown-order'));
    await settle(20);
    assert.equal(part(root, 'item').dataset.view, 'item');
    assert.equal(kept(), null);
});

test('a ticket of another user is not shown', async () => {
    lasting.write('ticket.7', { user: 'somebody else', ticket: 't1', deciding: 1 });
    await mount(mountItem, 7);
    assert.equal(part(root, 'item').dataset.view, 'item');
    assert.ok(!asked.some(({ path }) => path.includes('/tickets/')));
});

test('what is not decided is asked for although there is push, and an order is left to push', async () => {
    const shown = [];
    const waited = [];
    view = null;
    const push = { live: () => true, next: (ticket, version) => new Promise(() => { waited.push([ticket, version]); }) };
    const end = orderFollow('s', 't1', (told) => shown.push(told.state), () => {}, push);
    await settle(10);
    answer([200, undecided]);
    await settle(20);
    assert.deepEqual([shown, waited], [['deciding'], []]);
    assert.equal(asked.filter(({ path }) => path.includes('/tickets/')).length, 1, 'no two rounds at once');
    await settle(1_600);
    answer([200, order]);
    await settle(20);
    assert.deepEqual([shown, waited], [['deciding', 'pending'], [['t1', 1]]]);
    end();
});

test('my orders list what is not decided as such, and only that', async () => {
    lasting.write('ticket.7', { user: 'u', ticket: 't1', deciding: 2 });
    lasting.write('ticket.8', { user: 'u', ticket: 't8' });
    lasting.write('ticket.9', { user: 'somebody else', ticket: 't9', deciding: 1 });
    await mount(mountOrders, '');
    const [first, ...others] = root.querySelectorAll('.orders-group');
    assert.equal(first.hidden, false);
    assert.match(seen(first), /^In line Watch In line Ticket t1 Quantity 2$/);
    assert.ok(others.every(({ hidden }) => hidden));
    assert.deepEqual(asked.filter(({ path }) => path.includes('/tickets/')).map(({ path }) => path), ['/v1/tickets/t1?wait=0']);
    assert.equal(part(root, 'notice').hidden, true);
});

test('my orders leave out what is void, not known, or an order by now', async () => {
    for (const told of [[200, { ticket: 't1', state: 'void' }], problem(404, 'unknown-order'), [200, order]]) {
        lasting.write('ticket.7', { user: 'u', ticket: 't1', deciding: 1 });
        answers = [told];
        await mount(mountOrders, '');
        assert.ok(root.querySelectorAll('.orders-group').every(({ hidden }) => hidden));
        view.stop();
    }
});

test('what was decided between two questions is listed once, as an order', async () => {
    lasting.write('ticket.7', { user: 'u', ticket: 't1', deciding: 1 });
    orders = [order];
    await mount(mountOrders, '');
    assert.equal(root.querySelectorAll('.order').length, 1);
    assert.deepEqual(root.querySelectorAll('.orders-group').map(({ hidden }) => hidden), [true, false, true, true, true]);
});
