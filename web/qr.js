// SPDX-License-Identifier: Apache-2.0
/* QR codes for short texts: byte mode, error correction M, versions 1 to 10 (213 bytes), as ISO/IEC
 * 18004 has them. Enough for the codes that payment apps scan. */

/* For each version: all codewords, blocks, correction codewords in each block, alignment centres. */
const VERSIONS = [
    null,
    { all: 26, blocks: 1, correction: 10, centres: [] },
    { all: 44, blocks: 1, correction: 16, centres: [6, 18] },
    { all: 70, blocks: 1, correction: 26, centres: [6, 22] },
    { all: 100, blocks: 2, correction: 18, centres: [6, 26] },
    { all: 134, blocks: 2, correction: 24, centres: [6, 30] },
    { all: 172, blocks: 4, correction: 16, centres: [6, 34] },
    { all: 196, blocks: 4, correction: 18, centres: [6, 22, 38] },
    { all: 242, blocks: 4, correction: 22, centres: [6, 24, 42] },
    { all: 292, blocks: 5, correction: 22, centres: [6, 26, 46] },
    { all: 346, blocks: 5, correction: 26, centres: [6, 28, 50] },
];
const BYTE_MODE = 4;
const PADS = [0xec, 0x11];

/* ---- arithmetic in the field of 256 elements ---- */

const EXP = new Uint8Array(512);
const LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
    EXP[power] = EXP[power + 255] = value;
    LOG[value] = power;
    value = value << 1 ^ (value & 0x80 ? 0x11d : 0);
}

const times = (a, b) => (a === 0 || b === 0 ? 0 : EXP[LOG[a] + LOG[b]]);

/* The product of (x − 2^i), highest power first, without its leading 1. */
function generatorOf(degree) {
    let product = [1];
    for (let i = 0; i < degree; i++) {
        const next = [...product, 0];
        product.forEach((factor, at) => {
            next[at + 1] ^= times(factor, EXP[i]);
        });
        product = next;
    }
    return product.slice(1);
}

export function correctionOf(data, degree) {
    const generator = generatorOf(degree);
    const rest = new Array(degree).fill(0);
    for (const byte of data) {
        const lead = byte ^ rest.shift();
        rest.push(0);
        generator.forEach((factor, at) => {
            rest[at] ^= times(factor, lead);
        });
    }
    return rest;
}

/* ---- from text to codewords ---- */

const dataSize = ({ all, blocks, correction }) => all - blocks * correction;
const countBits = (version) => (version < 10 ? 8 : 16);

function versionFor(bytes) {
    for (let version = 1; version < VERSIONS.length; version++) {
        if (4 + countBits(version) + 8 * bytes.length <= 8 * dataSize(VERSIONS[version]))
            return version;
    }
    throw new RangeError('too long for a QR code of this kind');
}

function dataCodewords(bytes, version) {
    const bits = [];
    const push = (value, count) => {
        for (let at = count - 1; at >= 0; at--)
            bits.push(value >>> at & 1);
    };
    const size = dataSize(VERSIONS[version]);
    push(BYTE_MODE, 4);
    push(bytes.length, countBits(version));
    bytes.forEach((byte) => push(byte, 8));
    push(0, Math.min(4, 8 * size - bits.length));
    push(0, (8 - bits.length % 8) % 8);
    const words = [];
    for (let at = 0; at < bits.length; at += 8)
        words.push(parseInt(bits.slice(at, at + 8).join(''), 2));
    for (let pad = 0; words.length < size; pad ^= 1)
        words.push(PADS[pad]);
    return words;
}

/* The blocks' data, taken in turn, then their correction, taken in turn. */
function interleaved(words, { blocks, correction }) {
    const short = Math.floor(words.length / blocks);
    const longFrom = blocks - words.length % blocks;
    const data = [];
    for (let block = 0, at = 0; block < blocks; block++) {
        const size = short + (block >= longFrom ? 1 : 0);
        data.push(words.slice(at, at + size));
        at += size;
    }
    const checks = data.map((block) => correctionOf(block, correction));
    const out = [];
    for (let at = 0; at <= short; at++)
        data.forEach((block) => at < block.length && out.push(block[at]));
    for (let at = 0; at < correction; at++)
        checks.forEach((block) => out.push(block[at]));
    return out;
}

/* ---- from codewords to modules ---- */

/* `value` and its remainder by the generator: how format and version are protected. */
function protectedBits(value, generator, degree) {
    let rest = value << degree;
    for (let bit = 31 - Math.clz32(rest); bit >= degree; bit = 31 - Math.clz32(rest))
        rest ^= generator << bit - degree;
    return value << degree | rest;
}

const formatBits = (mask) => protectedBits(mask, 0x537, 10) ^ 0x5412; /* correction M is 00 */
const versionBits = (version) => protectedBits(version, 0x1f25, 12);

function finderDraw(set, size, top, left) {
    for (let y = -1; y <= 7; y++) {
        for (let x = -1; x <= 7; x++) {
            const inside = top + y >= 0 && left + x >= 0 && top + y < size && left + x < size;
            const ring = Math.max(Math.abs(y - 3), Math.abs(x - 3));
            if (inside)
                set(top + y, left + x, ring !== 2 && ring !== 4);
        }
    }
}

function alignmentDraw(set, size, centres) {
    const last = size - 7;
    for (const y of centres) {
        for (const x of centres) {
            if (y === 6 && x === 6 || y === 6 && x === last || y === last && x === 6)
                continue; /* a finder is there */
            for (let dy = -2; dy <= 2; dy++)
                for (let dx = -2; dx <= 2; dx++)
                    set(y + dy, x + dx, Math.max(Math.abs(dy), Math.abs(dx)) !== 1);
        }
    }
}

function formatDraw(set, size, mask) {
    const bits = formatBits(mask);
    for (let at = 0; at < 15; at++) {
        const dark = (bits >>> at & 1) === 1;
        /* Around the first finder, past the timing lines; and split between the other two. */
        if (at < 8)
            set(at < 6 ? at : at + 1, 8, dark);
        else
            set(8, at === 8 ? 7 : 14 - at, dark);
        if (at < 8)
            set(8, size - 1 - at, dark);
        else
            set(size - 15 + at, 8, dark);
    }
    set(size - 8, 8, true);
}

function versionDraw(set, size, version) {
    const bits = version < 7 ? 0 : versionBits(version);
    for (let at = 0; version >= 7 && at < 18; at++) {
        const [near, far] = [Math.floor(at / 3), size - 11 + at % 3];
        set(near, far, (bits >>> at & 1) === 1);
        set(far, near, (bits >>> at & 1) === 1);
    }
}

/* { rows, taken }: the patterns that every code of this version has, and where they are. */
function frameOf(version) {
    const size = 17 + 4 * version;
    const rows = Array.from({ length: size }, () => new Array(size).fill(false));
    const taken = Array.from({ length: size }, () => new Array(size).fill(false));
    const set = (y, x, dark) => {
        rows[y][x] = dark;
        taken[y][x] = true;
    };
    for (let at = 0; at < size; at++) {
        set(6, at, at % 2 === 0);
        set(at, 6, at % 2 === 0);
    }
    alignmentDraw(set, size, VERSIONS[version].centres);
    finderDraw(set, size, 0, 0);
    finderDraw(set, size, 0, size - 7);
    finderDraw(set, size, size - 7, 0);
    formatDraw(set, size, 0);
    versionDraw(set, size, version);
    return { rows, taken, size };
}

/* Two columns at a time from the right, up and down in turn, around what is taken. */
function* dataPlaces({ taken, size }) {
    let up = true;
    for (let right = size - 1; right > 0; right -= 2) {
        if (right === 6)
            right = 5; /* the timing line */
        for (let step = 0; step < size; step++) {
            const y = up ? size - 1 - step : step;
            for (const x of [right, right - 1]) {
                if (!taken[y][x])
                    yield [y, x];
            }
        }
        up = !up;
    }
}

const MASKS = [
    (y, x) => (y + x) % 2 === 0,
    (y) => y % 2 === 0,
    (y, x) => x % 3 === 0,
    (y, x) => (y + x) % 3 === 0,
    (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
    (y, x) => y * x % 2 + y * x % 3 === 0,
    (y, x) => (y * x % 2 + y * x % 3) % 2 === 0,
    (y, x) => ((y + x) % 2 + y * x % 3) % 2 === 0,
];

function linePenalty(line) {
    let penalty = 0;
    let run = 0;
    for (let at = 0; at < line.length; at++) {
        run = at > 0 && line[at] === line[at - 1] ? run + 1 : 1;
        penalty += run === 5 ? 3 : run > 5 ? 1 : 0;
    }
    const text = line.map(Number).join('');
    const finders = text.match(/(?=10111010000|00001011101)/g) ?? [];
    return penalty + 40 * finders.length;
}

/* How hard it is to read; the mask with the least is taken. */
function penaltyOf(rows) {
    const size = rows.length;
    let penalty = 0;
    let dark = 0;
    for (let at = 0; at < size; at++) {
        penalty += linePenalty(rows[at]) + linePenalty(rows.map((row) => row[at]));
        dark += rows[at].filter(Boolean).length;
    }
    for (let y = 1; y < size; y++) {
        for (let x = 1; x < size; x++) {
            const same = [rows[y - 1][x - 1], rows[y - 1][x], rows[y][x - 1]];
            penalty += same.every((value) => value === rows[y][x]) ? 3 : 0;
        }
    }
    return penalty + 10 * Math.floor(Math.abs(dark * 20 - size * size * 10) / (size * size));
}

function masked(frame, words, mask) {
    const rows = frame.rows.map((row) => [...row]);
    let at = 0;
    for (const [y, x] of dataPlaces(frame)) {
        const bit = at < 8 * words.length ? words[at >>> 3] >>> 7 - at % 8 & 1 : 0;
        rows[y][x] = bit === 1 !== MASKS[mask](y, x);
        at++;
    }
    formatDraw((y, x, dark) => {
        rows[y][x] = dark;
    }, frame.size, mask);
    return rows;
}

/* Rows of modules, true for dark. Throws RangeError for a text that is too long. */
export function qrMatrix(text) {
    const bytes = [...new TextEncoder().encode(text)];
    const version = versionFor(bytes);
    const words = interleaved(dataCodewords(bytes, version), VERSIONS[version]);
    const frame = frameOf(version);
    let best = null;
    for (let mask = 0; mask < MASKS.length; mask++) {
        const rows = masked(frame, words, mask);
        const penalty = penaltyOf(rows);
        if (best === null || penalty < best.penalty)
            best = { rows, penalty };
    }
    return best.rows;
}
