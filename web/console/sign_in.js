// SPDX-License-Identifier: Apache-2.0
/* The page before signing in: it sends the key once and keeps nothing of it. */

import { element, textSet } from '../dom.js';
import { say } from './i18n.js';
import { icon } from './icons.js';

const WAIT_DEFAULT_S = 5;

function wordsOf(wrong) {
    if (wrong.status === 401)
        return say('sign.wrong');
    if (wrong.status === 429)
        return say('sign.wait', { seconds: wrong.problem.retry_after_s ?? WAIT_DEFAULT_S });
    return wrong.status ? wrong.message : say('sign.away');
}

/* `why`: a key of words about why one is here. `begin` signs in, or throws. */
export function signInShow(root, { why, language, begin }) {
    const field = element('input', { type: 'password', id: 'key', required: true, autocomplete: 'current-password', spellcheck: false });
    const user = element('input', { type: 'text', autocomplete: 'username', value: 'stampede', hidden: true, 'aria-hidden': 'true', tabIndex: -1 });
    const button = element('button', { type: 'submit', class: 'main', textContent: say('sign.in') });
    const told = element('p', { class: 'told', role: 'alert', id: 'key-told', textContent: why === '' ? '' : say(why) });
    field.setAttribute('aria-describedby', 'key-told key-help');
    const form = element('form', { class: 'sign-in' }, element('div', { class: 'sign-brand' }, icon('brand'), element('span', { textContent: 'Stampede' })),
        element('h1', { textContent: say('sign.title') }), element('p', { class: 'lead', textContent: say('sign.lead') }), user,
        element('label', { htmlFor: 'key', textContent: say('sign.key') }), field,
        element('p', { class: 'help', id: 'key-help', textContent: say('sign.help') }), told, button,
        element('div', { class: 'sign-end' }, language));
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        button.disabled = true;
        textSet(told, '');
        try {
            await begin(field.value.trim());
        } catch (wrong) {
            textSet(told, wordsOf(wrong));
            button.disabled = false;
            field.select();
        }
    });
    root.replaceChildren(element('main', { id: 'main' }, form));
    field.focus();
}
