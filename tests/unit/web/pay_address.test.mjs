// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payAddress } from '../../../web/pay_address.js';

const HERE = 'https://shop.example/?orders';

test('pages are gone to and codes are shown', () => {
    const page = 'https://pay.example/cashier?a=1&b=2';
    assert.deepEqual(payAddress(page, HERE), { kind: 'page', href: page });
    const code = 'weixin://wxpay/bizpayurl?pr=p4lpSuKzz';
    assert.deepEqual(payAddress(code, HERE), { kind: 'code', href: code });
    const forPhones = 'https://qr.alipay.com/bax00000000000000000';
    assert.deepEqual(payAddress(forPhones, HERE), { kind: 'code', href: forPhones });
});

test('an address that would run something is none', () => {
    for (const bad of ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x',
        'vbscript:x', 'blob:https://shop.example/1', 'file:///etc/passwd', 'https://',
        'https://shop.example@evil.example/', 'https://a:b@pay.example/'])
        assert.equal(payAddress(bad, HERE), null, bad);
});

test('a server that names the address it listens on is met where the page is', () => {
    const here = 'http://localhost:9000/?item=1';
    for (const host of ['127.0.0.1:8080', '0.0.0.0:8080', '[::1]:8080', 'localhost:8080']) {
        const { href } = payAddress(`http://${host}/sandbox/pay.html?id=7`, here);
        assert.equal(href, 'http://localhost:9000/sandbox/pay.html?id=7');
        assert.equal(payAddress(`http://${host}/?orders`, here).href, 'http://localhost:9000/?orders');
    }
    for (const other of ['http://127.0.0.1:8080/cashier', 'https://bank.example/sandbox/pay.html?id=7'])
        assert.equal(payAddress(other, here).href, other);
});
