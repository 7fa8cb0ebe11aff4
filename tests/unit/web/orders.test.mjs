// SPDX-License-Identifier: Apache-2.0
/* web/order_groups.js, web/session.js and web/store.js: what a list of orders says, and to whom. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

globalThis.navigator ??= { language: 'en', languages: ['en'] };
const kept = new Map();
const storage = new Proxy({
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
}, { ownKeys: () => [...kept.keys()], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });
globalThis.window = { localStorage: storage, sessionStorage: storage };
const { emptyWords, ordersGrouped } = await import('../../../web/order_groups.js');
const { createSession } = await import('../../../web/session.js');
const { lasting } = await import('../../../web/store.js');
const { WORDS } = await import('../../../web/words.js');

let asked;
let now;
const clock = { known: () => true, now: () => now, sync: async () => {} };

beforeEach(() => {
    kept.clear();
    asked = 0;
    now = 1_000;
    globalThis.fetch = async () => {
        const number = ++asked;
        await new Promise((resolve) => setTimeout(resolve, 5));
        return new Response(JSON.stringify({ session: `s${number}`, user: `u${number}`, expires_ms: 100_000, guest: true }), { status: 201 });
    };
});

test('orders are grouped by what is to be done about them', () => {
    const orders = ['paid', 'pending', 'closed', 'creating', 'refunded', 'deciding'].map((state, at) => ({ state, ticket: at }));
    const { deciding, toPay, paid, past } = ordersGrouped(orders);
    assert.deepEqual([deciding, toPay, paid, past].map((group) => group.map(({ ticket }) => ticket)), [[5], [1, 3], [0], [2, 4]]);
});

test('who is signed out is never told that there are no orders', () => {
    assert.equal(emptyWords(null, { guests: false }, false), 'orders.signIn');
    assert.equal(emptyWords(null, { guests: true }, true), 'orders.ended');
    assert.equal(emptyWords(null, { guests: true }, false), 'orders.none'); /* a guest who never bought */
    assert.equal(emptyWords(null, null, true), 'orders.loading');
    assert.equal(emptyWords({ user: 'u' }, null, false), 'orders.none');
    for (const language of Object.values(WORDS))
        for (const words of ['signIn', 'ended', 'none', 'loading', 'deciding', 'toPay', 'paid', 'waits', 'past'])
            assert.ok(language[`orders.${words}`], words);
});

test('a session that is over is known to have been', async () => {
    const session = createSession(clock, () => true);
    await session.ensure();
    assert.equal(session.ended(), false);
    now = 95_000;
    assert.equal(session.current(), null);
    assert.equal(session.ended(), true);
    now = 1_000;
    await session.ensure();
    assert.equal(session.ended(), false);
});

test('two tabs that open a session at once get one', async () => {
    let last = Promise.resolve();
    Object.defineProperty(globalThis.navigator, 'locks', {
        configurable: true,
        value: { request: (name, work) => (last = last.then(work)) }, /* as browsers do it: one after another */
    });
    const [one, two] = [createSession(clock, () => true), createSession(clock, () => true)];
    const [first, second] = await Promise.all([one.ensure(), two.ensure()]);
    assert.equal(asked, 1);
    assert.equal(first.session, second.session);
    delete globalThis.navigator.locks;
});

test('names that were kept are found again', () => {
    lasting.write('waits.7', 'u');
    lasting.write('waits.12', 'v');
    lasting.write('other', 1);
    assert.deepEqual(lasting.names('waits.').sort(), ['12', '7']);
});
