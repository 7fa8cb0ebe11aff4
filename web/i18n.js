// SPDX-License-Identifier: Apache-2.0
/* Which language the page speaks: the reader's choice if there was one, else the browser's. */

import { lasting } from './store.js';
import { themeRead, themed } from './theme.js';
import { WORDS } from './words.js';

const listeners = new Set();
const { words, languages } = themed(themeRead(), WORDS);

/* The first that the browser wants and we have: zh-TW is served by zh-CN, and nobody by nothing. */
export function languageFor(wanted, tags) {
    const short = (tag) => tag.toLowerCase().split('-')[0];
    for (const want of wanted) {
        const same = tags.find((tag) => tag.toLowerCase() === want.toLowerCase());
        const near = same ?? tags.find((tag) => short(tag) === short(want));
        if (near !== undefined)
            return near;
    }
    return 'en';
}

function languageGuess() {
    const kept = lasting.read('language');
    if (kept in words)
        return kept;
    const wanted = navigator.languages?.[0] ?? navigator.language ?? '';
    return languageFor([wanted], Object.keys(words));
}

let chosen = languageGuess();

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

export const hasWords = (key) => key in words[chosen];

export function say(key, values = {}) {
    return words[chosen][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
