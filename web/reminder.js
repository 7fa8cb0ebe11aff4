// SPDX-License-Identifier: Apache-2.0
/* A reminder of a start: an entry for the calendar, and a notification while a page of the shop is open. */

import { lasting } from './store.js';

const AHEAD_MS = 60_000; /* the notification */
const AHEAD_MIN = 5; /* the calendar's alarm */
const LOOK_MS = 5_000;
const LINE_BYTES = 73; /* the format allows 75 with the line end's space */

const stamp = (ms) => `${new Date(ms).toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`;
const escaped = (text) => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');

/* A line of the format, folded where it is long; never inside of a character. */
function folded(line) {
    const encoder = new TextEncoder();
    let out = '';
    let size = 0;
    for (const character of line) {
        const bytes = encoder.encode(character).length;
        if (size + bytes > LINE_BYTES) {
            out += '\r\n ';
            size = 1;
        }
        out += character;
        size += bytes;
    }
    return `${out}\r\n`;
}

/* One entry as iCalendar (RFC 5545). */
export function calendarText({ id, title, address, start_ms: start, end_ms: end, now_ms: now }) {
    return [
        'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Stampede//Storefront//EN', 'BEGIN:VEVENT', `UID:item-${id}@${new URL(address).host}`,
        `DTSTAMP:${stamp(now)}`, `DTSTART:${stamp(start)}`, `DTEND:${stamp(end)}`, `SUMMARY:${escaped(title)}`, `URL:${address}`, `DESCRIPTION:${escaped(address)}`,
        'BEGIN:VALARM', 'ACTION:DISPLAY', `DESCRIPTION:${escaped(title)}`, `TRIGGER:-PT${AHEAD_MIN}M`, 'END:VALARM', 'END:VEVENT', 'END:VCALENDAR',
    ].map(folded).join('');
}

function fileSave(name, text) {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/calendar;charset=utf-8' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), LOOK_MS);
}

const nameOf = (id) => `remind.${id}`;

export const reminderIsSet = (id) => lasting.read(nameOf(id)) !== null;

/* `title`: its name, as the page shows it. Called by a press: a browser asks for the permission only then. */
export async function reminderToggle(item, now, title) {
    if (reminderIsSet(item.id)) {
        lasting.remove(nameOf(item.id));
        return;
    }
    const address = `${location.origin}/items/${item.id}/`;
    lasting.write(nameOf(item.id), { title, address, start_ms: item.start_ms });
    fileSave(`${item.id}.ics`, calendarText({ ...item, title, address, now_ms: now }));
    if (globalThis.Notification?.permission === 'default')
        await Notification.requestPermission();
}

/* Those whose start is near are told once; those that are over are forgotten. `words(name)`: what is said. */
export function remindersTell(now, words) {
    for (const id of lasting.names('remind.')) {
        const kept = lasting.read(nameOf(id));
        if (kept === null || now < kept.start_ms - AHEAD_MS)
            continue;
        lasting.remove(nameOf(id));
        if (now >= kept.start_ms + AHEAD_MS || globalThis.Notification?.permission !== 'granted')
            continue;
        const note = new Notification(kept.title, { body: words(kept.title), tag: nameOf(id) });
        note.addEventListener('click', () => {
            focus();
            location.assign(kept.address);
        });
    }
}

export function remindersWatch(clock, words) {
    setInterval(() => clock.known() && remindersTell(clock.now(), words), LOOK_MS);
}
