// SPDX-License-Identifier: Apache-2.0
/* web/room.js: what the box of the waiting room says follows from what the server told. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roomGate, roomIsScreen, roomModel, roomTitle } from '../../../web/room.js';
import { WORDS } from '../../../web/words.js';

const item = { waiting_room: true };
const early = { state: 'waiting', drawn: false, number: 4, arrived: 12, poll_after_ms: 1000 };
const model = (standing, phase = 'open') => roomModel({ item, phase, owned: false, standing, from: 0 });

test('a draw that waits for its beacon is told as that, and as nothing else', () => {
    const waits = model({ ...early, waits_for_beacon: true });
    assert.equal(waits.words, 'room.beacon');
    assert.deepEqual(waits.number, ['room.arrived', 12]);
    assert.equal(roomGate(waits), 'wait');
    assert.equal(model(early).words, 'room.early');
    assert.equal(model({ ...early, state: 'admitted', drawn: true }).words, 'room.admitted');
});

test('the turn is counted down while it lasts, where the page saw it come', () => {
    const admitted = (turnLeftMs) => roomModel({ item, phase: 'open', owned: false, standing: { ...early, state: 'admitted', turn_ms: 60_000 }, from: 0, turnLeftMs });
    assert.equal(admitted(58_000).turnLeftMs, 58_000);
    assert.equal('turnLeftMs' in admitted(0), false);
    assert.equal('turnLeftMs' in admitted(-5), false);
});

test('the operator’s message is shown to those who wait and whose turn it is', () => {
    const message = '10 minutes later <b>';
    assert.equal(model({ ...early, message }).message, message);
    assert.equal(model({ ...early, drawn: true, ahead: 3, eta_ms: null, odds: 'fair', message }).message, message);
    assert.equal(model({ ...early, state: 'admitted', message }).message, message);
    assert.equal('message' in model(early), false);
});

test('everything that the box can say is there in both languages', () => {
    for (const words of ['room.beacon', 'room.early', 'room.offer', 'room.offerLate', 'room.admitted', 'room.turnLeft', 'room.soldOut', 'room.line'])
        for (const language of ['en', 'zh-CN'])
            assert.ok(WORDS[language][words], `${language} ${words}`);
});

const line = { state: 'waiting', drawn: true, ahead: 237, eta_ms: 300_000, odds: 'poor', poll_after_ms: 1000 };

test('the time of the turn is counted on between two answers', () => {
    assert.equal(model(line).inMs, 300_000);
    const later = roomModel({ item, phase: 'open', owned: false, standing: line, from: 300, agoMs: 60_000 });
    assert.equal(later.inMs, 240_000);
    assert.equal(later.minutes, 4);
    assert.equal(later.agoS, 60);
    assert.equal(model({ ...line, eta_ms: null }).eta, 'room.eta.unknown');
    assert.equal(model({ ...line, eta_ms: 5_000 }).eta, 'room.eta.soon');
});

test('sold out, there is no time, no odds and no number: nothing moves', () => {
    assert.deepEqual(model(line, 'soldOut'), { kind: 'over', words: 'room.soldOut' });
});

test('poor odds are not told beside more units than people ahead', () => {
    const stocked = { ...item, counts: { free: 3 } };
    const odds = (ahead) => roomModel({ item: stocked, phase: 'open', owned: false, standing: { ...line, ahead }, from: 9 }).odds;
    assert.equal(odds(2), 'room.odds.fair');
    assert.equal(odds(3), 'room.odds.poor');
});

test('waiting is a screen of its own, and the title tells who looks elsewhere', () => {
    assert.equal(roomIsScreen(model(line)), true);
    assert.equal(roomIsScreen(model(early)), true);
    assert.equal(roomIsScreen(model(line, 'soldOut')), false);
    assert.equal(roomIsScreen(null), false);
    assert.deepEqual(roomTitle(model(line)), { words: 'room.titleLine', count: 237 });
    assert.equal(roomTitle(model({ ...line, state: 'admitted' })).words, 'room.titleTurn');
    assert.equal(roomTitle(null), null);
});
