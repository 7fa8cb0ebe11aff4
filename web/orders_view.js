// SPDX-License-Identifier: Apache-2.0
/* My orders: being decided, to pay, paid, waitlists, past; the newest first. Or one of them, by its number. Without a session nothing is asked, and who
 * must sign in to see any is told so. */

import { itemGet, orderGet, ordersGet, ticketWait, waitlistGet } from './api.js';
import { ticketRead } from './attempt.js';
import { element, pictureOf, routeLink, textSet } from './dom.js';
import { count } from './format.js';
import { nameOf, onLanguage, say } from './i18n.js';
import { createKeyed } from './keyed.js';
import { createOrderActs } from './order_acts.js';
import { GROUPS, emptyWords, ordersGrouped } from './order_groups.js';
import { createOrderPanel } from './order_panel.js';
import { createPoll } from './poll.js';
import { sentenceFor } from './problems.js';
import { loginAddress, signInMissing } from './shop.js';
import { lasting } from './store.js';

const CHANGING_MS = 6_000;
const CHECKING_MS = 1_500; /* while the provider is being asked about a payment */
const SETTLED_MS = 45_000;
const TICK_MS = 1_000;

/* A part of the list with its title. */
function createGroup(words) {
    const title = element('h2', { class: 'orders-title' });
    const list = element('ul', { class: 'orders-list' });
    const node = element('section', { class: 'orders-group' }, title, list);
    return {
        node,
        list,
        paint(nodes) {
            node.hidden = nodes.length === 0;
            textSet(title, say(words));
            if (nodes.length !== list.childElementCount || nodes.some((one, at) => list.children[at] !== one))
                list.replaceChildren(...nodes);
        },
    };
}

function createWait() {
    const name = element('span', { class: 'wait-name' });
    const place = element('span', { class: 'badge' });
    const link = routeLink('/', { class: 'wait-row' }, name, place);
    return {
        node: element('li', {}, link),
        paint(wait, item) {
            link.href = `/items/${wait.id}/`;
            textSet(name, item ? nameOf(item) : say('order.itemNumber', { item: wait.id }));
            textSet(place, say('waitlist.number', { position: count(wait.position) }));
        },
    };
}

/* `only`: the number of the one order that the address names, or ''. */
export function mountOrders(root, only, { clock, session, shop, titleSet }) {
    const heading = element('h1', { tabIndex: -1 });
    const notice = element('p', { class: 'notice', role: 'status' });
    const browse = routeLink('/', { class: 'to-sales plain strong ready-link' });
    const login = element('a', { class: 'plain strong orders-login' });
    const all = routeLink('/?orders', { class: 'browse' });
    const groups = Object.fromEntries(GROUPS.map((group) => [group, createGroup(`orders.${group}`)]));
    const waits = createGroup('orders.waits');
    const waitsPaint = createKeyed(waits.list, createWait);
    const list = element('div', { class: 'orders' },
        groups.deciding.node, groups.toPay.node, groups.paid.node, waits.node, groups.past.node);
    const rows = new Map(); /* by ticket */
    const items = new Map(); /* item id → item, null while it is asked for */
    let waiting = []; /* [{ id, position }] of items */
    let orders = null;
    let failure = null;
    const acts = createOrderActs(session, (order) => items.get(order.item) ?? null, {
        shown: orderShown,
        changed: paint,
    });
    const returned = new Set(); /* tickets of payments that this visit has asked about */

    const poll = createPoll(ordersAsk, () => {
        if (session.current() === null)
            return shop.known() === null ? CHANGING_MS : Infinity;
        if (orders.some((o) => o.state === 'pending' && acts.checking(o)))
            return CHECKING_MS;
        const changing = orders.some(
            (o) => o.state === 'deciding' || o.state === 'creating' || o.state === 'pending' || o.refund?.state === 'wanted');
        return changing ? CHANGING_MS : SETTLED_MS;
    });

    async function ordersAsk() {
        const opened = session.current();
        try {
            if (opened === null)
                await shop.ask();
            orders = opened === null ? [] : await ordersOf(opened);
            waiting = opened === null || only !== '' ? [] : await waitingAsk(opened);
            failure = null;
        } catch (refusal) {
            const over = refusal.type === 'session-invalid';
            if (over)
                session.forget();
            failure = over ? null : refusal;
            if (over)
                orders = [];
            paint();
            throw refusal;
        }
        for (const order of orders)
            itemNameAsk(order.item);
        paint();
        orders.forEach(paymentAsk);
    }

    async function ordersOf(opened) {
        if (only === '') {
            const undecided = await undecidedAsk(opened);
            const { orders: decided } = await ordersGet(opened.session);
            return [...undecided.filter(({ ticket }) => !decided.some((o) => o.ticket === ticket)), ...decided];
        }
        try {
            return [await orderGet(opened.session, only)];
        } catch (refusal) {
            if (refusal.status !== 404 && refusal.status !== 400)
                throw refusal;
            return []; /* of somebody else, or none */
        }
    }

    /* This browser remembers what it bought and is not decided yet; the server lists orders. */
    async function undecidedAsk(opened) {
        const views = await Promise.all(lasting.names('ticket.').map(async (id) => {
            const kept = ticketRead(id, opened.user);
            const view = kept?.deciding
                ? await ticketWait(opened.session, kept.ticket, undefined, undefined, 0).catch(() => null)
                : null;
            return { ...view, item: Number(id), quantity: kept?.deciding };
        }));
        return views.filter(({ state }) => state === 'deciding');
    }

    /* This browser remembers where it waits. */
    async function waitingAsk(opened) {
        const mine = lasting.names('waits.').filter((id) => lasting.read(`waits.${id}`) === opened.user);
        const places = await Promise.all(mine.map(async (id) => {
            try {
                const place = await waitlistGet(opened.session, id);
                return { id: Number(id), ...place };
            } catch {
                return null; /* over, or not to be known now */
            }
        }));
        const kept = places.filter((place) => place?.state === 'waiting');
        kept.forEach(({ id }) => itemNameAsk(id));
        return kept;
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
        const panel = createOrderPanel('h3', acts);
        return { picture, panel, node: element('li', { class: 'order-row' }, picture, panel.node) };
    }

    function rowPaint(order) {
        if (!rows.has(order.ticket))
            rows.set(order.ticket, rowMake());
        const { picture, panel, node } = rows.get(order.ticket);
        const item = items.get(order.item) ?? null;
        if (item !== null && picture.childElementCount === 0)
            picture.append(pictureOf(item.product));
        const name = item ? nameOf(item) : say('order.itemNumber', { item: order.item });
        panel.paint(order, name, clock.now());
        return node;
    }

    function noticeWords() {
        if (failure !== null)
            return sentenceFor(failure);
        if (orders === null)
            return say('orders.loading');
        const nothing = orders.length === 0 && waiting.length === 0;
        if (nothing && only !== '' && session.current() !== null)
            return say('orders.notYours');
        return nothing ? say(emptyWords(session.current(), shop.known(), session.ended())) : '';
    }

    function paint() {
        const title = say(only === '' ? 'orders.title' : 'order.title');
        textSet(heading, title);
        titleSet(title);
        all.hidden = only === '';
        textSet(all, say('order.all'));
        textSet(notice, noticeWords());
        notice.hidden = notice.textContent === '';
        textSet(browse, say('orders.browse'));
        const missing = signInMissing(shop.known(), session.current());
        const address = loginAddress(shop.known());
        login.hidden = !missing || address === '';
        login.href = address;
        textSet(login, say('ready.signInNow'));
        browse.hidden = orders === null || orders.length > 0;
        const grouped = ordersGrouped(orders ?? []);
        for (const group of GROUPS)
            groups[group].paint(grouped[group].map(rowPaint));
        waitsPaint(waiting, (part, wait) => part.paint(wait, items.get(wait.id) ?? null));
        waits.paint([...waits.list.children]);
    }

    const timer = setInterval(() => {
        if (!document.hidden)
            paint();
    }, TICK_MS);
    const languageEnd = onLanguage(paint);
    root.replaceChildren(element('div', { class: 'orders-page' }, heading, notice, login, browse, list, all));
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
