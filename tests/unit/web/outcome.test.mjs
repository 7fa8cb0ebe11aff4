// SPDX-License-Identifier: Apache-2.0
/* web/won.js, web/lost.js and what payment.js says of a declined payment. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.navigator ??= { language: 'en', languages: ['en'] };
const { wonModel } = await import('../../../web/won.js');
const { lostModel, othersOf } = await import('../../../web/lost.js');
const { moneyModel } = await import('../../../web/payment.js');
const { WORDS } = await import('../../../web/words.js');

const order = { state: 'pending', created_ms: 1_000, pay_by_ms: 101_000, quantity: 1 };
const item = { id: 1, start_ms: 10_000, counts: { free: 0, given: 5 } };
const lost = (more) => lostModel({ phase: 'soldOut', item, owned: false, waiting: false, tappedMs: 0, others: [], ...more });

test('an order that can be paid says until when, and how much of the time is left', () => {
    const model = wonModel(order, 26_000, false);
    assert.equal(model.kind, 'open');
    assert.equal(model.leftMs, 75_000);
    assert.equal(model.share, 0.75);
    assert.equal(model.untilMs, 101_000);
});

test('no time to pay is shown where none is left', () => {
    for (const [told, kind] of [
        [{ ticket: 't', state: 'deciding' }, 'deciding'],
        [{ ...order, state: 'creating' }, 'creating'],
        [{ ...order, state: 'paid' }, 'paid'],
        [{ ...order, closing: true }, 'closing'],
        [{ ...order, pay_by_ms: 20_000 }, 'late'],
    ]) {
        const model = wonModel(told, 26_000, false);
        assert.equal(model.kind, kind);
        assert.equal(model.leftMs, undefined);
    }
    assert.equal(wonModel(order, 26_000, true).title, 'won.offered');
});

test('a deposit does not say that the item is bought: first it is to pay, then the item is booked', () => {
    assert.equal(wonModel(order, 26_000, true, true).title, 'order.state.pending');
    assert.equal(wonModel({ ...order, state: 'paid' }, 26_000, false, true).title, 'presale.number');
    assert.equal(wonModel({ ...order, state: 'paid' }, 26_000, false, false).title, 'won.paid');
});

test('who tapped too late is told by how much; who came hours later is not', () => {
    assert.deepEqual([lost({ tappedMs: 11_140 }).words, lost({ tappedMs: 11_140 }).values.after], ['lost.came', '1.1']);
    assert.equal(lost({ tappedMs: 9_000_000 }).words, 'lost.gone');
    assert.equal(lost().words, 'lost.gone');
    assert.equal(lost({ waiting: true }).words, 'lost.waiting');
});

test('how long the stock lasted is told where it is known', () => {
    const after = (ms) => lost({ item: { ...item, sold_out_ms: ms } }).gone;
    assert.deepEqual(after(13_240), ['lost.after', { seconds: '3.2' }]);
    assert.deepEqual(after(10_000 + 5 * 60_000), ['lost.afterMinutes', { minutes: '5' }]);
    assert.equal(after(9_000), null); /* opened by hand, before its start */
    assert.equal(lost().gone, null);
});

test('nothing is lost while something is left, or for who has it', () => {
    assert.equal(lost({ phase: 'open' }), null);
    assert.equal(lost({ owned: true }), null);
});

test('only what can be bought is offered instead, and not the item itself', () => {
    const items = [1, 2, 3, 4, 5, 6].map((id) => ({ id, accepting: id !== 2, counts: { free: id === 3 ? 0 : 1 } }));
    assert.deepEqual(othersOf(items, 1).map(({ id }) => id), [4, 5, 6]);
});

test('a payment that came to nothing is told while there is time for another', () => {
    const declined = { ...order, payment: { provider: 'alipay', state: 'closed' } };
    const model = (told, now) => moneyModel(told, { providers: ['alipay'], refund_ms: 0 }, now, 'http://here/');
    assert.equal(model(declined, 26_000).declined, 'alipay');
    assert.equal(model(declined, 102_000).declined, '');
    assert.equal(model({ ...order, payment: { provider: 'alipay', state: 'open', url: '' } }, 26_000).declined, '');
    assert.equal(model(order, 26_000).declined, '');
});

test('everything that these screens can say is there in both languages', () => {
    const said = ['deciding', 'creating', 'paid', 'pending'].map((state) => wonModel({ ...order, state }, 26_000, false));
    said.push(wonModel({ ...order, closing: true }, 0, false), wonModel(order, 200_000, true));
    for (const { title, words } of said)
        for (const language of Object.values(WORDS))
            assert.ok(language[title] && language[words], `${title} ${words}`);
});
