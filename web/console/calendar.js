// SPDX-License-Identifier: Apache-2.0
/* Days and the sessions in them, in the reader's time zone. Nothing here touches the page. */

export const SESSIONS_MAX = 48;
const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;

export function dayStart(ms) {
    const date = new Date(ms);
    return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/* A day some days later; days with 23 or 25 hours count as days. */
export function dayAfter(day, days) {
    const date = new Date(day);
    return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
}

/* "2026-11-16", as in addresses and <input type="date">. */
export function dayText(ms) {
    const date = new Date(ms);
    return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}

/* The start of such a day; null: it is none. */
export function dayRead(text) {
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '') ?? [];
    const date = new Date(Number(year), Number(month) - 1, Number(day));
    return Number.isNaN(date.getTime()) || dayText(date.getTime()) !== text ? null : date.getTime();
}

/* Sales that run on a day, by their start, with the part of the day that they fill, from 0 to 1. */
export function daySessions(sales, day) {
    const end = dayAfter(day, 1);
    const part = (ms) => Math.min(1, Math.max(0, (ms - day) / (end - day)));
    return sales.filter(({ start_ms: start, end_ms: over }) => start < end && over > day)
        .sort((a, b) => a.start_ms - b.start_ms || a.end_ms - b.end_ms || a.id - b.id)
        .map((sale) => ({ sale, from: part(sale.start_ms), to: part(sale.end_ms) }));
}

/* The times of day in a text like "10:00, 12:00 20:00", in order, each once; null: something else is in it. */
export function timesRead(text) {
    const found = text.split(/[\s,，;、]+/).filter(Boolean).map((word) => TIME.exec(word));
    if (found.length === 0 || found.some((match) => match === null))
        return null;
    return [...new Set(found.map(([, hours, minutes]) => Number(hours) * 60 + Number(minutes)))].sort((a, b) => a - b);
}

/* The sessions of a plan: each time of day on each day. */
export function sessionsPlan({ day, days, times, lasts_ms: lasts }) {
    const plan = [];
    for (let at = 0; at < days; at++)
        for (const minutes of times) {
            const date = new Date(dayAfter(day, at));
            const start = new Date(date.getFullYear(), date.getMonth(), date.getDate(), Math.floor(minutes / 60), minutes % 60).getTime();
            plan.push({ start_ms: start, end_ms: start + lasts });
        }
    return plan;
}
