// SPDX-License-Identifier: Apache-2.0
/* A question in a dialog of the page's own. The choice that changes nothing has the focus, and Escape
 * means it. `words` paints the texts, again when the language changes: { title, text, no, yes }. */

import { element, textSet } from './dom.js';
import { onLanguage } from './i18n.js';

let made = 0; /* so that each has ids of its own */
let home = null; /* where they are shown; null: in the page itself */
export function questionsIn(node) {
    home = node;
}

/* Resolves to true: yes. */
export function questionAsk(words) {
    const id = `question${++made}`;
    const title = element('h2', { id: `${id}-title` });
    const text = element('p', { id: `${id}-words` });
    const no = element('button', { type: 'button', class: 'plain strong', autofocus: true });
    const yes = element('button', { type: 'button', class: 'plain' });
    const dialog = element(
        'dialog',
        { class: 'question', 'aria-labelledby': title.id, 'aria-describedby': text.id },
        title,
        text,
        element('div', { class: 'question-choices' }, no, yes),
    );

    function paint() {
        const said = words();
        textSet(title, said.title);
        textSet(text, said.text);
        textSet(no, said.no);
        textSet(yes, said.yes);
    }

    return new Promise((resolve) => {
        const languageEnd = onLanguage(paint);
        no.addEventListener('click', () => dialog.close('no'));
        yes.addEventListener('click', () => dialog.close('yes'));
        dialog.addEventListener('close', () => {
            languageEnd();
            dialog.remove();
            resolve(dialog.returnValue === 'yes');
        });
        paint();
        (home ?? document.body).append(dialog);
        dialog.showModal();
    });
}
