// SPDX-License-Identifier: Apache-2.0
/* The pay page of the sandbox: what a payer would see at a provider, with buttons for what can go
 * wrong on the way. Whoever knows the payment's id may pay it; no real money moves. */

import { sandboxGet, sandboxPost } from '../api.js';
import { attributeSet, element, textSet } from '../dom.js';
import { moment, money } from '../format.js';
import { language, languageSet, onLanguage, say, wordsAdd } from '../i18n.js';
import { payAddress } from '../pay_address.js';
import { SANDBOX_WORDS } from './words.js';

wordsAdd(SANDBOX_WORDS);

const TROUBLES = ['lost', 'twice', 'late', 'wrong-amount', 'decline'];

const id = new URLSearchParams(location.search).get('id') ?? '';
const root = document.getElementById('main');
let payment = null;
let trouble = ''; /* a key of the words */
let busy = '';

function factMake(key) {
    const name = element('dt');
    const value = element('dd');
    const node = element('div', { class: 'fact' }, name, value);
    return {
        node,
        paint(text) {
            node.hidden = text === '';
            textSet(name, say(key));
            textSet(value, text);
        },
    };
}

function buttonMake(how, kind) {
    const node = element('button', { class: kind, type: 'button' });
    node.addEventListener('click', () => settle(how));
    return { how, node };
}

const heading = element('h1');
const what = factMake('sandbox.what');
const reference = factMake('sandbox.reference');
const until = factMake('sandbox.until');
const facts = element('dl', { class: 'facts' }, what.node, reference.node, until.node);
const pay = buttonMake('pay', 'pay');
const others = TROUBLES.map((how) => buttonMake(how, 'plain'));
const rehearseTitle = element('h2');
const rehearse = element(
    'div',
    { class: 'rehearse' },
    rehearseTitle,
    element('ul', {}, ...others.map(({ node }) => element('li', {}, node))),
);
const status = element('p', { class: 'order-status', role: 'status' });
const back = element('a', { class: 'back' });

/* Only a page is gone back to; an address of any other kind is not even a link. */
function backAddress() {
    const address = payAddress(payment?.return_url ?? '', location.href);
    return payment?.return_url && address?.kind === 'page' ? address.href : '';
}

function statusWords() {
    if (trouble !== '')
        return say(trouble);
    if (payment === null)
        return say('sandbox.loading');
    return payment.state === 'open' ? '' : say(`sandbox.${payment.state}`);
}

function buttonsPaint(amount) {
    const open = payment?.state === 'open';
    for (const { how, node } of [pay, ...others]) {
        textSet(node, say(`sandbox.how.${how}`, { amount }));
        attributeSet(node, 'aria-disabled', String(busy !== ''));
        attributeSet(node, 'aria-busy', String(busy === how));
    }
    pay.node.hidden = !open;
    rehearse.hidden = !open;
    textSet(rehearseTitle, say('sandbox.rehearse'));
}

function paint() {
    const amount = payment === null ? '' : money(payment.amount, payment);
    document.documentElement.lang = language();
    document.title = say('sandbox.page');
    for (const node of document.querySelectorAll('[data-words]'))
        textSet(node, say(node.dataset.words));
    for (const node of document.querySelectorAll('[data-label]'))
        node.setAttribute('aria-label', say(node.dataset.label));
    for (const choice of document.querySelectorAll('[data-language]'))
        choice.setAttribute('aria-pressed', String(choice.dataset.language === language()));
    textSet(heading, payment === null ? say('sandbox.page') : say('sandbox.title', { amount }));
    what.paint(payment?.title ?? '');
    reference.paint(payment?.reference ?? '');
    until.paint(payment?.expires_ms > 0 ? moment(payment.expires_ms) : '');
    facts.hidden = payment === null;
    buttonsPaint(amount);
    textSet(status, statusWords());
    status.dataset.kind = trouble !== '' ? 'bad' : payment?.state === 'captured' ? 'good' : 'info';
    const href = backAddress();
    back.hidden = href === '';
    if (href !== '')
        attributeSet(back, 'href', href);
    textSet(back, say('sandbox.back'));
}

async function show() {
    try {
        payment = await sandboxGet(id);
        trouble = '';
    } catch (refusal) {
        trouble = refusal.status === 404 || refusal.status === 400 ? 'sandbox.none' : 'sandbox.trouble';
    }
    paint();
}

async function settle(how) {
    if (busy !== '')
        return;
    busy = how;
    trouble = '';
    paint();
    try {
        payment = await sandboxPost(id, how);
        if (backAddress() !== '')
            location.assign(backAddress());
    } catch {
        await show(); /* paid or closed meanwhile; or there is no answer, and that is said */
    }
    busy = '';
    paint();
}

const card = element(
    'section',
    { class: 'order' },
    heading,
    facts,
    pay.node,
    status,
    rehearse,
    back,
);
for (const choice of document.querySelectorAll('[data-language]'))
    choice.addEventListener('click', () => languageSet(choice.dataset.language));
onLanguage(paint);
root.replaceChildren(card);
paint();
if (id === '') {
    trouble = 'sandbox.none';
    paint();
} else {
    show();
}
