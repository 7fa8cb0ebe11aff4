// SPDX-License-Identifier: Apache-2.0
/* Which language the page speaks: the reader's choice if there was one, else the browser's. */

import { lasting } from './store.js';
import { languageNear, textIn } from './texts.js';
import { themeRead, themed } from './theme.js';
import { WORDS } from './words.js';

const listeners = new Set();
const { words, languages } = themed(themeRead(), WORDS);

function languageGuess() {
    const kept = lasting.read('language');
    if (kept in words)
        return kept;
    /* A page that was sent in a language says so; else the browser does. */
    const wanted = globalThis.document?.querySelector?.('[data-inside]')?.lang || (navigator.languages?.[0] ?? navigator.language ?? '');
    return languageNear(wanted, Object.keys(words)) ?? 'en';
}

let chosen = languageGuess();

/* Words of one page alone; before it says any. A language that they are not in begins as English. */
export function wordsAdd(more) {
    for (const tag of Object.keys(words))
        words[tag] = { ...words[tag], ...(more[tag] ?? more.en) };
}

export const language = () => chosen;
/* [{ tag, name, direction }] */
export const languagesAll = () => languages;
export const direction = () => languages.find(({ tag }) => tag === chosen).direction;

export function languageSet(name) {
    chosen = name;
    lasting.write('language', name);
    for (const listener of listeners)
        listener();
}

/* Returns the function that ends the listening. */
export function onLanguage(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

export const told = (thing, member) => textIn(chosen, thing, member);
export const nameOf = (item) => told(item.product, 'name');

export const hasWords = (key) => key in words[chosen];

export function say(key, values = {}) {
    return words[chosen][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
