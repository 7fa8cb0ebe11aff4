// SPDX-License-Identifier: Apache-2.0
/* What is written in further languages, beside the fields of the form: a part for each language, and below them how a reader of
 * one will see it. */

import { element, textSet } from '../dom.js';
import { language, say } from './i18n.js';
import { choice, field } from './parts.js';

const OFFERED = ['zh-CN', 'en'];

function languageName(tag) {
    try {
        return new Intl.DisplayNames([language()], { type: 'language' }).of(tag);
    } catch {
        return tag;
    }
}

/* What is not empty, by language; {}: nothing. */
export function textsOf(rows) {
    const texts = {};
    for (const [tag, member, value] of rows.filter(([, , value]) => value.trim() !== ''))
        (texts[tag] ??= {})[member] = value;
    return texts;
}

/* What a reader of that language sees: his own text, or that of everybody. */
export const seenIn = (tag, base, texts) => ({ ...base, ...texts[tag] });

/* `members`: [name, label, make], in the order in which they are shown; `base`: the inputs of what they are without a language. */
export function textsField(texts = {}, members, base) {
    const tags = [...new Set([...OFFERED, ...Object.keys(texts)])];
    const inputs = tags.flatMap((tag) => members.map(([name, , make]) => [tag, name, make(texts[tag]?.[name] ?? '')]));
    const inputOf = (tag, name) => inputs.find(([at, member]) => at === tag && member === name)[2];
    const now = () => textsOf(inputs.map(([tag, name, input]) => [tag, name, input.value]));
    const reader = choice(tags.map((tag) => [tag, languageName(tag)]), language() === 'zh-CN' ? 'en' : 'zh-CN');
    const shown = members.map((_, at) => element('p', { class: at === 0 ? 'seen-name' : 'seen-text' }));
    const seen = element('div', { class: 'seen', role: 'group', 'aria-label': say('texts.seen') }, ...shown);

    function paint() {
        const values = seenIn(reader.value, Object.fromEntries(members.map(([name]) => [name, base[name].value])), now());
        seen.lang = reader.value;
        members.forEach(([name], at) => textSet(shown[at], values[name]));
    }

    const parts = tags.map((tag) => element('fieldset', { class: 'fields' }, element('legend', { textContent: languageName(tag) }),
        ...members.map(([name, label]) => field(label, inputOf(tag, name)))));
    for (const [tag, , input] of inputs)
        input.lang = tag;
    const body = element('div', {}, element('p', { class: 'help', textContent: say('texts.help') }), element('div', { class: 'field-row' }, ...parts), field(say('texts.reader'), reader), seen);
    const node = element('details', { class: 'more texts', open: Object.keys(texts).length > 0 }, element('summary', { textContent: say('texts.title') }));
    /* Fields of the same name are in the page only while they can be seen; what was typed stays. */
    const bodyPlace = () => (node.open ? node.append(body) : body.remove());
    node.addEventListener('toggle', bodyPlace);
    node.addEventListener('input', paint);
    bodyPlace();
    for (const [name] of members)
        base[name].addEventListener('input', paint);
    paint();
    return { node, now };
}
