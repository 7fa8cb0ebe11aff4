// SPDX-License-Identifier: Apache-2.0
/* web/app.js: which page an address is, and what a click on a link inside the page does. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part, seen, server, settle, timersLoose } from './page.mjs';

timersLoose(); /* the page goes on until it is closed */
const { element, routeLink } = await import('../../../web/dom.js');
const asked = server((_, path) => {
    if (path === '/v1/time')
        return [200, { now_ms: 1_000_000, test: true }];
    return path.startsWith('/v1/items/') ? [404, { type: '/problems/unknown-item' }] : [200, { sales: [], ended_count: 0, guests: true }];
});
const main = element('main', { id: 'main' });
const note = element('p', { id: 'test-mode', hidden: true });
const choice = element('button', {}, '中文');
choice.dataset.language = 'zh-CN';
const title = element('span');
title.dataset.words = 'nav.orders';
document.body.append(main, note, choice, title);
globalThis.history = {
    pushState(_, __, href) {
        location.href = href;
        location.search = new URL(href, location.origin).search;
    },
};
await import('../../../web/app.js');
await settle(20);

const go = (search) => {
    location.search = search;
    window.dispatchEvent(new Event('popstate'));
    return settle(10);
};

test('an address without more is the front page, and a test server says so', () => {
    assert.notEqual(part(main, 'sales-page'), null);
    assert.equal(note.hidden, false);
});

test('an item and the orders have addresses of their own, and nonsense is the front page', async () => {
    await go('?item=7');
    assert.notEqual(part(main, 'item-page'), null);
    assert.ok(asked.some(({ path }) => path === '/v1/items/7'));
    await go('');
    location.pathname = '/items/8/';
    await go('');
    assert.ok(asked.some(({ path }) => path === '/v1/items/8'));
    location.pathname = '/';
    await go('?orders');
    assert.notEqual(part(main, 'orders-page'), null);
    await go('?order=o1');
    assert.equal(seen(main.querySelector('h1')), 'Your order');
    for (const search of ['?order=', '?item=0', '?item=-1', '?item=x', '?item=1.5', '?x=1']) {
        await go(search);
        assert.notEqual(part(main, 'sales-page'), null, search);
    }
});

test('a link inside the page is followed without loading it anew; a modified click is the browser’s', async () => {
    const link = Object.assign(routeLink('/?orders', {}), { offsetParent: null, closest: () => link });
    link.href = 'http://shop.test/?orders';
    const click = (more = {}) => {
        const event = new Event('click', { cancelable: true });
        Object.defineProperties(event, { target: { value: link }, button: { value: 0 }, ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { value }])) });
        document.dispatchEvent(event);
        return event.defaultPrevented;
    };
    await go('');
    assert.equal(click({ ctrlKey: true }), false);
    assert.notEqual(part(main, 'sales-page'), null);
    assert.equal(click(), true);
    await settle(5);
    assert.notEqual(part(main, 'orders-page'), null);
    assert.match(document.title, /^My orders · /);
});

test('a choice of language repaints everything', () => {
    assert.equal(seen(title), 'My orders');
    choice.click();
    assert.equal(seen(title), '我的订单');
    assert.equal(document.documentElement.lang, 'zh-CN');
    assert.equal(choice.getAttribute('aria-pressed'), 'true');
});
