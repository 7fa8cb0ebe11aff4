// SPDX-License-Identifier: Apache-2.0
/* Numbers, money and times as people read them. */

import { language } from './i18n.js';

const SECOND_MS = 1000;
const MINUTE_S = 60;
const HOUR_S = 3600;
const SMALL_RATE = 10;

export const number = (value) => new Intl.NumberFormat(language()).format(value);

/* 1,234 · 12.3K · 4.56M: for tiles, where room is short. */
export const shortNumber = (value) =>
    value < 100_000
        ? number(Math.round(value))
        : new Intl.NumberFormat(language(), { notation: 'compact', maximumFractionDigits: 1 }).format(value);

export const rate = (value) => (value > 0 && value < SMALL_RATE ? number(Math.round(value * 10) / 10) : shortNumber(value));

export const percent = (part, whole) =>
    new Intl.NumberFormat(language(), { style: 'percent', maximumFractionDigits: 1 }).format(whole > 0 ? part / whole : 0);

/* How many digits a currency's smallest unit has: 2 for CNY, 0 for JPY. */
const digitsOf = (currency) => new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits;

export function money(minor, currency, known) {
    try {
        const digits = known ?? digitsOf(currency);
        const value = minor / 10 ** digits;
        return new Intl.NumberFormat(language(), {
            style: 'currency',
            currency,
            minimumFractionDigits: digits,
            maximumFractionDigits: digits,
        }).format(value);
    } catch {
        return `${minor} ${currency}`; /* an old database may hold what is no currency */
    }
}

export function moment(ms, seconds = false, timeZone = undefined) {
    return new Intl.DateTimeFormat(language(), {
        timeZone,
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
        ...(seconds ? { second: '2-digit' } : {}),
    }).format(ms);
}

/* On the clocks of a place that is `offsetMinutes` ahead of UTC. */
export const momentAt = (ms, offsetMinutes) => moment(ms + offsetMinutes * 60_000, false, 'UTC');

export const clockTime = (ms) =>
    new Intl.DateTimeFormat(language(), { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).format(ms);

/* 4:07 · 1:02:03 */
export function span(ms) {
    const whole = Math.max(0, Math.round(ms / SECOND_MS));
    const two = (value) => String(value).padStart(2, '0');
    const hours = Math.floor(whole / HOUR_S);
    const minutes = Math.floor((whole % HOUR_S) / MINUTE_S);
    return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % MINUTE_S)}` : `${minutes}:${two(whole % MINUTE_S)}`;
}

/* 820 ms · 3.2 s · 4:07 */
export function duration(ms) {
    if (ms < SECOND_MS)
        return `${ms} ms`;
    return ms < MINUTE_S * SECOND_MS ? `${(ms / SECOND_MS).toFixed(1)} s` : span(ms);
}

export function size(bytes) {
    const kilo = bytes / 1024;
    return kilo < 1024 ? `${Math.ceil(kilo)} kB` : `${(kilo / 1024).toFixed(1)} MB`;
}

export function zoneName() {
    const part = new Intl.DateTimeFormat(language(), { timeZoneName: 'short' }).formatToParts(Date.now()).find(({ type }) => type === 'timeZoneName');
    return part?.value ?? '';
}
