// SPDX-License-Identifier: Apache-2.0
/* Starts the page: the clock, the language, and the view that the address asks for. */

import { arrivalsGet, drawGet, roomGet, saleWhole, serverAddress, timeGet } from './api.js';
import { createClock } from './clock.js';
import { element, textSet } from './dom.js';
import { count, span } from './format.js';
import { direction, language, languageSet, languagesAll, onLanguage, say, told } from './i18n.js';
import { mountItem } from './item_view.js';
import { mountOrders } from './orders_view.js';
import { remindersWatch } from './reminder.js';
import { mountSales } from './sales_view.js';
import { createSession } from './session.js';
import { createShop } from './shop.js';
import { signInAsk } from './sign_in_question.js';
import { lasting } from './store.js';

const root = document.getElementById('main');
const testNote = document.getElementById('test-mode');
const clock = createClock(async () => {
    const now = await timeGet();
    testNote.hidden = now.test !== true;
    return now.now_ms;
});
const session = createSession(clock, signInAsk);
const shop = createShop();
let view = null;

function titleSet(words) {
    const title = words === '' ? say('page.title') : `${words} · ${say('page.title')}`;
    if (document.title !== title)
        document.title = title;
}

/* /items/7/, /items/7/en/, or /?item=7 of links that are older. */
function itemOf(address) {
    return /^\/items\/(\d+)(\/|$)/.exec(address.pathname)?.[1] ?? new URLSearchParams(address.search).get('item');
}

const REPORT_TOOLS = { arrivalsGet, count, drawGet, element, language, lasting, onLanguage, roomGet, saleWhole, serverAddress, span, told };

/* Few look at a report: its script is loaded when somebody does. */
function mountReport(sale, context) {
    const heading = element('h1', { tabIndex: -1 });
    const place = element('div', { class: 'report' });
    let stopped = false;
    let stop = () => {};
    root.replaceChildren(element('div', { class: 'report-page' }, heading, place));
    import('./report_view.js').then(({ reportShow }) => {
        if (!stopped)
            stop = reportShow(place, heading, sale, context, REPORT_TOOLS);
    }, () => textSet(heading, say('problem.network')));
    return {
        heading,
        stop() {
            stopped = true;
            stop();
        },
    };
}

function viewOf(address) {
    const query = new URLSearchParams(address.search);
    const item = Number(itemOf(address));
    if (Number.isSafeInteger(item) && item > 0)
        return (context) => mountItem(root, item, context);
    const report = Number(query.get('report'));
    if (Number.isSafeInteger(report) && report > 0)
        return (context) => mountReport(report, context);
    if (query.has('orders'))
        return (context) => mountOrders(root, '', context);
    if (query.get('order'))
        return (context) => mountOrders(root, query.get('order'), context);
    return (context) => mountSales(root, context);
}

function viewShow() {
    view?.stop();
    view = viewOf(location)({ clock, session, shop, titleSet });
    const query = new URLSearchParams(location.search);
    const here = query.has('orders') || query.has('order') ? '/?orders' : '/';
    for (const link of document.querySelectorAll('nav a')) {
        if (link.getAttribute('href') === here && itemOf(location) === null && !query.has('report'))
            link.setAttribute('aria-current', 'page');
        else
            link.removeAttribute('aria-current');
    }
}

function languagePaint() {
    document.documentElement.lang = language();
    document.documentElement.dir = direction();
    for (const node of document.querySelectorAll('[data-words]'))
        textSet(node, say(node.dataset.words));
    for (const node of document.querySelectorAll('[data-label]'))
        node.setAttribute('aria-label', say(node.dataset.label));
    for (const choice of document.querySelectorAll('[data-language]'))
        choice.setAttribute('aria-pressed', String(choice.dataset.language === language()));
}

function linkClicked(event) {
    const link = event.target.closest('a[data-route]');
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    const plain = event.button === 0 && !modified;
    if (link === null || !plain)
        return;
    event.preventDefault();
    if (link.href !== location.href)
        history.pushState(null, '', link.href);
    viewShow();
    scrollTo(0, 0);
    /* The heading, unless it still waits for its words. */
    const target = view.heading.offsetParent === null ? root : view.heading;
    target.focus({ preventScroll: true });
}

/* The page has a button for each language of words.js; a theme may bring more. */
const offered = new Set([...document.querySelectorAll('[data-language]')].map((choice) => choice.dataset.language));
for (const { tag, name } of languagesAll().filter(({ tag }) => !offered.has(tag)))
    document.querySelectorAll('.languages')[0]?.append(
        element('button', { type: 'button', lang: tag, 'data-language': tag }, name),
    );
document.addEventListener('click', linkClicked);
window.addEventListener('popstate', viewShow);
for (const choice of document.querySelectorAll('[data-language]'))
    choice.addEventListener('click', () => languageSet(choice.dataset.language));

onLanguage(languagePaint);
languagePaint();
clock.sync();
remindersWatch(clock, (name) => say('remind.soon', { name }));
/* Arriving with the shop's token is signing in; it can't wait for the click, since tokens are
 * short-lived. A failure is told where it matters: at the click. */
async function tokenExchange() {
    const before = session.current()?.user;
    const { user } = await session.ensure();
    /* What is shown is another user's; who was nobody before has nothing to hide but the empty list. */
    if (before === undefined ? location.search.includes('orders') : user !== before)
        viewShow();
}
if (session.tokenTake())
    tokenExchange().catch(() => {});
viewShow();
