// SPDX-License-Identifier: Apache-2.0
/* SHA-256 of short inputs in plain JavaScript, for pages without crypto.subtle (plain HTTP) and because
 * one call for each hash is slower there. Inputs of up to 55 bytes: one block each. */

const ROUND = new Uint32Array([
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const START = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
export const BLOCK_BYTES_MAX = 55;

const words = new Int32Array(64);

/* `block`: sixteen words with the input, its end mark and its length in bits. `out`: eight words. */
function compress(block, out) {
    for (let i = 0; i < 16; i++)
        words[i] = block[i];
    for (let i = 16; i < 64; i++) {
        const x = words[i - 15];
        const y = words[i - 2];
        const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        words[i] = (words[i - 16] + s0 + words[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = START;
    for (let i = 0; i < 64; i++) {
        const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUND[i] + words[i]) | 0;
        const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + t1) | 0;
        d = c;
        c = b;
        b = a;
        a = (t1 + t2) | 0;
    }
    out[0] = START[0] + a;
    out[1] = START[1] + b;
    out[2] = START[2] + c;
    out[3] = START[3] + d;
    out[4] = START[4] + e;
    out[5] = START[5] + f;
    out[6] = START[6] + g;
    out[7] = START[7] + h;
}

/* A block for `bytes`, ready to compress. */
export function blockOf(bytes) {
    if (bytes.length > BLOCK_BYTES_MAX)
        throw new RangeError('more than one block');
    const padded = new DataView(new ArrayBuffer(64));
    bytes.forEach((byte, at) => padded.setUint8(at, byte));
    padded.setUint8(bytes.length, 0x80);
    padded.setUint32(60, bytes.length * 8);
    return Uint32Array.from({ length: 16 }, (_, at) => padded.getUint32(4 * at));
}

export function hexOf(digest) {
    return Array.from(digest, (word) => word.toString(16).padStart(8, '0')).join('');
}

/* Hashes the block, then its digest again, `times` hashes in all. */
export function createHasher(times) {
    const again = blockOf(new Uint8Array(32));
    const digest = new Uint32Array(8);
    return (block) => {
        compress(block, digest);
        for (let i = 1; i < times; i++) {
            again.set(digest);
            compress(again, digest);
        }
        return digest;
    };
}

export const sha256Hex = (bytes) => hexOf(createHasher(1)(blockOf(bytes)));
