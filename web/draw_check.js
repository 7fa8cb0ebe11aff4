// SPDX-License-Identifier: Apache-2.0
/* Checks the draw of a waiting room in this browser, from what the server publishes: docs/waiting-room.md
 * specifies every formula. Needs crypto.subtle, which browsers withhold from plain HTTP. */

import { blockOf, createHasher, hexOf } from './sha256.js';

const ROUNDS = 10;
const MARK_DIGITS = 16;
const hash = createHasher(1);
const ascii = (text) => new TextEncoder().encode(text);
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const u32 = (value) => Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

/* A number of 64 bits as hex digits: its bytes, the lowest first. */
const u64 = (digits) => fromHex(digits).reverse();

const sha256 = (...parts) => fromHex(hexOf(hash(blockOf(joined(...parts)))));
const longSha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', joined(...parts)));

async function hmac(secret, message) {
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('HMAC', key, message));
}

async function beaconOf({ beacon_name: name = '', beacon_value: value = null }) {
    if (value === null)
        return '';
    const called = ascii(name);
    return toHex(await longSha256(ascii('stampede beacon 1'), u32(called.length), called, ascii(value)));
}

const rotate = (x, by) => (x >>> by) | (x << (32 - by));

/* The low word of Speck64/128 of (round, right). */
function speck(key, round, right) {
    const view = new DataView(key.buffer, key.byteOffset, 16);
    let k = view.getUint32(0, true);
    const more = [4, 8, 12].map((at) => view.getUint32(at, true));
    let [x, y] = [round, right];
    for (let i = 0; i < 27; i++) {
        x = ((rotate(x, 8) + y) | 0) ^ k;
        y = rotate(y, 29) ^ x;
        more.push(((k + rotate(more[i], 8)) | 0) ^ i);
        k = rotate(k, 29) ^ more.at(-1);
    }
    return y >>> 0;
}

export function placeOf(number, count, key) {
    if (number >= count)
        return number;
    let half = 3;
    while (count > 4 ** half)
        half++;
    const mask = 2 ** half - 1;
    let place = number;
    do {
        let [left, right] = [Math.floor(place / 2 ** half), place & mask];
        for (let round = 0; round < ROUNDS; round++)
            [left, right] = [right, left ^ (speck(key, round, right) & mask)];
        place = left * 2 ** half + right;
    } while (place >= count);
    return place;
}

/* `draw` and `marks` as published; `user` and `number`: one's own, or null for who did not
 * take part; `noted`: the commitment from before the
 * start, or null. { wrong, place, count }: wrong is '' when all agrees, else what does not. */
export async function drawCheck({ draw, marks, user, number, noted }) {
    const sale = u32(draw.sale);
    const secret = fromHex(draw.secret);
    const count = marks.length / MARK_DIGITS;
    const wrong = (what) => ({ wrong: what, count });
    if (toHex(sha256(ascii('stampede room 1'), sale, secret)) !== draw.commitment)
        return wrong('commitment');
    if (noted !== null && noted !== draw.commitment)
        return wrong('noted');
    let chain = sha256(ascii('stampede arrivals 1'), sale);
    for (let i = 0; i < count; i++)
        chain = sha256(chain, u32(i), u64(marks.slice(i * MARK_DIGITS, (i + 1) * MARK_DIGITS)));
    if (toHex(chain) !== draw.arrivals_hash || count !== draw.count)
        return wrong('arrivals');
    if ((await beaconOf(draw)) !== draw.beacon)
        return wrong('beacon');
    const message = joined(ascii('stampede draw 1'), sale, u32(count), chain, ascii(draw.beacon));
    const key = (await hmac(secret, message)).slice(0, 16);
    if (toHex(key) !== draw.key)
        return wrong('key');
    if (user === null)
        return { wrong: '', count };
    const mine = sha256(secret, ascii('mark'), sale, u64(user)).slice(0, 8).reverse();
    if (number < count && toHex(mine) !== marks.slice(number * MARK_DIGITS, (number + 1) * MARK_DIGITS))
        return wrong('mark');
    return { wrong: '', place: placeOf(number, count, key) + 1, count };
}
