// SPDX-License-Identifier: Apache-2.0
/* web/buy_button.js: what the button says, and whether it acts, follows from what is known. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buttonModel } from '../../../web/buy_button.js';
import { WORDS } from '../../../web/words.js';

const idle = { phase: 'open', step: 'idle', owned: false, unresolved: false, coolMs: 0 };
const model = (known) => buttonModel({ ...idle, ...known });

test('it acts while the sale is open, and in no other phase', () => {
    assert.equal(model().live, true);
    for (const phase of ['unknown', 'before', 'full', 'soldOut', 'paused', 'ended'])
        assert.equal(model({ phase }).live, false, phase);
});

test('it does not act twice: not while asking, not while cooling down, not when bought', () => {
    assert.equal(model({ step: 'sending' }).live, false);
    assert.equal(model({ checking: true }).live, false);
    assert.equal(model({ owned: true }).live, false);
    assert.deepEqual(model({ coolMs: 4_100 }), { words: 'buy.cooling', live: false, seconds: 5 });
});

test('an attempt without an answer can be asked about whatever the phase', () => {
    for (const phase of ['open', 'soldOut', 'paused', 'ended'])
        assert.deepEqual(model({ unresolved: true, phase }), { words: 'buy.check', live: true });
    assert.equal(model({ unresolved: true, coolMs: 1 }).live, false);
});

test('the room stands before the purchase', () => {
    assert.deepEqual(model({ room: 'enter' }), { words: 'room.enter', live: true, busy: false, act: 'enter' });
    assert.equal(model({ room: 'enter', entering: true }).live, false);
    assert.equal(model({ room: 'wait' }).live, false);
    assert.equal(model({ room: 'enter', phase: 'soldOut' }).words, 'buy.soldOut');
});

test('it says what is going on, and not that one is in a queue', () => {
    for (const kind of ['sending', 'busy', 'silent', 'offline', 'early', 'moment']) {
        const { words, live } = model({ step: 'sending', progress: { kind, next: 2, of: 6 } });
        assert.equal(live, false);
        for (const language of Object.values(WORDS)) {
            assert.doesNotMatch(language[words] + language[`status.${kind}`], /queue|队/i);
        }
    }
});

test('sold out, its place is the way to the waitlist', () => {
    const wait = { waiting: false, position: 0, busy: false };
    assert.deepEqual(model({ phase: 'soldOut', wait }), { words: 'waitlist.join', live: true, busy: false, act: 'wait' });
    assert.equal(model({ phase: 'soldOut', wait: { ...wait, waiting: true, position: 3 } }).live, false);
    assert.equal(model({ phase: 'soldOut', wait, owned: true }).words, 'buy.ordered');
});

test('who is not signed in is sent to the shop, if it is known where that is', () => {
    assert.deepEqual(model({ signIn: 'link' }), { words: 'buy.signIn', live: true, act: 'signIn' });
    assert.equal(model({ signIn: 'missing' }).live, false);
    assert.equal(model({ signIn: 'link', phase: 'before' }).words, 'buy.before');
});

test('everything that it can say is there in both languages', () => {
    for (const language of ['en', 'zh-CN'])
        for (const phase of ['unknown', 'before', 'open', 'full', 'soldOut', 'paused', 'ended'])
            assert.ok(WORDS[language][model({ phase }).words], `${language} ${phase}`);
});
