// SPDX-License-Identifier: Apache-2.0
/* web/room.js: what the box of the waiting room says follows from what the server told. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roomGate, roomModel } from '../../../web/room.js';
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

test('everything that the box can say is there in both languages', () => {
    for (const words of ['room.beacon', 'room.early', 'room.offer', 'room.offerLate', 'room.admitted', 'room.soldOut', 'room.line'])
        for (const language of ['en', 'zh-CN'])
            assert.ok(WORDS[language][words], `${language} ${words}`);
});
