// SPDX-License-Identifier: Apache-2.0
/* Whole pages without a browser: web/sales_view.js, past_sales.js, orders_view.js, item_view.js and item_layout.js. */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { fresh, part, problem, seen, server, settle, timersLoose } from './page.mjs';

timersLoose();

globalThis.WebSocket = class extends EventTarget {
    close() {}
};
const { mountSales } = await import('../../../web/sales_view.js');
const { mountOrders } = await import('../../../web/orders_view.js');
const { mountItem } = await import('../../../web/item_view.js');
const { lasting } = await import('../../../web/store.js');
const { languageSet } = await import('../../../web/i18n.js');

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 16, 12);
const clock = { now: () => NOW, known: () => true, sync: async () => {} };
let opened;
let ended;
const session = {
    current: () => opened,
    ended: () => ended,
    ensure: async () => {
        opened ??= { session: 's', user: 'u', guest: true };
        return opened;
    },
    forget: () => {
        opened = null;
        ended = true;
    },
};
let shopTold;
const shop = { known: () => shopTold, ask: async () => shopTold };
const item = {
    id: 7, sale: 1, product: { name: 'Watch' }, flash_price: 100, list_price: 200, currency: 'CNY', limit_per_user: 1,
    start_ms: NOW - 1_000, end_ms: NOW + HOUR, counts: { free: 3, given: 10 }, accepting: true, started: true, state: 'open',
    sold_out: false, human_check: 'none', waiting_room: false,
};
const saleOf = (id, more = {}) => ({ id, title: `Sale ${id}`, state: 'open', start_ms: NOW - 1_000, end_ms: NOW + HOUR, items: [{ ...item, id }], item_count: 1, ...more });

let root;
let view;
let title;
const context = () => ({ clock, session, shop, titleSet: (words) => { title = words; } });
const mount = async (how, ...more) => {
    root = document.createElement('main');
    document.body.append(root);
    view = how(root, ...more, context());
    await settle(10);
};

beforeEach(() => {
    fresh();
    languageSet('en');
    opened = null;
    ended = false;
    shopTold = { guests: true, pass_early_ms: 5_000, challenge_ms: 120_000 };
});
afterEach(() => view.stop());

test('running sales come first, then the next, then those that are over', async () => {
    server(() => [200, {
        ended_count: 0,
        sales: [saleOf(1, { state: 'scheduled', start_ms: NOW + HOUR, end_ms: NOW + 2 * HOUR }), saleOf(2)],
    }]);
    await mount(mountSales);
    assert.deepEqual(root.querySelectorAll('h2').filter((node) => /^Sale/.test(seen(node))).map(seen), ['Sale 2', 'Sale 1']);
    assert.equal(title, '');
});

test('no sale, and no answer, are said', async () => {
    server(() => [200, { sales: [], ended_count: 0 }]);
    await mount(mountSales);
    const none = seen(part(root, 'notice'));
    view.stop();
    server(() => null);
    await mount(mountSales);
    assert.ok(none !== '' && seen(part(root, 'notice')) !== '' && none !== seen(part(root, 'notice')));
});

test('past sales come on request, page by page', async () => {
    const asked = server((_, path) => {
        if (path === '/v1/sales')
            return [200, { sales: [saleOf(1)], ended_count: 2 }];
        return path.includes('after') ? [200, { sales: [saleOf(3, { state: 'ended' })] }] : [200, { sales: [saleOf(2, { state: 'ended' })], next: 9 }];
    });
    await mount(mountSales);
    const past = part(root, 'past');
    assert.equal(asked.length, 1);
    const more = past.children.at(-1);
    assert.match(seen(more), /2/);
    more.click();
    await settle(5);
    assert.equal(document.activeElement.textContent, 'Sale 2', 'the keyboard goes on at what is new');
    more.click();
    await settle(5);
    assert.deepEqual(asked.slice(1).map(({ path }) => path), ['/v1/sales?ended=1', '/v1/sales?ended=1&after=9']);
    assert.equal(more.hidden, true);
});

test('whoever must sign in to see orders is told so, with the way', async () => {
    shopTold = { guests: false, login_url: 'https://shop.example/login' };
    const asked = server(() => assert.fail('asked without a session'));
    await mount(mountOrders, '');
    assert.equal(part(root, 'orders-login').hidden, false);
    assert.equal(part(root, 'orders-login').href, 'https://shop.example/login');
    assert.match(seen(part(root, 'notice')), /Sign in/);
    assert.equal(asked.length, 0);
});

test('a session that the server does not know any more is not an empty list', async () => {
    opened = { session: 's', user: 'u', guest: true };
    server(() => problem(401, 'session-invalid'));
    await mount(mountOrders, '');
    assert.equal(opened, null);
    assert.match(seen(part(root, 'notice')), /Your visit as a guest has ended/);
});

test('orders stand in their groups, with the name of their item', async () => {
    opened = { session: 's', user: 'u' };
    lasting.write('waits.8', 'u');
    lasting.write('waits.9', 'somebody else');
    const order = { item: 7, quantity: 1, amount: 100, currency: 'CNY', version: 1, created_ms: NOW, pay_by_ms: NOW + HOUR };
    const asked = server((_, path) => {
        if (path === '/v1/orders')
            return [200, { orders: [{ ...order, ticket: 't1', order: 'o1', state: 'pending' }, { ...order, ticket: 't2', order: 'o2', state: 'closed', reason: 'cancelled' }] }];
        if (path.endsWith('/waitlist'))
            return [200, { state: 'waiting', position: 4 }];
        return path.startsWith('/v1/items/') ? [200, item] : [200, { providers: ['sandbox'] }];
    });
    await mount(mountOrders, '');
    const groups = root.querySelectorAll('.orders-group');
    assert.deepEqual(groups.map(({ hidden }) => hidden), [true, false, true, false, false]);
    assert.match(seen(groups[1]), /Watch/);
    assert.match(seen(groups[3]), /number 4/);
    assert.equal(asked.filter(({ path }) => path.endsWith('/waitlist')).length, 1, 'only one’s own places');
});

test('an order is shown by its number, and one of somebody else is none', async () => {
    opened = { session: 's', user: 'u' };
    const order = { ticket: 't1', order: 'o1', item: 7, state: 'paid', quantity: 1, amount: 100, currency: 'CNY', version: 1, created_ms: NOW, pay_by_ms: NOW + HOUR };
    const asked = server((_, path) => {
        if (path.startsWith('/v1/orders'))
            return path === '/v1/orders/o1' ? [200, order] : problem(404, 'not-found');
        return path.startsWith('/v1/items/') ? [200, item] : [200, { providers: ['sandbox'] }];
    });
    await mount(mountOrders, 'o1');
    assert.equal(root.querySelectorAll('.order').length, 1);
    assert.match(seen(root), /Watch/);
    assert.equal(title, 'Your order');
    assert.ok(!asked.some(({ path }) => path === '/v1/orders'));
    view.stop();
    await mount(mountOrders, '../time');
    assert.equal(asked.at(-1).path, '/v1/orders/..%2Ftime', 'the number of an address is no path');
    assert.match(seen(part(root, 'notice')), /no order with this number/);
});

test('who comes back from a pay page has the provider asked once', async () => {
    opened = { session: 's', user: 'u' };
    const order = {
        ticket: 't1', order: 'o1', item: 7, state: 'pending', quantity: 1, amount: 100, currency: 'CNY', version: 1,
        created_ms: NOW, pay_by_ms: NOW + HOUR, payment: { provider: 'sandbox', state: 'open' },
    };
    const asked = server((_, path) => {
        if (path === '/v1/orders')
            return [200, { orders: [order] }];
        return path.startsWith('/v1/items/') ? [200, item] : path.endsWith('/query') ? [200, order] : [200, { providers: ['sandbox'] }];
    });
    await mount(mountOrders, '');
    assert.equal(asked.filter(({ path }) => path.endsWith('/query')).length, 1);
});

const button = () => part(root, 'buy');

test('an open item can be bought by a click, and the order takes the place of the button', async () => {
    const asked = server((method, path) => {
        if (path.endsWith('/pass'))
            return [201, { pass: 'p' }];
        if (path.endsWith('/buy'))
            return [202, { ticket: 't1' }];
        if (path.includes('/tickets/'))
            return [200, { ticket: 't1', order: 'o1', item: 7, state: 'paid', quantity: 1, amount: 100, currency: 'CNY', version: 1, created_ms: NOW, pay_by_ms: NOW + HOUR }];
        return path.startsWith('/v1/items/') ? [200, item] : [200, { providers: ['sandbox'], items: [] }];
    });
    await mount(mountItem, 7);
    assert.deepEqual([seen(button()), button().getAttribute('aria-disabled'), title], ['Buy now', 'false', 'Watch']);
    assert.ok(asked.every(({ method }) => method === 'GET'), 'looking opens nothing');
    button().click();
    button().click();
    await settle(50);
    assert.equal(asked.filter(({ path }) => path.endsWith('/buy')).length, 1);
    assert.equal(part(root, 'item').dataset.view, 'order');
    assert.equal(part(root, 'buying').hidden, true);
    assert.equal(seen(part(root, 'won-title')).length > 0, true);
});

test('before the start a click asks for nothing', async () => {
    const asked = server((_, path) => (path.startsWith('/v1/items/') ? [200, { ...item, started: false, state: 'scheduled', start_ms: NOW + HOUR }] : [200, {}]));
    await mount(mountItem, 7);
    assert.match(seen(button()), /^Starts in/);
    button().click();
    await settle(5);
    assert.ok(asked.every(({ method }) => method === 'GET'));
});

test('a refusal is a sentence beside the button, and the stock is asked for again', async () => {
    server((_, path) => {
        if (path.endsWith('/pass'))
            return [201, { pass: 'p' }];
        return path.endsWith('/buy') ? problem(403, 'not-eligible') : [200, item];
    });
    await mount(mountItem, 7);
    button().click();
    await settle(50);
    assert.notEqual(seen(part(root, 'status')), '');
    assert.equal(part(root, 'status').dataset.kind, 'bad');
    assert.equal(button().getAttribute('aria-disabled'), 'true', 'it cools down');
});

test('whoever must sign in is led to the shop, not refused at the click', async () => {
    shopTold = { guests: false, login_url: 'https://shop.example/login', pass_early_ms: 0, challenge_ms: 0 };
    const asked = server(() => [200, item]);
    await mount(mountItem, 7);
    button().click();
    assert.deepEqual(globalThis.left, ['https://shop.example/login']);
    assert.ok(asked.every(({ method }) => method === 'GET'));
});

test('what is sold out leads to the waitlist and to what else the sale has', async () => {
    const asked = server((method, path) => {
        if (path.endsWith('/pass'))
            return [201, { pass: 'p' }];
        if (path.endsWith('/waitlist'))
            return [200, { state: 'waiting', position: 2 }];
        return path.startsWith('/v1/sales/') ? [200, { items: [{ ...item, id: 8 }] }] : [200, { ...item, sold_out: true, accepting: false, counts: { free: 0, given: 10 } }];
    });
    await mount(mountItem, 7);
    assert.equal(part(root, 'lost-link').href, '/items/8/');
    button().click();
    await settle(20);
    assert.match(seen(part(root, 'wait-words')), /number 2/);
    assert.ok(asked.some(({ method, path }) => method === 'POST' && path.endsWith('/waitlist')));
});

test('an item that is not there is said to be none', async () => {
    server(() => problem(404, 'unknown-item'));
    await mount(mountItem, 999);
    assert.equal(seen(part(root, 'nowhere-title')), 'Item not found');
    assert.equal(part(root, 'item').hidden, true);
    assert.equal(title, 'Item not found');
});

test('an item that is not answered for is asked for again, and trouble is said', async () => {
    server(() => null);
    await mount(mountItem, 7);
    assert.notEqual(seen(part(root, 'loading')), 'Loading…');
    assert.equal(part(root, 'nowhere-title'), null);
});
