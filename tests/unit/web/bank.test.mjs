// SPDX-License-Identifier: Apache-2.0
/* web/sandbox/pay.js: the pay page of the sandbox goes back to pages only, and pays once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { part, seen, server, settle } from './page.mjs';

const payment = { state: 'open', amount: 9900, currency: 'CNY', title: 'Watch', reference: 'r1', expires_ms: 0, return_url: 'javascript:alert(1)' };
let told = payment;
let answer = null; /* a promise to wait for */
const asked = server(async (method) => {
    if (method === 'POST') {
        await answer;
        told = { ...told, state: 'captured' };
    }
    return [200, told];
});
location.search = '?id=p1';
const main = document.createElement('main');
main.id = 'main';
document.body.append(main);
await import('../../../web/sandbox/pay.js');
await settle(5);
const buttons = () => main.querySelectorAll('button');

test('the payment is shown, and an address that is no page is not even a link', () => {
    assert.match(seen(main), /Watch/);
    assert.equal(part(main, 'back').hidden, true);
    assert.equal(buttons()[0].hidden, false);
});

test('two presses pay once, and nobody is sent to an address that is no page', async () => {
    let release;
    answer = new Promise((resolve) => {
        release = resolve;
    });
    buttons()[0].click();
    buttons()[0].click();
    await settle(5);
    assert.equal(buttons()[0].getAttribute('aria-busy'), 'true');
    release();
    await settle(5);
    assert.equal(asked.filter(({ method }) => method === 'POST').length, 1);
    assert.equal(buttons()[0].hidden, true, 'it is paid');
    assert.deepEqual(globalThis.left, []);
});
