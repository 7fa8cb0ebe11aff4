// SPDX-License-Identifier: Apache-2.0
/* Which language the page speaks: the reader's choice if there was one, else the browser's. */

import { lasting } from './store.js';
import { WORDS } from './words.js';

const listeners = new Set();

function languageGuess() {
    const kept = lasting.read('language');
    if (kept in WORDS)
        return kept;
    const wanted = navigator.languages?.[0] ?? navigator.language ?? '';
    return wanted.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

let chosen = languageGuess();

export const language = () => chosen;

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

export const hasWords = (key) => key in WORDS[chosen];

export function say(key, values = {}) {
    return WORDS[chosen][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
