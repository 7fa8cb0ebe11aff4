// SPDX-License-Identifier: Apache-2.0
/* web/console/switch_kinds.js: what the run screen makes of switches and waiting rooms. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTurned, roomsOf, SWITCHES } from '../../../../web/console/switch_kinds.js';

const kind = (name) => SWITCHES.find((one) => one.name === name);

test('a switch that does something to customers is told as turned', () => {
    for (const [name, value, turned] of [['pow_boost', 0, false], ['pow_boost', 2, true], ['room_rate', 1000, false], ['room_rate', 0, true], ['address_rate', 0, false],
        ['address_rate', 100, false], ['refuse_new', true, true], ['refuse_new', false, false], ['sold_out_items', [], false], ['sold_out_items', [3], true]])
        assert.equal(isTurned(kind(name), value), turned, `${name} ${value}`);
});

test('a limit counts whom it holds back, also before anybody came', () => {
    assert.equal(kind('address_rate').hits({ stampede_limits_refused_total: { address: 7, admission: 2 } }), 7);
    assert.equal(kind('admission_per_s').hits({}), 0);
});

test('a room tells its line and how many a second went in', () => {
    const look = (now_ms, arrived, admitted) => ({ now_ms, sales: [{ id: 1, title: 'a', state: 'open', room: { arrived, admitted, drawn: true } }, { id: 2, title: 'b', state: 'open' }] });
    assert.deepEqual(roomsOf(null, look(1000, 50, 10)).map(({ id, line, rate }) => [id, line, rate]), [[1, 40, 0]]);
    assert.deepEqual(roomsOf(look(1000, 50, 10), look(3000, 60, 30)).map(({ line, rate }) => [line, rate]), [[30, 10]]);
    assert.equal(roomsOf(look(1000, 50, 10), look(3000, 0, 0))[0].rate, 0);
});
