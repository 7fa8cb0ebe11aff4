// SPDX-License-Identifier: Apache-2.0
/* web/console/format.js: money in its currency's digits, times and sizes as people read them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, money, rate, size, span } from '../../../../web/console/format.js';

test('money has the digits of its currency', () => {
    assert.match(money(99900, 'CNY'), /999\.00$/);
    assert.match(money(1500, 'JPY'), /1,500$/);
    assert.match(money(1500, 'KWD'), /1\.500$/);
    assert.equal(money(99, 'XX1'), '99 XX1');
});

test('times are short', () => {
    assert.equal(span(0), '0:00');
    assert.equal(span(247_000), '4:07');
    assert.equal(span(3_723_000), '1:02:03');
    assert.equal(span(-5), '0:00');
    assert.equal(duration(820), '820 ms');
    assert.equal(duration(3_214), '3.2 s');
    assert.equal(duration(65_000), '1:05');
});

test('small rates have a digit more, sizes a unit', () => {
    assert.equal(rate(0), '0');
    assert.equal(rate(3.14), '3.1');
    assert.equal(rate(1234.4), '1,234');
    assert.equal(size(1), '1 kB');
    assert.equal(size(3 * 1024 * 1024), '3.0 MB');
});
