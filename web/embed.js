// SPDX-License-Identifier: Apache-2.0
/* An item in a page of the shop's own: <script src="https://sale.example/embed.js" data-item="7" async></script> puts name, price,
 * button with countdown, line and order of item 7 where the script stands (docs/embedding.md). Nothing of the page gets in, and nothing of
 * this gets out: it lives in a shadow root. The build makes one file of it, with the style sheet inside (tools/bundle.py). */

import { serverAddress, timeGet } from './api.js';
import { createClock } from './clock.js';
import { element } from './dom.js';
import { languageSet, languagesAll } from './i18n.js';
import { mountItem } from './item_view.js';
import { questionsIn } from './question.js';
import { createSession } from './session.js';
import { createShop } from './shop.js';
import { signInAsk } from './sign_in_question.js';
import style from './style.css';

/* What a page of its own has, and a part of another page has not. */
const OWN_STYLE = `
:host { display: block; color: var(--ink); font: 400 1rem/1.6 var(--sans); text-align: start; }
.back, .gallery, .description { display: none !important; }
.item { display: block; }
.dock { position: static; padding-inline: 0; border: 0; background: none; box-shadow: none; }
`;

export function embed(script) {
    const { item, token, language, pages = serverAddress() } = script.dataset;
    const number = Number(item);
    if (!Number.isSafeInteger(number) || number <= 0)
        throw new Error('embed.js: data-item must be the number of an item');
    if (languagesAll().some(({ tag }) => tag === language))
        languageSet(language);
    const host = element('div', { class: 'stampede-item' });
    const root = host.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style.replaceAll(':root', ':host') + OWN_STYLE);
    root.adoptedStyleSheets = [sheet];
    const main = element('div', { class: 'embedded' });
    root.append(main);
    script.after(host);
    questionsIn(main);
    const clock = createClock(async () => (await timeGet()).now_ms);
    const session = createSession(clock, signInAsk);
    if (token)
        session.tokenGive(token);
    clock.sync();
    mountItem(main, number, { clock, session, shop: createShop(), titleSet: () => {} });
    /* Other pages of the storefront are where it is. */
    main.addEventListener('click', (event) => {
        const link = event.target.closest('a[data-route]');
        if (link === null)
            return;
        event.preventDefault();
        location.assign(new URL(link.getAttribute('href'), pages));
    });
}

embed(document.currentScript);
