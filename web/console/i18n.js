// SPDX-License-Identifier: Apache-2.0
/* Which language the console speaks: the reader's choice if there was one, else the browser's. */

import { lasting } from '../store.js';
import { textIn } from '../texts.js';
import { EN } from './words_en.js';
import { ZH } from './words_zh.js';

export const WORDS = { en: EN, 'zh-CN': ZH };

function languageGuess() {
    const kept = lasting.read('language');
    if (kept in WORDS)
        return kept;
    const wanted = globalThis.navigator?.languages?.[0] ?? '';
    return wanted.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

let chosen = languageGuess();

export const language = () => chosen;

export function languageSet(name) {
    chosen = name;
    lasting.write('language', name);
}

/* Of a sale or a product, in the reader's language where the merchant wrote in it. */
export const nameIn = (thing) => textIn(chosen, thing, 'title' in thing ? 'title' : 'name');

export const hasWords = (key) => key in WORDS[chosen];

export function say(key, values = {}) {
    return WORDS[chosen][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/* Names from the server, in words where there are any. */
export function named(prefix, name) {
    const key = `${prefix}.${name}`;
    return hasWords(key) ? say(key) : name;
}
