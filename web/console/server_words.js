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

/* A refusal, an alarm, a finding, why a ban or a dead letter is there. */
export function told(text) {
    return isChinese() && text ? SENTENCES[text] ?? spoken(SENTENCES, text) : text;
}

export const actTold = (action) => (isChinese() ? ACTS[action]?.[0] ?? action : action);
export const detailTold = (action, detail) => (isChinese() && ACTS[action] ? spoken(ACTS[action][1], detail) : detail);
export const findingTold = (code) => (isChinese() ? FINDINGS[code] ?? code : code);
export const messageTold = (type) => (isChinese() ? MESSAGES[type] ?? type : type);
