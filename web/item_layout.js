// SPDX-License-Identifier: Apache-2.0
/* The nodes of an item's page and how they show an item. No requests and no decisions here. */

import { createDock } from './dock.js';
import { attributeSet, element, pictureOf, routeLink, textSet } from './dom.js';
import { count } from './format.js';
import { createHumanCheck } from './human.js';
import { nameOf, say, told } from './i18n.js';
import { createPhaseBadge, createPrices, createStock, whenWords } from './item_parts.js';
import { createLostBox } from './lost.js';
import { createOrderPanel } from './order_panel.js';
import { createPayChoice } from './pay_choice.js';
import { createReadyBox } from './ready_box.js';
import { createRoomBox } from './room_box.js';
import { createWonHead } from './won.js';

const QUANTITY_CHOICES_MAX = 1000; /* what the server takes in one purchase */
const QUANTITY_CHOICES_OPEN = 10; /* where there is no limit */

/* In a page that is not ours: where it stands is not ours to change. */
const isInside = (node) => globalThis.ShadowRoot !== undefined && node.getRootNode() instanceof ShadowRoot;

export function createItemLayout(acts, payChosen, readyActs, { turnAlert, drawCheck }) {
    const back = routeLink('/', { class: 'back' });
    const loading = element('p', { class: 'loading', role: 'status' });
    const nowhere = element('h1', { class: 'nowhere-title' });
    const elsewhere = routeLink('/', { class: 'plain strong ready-link', hidden: true });
    const heading = element('h1', { tabIndex: -1 });
    const description = element('p', { class: 'description' });
    const gallery = element('div', { class: 'gallery' });
    const badge = createPhaseBadge();
    const prices = createPrices();
    const when = element('span', { class: 'when' });
    const stock = createStock();
    const quantityName = element('label', { htmlFor: 'quantity' });
    const quantity = element('select', { id: 'quantity' });
    const quantityRow = element('p', { class: 'quantity' }, quantityName, quantity);
    const dock = createDock();
    const ready = createReadyBox(readyActs);
    const room = createRoomBox(turnAlert, drawCheck);
    const choice = createPayChoice(payChosen);
    const human = createHumanCheck();
    const panel = createOrderPanel('h2', acts);
    const waitWords = element('p', { class: 'wait-words', role: 'status' });
    const waitButton = element('button', { class: 'link wait-button', type: 'button' });
    const waitBox = element('div', { class: 'wait-box' }, waitWords, waitButton);
    const won = createWonHead();
    const lost = createLostBox();
    const toItem = element('button', { class: 'link', type: 'button' });
    const allOrders = routeLink('/?orders', { class: 'all-orders' });
    const orderBox = element('div', { class: 'order-box' }, won.node, panel.node, allOrders, toItem);
    /* What belongs to buying; the screens of an order and of the waiting room stand in its place. */
    const buying = element('div', { class: 'buying' }, prices.node, quantityRow, dock.node);
    const more = element('div', { class: 'buying' }, lost.node, waitBox, stock.node, description);

    const article = element(
        'article',
        { class: 'item' },
        gallery,
        element(
            'div',
            { class: 'details' },
            element('p', { class: 'eyebrow' }, badge.node, when),
            heading,
            buying,
            orderBox,
            room.node,
            ready.node,
            human.node,
            choice.node,
            more,
        ),
    );
    article.hidden = true;
    orderBox.hidden = true;
    waitBox.hidden = true;

    function quantityPaint(item) {
        const limit = item.limit_per_user;
        const choices = Math.min(limit === 0 ? QUANTITY_CHOICES_OPEN : limit, QUANTITY_CHOICES_MAX);
        quantityRow.hidden = choices < 2;
        textSet(quantityName, say('quantity.label'));
        while (quantity.options.length < choices)
            quantity.add(new Option(String(quantity.options.length + 1)));
    }

    /* `trouble` stands in for an item that could not be loaded; `gone`: there is no such item. */
    function paint(item, phase, now, trouble, gone) {
        textSet(back, say('item.back'));
        textSet(loading, trouble || say('item.loading'));
        elsewhere.hidden = !gone || item !== null;
        if (elsewhere.hidden)
            nowhere.remove(); /* a page has one heading of the first level */
        else if (!nowhere.isConnected)
            loading.before(nowhere);
        textSet(nowhere, say('item.gone'));
        textSet(elsewhere, say('orders.browse'));
        if (item === null)
            return;
        article.hidden = false;
        loading.hidden = true;
        if (gallery.childElementCount === 0)
            gallery.append(pictureOf(item.product));
        attributeSet(gallery.firstChild, 'alt', nameOf(item));
        textSet(heading, nameOf(item));
        textSet(description, told(item.product, 'description') ?? '');
        article.dataset.phase = phase;
        badge.paint(phase);
        textSet(when, whenWords(phase, item, now));
        prices.paint(item);
        stock.paint(item);
        quantityPaint(item);
    }

    return {
        nodes: [back, loading, elsewhere, article],
        heading,
        dock,
        choice,
        ready,
        room,
        human,
        lost,
        waitButton,
        toItem,
        /* item, order or room: which screen it is. */
        viewSet(view) {
            if (article.dataset.view === view)
                return;
            const focused = buying.contains(document.activeElement);
            article.dataset.view = view;
            buying.hidden = more.hidden = view !== 'item';
            if (view !== 'item' && !isInside(article))
                scrollTo(0, 0);
            if (view === 'order' && focused)
                won.title.focus({ preventScroll: true });
        },
        paint,
        quantity: () => Math.max(1, quantity.selectedIndex + 1),
        quantityChoices: () => quantity.options.length,
        quantityChanged: (told) => quantity.addEventListener('change', told),
        quantityLock(locked) {
            quantity.disabled = locked;
        },
        /* `trouble`: the sentence for a refusal, or nothing. */
        waitPaint(model, trouble) {
            waitBox.hidden = model === null;
            if (model === null)
                return;
            waitBox.dataset.waiting = String(model.waiting);
            textSet(waitWords, trouble || say(model.words, { position: count(model.position) }));
            textSet(waitButton, say(`${model.line}.leave`));
            waitButton.hidden = !model.waiting;
            waitButton.disabled = model.busy;
        },
        /* `head`: of an order that one has (won.js); `trouble`: the sentence for a refusal, or ''; `again`: whether
         * more can be bought. */
        orderPaint(order, head, trouble, again, now) {
            orderBox.hidden = order === null;
            won.node.hidden = head === null;
            if (order === null)
                return;
            if (head !== null)
                won.paint(head, trouble);
            panel.paint(order, say('order.title'), now);
            panel.node.hidden = order.state === 'deciding'; /* there may be no order in the end */
            textSet(allOrders, say('order.all'));
            textSet(toItem, say('won.more'));
            toItem.hidden = !again;
        },
    };
}
