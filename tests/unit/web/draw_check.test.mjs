// SPDX-License-Identifier: Apache-2.0
/* web/draw_check.js: a right draw is right, and whatever is changed in it is found. */

import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';

const { drawCheck, placeOf } = await import('../../../web/draw_check.js');

const SALE = 7;
const USER = '63b1c0f5a9d27e48';
const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => at * 7 % 256));
const sale = Buffer.from([SALE, 0, 0, 0]);
const u32 = (value) => Buffer.from(Uint32Array.of(value).buffer);
const sha256 = (...parts) => createHash('sha256').update(Buffer.concat(parts)).digest();
const markOf = (user) => sha256(secret, Buffer.from('mark'), sale, Buffer.from(user, 'hex').reverse())
    .subarray(0, 8).reverse().toString('hex');

/* As the server would publish it: made with node's own hashes. */
function published(users, beacon = {}) {
    const marks = users.map(markOf);
    let chain = sha256(Buffer.from('stampede arrivals 1'), sale);
    marks.forEach((mark, at) => {
        chain = sha256(chain, u32(at), Buffer.from(mark, 'hex').reverse());
    });
    const { beacon_name: name, beacon_value: value } = beacon;
    const text = value === undefined
        ? ''
        : sha256(Buffer.from('stampede beacon 1'), u32(name.length), Buffer.from(name), Buffer.from(value)).toString('hex');
    const message = Buffer.concat([Buffer.from('stampede draw 1'), sale, u32(users.length), chain, Buffer.from(text)]);
    return {
        marks: marks.join(''),
        draw: {
            sale: SALE,
            secret: secret.toString('hex'),
            commitment: sha256(Buffer.from('stampede room 1'), sale, secret).toString('hex'),
            count: users.length,
            arrivals_hash: chain.toString('hex'),
            beacon: text,
            key: createHmac('sha256', secret).update(message).digest().subarray(0, 16).toString('hex'),
            ...beacon,
        },
    };
}

const users = ['0000000000000001', USER, 'ffffffffffffffff'];
const check = (told, more = {}) => drawCheck({ ...told, user: USER, number: 1, noted: null, ...more });

test('a right draw is right, with and without a beacon', async () => {
    for (const beacon of [{}, { beacon_name: 'drand mainnet, round 5123456', beacon_value: '3f1c2a3b' }]) {
        const told = published(users, beacon);
        const { wrong, place, count } = await check(told, { noted: told.draw.commitment });
        assert.equal(wrong, '');
        assert.ok(place >= 1 && place <= 3);
        assert.equal(count, 3);
    }
});

test('who took no part checks all but a place', async () => {
    const told = published(users);
    assert.deepEqual(await check(told, { user: null, number: null }), { wrong: '', count: 3 });
    assert.equal((await check({ ...told, marks: told.marks.slice(16) }, { user: null, number: null })).wrong, 'arrivals');
});

test('whatever was changed afterwards is found', async () => {
    const told = published(users);
    const other = (more) => ({ ...told, draw: { ...told.draw, ...more } });
    const zeros = '0'.repeat(64);
    assert.equal((await check(other({ secret: zeros }))).wrong, 'commitment');
    assert.equal((await check(told, { noted: zeros })).wrong, 'noted');
    assert.equal((await check({ ...told, marks: told.marks.slice(16) })).wrong, 'arrivals');
    assert.equal((await check({ ...told, marks: `${told.marks.slice(32)}${told.marks.slice(0, 32)}` })).wrong, 'arrivals');
    assert.equal((await check(other({ beacon_name: 'x', beacon_value: '1' }))).wrong, 'beacon');
    assert.equal((await check(other({ key: '0'.repeat(32) }))).wrong, 'key');
    assert.equal((await check(told, { number: 2 })).wrong, 'mark');
    assert.equal((await check(told, { user: users[0] })).wrong, 'mark');
});

test('places are those of the documented formula, each once', () => {
    const key = Uint8Array.from({ length: 16 }, (_, at) => at);
    const places = Array.from({ length: 100 }, (_, number) => placeOf(number, 100, key));
    assert.deepEqual(places.slice(0, 12), [86, 49, 43, 97, 58, 26, 47, 46, 67, 36, 91, 95]); /* worked out with the Python of docs/waiting-room.md */
    assert.equal(new Set(places).size, 100);
    assert.deepEqual([0, 1, 69_999, 35_000].map((number) => placeOf(number, 70_000, key)), [46749, 43501, 46823, 60459]);
    assert.equal(placeOf(100, 100, key), 100); /* who comes after the draw stands behind */
});
