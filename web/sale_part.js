// SPDX-License-Identifier: Apache-2.0
/* One sale on the front page: its title, its countdown and its items as cards. Nodes stay while
 * their words change, so that a refresh never takes the keyboard focus away. */

import { createCountdown } from './countdown.js';
import { element, pictureOf, routeLink, textSet } from './dom.js';
import { moment } from './format.js';
import { say } from './i18n.js';
import { createPhaseBadge, createPrices, createStock } from './item_parts.js';
import { createKeyed } from './keyed.js';
import { phaseOf } from './phase.js';

function createCard() {
    const picture = element('div', { class: 'card-picture' });
    const name = element('h3', { class: 'card-name' });
    const badge = createPhaseBadge();
    const prices = createPrices();
    const stock = createStock();
    const link = routeLink(
        '/',
        { class: 'card' },
        picture,
        element('div', { class: 'card-words' }, badge.node, name, prices.node, stock.node),
    );

    function paint(item, now) {
        const phase = phaseOf(item, now);
        link.href = `/items/${item.id}/`;
        link.dataset.phase = phase;
        if (picture.childElementCount === 0)
            picture.append(pictureOf(item.product, { loading: 'lazy' }));
        textSet(name, item.product.name);
        badge.paint(phase);
        prices.paint(item);
        stock.paint(item);
    }

    return { node: element('li', {}, link), paint };
}

export function salePhase(sale, now) {
    /* A sale has no stock of its own; it stands where its schedule and its gate say. */
    const started = sale.state === 'open' || now >= sale.start_ms;
    return phaseOf({ ...sale, started, accepting: true, sold_out: false }, now);
}

/* A long sale shows its first items and a button; `wholeAsk` is called when it is pressed. */
export function createSale(wholeAsk) {
    const title = element('h2', { tabIndex: -1 });
    const span = element('p', { class: 'sale-window' });
    const countdown = createCountdown();
    const cards = element('ul', { class: 'cards' });
    const cardsPaint = createKeyed(cards, createCard);
    const words = element('div', {}, title, span);
    const top = element('div', { class: 'sale-top' }, words, countdown.node);
    const whole = element('button', { type: 'button', class: 'plain more' });

    whole.addEventListener('click', async () => {
        const first = cards.childElementCount;
        await wholeAsk();
        cards.children[first]?.querySelector('a').focus(); /* the button is gone by now */
    });

    function paint(sale, now) {
        textSet(title, sale.title);
        const [start, end] = [moment(sale.start_ms), moment(sale.end_ms)];
        textSet(span, say('sale.window', { start, end }));
        countdown.paint(salePhase(sale, now), sale, now);
        cardsPaint(sale.items, (card, item) => card.paint(item, now));
        textSet(whole, say('sale.whole', { count: sale.item_count }));
        whole.hidden = sale.items.length >= sale.item_count;
    }

    return { node: element('section', { class: 'sale' }, top, cards, whole), paint };
}
