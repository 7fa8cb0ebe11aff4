// SPDX-License-Identifier: Apache-2.0
/* Solves an ALTCHA challenge (version 2, SHA-256): a counter whose derived key has the prefix. Runs in
 * pow_worker.js, and in tests without one. */

import { blockOf, createHasher, hexOf } from './sha256.js';

const TOLD_EVERY = 2_000; /* counters between two words on how far it is */

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/* The first word's bits that must be zero; only such prefixes are given out. */
function prefixMask(prefix) {
    if (!/^0{1,8}$/.test(prefix))
        throw new RangeError('prefix');
    return prefix.length === 8 ? 0xffffffff : ~(0xffffffff >>> (4 * prefix.length)) >>> 0;
}

/* `told` hears how much of the expected work is done, from 0 to 1. */
export function powSolve({ parameters }, told = () => {}) {
    const { algorithm, cost, keyPrefix, nonce, salt } = parameters;
    if (algorithm !== 'SHA-256')
        throw new RangeError('algorithm');
    const began = performance.now();
    const mask = prefixMask(keyPrefix);
    const block = blockOf(Uint8Array.from([...bytesOf(salt), ...bytesOf(nonce), 0, 0, 0, 0]));
    const hash = createHasher(cost);
    const expected = 16 ** keyPrefix.length;
    const at = 8; /* salt and nonce are eight words: the counter is the ninth */
    for (let counter = 0; ; counter++) {
        block[at] = counter;
        const digest = hash(block);
        if ((digest[0] & mask) === 0) {
            const time = Math.round((performance.now() - began) * 10) / 10;
            return { counter, derivedKey: hexOf(digest), time };
        }
        if (counter % TOLD_EVERY === 0)
            told(1 - Math.exp(-counter / expected)); /* the chance to be done by now */
    }
}
