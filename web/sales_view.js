/* The front page: every sale with its countdown and its items. Nodes stay while their words
 * change, so that a refresh never takes the keyboard focus away. */

import { salesGet } from './api.js';
import { createCountdown } from './countdown.js';
import { element, pictureOf, routeLink, textSet } from './dom.js';
import { moment } from './format.js';
import { onLanguage, say } from './i18n.js';
import { createPhaseBadge, createPrices, createStock } from './item_parts.js';
import { nextTickMs, phaseOf, statusIntervalMs } from './phase.js';
import { createPoll } from './poll.js';

const LIST_SLOWER = 2; /* the list is asked for less often than the page of one item */

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
        link.href = `/?item=${item.id}`;
        link.dataset.phase = phase;
        if (picture.childElementCount === 0)
            picture.append(pictureOf(item.product));
        textSet(name, item.product.name);
        badge.paint(phase);
        prices.paint(item);
        stock.paint(item);
    }

    return { node: element('li', {}, link), paint };
}

/* Keeps one part per id, makes what is new and removes what is gone. */
function createKeyed(parent, make) {
    const parts = new Map();
    return (things, paint) => {
        for (const [id, part] of parts) {
            if (!things.some((thing) => thing.id === id)) {
                part.node.remove();
                parts.delete(id);
            }
        }
        for (const thing of things) {
            if (!parts.has(thing.id)) {
                parts.set(thing.id, make());
                parent.append(parts.get(thing.id).node);
            }
            paint(parts.get(thing.id), thing);
        }
    };
}

function salePhase(sale, now) {
    /* A sale has no stock of its own; it stands where its schedule and its gate say. */
    const started = sale.state === 'open' || now >= sale.start_ms;
    return phaseOf({ ...sale, started, accepting: true, sold_out: false }, now);
}

function createSale() {
    const title = element('h2');
    const span = element('p', { class: 'sale-window' });
    const countdown = createCountdown();
    const cards = element('ul', { class: 'cards' });
    const cardsPaint = createKeyed(cards, createCard);
    const words = element('div', {}, title, span);
    const top = element('div', { class: 'sale-top' }, words, countdown.node);

    function paint(sale, now) {
        textSet(title, sale.title);
        const [start, end] = [moment(sale.start_ms), moment(sale.end_ms)];
        textSet(span, say('sale.window', { start, end }));
        countdown.paint(salePhase(sale, now), sale, now);
        cardsPaint(sale.items, (card, item) => card.paint(item, now));
    }

    return { node: element('section', { class: 'sale' }, top, cards), paint };
}

export function mountSales(root, { clock, titleSet }) {
    const heading = element('h1', { tabIndex: -1 });
    const lead = element('p', { class: 'lead' });
    const notice = element('p', { class: 'notice', role: 'status' });
    const list = element('div', { class: 'sales' });
    const salesPaint = createKeyed(list, createSale);
    let sales = null;
    let troubled = false;
    let timer = 0;

    const poll = createPoll(statusAsk, () => {
        const now = clock.now();
        const waits = sales.flatMap((sale) =>
            sale.items.map((item) => statusIntervalMs(phaseOf(item, now), item, now)));
        const soonest = Math.min(60_000, ...waits);
        return soonest * LIST_SLOWER;
    });

    async function statusAsk() {
        try {
            sales = await salesGet();
            troubled = false;
        } catch (refusal) {
            troubled = true;
            paint();
            throw refusal;
        }
        tick();
    }

    function noticeWords() {
        if (troubled)
            return say('sales.trouble');
        if (sales === null)
            return say('sales.loading');
        return sales.length === 0 ? say('sales.none') : '';
    }

    /* Running sales first, then the next ones, then those that are over. */
    function salesInOrder(now) {
        const ranks = { open: 0, paused: 0, before: 1, ended: 2 };
        const rank = (sale) => ranks[salePhase(sale, now)] ?? 1;
        return [...sales].sort((a, b) => rank(a) - rank(b) || a.start_ms - b.start_ms);
    }

    function paint() {
        textSet(heading, say('sales.title'));
        textSet(lead, say('sales.lead'));
        textSet(notice, noticeWords());
        notice.hidden = notice.textContent === '';
        titleSet('');
        const now = clock.now();
        if (sales !== null)
            salesPaint(salesInOrder(now), (part, sale) => part.paint(sale, now));
    }

    function tick() {
        clearTimeout(timer);
        paint();
        const now = clock.now();
        const waits = (sales ?? []).map((sale) => nextTickMs(sale, now));
        if (!document.hidden)
            timer = setTimeout(tick, Math.min(1000, ...waits));
    }

    function visibilityChanged() {
        if (!document.hidden)
            tick();
    }

    document.addEventListener('visibilitychange', visibilityChanged);
    const languageEnd = onLanguage(paint);
    root.replaceChildren(element('div', { class: 'sales-page' }, heading, lead, notice, list));
    tick();
    poll.start();

    return {
        heading,
        stop() {
            clearTimeout(timer);
            poll.stop();
            languageEnd();
            document.removeEventListener('visibilitychange', visibilityChanged);
        },
    };
}
