// SPDX-License-Identifier: Apache-2.0
/* The list of admin keys and passwords. An administrator makes a key, which is shown once, and revokes keys and passwords. */

import { element, textSet } from '../dom.js';
import { change } from './api.js';
import { auditOfAction } from './audit.js';
import { ask } from './dialog.js';
import { say } from './i18n.js';
import { button, choice, field, panel, table } from './parts.js';
import { isMine } from './session.js';

const ROLES = ['viewer', 'operator', 'admin'];

/* The key, while the dialog is open. Closing it is the end: the server does not know the key either. */
function keyShow({ name, role, key }) {
    const shown = element('output', { class: 'secret mono', textContent: key });
    const told = element('p', { class: 'told', role: 'status', 'data-grade': 'good' });
    const copy = button(say('keys.copy'), async () => {
        try {
            await navigator.clipboard.writeText(key);
            textSet(told, say('keys.copied'));
        } catch { /* not allowed, or a page without TLS */
            getSelection().selectAllChildren(shown);
        }
    });
    const close = element('button', { type: 'submit', class: 'main', textContent: say('keys.close') });
    const form = element('form', { method: 'dialog' }, element('h2', { id: 'key-title', textContent: say('keys.made', { name, role: say(`role.${role}`) }) }),
        element('p', { id: 'key-text', textContent: say('keys.once') }), shown, told, element('div', { class: 'acts end' }, copy, close));
    const dialog = element('dialog', { class: 'ask', 'aria-labelledby': 'key-title', 'aria-describedby': 'key-text' }, form);
    return new Promise((resolve) => {
        dialog.addEventListener('close', () => {
            dialog.remove();
            resolve();
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}

async function keyMake(look) {
    const name = element('input', { type: 'text', required: true, maxLength: 64, pattern: '[!-9;-~]+', autocomplete: 'off', spellcheck: false });
    const role = choice(ROLES.map((one) => [one, say(`role.${one}`)]), ROLES[0]);
    const made = await ask({ title: say('keys.make'), text: say('keys.make.text'), yes: say('keys.make'),
        fields: [field(say('keys.name'), name, say('keys.name.help')), field(say('keys.role'), role, say('keys.role.help'))],
        act: (key) => change('POST', '/keys', { name: name.value, role: role.value }, key) });
    if (made === null)
        return;
    await keyShow(made);
    look();
}

async function keyRevoke({ name, role, kind }, look) {
    const mine = isMine({ name, role });
    const text = say(`keys.revoke.${kind}`, { name, role: say(`role.${role}`) });
    const done = await ask({ title: say('keys.revoke.title', { name }), text: mine ? `${text} ${say('keys.revoke.mine')}` : text, yes: say('keys.revoke'), danger: true,
        act: (key) => change('POST', '/keys/revoke', { name, kind }, key) });
    if (done !== null)
        look();
}

export function keysPart({ keys }, look) {
    const acts = (row) => {
        const revoke = button(say('keys.revoke'), () => keyRevoke(row, look), 'plain small');
        revoke.setAttribute('aria-label', say('keys.revoke.of', { name: row.name, kind: say(`keys.${row.kind}`) }));
        return revoke;
    };
    return panel(say('keys.title'),
        table(say('keys.title'), [say('keys.name'), say('keys.role'), say('keys.kind'), ''],
            keys.map((row) => [row.name, say(`role.${row.role}`), say(`keys.${row.kind}`), acts(row)]), say('keys.none')),
        element('div', { class: 'acts' }, button(say('keys.make'), () => keyMake(look))),
        element('p', { class: 'note', textContent: say('keys.note') }), element('pre', { tabIndex: 0, textContent: 'stampede key password --name NAME --role viewer|operator|admin --file FILE' }));
}

/* The audit entries of keys that were made or revoked. */
export const keysTrail = async () => (await auditOfAction('key.create', 'key.revoke')).node;
