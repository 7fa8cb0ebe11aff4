// SPDX-License-Identifier: Apache-2.0
/* web/purchase.js: from the tap to the outcome: what is asked, and what is said meanwhile. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

globalThis.navigator ??= { language: 'en', languages: ['en'] };
const { createPurchase } = await import('../../../web/purchase.js');

const clock = { now: () => 1_000_000 };
const session = { current: () => ({ session: 's', user: 'u' }), ensure: async () => ({ session: 's', user: 'u' }), forget: () => {} };
const nothing = { passTake: () => null, solutionTake: () => undefined };
let asked;
let answers;
let told;
let item = 100; /* each test has an item of its own: attempts are remembered */

function answer(status, type, more = {}) {
    return new Response(JSON.stringify({ type: `/problems/${type}`, ...more }), { status });
}

beforeEach(() => {
    item++;
    asked = [];
    told = [];
    answers = {};
    Object.defineProperty(globalThis.navigator, 'onLine', { value: true, configurable: true });
    globalThis.fetch = async (path) => {
        const what = path.split('/').at(-1);
        asked.push(what);
        const next = answers[what]?.shift();
        if (next === 'lost')
            throw new TypeError('network');
        if (next !== undefined)
            return next;
        const good = what === 'pass' ? { pass: 'p', expires_ms: 9e12 } : { ticket: 't1' };
        return new Response(JSON.stringify(good), { status: 201 });
    };
});

function purchase(prepared = nothing) {
    const made = createPurchase(item, clock, session, {}, prepared, () => {
        const { step, progress } = made.state;
        const words = step === 'sending' ? `${progress.kind} ${progress.next}/${progress.of}` : step;
        if (told.at(-1) !== words)
            told.push(words);
    });
    return made;
}

test('a pass from before the start makes the tap one request', async () => {
    const made = purchase({ passTake: () => ({ pass: 'early', expires_ms: 9e12 }), solutionTake: () => undefined });
    await made.start(1);
    assert.deepEqual(asked, ['buy']);
    assert.equal(made.state.step, 'won');
    assert.deepEqual(told, ['sending 1/6', 'won']);
});

test('without one the tap gets its own', async () => {
    await purchase().start(1);
    assert.deepEqual(asked, ['pass', 'buy']);
});

test('a busy shop is said to be busy, with the try that comes next', async () => {
    answers.buy = [answer(503, 'too-popular')];
    await purchase().start(1);
    assert.deepEqual(told, ['sending 1/6', 'busy 2/6', 'won']);
    assert.deepEqual(asked, ['pass', 'buy', 'buy']);
});

test('a lost answer is said to be lost', async () => {
    answers.buy = ['lost'];
    await purchase().start(1);
    assert.deepEqual(told, ['sending 1/6', 'silent 2/6', 'won']);
});

test('nothing is sent while there is no network', async () => {
    Object.defineProperty(globalThis.navigator, 'onLine', { value: false, configurable: true });
    let online;
    globalThis.addEventListener = (name, call) => {
        online = call;
    };
    const made = purchase();
    const done = made.start(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(asked, []);
    assert.deepEqual(told, ['sending 1/6', 'offline 1/6']);
    Object.defineProperty(globalThis.navigator, 'onLine', { value: true, configurable: true });
    online();
    await done;
    assert.equal(made.state.step, 'won');
});

test('a definite refusal is told at once and cools down; a missing sign-in does not', async () => {
    answers.buy = [answer(409, 'sold-out', { free: 0 })];
    const late = purchase();
    await late.start(1);
    assert.equal(late.state.refusal.type, 'sold-out');
    assert.ok(late.state.coolUntil > clock.now());
    item++;
    answers.buy = [answer(401, 'session-required')];
    const stranger = purchase();
    await stranger.start(1);
    assert.equal(stranger.state.refusal.type, 'session-required');
    assert.equal(stranger.state.coolUntil, 0);
});
