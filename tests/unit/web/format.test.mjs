/* web/format.js: money in the digits that the server names, and nothing that stops the page. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.navigator ??= { language: 'en', languages: ['en'] };
globalThis.localStorage ??= { getItem: () => null, setItem: () => {} };
globalThis.document ??= { documentElement: {} };
const { money } = await import('../../../web/format.js');

test('an amount is shown in the digits of its currency', () => {
    assert.equal(money(9900, { currency: 'CNY', minor_units: 2 }), '¥99.00');
    assert.equal(money(9900, { currency: 'JPY', minor_units: 0 }), '¥9,900');
    assert.equal(money(9900, { currency: 'KWD', minor_units: 3 }).replace(/\s/g, ' '), 'KWD 9.900');
});

test('the digits are those that the server says, also where the browser believes others', () => {
    assert.match(money(9900, { currency: 'AFN', minor_units: 2 }), /99\.00/);
    assert.match(money(9900, { currency: 'JPY', minor_units: 2 }), /99\.00/);
});

test('what is no currency is shown as it is', () => {
    assert.equal(money(9900, { currency: 'XX1' }), '9,900 XX1');
    assert.equal(money(9900, { currency: '"<b' }), '9,900 "<b');
    assert.equal(money(9900, { currency: '' }), '9,900');
    assert.equal(money(0, {}), '0');
});
