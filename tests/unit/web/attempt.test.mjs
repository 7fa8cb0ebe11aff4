// SPDX-License-Identifier: Apache-2.0
/* web/attempt.js: one wish has one key, however often it is sent. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

const { attemptClose, attemptMark, attemptOpen } = await import('../../../web/attempt.js');

test('another try of the same wish has the same key', () => {
    const first = attemptOpen(1, 1);
    assert.equal(attemptOpen(1, 1).key, first.key);
    attemptMark(1, first, true);
    assert.equal(attemptOpen(1, 1).key, first.key);
});

test('what was sent and not answered comes first, whatever quantity is chosen by now', () => {
    const sent = attemptOpen(2, 1);
    attemptMark(2, sent, true);
    const next = attemptOpen(2, 3);
    assert.equal(next.key, sent.key);
    assert.equal(next.quantity, 1);
});

test('a wish that was never sent may change, and one that is over begins anew', () => {
    const first = attemptOpen(3, 1);
    const changed = attemptOpen(3, 2);
    assert.notEqual(changed.key, first.key);
    assert.equal(changed.quantity, 2);
    attemptMark(3, changed, true);
    attemptClose(3);
    assert.notEqual(attemptOpen(3, 2).key, changed.key);
});

test('a key belongs to one item', () => {
    assert.notEqual(attemptOpen(4, 1).key, attemptOpen(5, 1).key);
});
