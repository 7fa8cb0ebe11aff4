// SPDX-License-Identifier: Apache-2.0
/* Who gets the goods and where: the rules for it, and what was typed last, kept for this tab only.
 * The server counts bytes, so this does. */

import { perTab } from './store.js';

export const DETAIL_FIELDS = [
    { name: 'name', least: 1, most: 100 },
    { name: 'phone', least: 3, most: 40, form: /^\+?(?=(?:\D*\d){3})[\d ()-]+$/ },
    { name: 'address', least: 3, most: 500, lines: true },
    { name: 'note', least: 0, most: 500, lines: true },
    { name: 'email', least: 0, most: 200, form: /^[^\s<>()[\]\\,;:"@]+@[^\s<>()[\]\\,;:"@]+\.[^\s<>()[\]\\,;:"@.]+$/ },
];

const bytes = (text) => new TextEncoder().encode(text).length;

/* Without what can't be seen: control characters and space around. */
function cleaned(text, lines) {
    const unseen = lines ? /[\u0000-\u0009\u000b-\u001f\u007f]+/g : /[\u0000-\u001f\u007f]+/g;
    return text.replace(/\r\n?/g, '\n').replace(unseen, ' ').trim();
}

/* One of '', missing, short, long, form. */
function wrongOf(text, { least, most, form }) {
    if (text === '')
        return least > 0 ? 'missing' : '';
    if (bytes(text) > most)
        return 'long';
    if (form !== undefined && !form.test(text))
        return 'form';
    return bytes(text) < least ? 'short' : '';
}

/* { details, wrong }: wrong names a mistake for each field that has one; none: details are good. */
export function detailsCheck(typed) {
    const details = {};
    const wrong = {};
    for (const field of DETAIL_FIELDS) {
        details[field.name] = cleaned(typed[field.name] ?? '', field.lines);
        const mistake = wrongOf(details[field.name], field);
        if (mistake !== '')
            wrong[field.name] = mistake;
    }
    return { details, wrong };
}

export const detailsRemembered = () => perTab.read('details');
export const detailsRemember = (details) => perTab.write('details', details);

/* Which orders have theirs: the server has taken them, and asks for them no more. */
export const detailsGiven = (order) => perTab.read(`details.${order}`) === true;
export const detailsGivenSet = (order) => perTab.write(`details.${order}`, true);
