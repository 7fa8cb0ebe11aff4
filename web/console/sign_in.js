// SPDX-License-Identifier: Apache-2.0
/* The page before signing in: it sends the key, or the user name and password, once and keeps nothing of them. */

import { element, textSet } from '../dom.js';
import { lasting } from '../store.js';
import { basic, bearer } from './api.js';
import { say } from './i18n.js';
import { icon } from './icons.js';

const WAIT_DEFAULT_S = 5;
const WAYS = ['key', 'password'];

function wordsOf(wrong, way) {
    if (wrong.status === 401)
        return say(`sign.wrong.${way}`);
    if (wrong.status === 429)
        return say('sign.wait', { seconds: wrong.problem.retry_after_s ?? WAIT_DEFAULT_S });
    if (wrong.status === 503)
        return say('sign.busy');
    return wrong.status ? wrong.message : say('sign.away');
}

/* The fields of one way to sign in. `authorization()`: what is sent of them. */
function fieldsMake(way) {
    const input = (id, type, more) => element('input', { type, id, required: true, spellcheck: false, 'aria-describedby': 'sign-told sign-help', ...more });
    const row = (words, node) => element('div', { class: 'field' }, element('label', { htmlFor: node.id, textContent: say(words) }), node);
    if (way === 'key') {
        const user = element('input', { type: 'text', autocomplete: 'username', value: 'stampede', hidden: true, 'aria-hidden': 'true', tabIndex: -1 });
        const key = input('key', 'password', { autocomplete: 'current-password' });
        return { nodes: [user, row('sign.key', key)], first: key, secret: key, authorization: () => bearer(key.value.trim()) };
    }
    const name = input('name', 'text', { autocomplete: 'username', autocapitalize: 'none', maxLength: 64 });
    const password = input('password', 'password', { autocomplete: 'current-password', maxLength: 128 });
    return { nodes: [row('sign.name', name), row('sign.password', password)], first: name, secret: password, authorization: () => basic(name.value.trim(), password.value) };
}

/* `why`: a key of words about why one is here. `begin` signs in, or throws. */
export function signInShow(root, { why, language, begin }) {
    let way = WAYS.find((name) => name === lasting.read('console.way')) ?? WAYS[0]; /* the one that was used last */
    let fields;
    const button = element('button', { type: 'submit', class: 'main', textContent: say('sign.in') });
    const told = element('p', { class: 'told', role: 'alert', id: 'sign-told', textContent: why === '' ? '' : say(why) });
    const help = element('p', { class: 'help', id: 'sign-help' });
    const place = element('div', { class: 'stack' });
    const ways = WAYS.map((name) => {
        const choose = element('button', { type: 'button', textContent: say(`sign.by.${name}`) });
        choose.addEventListener('click', () => {
            way = name;
            textSet(told, '');
            paint();
        });
        return [name, choose];
    });
    function paint() {
        fields = fieldsMake(way);
        place.replaceChildren(...fields.nodes);
        textSet(help, say(`sign.help.${way}`));
        ways.forEach(([name, node]) => node.setAttribute('aria-pressed', String(name === way)));
        fields.first.focus();
    }
    const form = element('form', { class: 'sign-in' }, element('div', { class: 'sign-brand' }, icon('brand'), element('span', { textContent: 'Stampede' })),
        element('h1', { textContent: say('sign.title') }), element('p', { class: 'lead', textContent: say('sign.lead') }),
        element('div', { class: 'ways', role: 'group', 'aria-label': say('sign.ways') }, ...ways.map(([, node]) => node)), place, help, told, button,
        element('div', { class: 'sign-end' }, language));
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        button.disabled = true;
        textSet(told, '');
        try {
            await begin(fields.authorization());
            lasting.write('console.way', way);
        } catch (wrong) {
            textSet(told, wordsOf(wrong, way));
            button.disabled = false;
            fields.secret.select();
        }
    });
    root.replaceChildren(element('main', { id: 'main' }, form));
    paint();
}
