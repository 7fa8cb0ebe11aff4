// SPDX-License-Identifier: Apache-2.0
/* web/console/picture_crop.js: which square of a picture customers see. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.localStorage = { getItem: () => null, setItem() {} };
const { squareOf } = await import('../../../../web/console/picture_crop.js');

test('the square is as large as can be, and moves along the long side', () => {
    assert.deepEqual(squareOf(400, 100, 0), { x: 0, y: 0, side: 100 });
    assert.deepEqual(squareOf(400, 100, 1), { x: 300, y: 0, side: 100 });
    assert.deepEqual(squareOf(100, 400, 0.5), { x: 0, y: 150, side: 100 });
});

test('closer is a smaller square, in the middle of the short side', () => {
    assert.deepEqual(squareOf(400, 100, 0, 2), { x: 0, y: 25, side: 50 });
    assert.deepEqual(squareOf(100, 400, 1, 4), { x: 38, y: 375, side: 25 });
});

test('the square is always inside the picture and has a pixel at least', () => {
    for (const [width, height] of [[1, 2], [3, 2], [16384, 1], [7, 1000]])
        for (const part of [0, 0.33, 1])
            for (const zoom of [1, 1.7, 4]) {
                const { x, y, side } = squareOf(width, height, part, zoom);
                assert.ok(side >= 1 && x >= 0 && y >= 0 && x + side <= width && y + side <= height, `${width} x ${height}, ${part}, ${zoom}`);
            }
});
