// SPDX-License-Identifier: Apache-2.0
/* Asks whether to go on as another user. */

import { say } from './i18n.js';
import { questionAsk } from './question.js';

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
    return questionAsk(() => {
        const names = { from: userName(from), to: userName(to) };
        return {
            title: say('signIn.title'),
            text: say('signIn.words', names),
            no: say('signIn.stay', names),
            yes: say('signIn.change', names),
        };
    });
}
