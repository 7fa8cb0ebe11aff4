// SPDX-License-Identifier: Apache-2.0
/* A question before an act: what it will do, perhaps fields to fill, and two buttons. The choice that changes nothing has the
 * focus; Escape means it. A refusal is told inside, and the act can be tried again with the same key: it is done once. */

import { element, textSet } from '../dom.js';
import { changeKey } from './api.js';
import { say } from './i18n.js';

let made = 0;

/* `act(key)` does it. Resolves to its answer, or to null when nothing was done. */
export function ask({ title, text, yes, danger = false, fields = [], act }) {
    const id = `dialog${++made}`;
    const key = changeKey();
    const told = element('p', { class: 'told', role: 'alert' });
    const no = element('button', { type: 'button', class: 'plain', textContent: say('ask.no'), autofocus: fields.length === 0 });
    const go = element('button', { type: 'submit', class: danger ? 'danger' : 'main', textContent: yes });
    const form = element('form', { method: 'dialog' }, element('h2', { id: `${id}-title`, textContent: title }),
        element('p', { id: `${id}-text`, textContent: text }), ...fields, told, element('div', { class: 'acts end' }, no, go));
    const dialog = element('dialog', { class: 'ask', 'aria-labelledby': `${id}-title`, 'aria-describedby': `${id}-text` }, form);
    return new Promise((resolve) => {
        let answer = null;
        no.addEventListener('click', () => dialog.close());
        form.addEventListener('submit', async (event) => {
            event.preventDefault();
            go.disabled = true;
            textSet(told, '');
            try {
                answer = await act(key);
                dialog.close();
            } catch (wrong) {
                textSet(told, wrong.status ? wrong.message : say('sign.away'));
                go.disabled = false;
            }
        });
        dialog.addEventListener('close', () => {
            dialog.remove();
            resolve(answer);
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}
