// SPDX-License-Identifier: Apache-2.0
/* web/preparation.js: what is got before the start, when, and that the tap gets it once. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createPreparation, preparationMoments } from '../../../web/preparation.js';

const START = 1_000_000;
const SHOP = { guests: true, pass_early_ms: 5000, challenge_ms: 120_000 };
const item = { start_ms: START, human_check: 'none', waiting_room: false };

test('passes are asked for within the time they are given out, each at a moment of its own', () => {
    for (const early of [5000, 400, 60_000]) {
        for (const random of [0, 0.5, 0.999]) {
            const { pass, session } = preparationMoments(START, { ...SHOP, pass_early_ms: early }, () => random);
            assert.ok(pass > START - early && pass < START, `${early} ${random}: ${pass - START}`);
            assert.ok(session < pass);
        }
    }
    const [one, two] = [0.1, 0.9].map((random) => preparationMoments(START, SHOP, () => random).pass);
    assert.notEqual(one, two);
    assert.equal(preparationMoments(START, { ...SHOP, pass_early_ms: 0 }).pass, Infinity);
});

test('a check is not begun so early that it is too old for its pass', () => {
    const { check, pass } = preparationMoments(START, SHOP, () => 1);
    assert.ok(pass - check < SHOP.challenge_ms);
});

let now;
let opened;
let asked;
const clock = { now: () => now };
const session = {
    current: () => opened,
    ensure: async () => {
        asked.push('session');
        opened = { session: 's', user: 'u', guest: true };
        return opened;
    },
};
let answer;
const settled = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
    now = START - 300_000;
    opened = null;
    asked = [];
    answer = () => ({ status: 201, body: { pass: 'p', expires_ms: START + 100_000 } });
    globalThis.fetch = async (path) => {
        asked.push(path);
        const { status, body } = answer();
        return new Response(JSON.stringify(body), { status });
    };
});

async function wait(made, about, shop = SHOP) {
    for (; now < START; now += 500) {
        made.tick({ ...item, ...about }, shop);
        await settled();
    }
}

const prepare = (human = {}) => createPreparation(3, { clock, session, human, changed: () => {} });

test('a guest gets session and pass before the start, and the tap gets the pass once', async () => {
    const made = prepare();
    await wait(made, {});
    assert.deepEqual(asked, ['session', '/v1/items/3/pass']);
    assert.equal(made.state.pass, true);
    assert.equal(made.passTake().pass, 'p');
    assert.equal(made.passTake(), null);
});

test('who must sign in first is not asked for', async () => {
    const made = prepare();
    await wait(made, {}, { ...SHOP, guests: false });
    assert.deepEqual(asked, []);
});

test('no pass is asked for where a room decides, or a check is not done', async () => {
    await wait(prepare(), { waiting_room: true });
    assert.deepEqual(asked, ['session']);
    opened = null;
    asked = [];
    now = START - 300_000;
    const made = prepare();
    await wait(made, { human_check: 'image' });
    assert.deepEqual(asked, ['session']);
    assert.equal(made.state.check, 'todo');
});

test('a check that was done goes with the pass', async () => {
    const made = prepare({ solve: async () => 'solved' });
    now = START - 60_000;
    made.tick({ ...item, human_check: 'image' }, SHOP);
    assert.equal(made.state.check, 'todo');
    await made.checkDo(item, SHOP);
    await wait(made, { human_check: 'image' });
    assert.equal(made.state.check, 'done');
    assert.equal(made.state.pass, true);
});

test('a refused pass leaves it to the tap, after two tries', async () => {
    answer = () => ({ status: 503, body: { type: '/problems/too-popular' } });
    const made = prepare();
    await wait(made, {});
    assert.equal(asked.filter((path) => path.endsWith('/pass')).length, 2);
    assert.equal(made.passTake(), null);
});

test('a pass that is over is not given to the tap', async () => {
    const made = prepare();
    await wait(made, {});
    now = START + 99_500;
    assert.equal(made.passTake(), null);
});
