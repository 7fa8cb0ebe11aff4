// SPDX-License-Identifier: Apache-2.0
/* web/qr.js: known vectors of the standard, and a reader that undoes each step on its own way. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correctionOf, qrMatrix } from '../../../web/qr.js';

/* Of correction M, for versions 1 to 10: [blocks, data codewords in a block] groups. */
const GROUPS = [
    null, [[1, 16]], [[1, 28]], [[1, 44]], [[2, 32]], [[2, 43]], [[4, 27]], [[4, 31]],
    [[2, 38], [2, 39]], [[3, 36], [2, 37]], [[4, 43], [1, 44]],
];
const CORRECTION = [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26];
const CENTRES = [
    [], [], [18], [22], [26], [30], [34], [22, 38], [24, 42], [26, 46], [28, 50],
];
/* The 15 bits for correction M and masks 0 to 7, as the standard's table has them. */
const FORMATS = [
    '101010000010010', '101000100100101', '101111001111100', '101101101001011',
    '100010111111001', '100000011001110', '100111110010111', '100101010100000',
];
const VERSION_7 = '000111110010010100';

const bit = (dark) => (dark ? '1' : '0');

function formatRead(rows) {
    const size = rows.length;
    const first = [];
    for (let x = 0; x < 6; x++)
        first.push(rows[8][x]);
    first.push(rows[8][7], rows[8][8], rows[7][8]);
    for (let y = 5; y >= 0; y--)
        first.push(rows[y][8]);
    const second = [];
    for (let y = size - 1; y > size - 8; y--)
        second.push(rows[y][8]);
    for (let x = size - 8; x < size; x++)
        second.push(rows[8][x]);
    assert.equal(second.map(bit).join(''), first.map(bit).join(''), 'both copies agree');
    return first.map(bit).join('');
}

function isFunction(y, x, version) {
    const size = 17 + 4 * version;
    if (y === 6 || x === 6)
        return true;
    if ((y < 9 && x < 9) || (y < 9 && x >= size - 8) || (y >= size - 8 && x < 9))
        return true;
    if (version >= 7 && ((y < 6 && x >= size - 11) || (x < 6 && y >= size - 11)))
        return true;
    const near = (a, b) => Math.abs(a - b) <= 2;
    return [6, ...CENTRES[version]].some((cy) => [6, ...CENTRES[version]].some((cx) => {
        const finder = (cy === 6 && cx === 6) || (cy === 6 && cx === size - 7)
            || (cy === size - 7 && cx === 6);
        return version > 1 && !finder && near(y, cy) && near(x, cx);
    }));
}

function isInverted(mask, i, j) {
    return [
        (i + j) % 2, i % 2, j % 3, (i + j) % 3, ((i / 2 | 0) + (j / 3 | 0)) % 2,
        i * j % 2 + i * j % 3, (i * j % 2 + i * j % 3) % 2, (i * j % 3 + (i + j) % 2) % 2,
    ][mask] === 0;
}

function codewordsRead(rows, version, mask) {
    const size = rows.length;
    const bits = [];
    let upward = true;
    for (const right of Array.from({ length: size >> 1 }, (_, at) => size - 1 - 2 * at)) {
        const column = right <= 6 ? right - 1 : right;
        for (let step = 0; step < size; step++) {
            const y = upward ? size - 1 - step : step;
            for (const x of [column, column - 1]) {
                if (!isFunction(y, x, version))
                    bits.push(rows[y][x] !== isInverted(mask, y, x) ? 1 : 0);
            }
        }
        upward = !upward;
    }
    const words = [];
    for (let at = 0; at + 8 <= bits.length; at += 8)
        words.push(parseInt(bits.slice(at, at + 8).join(''), 2));
    return words;
}

function blocksRead(words, version) {
    const sizes = GROUPS[version].flatMap(([count, size]) => new Array(count).fill(size));
    const blocks = sizes.map(() => []);
    let at = 0;
    for (let turn = 0; turn < Math.max(...sizes); turn++)
        sizes.forEach((size, block) => turn < size && blocks[block].push(words[at++]));
    const checks = sizes.map(() => []);
    for (let turn = 0; turn < CORRECTION[version]; turn++)
        checks.forEach((check) => check.push(words[at++]));
    return { blocks, checks };
}

/* Multiplication by shifting: another way than the tables of the encoder. */
function times(a, b) {
    let product = 0;
    for (; b > 0; b >>= 1) {
        if (b & 1)
            product ^= a;
        a = a << 1 ^ (a & 0x80 ? 0x11d : 0);
    }
    return product;
}

/* A block with its correction is zero at every root of the generator. */
function syndromesAreZero(block) {
    const check = block.slice(-CORRECTION.at(-1));
    let root = 1;
    for (let at = 0; at < check.length; at++) {
        if (block.reduce((sum, word) => times(sum, root) ^ word, 0) !== 0)
            return at;
        root = times(root, 2);
    }
    return check.length;
}

function read(rows) {
    const version = (rows.length - 17) / 4;
    const mask = FORMATS.indexOf(formatRead(rows));
    assert.notEqual(mask, -1, 'the format is one of the table');
    const { blocks, checks } = blocksRead(codewordsRead(rows, version, mask), version);
    blocks.forEach((block, at) => {
        const zero = syndromesAreZero([...block, ...checks[at]]);
        assert.ok(zero >= CORRECTION[version], `block ${at} has ${zero} zero syndromes`);
    });
    const bits = blocks.flat().map((word) => word.toString(2).padStart(8, '0')).join('');
    assert.equal(bits.slice(0, 4), '0100', 'byte mode');
    const counted = version < 10 ? 8 : 16;
    const length = parseInt(bits.slice(4, 4 + counted), 2);
    const bytes = Array.from({ length }, (_, at) =>
        parseInt(bits.slice(4 + counted + 8 * at, 12 + counted + 8 * at), 2));
    return { version, text: new TextDecoder().decode(new Uint8Array(bytes)) };
}

test('the correction is that of the well-known example', () => {
    const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    const wanted = [196, 35, 39, 119, 235, 215, 231, 226, 93, 23];
    assert.deepEqual(correctionOf(data, 10), wanted);
});

test('a payment code is read back', () => {
    const code = 'weixin://wxpay/bizpayurl?pr=p4lpSuKzz';
    assert.deepEqual(read(qrMatrix(code)), { version: 3, text: code });
});

test('texts of every length are read back, in the smallest version that holds them', () => {
    const most = [0, 14, 26, 42, 62, 84, 106, 122, 152, 180, 213];
    for (let length = 0; length <= 213; length++) {
        const text = Array.from({ length }, (_, at) => String.fromCharCode(33 + (at * 7 + length) % 90))
            .join('');
        const { version, text: seen } = read(qrMatrix(text));
        assert.equal(seen, text);
        assert.ok(length <= most[version] && length > (version > 1 ? most[version - 1] : -1));
    }
    assert.equal(read(qrMatrix('付款 1 元')).text, '付款 1 元');
});

test('the frame is where scanners look for it', () => {
    const rows = qrMatrix('x'.repeat(110));
    const size = rows.length;
    assert.equal(size, 45);
    for (const [top, left] of [[0, 0], [0, size - 7], [size - 7, 0]]) {
        const finder = Array.from({ length: 7 }, (_, y) => rows[top + y].slice(left, left + 7));
        assert.deepEqual(finder.map((row) => row.map(bit).join('')), [
            '1111111', '1000001', '1011101', '1011101', '1011101', '1000001', '1111111',
        ]);
    }
    for (let at = 8; at < size - 8; at++)
        assert.equal(rows[6][at], at % 2 === 0);
    assert.equal(rows[size - 8][8], true);
    let version = '';
    for (let at = 17; at >= 0; at--)
        version += bit(rows[at / 3 | 0][size - 11 + at % 3]);
    assert.equal(version, VERSION_7);
});

test('what is too long is refused', () => {
    assert.throws(() => qrMatrix('x'.repeat(214)), RangeError);
});
