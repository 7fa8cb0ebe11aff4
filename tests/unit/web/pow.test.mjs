// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { powSolve } from '../../../web/pow.js';
import { payloadOf } from '../../../web/pow_background.js';
import { BLOCK_BYTES_MAX, blockOf, sha256Hex } from '../../../web/sha256.js';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest();
const PARAMETERS = {
    algorithm: 'SHA-256',
    cost: 3,
    keyPrefix: '00',
    nonce: 'a0a1a2a3a4a5a6a7a8a9aaabacadaeaf',
    salt: '101112131415161718191a1b1c1d1e1f',
};

test('hashes are those of the library, up to the longest that fits', () => {
    for (let size = 0; size <= BLOCK_BYTES_MAX; size++) {
        const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 37 + size) & 255);
        assert.equal(sha256Hex(bytes), sha256(bytes).toString('hex'));
    }
    assert.throws(() => blockOf(new Uint8Array(BLOCK_BYTES_MAX + 1)), RangeError);
});

test('a solution is the first counter whose derived key has the prefix', () => {
    for (const [cost, keyPrefix] of [[1, '0'], [3, '00'], [2, '000']]) {
        const told = [];
        const { counter, derivedKey } = powSolve(
            { parameters: { ...PARAMETERS, cost, keyPrefix } },
            (done) => told.push(done),
        );
        const derive = (at) => {
            const number = Buffer.alloc(4);
            number.writeUInt32BE(at);
            let key = sha256(Buffer.concat([
                Buffer.from(PARAMETERS.salt, 'hex'),
                Buffer.from(PARAMETERS.nonce, 'hex'),
                number,
            ]));
            for (let i = 1; i < cost; i++)
                key = sha256(key);
            return key.toString('hex');
        };
        assert.equal(derivedKey, derive(counter));
        assert.ok(derivedKey.startsWith(keyPrefix));
        for (let at = 0; at < counter; at++)
            assert.ok(!derive(at).startsWith(keyPrefix));
        assert.ok(told.every((done) => done >= 0 && done <= 1));
    }
});

test('what we don’t know is not tried', () => {
    for (const change of [{ algorithm: 'SHA-512' }, { keyPrefix: '' }, { keyPrefix: '0f' }])
        assert.throws(() => powSolve({ parameters: { ...PARAMETERS, ...change } }), RangeError);
});

test('a payload holds the challenge as it came, and nothing else of it', () => {
    const payload = payloadOf({ parameters: PARAMETERS, signature: 'ab', more: 1 }, { counter: 5 });
    assert.deepEqual(JSON.parse(atob(payload)), {
        challenge: { parameters: PARAMETERS, signature: 'ab' },
        solution: { counter: 5 },
    });
});
