// SPDX-License-Identifier: Apache-2.0
/* web/console/csv.js: cells are quoted, and what customers wrote is no formula. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvCell, csvText } from '../../../../web/console/csv.js';

test('cells with commas, quotes and lines are quoted', () => {
    assert.equal(csvCell('a,b'), '"a,b"');
    assert.equal(csvCell('say "x"'), '"say ""x"""');
    assert.equal(csvCell('a\nb'), '"a\nb"');
    assert.equal(csvCell(null), '');
    assert.equal(csvCell(-5), '-5');
});

test('no cell is a formula', () => {
    for (const text of ['=1+1', '+1', '-1', '@x', '\t=1'])
        assert.ok(csvCell(text).replace(/^"/, '').startsWith("'"), text);
});

test('a row is a line', () => {
    assert.equal(csvText(['a', 'b'], [[1, 'x']]), 'a,b\r\n1,x\r\n');
});
