// SPDX-License-Identifier: Apache-2.0
/* The part of an order's panel that is about money: how to pay, what became of it, and the buttons
 * for it. Nodes stay and their words change. */

import { serverAddress } from './api.js';
import { createDetailsForm } from './details_form.js';
import { detailsRemembered } from './details.js';
import { attributeSet, element, textSet } from './dom.js';
import { money } from './format.js';
import { hasWords, say } from './i18n.js';
import { createPayCode } from './pay_code.js';
import { moneyModel } from './payment.js';
import { sentenceFor } from './problems.js';
import { questionAsk } from './question.js';

let made = 0; /* so that each title has an id of its own */

function buttonMake(kind, clicked) {
    const node = element('button', { class: kind, type: 'button' });
    node.addEventListener('click', () => {
        if (node.getAttribute('aria-disabled') !== 'true')
            clicked();
    });
    return node;
}

/* aria-disabled and not disabled: the keyboard's place is kept. */
function buttonPaint(node, words, { hidden = false, idle = false, busy = false } = {}) {
    node.hidden = hidden;
    textSet(node, words);
    attributeSet(node, 'aria-disabled', String(idle || busy));
    attributeSet(node, 'aria-busy', String(busy));
}

export const providerName = (name) =>
    hasWords(`provider.${name}`) ? say(`provider.${name}`) : name;

/* A button for each way to pay. `chosen` gets the provider's name. */
export function createPayWays(chosen) {
    const id = `pay${++made}`;
    const title = element('p', { class: 'pay-title', id });
    const row = element('div', { class: 'pay-row' });
    const labelled = { class: 'pay-ways', role: 'group', 'aria-labelledby': id };
    const node = element('div', labelled, title, row);
    const buttons = new Map();

    function buttonOf(provider) {
        if (!buttons.has(provider))
            buttons.set(provider, buttonMake(`pay pay-${provider}`, () => chosen(provider)));
        return buttons.get(provider);
    }

    function paint(providers, titleWords, { busy = '', idle = false } = {}) {
        node.hidden = providers.length === 0;
        node.dataset.many = String(providers.length > 1);
        textSet(title, titleWords);
        const nodes = providers.map(buttonOf);
        if (nodes.length !== row.childElementCount || nodes.some((n, at) => row.children[at] !== n))
            row.replaceChildren(...nodes);
        for (const provider of providers) {
            const name = providerName(provider);
            const words = providers.length > 1 ? name : say('pay.with', { provider: name });
            buttonPaint(buttonOf(provider), words, { busy: busy === provider, idle });
        }
    }

    return { node, paint };
}

/* The details that were given, with a way to change them; else the form. */
function createDetails(acts, orderNow) {
    const given = element('p', { class: 'given' });
    const change = buttonMake('link', () => {
        changing = true;
        acts.changed();
        form.focus();
    });
    const line = element('div', { class: 'given-line' }, given, change);
    const form = createDetailsForm((details) => {
        changing = false;
        acts.detailsGive(orderNow(), details);
    });
    const node = element('div', { class: 'order-details' }, line, form.node);
    let changing = false;

    /* Returns whether the form stands before the money. */
    function paint(order, open) {
        const known = acts.detailsKnown(order) ? detailsRemembered() : null;
        const wanted = open && (changing || acts.detailsWanted(order));
        form.node.hidden = !wanted;
        line.hidden = !open || wanted || known === null;
        node.hidden = form.node.hidden && line.hidden;
        if (known !== null)
            textSet(given, say('details.given', known));
        textSet(change, say('details.change'));
        form.paint();
        return wanted;
    }

    return { node, paint };
}

/* [kind, words] of the one sentence about the money. */
function sentenceOf(order, model, acts) {
    const note = acts.noteOf(order);
    if (model.refundWords !== '')
        return ['info', say(model.refundWords, { amount: money(order.refund.amount, order) })];
    if (order.state === 'paid' && note.refusal === null)
        return ['good', say('pay.done')];
    if (note.refusal !== null && note.refusal.type !== 'details-required')
        return ['bad', sentenceFor(note.refusal)];
    if (model.closing)
        return ['info', say('order.closing')];
    if (note.busy === 'pay')
        return ['info', say('pay.starting')];
    if (model.ask && (note.busy === 'query' || acts.checking(order)))
        return ['info', say('pay.checking')];
    if (model.ask && note.checkUntil > 0)
        return ['info', say('pay.notYet')];
    if (model.unanswered)
        return ['info', say('pay.unanswered')];
    if (model.declined !== '')
        return ['bad', say('pay.declined', { provider: providerName(model.declined) })];
    return ['info', ''];
}

export function createOrderMoney(acts) {
    let shown = null;
    const ifSure = (act, done) => async () => {
        const order = shown; /* another one may be shown by the time of the answer */
        const words = () => ({
            title: say(`order.${act}`),
            text: say(`order.${act}Sure`),
            no: say('order.keep'),
            yes: say(`order.${act}Yes`),
        });
        if (await questionAsk(words))
            done(order);
    };
    const details = createDetails(acts, () => shown);
    const ways = createPayWays((provider) => acts.pay(shown, provider));
    const code = createPayCode();
    const status = element('p', { class: 'order-status', role: 'status' });
    const paid = buttonMake('plain order-paid', () => acts.paidSay(shown));
    const cancel = buttonMake('plain order-cancel', ifSure('cancel', acts.cancel));
    const back = buttonMake('plain order-back', ifSure('giveBack', acts.giveBack));
    const receipt = buttonMake('plain order-receipt', () => window.print());
    const buttons = element('div', { class: 'order-buttons' }, paid, receipt, cancel, back);
    const node = element(
        'div',
        { class: 'money' },
        details.node,
        ways.node,
        code.node,
        status,
        buttons,
    );

    function paint(order, now) {
        const known = order.state === 'pending' || order.state === 'paid' ? acts.waysKnown() : null;
        const model = moneyModel(order, known, now, serverAddress());
        const { busy, provider } = acts.noteOf(order);
        shown = order;
        const formFirst = details.paint(order, model.providers.length > 0);
        const asking = model.ask && (busy === 'query' || acts.checking(order));
        ways.paint(
            formFirst || asking ? [] : model.providers, /* nobody pays twice while it is being asked */
            say('pay.title', { amount: money(order.amount ?? 0, order) }),
            { busy: busy === 'pay' ? provider : '', idle: busy !== '' },
        );
        code.paint(formFirst || asking ? '' : model.code, providerName(model.provider));
        const [kind, words] = sentenceOf(order, model, acts);
        status.dataset.kind = kind;
        textSet(status, words);
        const idle = busy !== '';
        buttonPaint(paid, say('pay.paidAlready'), {
            hidden: !model.ask,
            idle,
            busy: busy === 'query',
        });
        buttonPaint(cancel, say('order.cancel'), {
            hidden: !model.cancel,
            idle,
            busy: busy === 'cancel',
        });
        buttonPaint(back, say('order.giveBack'), {
            hidden: !model.refund,
            idle,
            busy: busy === 'refund',
        });
        buttonPaint(receipt, say('order.receipt'), { hidden: order.state !== 'paid' });
        buttons.hidden = [paid, cancel, back, receipt].every((one) => one.hidden);
    }

    return { node, paint };
}
