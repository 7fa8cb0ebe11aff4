// SPDX-License-Identifier: Apache-2.0
/* web/format.js: money in the digits that the server names, and nothing that stops the page. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.navigator ??= { language: 'en', languages: ['en'] };
globalThis.localStorage ??= { getItem: () => null, setItem: () => {} };
globalThis.document ??= { documentElement: {} };
const { clockText, clockTickMs, money, saving, span } = await import('../../../web/format.js');

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

test('the countdown of the button has tenths in its last ten seconds and never shows zero early', () => {
    const said = (ms) => clockText(ms, 'd');
    assert.equal(said(2 * 86_400_000 + 3 * 3_600_000 + 4_000), '2 d 03:00:04');
    assert.equal(said(3 * 3_600_000 + 61_000), '3:01:01');
    assert.equal(said(598_000), '09:58');
    assert.equal(said(10_001), '00:11');
    assert.equal(said(10_000), '10.0');
    assert.equal(said(9_301), '9.4');
    assert.equal(said(1), '0.1');
    assert.equal(said(0), '0.0');
    assert.equal(said(-50), '0.0');
});

test('the countdown is painted again exactly when it says something else', () => {
    for (const ms of [1, 99, 100, 101, 9_999, 10_000, 10_001, 10_999, 61_000, 86_400_500]) {
        const wait = clockTickMs(ms);
        assert.ok(wait >= 1 && wait <= 1000, `${ms}: ${wait}`);
        assert.notEqual(clockText(ms - wait, 'd'), clockText(ms, 'd'), `${ms}`);
    }
});

test('no more is said to be saved than is saved', () => {
    const said = (list, flash) => saving(list, flash, (name, { percent, tenths }) => `${percent}% ${tenths}折`);
    assert.equal(said(300, 199), '33% 6.7折');
    assert.equal(said(10000, 2000), '80% 2折');
    assert.equal(said(1000, 991), '');
    assert.equal(said(1000, 1000), '');
    assert.equal(said(1000, 0), '');
    assert.equal(said(1000000, 1), '99% 0.1折');
});

test('a span tells a day that both ends have once', () => {
    const noon = new Date(2026, 10, 16, 12).getTime();
    assert.equal(span(noon, noon + 3_600_000), 'Nov 16, 12:00 – 13:00');
    assert.equal(span(noon, noon + 86_400_000), 'Nov 16, 12:00 – Nov 17, 12:00');
});
