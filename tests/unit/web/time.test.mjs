// SPDX-License-Identifier: Apache-2.0
/* web/clock.js and web/poll.js: what time it is at the server, and when it is asked again. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh } from './page.mjs';

const { createClock } = await import('../../../web/clock.js');
const { createPoll, jittered } = await import('../../../web/poll.js');

beforeEach(fresh);
const turns = async () => {
    for (let i = 0; i < 20; i++)
        await Promise.resolve();
};

test('the answer is taken to be half a round trip old', () => {
    let now = 1_000;
    const clock = createClock(null, () => now);
    assert.equal(clock.known(), false);
    assert.ok(Number.isNaN(clock.now()));
    clock.sampleOffer(500_000, 800, 1_000);
    assert.equal(clock.now(), 500_100);
    now = 1_600;
    assert.equal(clock.now(), 500_700);
    assert.equal(clock.roundTrip(), 200);
});

test('the shortest round trip wins, until it is too old', () => {
    const clock = createClock(null, () => 0);
    clock.sampleOffer(1_000_000, 0, 40);
    clock.sampleOffer(1_000_130, 0, 300);
    assert.equal(clock.roundTrip(), 40);
    clock.sampleOffer(1_000_010, 0, 20);
    assert.equal(clock.roundTrip(), 20);
    clock.sampleOffer(1_000_000 + 301_000, 301_000, 301_090);
    assert.equal(clock.roundTrip(), 90);
});

test('a machine that slept gets the new time at once', () => {
    const clock = createClock(null, () => 0);
    clock.sampleOffer(1_000_000, 0, 10);
    clock.sampleOffer(1_600_000, 100, 300); /* ten minutes later, though the page counted 0.1 s */
    assert.equal(clock.roundTrip(), 200);
});

test('a lost sample does not matter; with none it is tried again soon', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let asked = 0;
    let away = true;
    const clock = createClock(async () => {
        asked++;
        if (away || asked % 2 === 0)
            throw new Error('away');
        return 5_000;
    }, () => 0);
    const synced = clock.sync();
    for (let i = 0; i < 4; i++) {
        await turns();
        context.mock.timers.tick(120);
    }
    await synced;
    assert.deepEqual([asked, clock.known()], [4, false]);
    away = false;
    context.mock.timers.tick(3_000);
    await turns();
    assert.equal(clock.known(), true);
});

test('distances are random, by a third at most', () => {
    const all = Array.from({ length: 200 }, () => jittered(1_000));
    assert.ok(Math.min(...all) >= 650 && Math.max(...all) <= 1_350);
    assert.ok(new Set(all).size > 100);
});

test('a poll asks, waits, and asks again; and no more when it is stopped', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let asked = 0;
    const poll = createPoll(async () => {
        asked++;
    }, () => 1_000);
    poll.start();
    await turns();
    assert.equal(asked, 1);
    context.mock.timers.tick(649);
    assert.equal(asked, 1);
    context.mock.timers.tick(702);
    assert.equal(asked, 2);
    await turns();
    poll.stop();
    context.mock.timers.tick(10_000);
    assert.equal(asked, 2);
});

test('a server in trouble is asked ever less, and never before it says', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    context.mock.method(Math, 'random', () => 0.5);
    let asked = 0;
    let retryAfterMs = 0;
    const poll = createPoll(async () => {
        asked++;
        throw Object.assign(new Error('busy'), { retryAfterMs });
    }, () => 1_000);
    poll.start();
    for (const wait of [4_000, 8_000, 16_000, 32_000, 60_000]) {
        await turns();
        const before = asked;
        context.mock.timers.tick(wait - 1);
        assert.equal(asked, before, `${wait}`);
        retryAfterMs = wait === 60_000 ? 30_000 : 0;
        context.mock.timers.tick(1);
        assert.equal(asked, before + 1, `${wait}`);
    }
    await turns();
    context.mock.timers.tick(89_999);
    const before = asked;
    context.mock.timers.tick(1);
    assert.equal(asked, before + 1);
    poll.stop();
});

test('a page that nobody sees asks for nothing, and asks soon when it is seen again', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    let asked = 0;
    const poll = createPoll(async () => {
        asked++;
    }, () => 1_000);
    poll.start();
    await turns();
    document.hidden = true;
    document.dispatchEvent(new Event('visibilitychange'));
    context.mock.timers.tick(60_000);
    assert.equal(asked, 1);
    document.hidden = false;
    document.dispatchEvent(new Event('visibilitychange'));
    context.mock.timers.tick(600);
    assert.equal(asked, 2);
    poll.stop();
});
