// SPDX-License-Identifier: Apache-2.0
/* What a buyer does: web/question.js, sign_in_question.js, details_form.js, pay_choice.js, order_acts.js, order_follow.js,
 * order_money.js, order_panel.js, pay_code.js, waitlist.js and turn_alert.js. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh, part, problem, seen, server, settle, timersLoose } from './page.mjs';

timersLoose();

const { questionAsk } = await import('../../../web/question.js');
const { signInAsk } = await import('../../../web/sign_in_question.js');
const { createDetailsForm } = await import('../../../web/details_form.js');
const { createPayChoice } = await import('../../../web/pay_choice.js');
const { createOrderActs } = await import('../../../web/order_acts.js');
const { orderFollow, orderHolds } = await import('../../../web/order_follow.js');
const { createOrderPanel } = await import('../../../web/order_panel.js');
const { createPayCode } = await import('../../../web/pay_code.js');
const { createWaitlist, waitlistModel } = await import('../../../web/waitlist.js');
const { createTurnAlert } = await import('../../../web/turn_alert.js');
const { lasting } = await import('../../../web/store.js');
const { sentenceFor } = await import('../../../web/problems.js');

let opened;
const session = {
    current: () => opened,
    ensure: async () => opened,
    forget: () => {
        opened = null;
    },
};
const NOW = 1_000_000;
const order = {
    ticket: 't1', order: 'o1', item: 7, state: 'pending', quantity: 1, amount: 100, currency: 'CNY', version: 1,
    created_ms: NOW - 60_000, pay_by_ms: NOW + 600_000,
};

beforeEach(() => {
    fresh();
    opened = { session: 's', user: 'u' };
});

const words = () => ({ title: 'Cancel?', text: 'Sure?', no: 'Keep', yes: 'Cancel it' });
const dialog = () => document.body.querySelector('dialog');
const choices = () => dialog().querySelectorAll('button');

test('a question resolves by its yes only, and is gone then', async () => {
    const yes = questionAsk(words);
    assert.equal(choices()[0].autofocus, true, 'what changes nothing has the focus');
    choices()[1].click();
    assert.deepEqual([await yes, dialog()], [true, null]);
    const no = questionAsk(words);
    choices()[0].click();
    assert.equal(await no, false);
    const escaped = questionAsk(words);
    dialog().close();
    assert.equal(await escaped, false);
});

test('who would be replaced is named as the shop named him, else by the end of his number', () => {
    signInAsk({ user: 'abcdef', guest: true }, { user: '1', name: 'ann@shop' });
    assert.match(seen(dialog()), /cdef/);
    assert.match(seen(dialog()), /ann@shop/);
    dialog().close();
});

function fieldsOf(form) {
    return Object.fromEntries([...form.querySelectorAll('input'), ...form.querySelectorAll('textarea')].map((input) => [input.name, input]));
}

test('a mistake is said at its field, which gets the focus; good details are kept and handed on', () => {
    let done = null;
    const form = createDetailsForm((details) => {
        done = details;
    });
    const fields = fieldsOf(form.node);
    const send = () => form.node.dispatchEvent(new Event('submit', { cancelable: true }));
    fields.name.value = 'Ann';
    fields.phone.value = 'call me';
    fields.address.value = '1 Road';
    send();
    assert.equal(done, null);
    assert.equal(document.activeElement, fields.phone);
    assert.deepEqual([fields.phone.getAttribute('aria-invalid'), fields.name.getAttribute('aria-invalid')], ['true', 'false']);
    fields.phone.value = '138 0000 0000';
    send();
    assert.equal(done.phone, '138 0000 0000');
    assert.equal(fieldsOf(createDetailsForm(() => {}).node).name.value, 'Ann');
});

test('one way to pay and good details are a choice already', () => {
    const chosen = [];
    const choice = createPayChoice((...what) => chosen.push(what));
    choice.open(['sandbox'], true, undefined);
    const fields = fieldsOf(choice.node);
    assert.equal(document.activeElement, fields.name);
    Object.assign(fields.name, { value: 'Ann' });
    Object.assign(fields.phone, { value: '12345' });
    Object.assign(fields.address, { value: '1 Road' });
    part(choice.node, 'details-form').dispatchEvent(new Event('submit', { cancelable: true }));
    assert.equal(chosen[0][0], 'sandbox');
    assert.equal(chosen[0][1].name, 'Ann');
    choice.open(['alipay', 'sandbox'], false, undefined);
    const buttons = choice.node.querySelectorAll('button.pay');
    assert.deepEqual(buttons.map(seen), ['Alipay', 'Sandbox']);
    buttons[1].click();
    assert.deepEqual(chosen[1], ['sandbox', undefined]);
    choice.close();
    assert.equal(choice.node.hidden, true);
});

function actsMake(item = { details_required: false }) {
    const shown = [];
    let changes = 0;
    const acts = createOrderActs(session, () => item, { shown: (told) => shown.push(told), changed: () => changes++ });
    return { acts, shown, changes: () => changes };
}

test('one act at a time: a second press while the first is under way asks for nothing', async () => {
    let answer;
    const asked = server(() => new Promise((resolve) => {
        answer = resolve;
    }));
    const { acts } = actsMake();
    const first = acts.cancel(order);
    acts.cancel(order);
    await settle();
    answer([200, { ...order, state: 'closed' }]);
    await first;
    assert.equal(asked.length, 1);
    assert.equal(acts.noteOf(order).busy, '');
});

test('a refusal is kept, and the order is asked for anew', async () => {
    const asked = server((method) => (method === 'POST' ? problem(409, 'already-paid') : [200, { ...order, state: 'paid' }]));
    const { acts, shown } = actsMake();
    await acts.cancel(order);
    assert.equal(acts.noteOf(order).refusal.type, 'already-paid');
    assert.deepEqual(asked.map(({ method }) => method), ['POST', 'GET']);
    assert.equal(shown[0].state, 'paid');
});

test('a session that is over is forgotten', async () => {
    server(() => problem(401, 'session-invalid'));
    await actsMake().acts.cancel(order);
    assert.equal(opened, null);
});

test('an address that would run something is not left for', async () => {
    server((method) => [200, method === 'POST' ? { ...order, payment: { provider: 'alipay', state: 'open', url: 'javascript:alert(1)' } } : order]);
    const { acts } = actsMake();
    await acts.pay(order, 'alipay');
    assert.equal(acts.noteOf(order).refusal.type, 'payment-refused');
    assert.deepEqual(globalThis.left, []);
});

test('a page of the provider is left for, and coming back makes the order free again', async () => {
    const url = 'https://pay.example/1';
    server(() => [200, { ...order, payment: { provider: 'alipay', state: 'open', url } }]);
    const { acts } = actsMake();
    const paying = acts.pay(order, 'alipay');
    await settle(5);
    assert.deepEqual(globalThis.left, [url]);
    assert.equal(acts.noteOf(order).busy, 'pay');
    window.dispatchEvent(new Event('pageshow'));
    await paying;
    assert.equal(acts.noteOf(order).busy, '');
});

test('a server that wants details after all brings the form', async () => {
    server((method) => (method === 'POST' ? problem(409, 'details-required') : [200, order]));
    const { acts } = actsMake();
    assert.equal(acts.detailsWanted(order), false);
    await acts.pay(order, 'sandbox');
    assert.equal(acts.detailsWanted(order), true);
    server(() => [200, order]);
    await acts.detailsGive(order, { name: 'Ann' });
    assert.equal(acts.detailsWanted(order), false);
});

test('looking opens no session: ways to pay are asked for only with one', async () => {
    const asked = server(() => [200, { providers: ['sandbox'] }]);
    opened = null;
    assert.equal(actsMake().acts.waysKnown(), null);
    assert.equal(asked.length, 0);
    opened = { session: 's', user: 'u' };
    const { acts } = actsMake();
    acts.waysKnown();
    acts.waysKnown();
    await settle();
    assert.equal(asked.length, 1);
    assert.deepEqual(acts.waysKnown().providers, ['sandbox']);
});

test('an order is followed until nothing more will happen to it', async () => {
    const views = [{ ...order, version: 1 }, { ...order, version: 2, state: 'paid' }];
    const asked = server(() => [200, views.shift()]);
    const shown = [];
    orderFollow('s', 't1', (told) => shown.push(told.state), () => assert.fail('gone'), {
        live: () => asked.length > 0,
        next: async (_, version) => ({ ...views.shift(), after: version }),
    });
    await settle(20);
    assert.deepEqual(shown, ['pending', 'paid']);
    assert.equal(asked.length, 1, 'push tells the rest');
});

test('a ticket of somebody else is gone, and not asked for again', async () => {
    const asked = server(() => problem(404, 'not-found'));
    let gone = 0;
    orderFollow('s', 't1', () => assert.fail('shown'), () => gone++);
    await settle(20);
    assert.deepEqual([gone, asked.length], [1, 1]);
});

test('whoever stops following hears nothing more', async () => {
    let answer;
    server(() => new Promise((resolve) => {
        answer = resolve;
    }));
    const end = orderFollow('s', 't1', () => assert.fail('shown'), () => assert.fail('gone'));
    await settle();
    end();
    answer([200, order]);
    await settle(5);
});

test('units are held until an order is closed or given back', () => {
    const holding = ['creating', 'pending', 'paid', 'closed', 'refunded'].filter((state) => orderHolds({ state }));
    assert.deepEqual(holding, ['creating', 'pending', 'paid']);
});

async function panelOf(told, now = NOW) {
    server(() => [200, { providers: ['sandbox'] }]);
    const { acts } = actsMake();
    const panel = createOrderPanel('h2', acts);
    await acts.waysEnsure();
    panel.paint(told, 'Watch', now);
    return { panel, acts };
}
const visible = (panel, name) => {
    const node = part(panel.node, name);
    return node !== null && !node.hidden;
};

test('an open order has the time to pay, the way to pay, and can be cancelled', async () => {
    const { panel } = await panelOf(order);
    assert.match(seen(panel.node), /10:00/);
    assert.equal(seen(part(panel.node, 'pay')), 'Pay with Sandbox');
    assert.ok(visible(panel, 'order-cancel') && !visible(panel, 'order-back') && !visible(panel, 'order-receipt'));
});

test('an order whose time is over offers no way to pay', async () => {
    const { panel } = await panelOf(order, order.pay_by_ms);
    assert.equal(part(panel.node, 'pay'), null);
    assert.doesNotMatch(seen(panel.node), /Pay within/);
});

test('a paid order has a receipt, and no way to pay or to cancel', async () => {
    const { panel } = await panelOf({ ...order, state: 'paid' });
    assert.ok(visible(panel, 'order-receipt') && !visible(panel, 'order-cancel'));
    assert.equal(part(panel.node, 'pay'), null);
    assert.match(seen(panel.node), /Paid\. Thank you!/);
});

test('while the provider is asked, nobody can pay a second time', async () => {
    const paying = { ...order, payment: { provider: 'sandbox', state: 'open' } };
    const { panel, acts } = await panelOf(paying);
    assert.ok(visible(panel, 'order-paid'));
    server(() => [200, paying]);
    await acts.paidSay(paying);
    panel.paint(paying, 'Watch', NOW);
    assert.equal(part(panel.node, 'pay'), null);
    assert.match(seen(panel.node), /Asking the payment provider/);
});

test('a payment that could not begin is said', async () => {
    const { panel, acts } = await panelOf(order);
    server((method) => (method === 'POST' ? problem(502, 'payment-refused') : [200, order]));
    await acts.pay(order, 'sandbox');
    panel.paint(order, 'Watch', NOW);
    assert.equal(part(panel.node, 'order-status').textContent, sentenceFor({ type: 'payment-refused', status: 502, body: {} }));
    assert.equal(part(panel.node, 'order-status').dataset.kind, 'bad');
});

test('giving up an order is asked about first', async () => {
    const { panel } = await panelOf(order);
    const asked = server(() => [200, { ...order, state: 'closed' }]);
    part(panel.node, 'order-cancel').click();
    choices()[0].click();
    await settle();
    assert.equal(asked.length, 0);
    part(panel.node, 'order-cancel').click();
    choices()[1].click();
    await settle();
    assert.deepEqual(asked.map(({ path }) => path), ['/v1/orders/o1/cancel']);
});

test('a code is a picture with its link beside it; a code of WeChat opens nothing on this phone', async () => {
    globalThis.matchMedia = () => ({ matches: true });
    const code = createPayCode();
    code.paint('weixin://wxpay/bizpayurl?pr=p4lpSuKzz', 'WeChat Pay');
    await settle(200);
    assert.equal(part(code.node, 'code-picture').childElementCount, 1);
    assert.equal(part(code.node, 'code-app').hidden, true);
    code.paint('https://qr.alipay.com/bax0', 'Alipay');
    assert.equal(part(code.node, 'code-app').hidden, false);
    assert.match(part(code.node, 'code-app').textContent, /Alipay/);
    code.paint(`https://pay.example/${'x'.repeat(400)}`, 'Alipay');
    await settle(200);
    assert.equal(part(code.node, 'code-picture').childElementCount, 0, 'too long for a picture');
    assert.match(part(code.node, 'code-link').href, /x{400}$/);
    code.paint('');
    assert.equal(code.node.hidden, true);
    globalThis.matchMedia = () => ({ matches: false });
});

test('who joins the waitlist is remembered, and forgotten when the place is gone', async () => {
    let place = { state: 'waiting', position: 3 };
    const asked = server(() => (place === null ? problem(404, 'not-found') : [200, place]));
    const waitlist = createWaitlist(7, session, async () => ({ pass: 'p' }), () => {}, () => 'waitlist');
    waitlist.start();
    await settle();
    assert.equal(asked.length, 0, 'nothing is asked for before the first click');
    await waitlist.join(2);
    assert.deepEqual([waitlist.state.place.position, lasting.read('waits.7')], [3, 'u']);
    place = null;
    const again = createWaitlist(7, session, null, () => {}, () => 'waitlist');
    again.start();
    await settle(5);
    assert.deepEqual([again.state.place, lasting.read('waits.7')], [null, null]);
    waitlist.stop();
    again.stop();
});

test('a booking whose deposit is due is remembered, and seen when it is paid', async () => {
    let place = { state: 'deposit-due', deposit: { ticket: 't', order: 'o' } };
    server(() => [200, place]);
    const booking = createWaitlist(8, session, async () => ({ pass: 'p' }), () => {}, () => 'presale');
    await booking.join(1);
    assert.deepEqual([booking.state.place.state, booking.state.place.ticket, lasting.read('waits.8')], ['offered', 't', 'u']);
    booking.stop();
    place = { state: 'booked' };
    const again = createWaitlist(8, session, null, () => {}, () => 'presale');
    again.start();
    await settle(5);
    assert.deepEqual([again.state.place.state, lasting.read('waits.8')], ['waiting', 'u']);
    place = { state: 'ended' };
    await again.leave();
    assert.equal(lasting.read('waits.8'), null);
    again.stop();
});

test('a refusal to wait is kept to be said', async () => {
    server(() => problem(409, 'waitlist-full'));
    const waitlist = createWaitlist(7, session, async () => ({ pass: 'p' }), () => {}, () => 'waitlist');
    await waitlist.join(1);
    assert.deepEqual([waitlist.state.refusal.type, waitlist.state.busy, waitlist.state.place], ['waitlist-full', false, null]);
    waitlist.stop();
});

test('the waitlist is offered to who has nothing of what is sold out', () => {
    const shown = (more) => waitlistModel({ phase: 'soldOut', owned: false, ordered: false, place: null, busy: false, refusal: null, ...more });
    assert.equal(shown({}).words, 'waitlist.offer');
    assert.equal(shown({ owned: true }), null);
    assert.equal(shown({ ordered: true }), null);
    assert.equal(shown({ phase: 'open' }), null);
    assert.equal(shown({ phase: 'open', place: { state: 'waiting', position: 1 } }).waiting, true);
    assert.equal(shown({ place: { state: 'expired' } }).words, 'waitlist.expired');
});

test('a turn is told by sound and notification, and only to who asked for it', async () => {
    const told = [];
    let tones = 0;
    globalThis.AudioContext = class {
        currentTime = 0;
        destination = {};
        resume = async () => {};
        createOscillator = () => ({ frequency: {}, connect: (to) => to, start: () => tones++, stop: () => {} });
        createGain = () => ({ gain: {}, connect: (to) => to });
    };
    globalThis.Notification = class {
        static permission = 'default';
        static requestPermission = async () => {
            globalThis.Notification.permission = 'granted';
        };
        constructor(title, { body }) {
            told.push(`${title}: ${body}`);
        }
    };
    const alert = createTurnAlert();
    alert.tell('Your turn!', 'Watch');
    assert.deepEqual([tones, told], [0, []]);
    await alert.toggle();
    alert.tell('Your turn!', 'Watch');
    assert.deepEqual([tones > 0, told], [true, []], 'who looks at the page needs no notification');
    document.hidden = true;
    alert.tell('Your turn!', 'Watch');
    assert.deepEqual(told, ['Your turn!: Watch']);
    await alert.toggle();
    alert.tell('Your turn!', 'Watch');
    assert.equal(told.length, 1);
});
