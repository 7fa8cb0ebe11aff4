// SPDX-License-Identifier: Apache-2.0
/* Asks whether to go on as another user, in a dialog of the page's own. The choice that changes
 * nothing has the focus, and Escape means it. */

import { element, textSet } from './dom.js';
import { onLanguage, say } from './i18n.js';

const SHOWN_CHARS = 4;

/* As the shop's token named the user, or by the end of the user's number. */
function userName(session) {
    if (session.name)
        return session.name;
    const end = String(session.user).slice(-SHOWN_CHARS);
    return say(session.guest ? 'signIn.guest' : 'signIn.user', { end });
}

/* Resolves to true: go on as `to`. */
export function signInAsk(from, to) {
    const title = element('h2', { id: 'sign-in-title' });
    const words = element('p', { id: 'sign-in-words' });
    const stay = element('button', { type: 'button', class: 'plain strong', autofocus: true });
    const change = element('button', { type: 'button', class: 'plain' });
    const dialog = element(
        'dialog',
        { class: 'question', 'aria-labelledby': title.id, 'aria-describedby': words.id },
        title,
        words,
        element('div', { class: 'question-choices' }, stay, change),
    );

    function paint() {
        textSet(title, say('signIn.title'));
        textSet(words, say('signIn.words', { from: userName(from), to: userName(to) }));
        textSet(stay, say('signIn.stay', { from: userName(from) }));
        textSet(change, say('signIn.change', { to: userName(to) }));
    }

    return new Promise((resolve) => {
        const languageEnd = onLanguage(paint);
        stay.addEventListener('click', () => dialog.close('stay'));
        change.addEventListener('click', () => dialog.close('change'));
        dialog.addEventListener('close', () => {
            languageEnd();
            dialog.remove();
            resolve(dialog.returnValue === 'change');
        });
        paint();
        document.body.append(dialog);
        dialog.showModal();
    });
}
