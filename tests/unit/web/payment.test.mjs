// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moneyModel, orderIsClosing, refundWords } from '../../../web/payment.js';

const HERE = 'https://shop.example/';
const WAYS = { providers: ['alipay', 'wechat'], refund_ms: 60_000 };
const PENDING = { state: 'pending', pay_by_ms: 10_000, amount: 500, currency: 'CNY' };
const OPEN = { ...PENDING, payment: { provider: 'alipay', state: 'open', url: 'https://pay.example/' } };
const model = (order, now = 0, ways = WAYS) => moneyModel(order, ways, now, HERE);

test('an order that waits is paid, asked about and cancelled', () => {
    assert.deepEqual(model(PENDING).providers, ['alipay', 'wechat']);
    assert.equal(model(PENDING).ask, false, 'nothing was begun that could be paid');
    assert.equal(model(PENDING).cancel, true);
    assert.equal(model(OPEN).ask, true);
    assert.equal(model(PENDING).refund, false);
});

test('before the ways to pay are known, and where there are none, there is no button', () => {
    assert.deepEqual(model(PENDING, 0, null).providers, []);
    assert.deepEqual(model(PENDING, 0, { providers: [], refund_ms: 0 }).providers, []);
    assert.equal(model(PENDING, 0, null).cancel, true);
});

test('a closed order whose payment is unanswered is asked about and says so', () => {
    const closed = { ...OPEN, state: 'closed', payment: { provider: 'sandbox', state: 'unanswered' } };
    assert.deepEqual([model(closed).ask, model(closed).unanswered], [true, true]);
    assert.deepEqual(model(closed).providers, []);
    assert.equal(model({ ...closed, payment: undefined }).ask, false);
});

test('when the time is over nothing is begun any more, but what was begun is asked about', () => {
    const late = model(OPEN, 10_000);
    assert.deepEqual(late.providers, []);
    assert.equal(late.code, '');
    assert.equal(late.ask, true);
});

test('an order that is being closed offers nothing', () => {
    for (const order of [{ ...OPEN, closing: true },
        { ...PENDING, payment: { provider: 'alipay', state: 'closing' } }]) {
        assert.equal(orderIsClosing(order), true);
        const { providers, cancel, closing } = model(order);
        assert.deepEqual({ providers, cancel, closing }, { providers: [], cancel: false, closing: true });
    }
    assert.equal(orderIsClosing({ state: 'closed', closing: true }), false);
});

test('a code is shown only while its payment is open, and only if it is one', () => {
    const code = 'weixin://wxpay/bizpayurl?pr=1';
    const payment = { provider: 'wechat', state: 'open', url: code };
    assert.equal(model({ ...PENDING, payment }).code, code);
    assert.equal(model({ ...PENDING, payment: { ...payment, state: 'closing' } }).code, '');
    assert.equal(model({ ...PENDING, payment: { ...payment, url: 'javascript:1' } }).code, '');
    assert.equal(model(OPEN).code, '');
});

test('a paid order is given back while its time lasts', () => {
    const paid = { ...PENDING, state: 'paid' };
    assert.equal(model(paid, 69_999).refund, true);
    assert.equal(model(paid, 70_000).refund, false);
    assert.equal(model(paid, 0, { providers: ['alipay'], refund_ms: 0 }).refund, false);
    assert.equal(model(paid, 0, null).refund, false);
    assert.equal(model(paid).cancel, false);
});

test('money that goes back is said, and why', () => {
    assert.equal(refundWords({ state: 'closed' }), '');
    assert.equal(refundWords({ state: 'closed', refund: { state: 'wanted' } }), 'refund.late.wanted');
    assert.equal(refundWords({ state: 'refunded', refund: { state: 'done' } }), 'refund.order.done');
});
