// SPDX-License-Identifier: Apache-2.0
/* The console's frame: who is signed in, which screen is shown, in which language. Addresses are after the '#', so that the
 * server sees none of them. */

import { element } from '../dom.js';
import { bearer, onSignedOut, sessionBegin, sessionEnd, sessionRead } from './api.js';
import { zoneName } from './format.js';
import { language, languageSet, say } from './i18n.js';
import { icon } from './icons.js';
import { screenFind, SCREENS } from './screens.js';
import { sessionSet } from './session.js';
import { signInShow } from './sign_in.js';

const INVITATION = /^#(once_[\w-]{43})$/;

const root = document.getElementById('root');
let stop = () => {};

function screenEnd() {
    stop();
    stop = () => {};
}

const addressNow = () => (location.hash.startsWith('#/') ? location.hash.slice(2) : 'live');

function languageButton(paint) {
    const other = language() === 'en' ? 'zh-CN' : 'en';
    const button = element('button', { type: 'button', class: 'quiet', lang: other, textContent: other === 'en' ? 'English' : '中文' });
    button.addEventListener('click', () => {
        languageSet(other);
        paint();
    });
    return button;
}

function navigation(current) {
    const links = SCREENS.filter(({ hidden }) => !hidden).map(({ name }) => {
        const link = element('a', { href: `#/${name}` }, icon(name), element('span', { textContent: say(`nav.${name}`) }));
        if (name === current)
            link.setAttribute('aria-current', 'page');
        return link;
    });
    return element('nav', { 'aria-label': say('nav.label') }, ...links);
}

function framePaint(session) {
    screenEnd();
    const screen = screenFind(addressNow());
    const main = element('main', { id: 'main', tabIndex: -1 });
    const out = element('button', { type: 'button', class: 'quiet', textContent: say('sign.out') });
    out.addEventListener('click', async () => {
        await sessionEnd().catch(() => {});
        signInPaint('');
    });
    const skip = element('a', { class: 'skip', href: '#main', textContent: say('nav.skip') });
    skip.addEventListener('click', (event) => {
        event.preventDefault();
        main.focus();
    });
    document.documentElement.lang = language();
    document.title = `${say(`nav.${screen.nav}`)} · ${say('title')}`;
    root.className = 'frame';
    root.replaceChildren(skip,
        element('header', { class: 'side' }, element('a', { class: 'brand', href: '#/live' }, icon('brand'), element('span', { textContent: 'Stampede' })),
            navigation(screen.nav),
            element('div', { class: 'who' }, element('span', { class: 'who-name' }, element('b', { textContent: session.name }),
                element('small', { textContent: `${say(`role.${session.role}`)} · ${zoneName()}` })),
            element('div', { class: 'who-acts' }, languageButton(() => framePaint(session)), out))),
        main);
    stop = screen.show(main, screen.rest) ?? (() => {});
}

let present = null;

function signInPaint(why) {
    screenEnd();
    present = null;
    document.documentElement.lang = language();
    document.title = `${say('sign.title')} · ${say('title')}`;
    root.className = 'door';
    signInShow(root, {
        why,
        language: languageButton(() => signInPaint(why)),
        begin: async (authorization) => enter(await sessionBegin(authorization)),
    });
}

function enter(session) {
    present = session;
    sessionSet(session);
    framePaint(session);
}

async function start() {
    const invitation = INVITATION.exec(location.hash)?.[1];
    if (invitation) {
        history.replaceState(null, '', '/console/'); /* it counts once and is not to be kept in the history */
        try {
            enter(await sessionBegin(bearer(invitation)));
            return;
        } catch {
            /* Used already: perhaps by this very browser, which has a session then. */
        }
    }
    const session = await sessionRead().catch(() => 'away');
    if (session !== null && session !== 'away')
        enter(session);
    else
        signInPaint(invitation ? 'sign.used' : session === null ? '' : 'sign.away');
}

onSignedOut(() => {
    if (present !== null)
        signInPaint('sign.over');
});
addEventListener('hashchange', () => {
    if (INVITATION.test(location.hash))
        start();
    else if (present !== null && !location.hash.startsWith('#main')) {
        framePaint(present);
        scrollTo(0, 0);
        document.getElementById('main')?.focus({ preventScroll: true });
    }
});
start();
