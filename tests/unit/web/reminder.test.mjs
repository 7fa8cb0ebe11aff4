// SPDX-License-Identifier: Apache-2.0
/* web/reminder.js: the calendar's entry, and the notification before a start. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh } from './page.mjs';

globalThis.location ??= { origin: 'https://sale.example' };
const { calendarText, reminderIsSet, remindersTell, reminderToggle } = await import('../../../web/reminder.js');

const START = Date.UTC(2026, 10, 16, 12);
const entry = { id: 7, title: 'Watch', address: 'https://sale.example/items/7/', start_ms: START, end_ms: START + 3_600_000, now_ms: START - 1_000 };
let told;

beforeEach(() => {
    fresh();
    told = [];
    globalThis.Notification = class extends EventTarget {
        static permission = 'granted';
        constructor(title, { body, tag }) {
            super();
            told.push([title, body, tag]);
        }
    };
    URL.createObjectURL = () => 'blob:x';
    URL.revokeObjectURL = () => {};
});

const set = () => reminderToggle({ id: 7, start_ms: START, end_ms: START + 1 }, START - 3_600_000, 'Watch');
const tell = (now) => remindersTell(now, (name) => `${name} soon`);

test('the entry has the start in universal time, the address and an alarm', () => {
    const lines = calendarText(entry).split('\r\n');
    for (const line of ['BEGIN:VCALENDAR', 'DTSTART:20261116T120000Z', 'DTEND:20261116T130000Z', 'SUMMARY:Watch', 'TRIGGER:-PT5M', 'UID:item-7@sale.example', 'URL:https://sale.example/items/7/', 'END:VCALENDAR'])
        assert.ok(lines.includes(line), line);
});

test('no name can end its line, and long lines are folded between characters', () => {
    const title = `a;b,c\\d\nEND:VEVENT ${'表'.repeat(60)}`;
    const text = calendarText({ ...entry, title });
    assert.ok(text.split('\r\n').every((line) => new TextEncoder().encode(line).length <= 75));
    const whole = text.replaceAll('\r\n ', '');
    assert.ok(whole.includes(`SUMMARY:a\\;b\\,c\\\\d\\nEND:VEVENT ${'表'.repeat(60)}\r\n`), whole);
    assert.equal(whole.match(/^END:VEVENT/gm).length, 1);
});

test('it is told once, a minute before, and not long after the start', async () => {
    await set();
    assert.equal(reminderIsSet(7), true);
    tell(START - 60_001);
    assert.deepEqual(told, []);
    tell(START - 60_000);
    tell(START - 50_000);
    assert.deepEqual(told, [['Watch', 'Watch soon', 'remind.7']]);
    assert.equal(reminderIsSet(7), false);
    await set();
    tell(START + 60_000);
    assert.equal(told.length, 1);
    assert.equal(reminderIsSet(7), false);
});

test('a second press takes it back', async () => {
    await set();
    await set();
    assert.equal(reminderIsSet(7), false);
    tell(START);
    assert.deepEqual(told, []);
});

test('where notifications are not allowed, nothing is shown and nothing breaks', async () => {
    Notification.permission = 'denied';
    await set();
    tell(START);
    assert.deepEqual(told, []);
});
