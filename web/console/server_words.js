// SPDX-License-Identifier: Apache-2.0
/* What the server says, in the reader's language. The server says it in English, in its logs and its audit trail too; words for its sentences
 * are in server_zh.js. What has none is shown as it came. */

import { moment } from './format.js';
import { hasWords, language, say } from './i18n.js';
import { ACTS, FIELDS, FINDINGS, MESSAGES, SENTENCES, WORDS } from './server_zh.js';

const VALUE = /%(?:%|0?16llx|[-+ #0-9.*]*(?:ll|l|z)?[a-z])/g;
const TIME_MS = /^\d{13}$/;

const isChinese = () => language() === 'zh-CN';

function patternOf(sentence) {
    const value = (directive) => (directive === '%%' ? '%' : directive.endsWith('x') ? '([0-9a-f]{16})' : directive.endsWith('s') ? '(.*?)' : '(-?\\d+)');
    const parts = sentence.split(VALUE).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const values = [...sentence.matchAll(VALUE)].map(([directive]) => value(directive));
    return new RegExp(`^${parts.map((part, at) => part + (values[at] ?? '')).join('')}$`, 's');
}

const KINDS = {
    field: (value) => FIELDS[value] ?? value,
    finding: (value) => FINDINGS[value] ?? value,
    word: (value) => WORDS[value] ?? value,
    time: (value) => moment(Number(value), true),
    timely: (value) => (TIME_MS.test(value) ? moment(Number(value), true) : WORDS[value] ?? value),
    told: (value) => told(value),
};

function valueSaid(value, kind) {
    if (kind?.startsWith('say.')) {
        const key = `${kind.slice(4)}.${value}`;
        return hasWords(key) ? say(key) : value;
    }
    return kind ? KINDS[kind](value) : value;
}

/* The longest sentence that fits; those with more words of their own are tried first. */
function rowsOf(table) {
    const own = (sentence) => sentence.replace(VALUE, '').length;
    return Object.entries(table).sort(([one], [other]) => own(other) - own(one)).map(([sentence, words]) => [patternOf(sentence), words]);
}

const made = new Map();
function spoken(table, text) {
    if (!made.has(table))
        made.set(table, rowsOf(table));
    for (const [pattern, words] of made.get(table)) {
        const found = pattern.exec(text);
        if (found)
            return words.replace(/\{(\d)(?::([\w.]+))?\}/g, (_, at, kind) => valueSaid(found[at], kind));
    }
    return text;
}

/* Fields of the API that a form of the console shows by another name. */
const LABELS = { period_limit: 'item.period', payer_limit: 'item.payer', period_days: 'item.days', period_group: 'item.group', flash_price: 'item.price', list_price: 'item.list',
    limit_per_user: 'item.limit', pay_window_ms: 'item.window', start_ms: 'sale.start', end_ms: 'sale.end', pace_per_s: 'sale.pace_per_s', drop_percent: 'sale.drop_percent',
    cooldown_s: 'sale.cooldown_s', start_draw_ms: 'sale.start_draw_ms', return_draw_ms: 'sale.return_draw_ms', deposit_item: 'soldout.deposit', presale_cap: 'soldout.cap' };
const LABELLED = new RegExp(`\\b(${Object.keys(LABELS).join('|')})\\b`, 'g');

/* A refusal, an alarm, a finding, why a ban or a dead letter is there. */
export function told(text) {
    return !text ? text : isChinese() ? SENTENCES[text] ?? spoken(SENTENCES, text) : text.replace(LABELLED, (name) => `“${say(LABELS[name])}”`);
}

/* "sale 2 start_ms 1794986890945 cooldown_s 60" as a person reads it: times as times, names of fields as words, units after numbers. */
const UNITS = { ms: 'ms', s: 's' };
export function detailPlain(detail) {
    const names = Object.keys(FIELDS).filter((name) => name.includes('_')).join('|');
    return detail.replace(new RegExp(`\\b(${names})\\b(:?)(?: (\\d+)\\b( → \\d+)?)?`, 'g'), (_, name, colon, value, to = '') => {
        const [, bare, unit] = /^(.*?)(?:_(ms|s))?$/.exec(name);
        const said = value === undefined ? '' : TIME_MS.test(value) || !unit ? ` ${value}${to}` : ` ${value}${to} ${UNITS[unit]}`;
        return bare.replaceAll('_', ' ') + colon + said;
    }).replace(/\b\d{13}\b/g, (time) => moment(Number(time), true)).replace(/\b(price) (\d+)\b/g, '$1 $2 minor units');
}

export const actTold = (action) => (isChinese() ? ACTS[action]?.[0] ?? action : action.replace(/[._-]/g, ' '));
export const detailTold = (action, detail) => (!isChinese() ? detailPlain(detail) : ACTS[action] ? spoken(ACTS[action][1], detail) : detail);
export const findingTold = (code) => (isChinese() ? FINDINGS[code] ?? code : code);
export const messageTold = (type) => (isChinese() ? MESSAGES[type] ?? type : type);
