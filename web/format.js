// SPDX-License-Identifier: Apache-2.0
/* Amounts, moments and durations in the reader's language. */

import { language } from './i18n.js';

/* Money arrives in the currency's smallest unit; how many digits that has, the server says. What is
 * no currency (an old database may hold that) is shown as it is: Intl would throw, and the page
 * would stop painting. */
export function money(minor, { currency, minor_units: digits }) {
    const shape = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' };
    if (digits !== undefined)
        Object.assign(shape, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    try {
        const format = new Intl.NumberFormat(language(), shape);
        return format.format(minor / 10 ** format.resolvedOptions().maximumFractionDigits);
    } catch {
        return `${count(minor)} ${currency ?? ''}`.trim();
    }
}

export const count = (value) => new Intl.NumberFormat(language()).format(value);

/* The saving as the language says it: "80% off", "2折". Empty where nothing is saved. */
export function saving(listPrice, flashPrice, say) {
    if (!(listPrice > flashPrice) || flashPrice <= 0)
        return '';
    const percent = Math.floor((1 - flashPrice / listPrice) * 100);
    const tenths = Math.max(0.1, Math.ceil((flashPrice / listPrice) * 100) / 10);
    return percent >= 1 ? say('saving', { percent, tenths }) : '';
}

export function moment(ms, exact = false) {
    return new Intl.DateTimeFormat(language(), {
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        second: exact ? '2-digit' : undefined,
        hour12: false,
    }).format(ms);
}

/* From one moment to another; a day that both have is told once. */
export function span(from, to) {
    const sameDay = new Date(from).toDateString() === new Date(to).toDateString();
    return `${moment(from)} – ${sameDay ? hourAndMinute(to) : moment(to)}`;
}

export function dayAndMonth(ms) {
    return new Intl.DateTimeFormat(language(), { month: 'short', day: 'numeric' }).format(ms);
}

/* A time of today, to the minute: for what is not known better. */
export function hourAndMinute(ms) {
    return new Intl.DateTimeFormat(language(), { hour: '2-digit', minute: '2-digit', hour12: false }).format(ms);
}

/* A time of today, to the second. */
export function timeOfDay(ms) {
    return new Intl.DateTimeFormat(language(), {
        hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false,
    }).format(ms);
}

/* Rounded up, so that zero is shown at the moment itself and not a second early. */
export function durationParts(ms) {
    const seconds = Math.max(0, Math.ceil(ms / 1000));
    const two = (value) => String(value).padStart(2, '0');
    return {
        days: Math.floor(seconds / 86_400),
        hours: two(Math.floor(seconds / 3600) % 24),
        minutes: two(Math.floor(seconds / 60) % 60),
        seconds: two(seconds % 60),
    };
}

const TENTHS_BELOW_MS = 10_000;

/* A duration for the button: "2 d 03:04:05", "3:04:05", "09:58", and with tenths in the last ten
 * seconds, "9.4". Rounded up, too. `days` is the word for days. */
export function clockText(ms, days) {
    if (ms <= TENTHS_BELOW_MS)
        return (Math.max(0, Math.ceil(ms / 100)) / 10).toFixed(1);
    const parts = durationParts(ms);
    const short = `${parts.minutes}:${parts.seconds}`;
    if (parts.days > 0)
        return `${parts.days} ${days} ${parts.hours}:${short}`;
    return Number(parts.hours) > 0 ? `${Number(parts.hours)}:${short}` : short;
}

/* Milliseconds until clockText says something else. */
export function clockTickMs(ms) {
    const step = ms <= TENTHS_BELOW_MS ? 100 : 1000;
    return Math.max(1, ms % step || step);
}

export function minutesAndSeconds(ms) {
    const seconds = Math.max(0, Math.ceil(ms / 1000));
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
