// SPDX-License-Identifier: Apache-2.0
/* web/ready.js and web/shop.js: what is still to do before the start. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readyModel } from '../../../web/ready.js';
import { loginAddress, signInMissing } from '../../../web/shop.js';
import { WORDS } from '../../../web/words.js';

const GUESTS = { guests: true, pass_early_ms: 5000, challenge_ms: 120_000 };
const SHOP = { ...GUESTS, guests: false, login_url: 'https://shop.example/login' };
const known = {
    phase: 'before', opened: null, shop: GUESTS, login: '', details: null, quantity: 1, choices: 1,
    check: 'none', checkFrom: 0, pass: false, room: false,
};
const model = (more) => readyModel({ ...known, ...more });
const row = (made, id) => made.rows.find((one) => one.id === id);

test('there is a checklist before the start only', () => {
    assert.notEqual(model(), null);
    for (const phase of ['unknown', 'open', 'soldOut', 'ended'])
        assert.equal(model({ phase }), null);
    assert.equal(model({ shop: null }), null);
});

test('who must sign in is told where, and is not ready', () => {
    const made = model({ shop: SHOP, login: SHOP.login_url });
    assert.equal(made.ready, false);
    assert.equal(row(made, 'signIn').link, SHOP.login_url);
    const signedIn = model({ shop: SHOP, opened: { guest: false, name: 'ann' } });
    assert.deepEqual(row(signedIn, 'signIn').values, { name: 'ann' });
    assert.equal(signedIn.ready, true);
    assert.equal(row(model(), 'signIn').done, true); /* guests need not */
});

test('an address is to do where one is wanted, and can be changed when given', () => {
    assert.equal(row(model(), 'address'), undefined);
    const missing = model({ details: 'missing' });
    assert.equal(missing.todo, 1);
    assert.equal(row(missing, 'address').act, 'ready.fill');
    assert.equal(row(model({ details: { name: 'Ann', address: '1 Road' } }), 'address').act, 'details.change');
});

test('the check is later, to do, being done, done', () => {
    assert.equal(row(model({ check: 'later', checkFrom: 7 }), 'check').fromMs, 7);
    assert.equal(row(model({ check: 'todo' }), 'check').act, 'ready.checkNow');
    assert.equal(row(model({ check: 'doing' }), 'check').done, false);
    assert.equal(model({ check: 'done' }).ready, true);
});

test('one tap is promised only with a pass, and never where a room decides', () => {
    assert.equal(model().oneTap, false);
    assert.equal(model({ pass: true }).oneTap, true);
    assert.equal(model({ pass: true, details: 'missing' }).oneTap, false);
    assert.equal(model({ pass: true, room: true }).oneTap, false);
});

test('everything that the list can say is there in both languages', () => {
    const all = ['todo', 'later', 'doing', 'done'].flatMap((check) => [
        model({ check, details: 'missing', choices: 3 }),
        model({ check, details: {}, shop: SHOP }),
        model({ check, opened: { guest: false } }),
        model({ check, opened: { guest: false, name: 'ann' } }),
    ]);
    for (const { words, act } of all.flatMap(({ rows }) => rows))
        for (const language of Object.values(WORDS))
            assert.ok(language[words] && (act === undefined || language[act]), words);
});

test('only pages are linked to as the shop’s login', () => {
    assert.equal(loginAddress(SHOP), SHOP.login_url);
    assert.equal(loginAddress({ login_url: 'javascript:alert(1)' }), '');
    assert.equal(loginAddress({}), '');
    assert.equal(loginAddress(null), '');
});

test('signing in is missing only where guests may not buy', () => {
    assert.equal(signInMissing(SHOP, null), true);
    assert.equal(signInMissing(SHOP, { user: 'u' }), false);
    assert.equal(signInMissing(GUESTS, null), false);
    assert.equal(signInMissing(null, null), false); /* not known yet */
});
