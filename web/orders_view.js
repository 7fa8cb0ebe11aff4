// SPDX-License-Identifier: Apache-2.0
/* My orders, newest first. Without a session there are none, and nothing is asked. */

import { itemGet, ordersGet } from './api.js';
import { element, pictureOf, routeLink, textSet } from './dom.js';
import { onLanguage, say } from './i18n.js';
import { createOrderActs } from './order_acts.js';
import { createOrderPanel } from './order_panel.js';
import { createPoll } from './poll.js';
import { sentenceFor } from './problems.js';

const CHANGING_MS = 6_000;
const CHECKING_MS = 1_500; /* while the provider is being asked about a payment */
const SETTLED_MS = 45_000;
const TICK_MS = 1_000;

export function mountOrders(root, { clock, session, titleSet }) {
    const heading = element('h1', { tabIndex: -1 });
    const notice = element('p', { class: 'notice', role: 'status' });
    const browse = routeLink('/', { class: 'browse' });
    const list = element('ul', { class: 'orders' });
    const rows = new Map(); /* by ticket */
    const items = new Map(); /* item id → item, null while it is asked for */
    let orders = null;
    let failure = null;
    const acts = createOrderActs(session, (order) => items.get(order.item) ?? null, {
        shown: orderShown,
        changed: paint,
    });
    const returned = new Set(); /* tickets of payments that this visit has asked about */

    const poll = createPoll(ordersAsk, () => {
        if (session.current() === null)
            return Infinity;
        if (orders.some((o) => o.state === 'pending' && acts.checking(o)))
            return CHECKING_MS;
        const changing = orders.some(
            (o) => o.state === 'creating' || o.state === 'pending' || o.refund?.state === 'wanted');
        return changing ? CHANGING_MS : SETTLED_MS;
    });

    async function ordersAsk() {
        const opened = session.current();
        try {
            orders = opened === null ? [] : (await ordersGet(opened.session)).orders;
            failure = null;
        } catch (refusal) {
            if (refusal.type === 'session-invalid')
                session.forget();
            failure = refusal;
            paint();
            throw refusal;
        }
        for (const order of orders)
            itemNameAsk(order.item);
        paint();
        orders.forEach(paymentAsk);
    }

    /* Who comes back from a pay page may be faster than the provider's callback: an open payment is
     * asked about, once a visit. */
    async function paymentAsk(order) {
        if (order.state !== 'pending' || order.payment?.state !== 'open')
            return;
        if (returned.has(order.ticket))
            return;
        returned.add(order.ticket);
        await acts.paidSay(order);
        poll.soon(CHECKING_MS);
    }

    function orderShown(next) {
        orders = (orders ?? []).map((order) => (order.ticket === next.ticket ? next : order));
        paint();
        poll.soon(CHECKING_MS);
    }

    /* An order names its item by number; its name and picture are asked for once. */
    async function itemNameAsk(id) {
        if (items.has(id))
            return;
        items.set(id, null);
        try {
            items.set(id, await itemGet(id));
            paint();
        } catch {
            /* The number stays in place of the name. */
        }
    }

    function rowMake() {
        const picture = element('div', { class: 'order-picture' });
        const panel = createOrderPanel('h2', acts);
        return { picture, panel, node: element('li', { class: 'order-row' }, picture, panel.node) };
    }

    function rowPaint(order) {
        if (!rows.has(order.ticket))
            rows.set(order.ticket, rowMake());
        const { picture, panel, node } = rows.get(order.ticket);
        const item = items.get(order.item) ?? null;
        if (item !== null && picture.childElementCount === 0)
            picture.append(pictureOf(item.product));
        const name = item?.product.name ?? say('order.itemNumber', { item: order.item });
        panel.paint(order, name, clock.now());
        return node;
    }

    function noticeWords() {
        if (failure !== null)
            return sentenceFor(failure);
        if (orders === null)
            return say('orders.loading');
        return orders.length === 0 ? say('orders.none') : '';
    }

    function paint() {
        textSet(heading, say('orders.title'));
        titleSet(say('orders.title'));
        textSet(notice, noticeWords());
        notice.hidden = notice.textContent === '';
        textSet(browse, say('orders.browse'));
        browse.hidden = orders === null || orders.length > 0;
        const nodes = (orders ?? []).map(rowPaint);
        if (nodes.some((node, index) => list.children[index] !== node))
            list.replaceChildren(...nodes);
    }

    const timer = setInterval(() => {
        if (!document.hidden)
            paint();
    }, TICK_MS);
    const languageEnd = onLanguage(paint);
    root.replaceChildren(element('div', { class: 'orders-page' }, heading, notice, browse, list));
    paint();
    poll.start();

    return {
        heading,
        stop() {
            clearInterval(timer);
            poll.stop();
            languageEnd();
        },
    };
}
