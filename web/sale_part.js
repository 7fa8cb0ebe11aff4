// SPDX-License-Identifier: Apache-2.0
/* One sale on the front page: its title, its countdown and its items as cards. Nodes stay while
 * their words change, so that a refresh never takes the keyboard focus away. */

import { createCountdown } from './countdown.js';
import { attributeSet, element, pictureOf, routeLink, textSet } from './dom.js';
import { span as spanWords } from './format.js';
import { nameOf, say, told } from './i18n.js';
import { createPhaseBadge, createPrices, createStock } from './item_parts.js';
import { createKeyed } from './keyed.js';
import { phaseOf } from './phase.js';
import { reminderIsSet, reminderToggle } from './reminder.js';

const ACTS = { open: 'card.buy', full: 'card.buy', soldOut: 'card.gone' };

function createCard() {
    const picture = element('div', { class: 'card-picture' });
    const name = element('h3', { class: 'card-name' });
    const badge = createPhaseBadge();
    const prices = createPrices();
    const stock = createStock({ share: true });
    const act = element('span', { class: 'card-act' });
    const remind = element('button', { type: 'button', class: 'plain card-remind' });
    const link = routeLink(
        '/',
        { class: 'card' },
        picture,
        element('div', { class: 'card-words' }, badge.node, name, prices.node, stock.node, act),
    );
    let shown;
    let shownAt = 0;
    remind.addEventListener('click', async () => {
        await reminderToggle(shown, shownAt, nameOf(shown));
        remindPaint();
    });

    function remindPaint() {
        const set = reminderIsSet(shown.id);
        attributeSet(remind, 'aria-pressed', String(set));
        const words = say(set ? 'remind.on' : 'remind.set');
        attributeSet(remind, 'aria-label', `${words}: ${nameOf(shown)}`);
        textSet(remind, words);
    }

    function paint(item, now) {
        const phase = phaseOf(item, now);
        [shown, shownAt] = [item, now];
        link.href = `/items/${item.id}/`;
        link.dataset.phase = phase;
        if (picture.childElementCount === 0)
            picture.append(pictureOf(item.product, { loading: 'lazy' }));
        textSet(name, nameOf(item));
        badge.paint(phase);
        prices.paint(item);
        stock.paint(item);
        act.hidden = ACTS[phase] === undefined;
        textSet(act, act.hidden ? '' : say(ACTS[phase]));
        remind.hidden = phase !== 'before';
        remindPaint();
    }

    return { node: element('li', { class: 'card-place' }, link, remind), paint };
}

export function salePhase(sale, now) {
    /* A sale has no stock of its own; it stands where its schedule and its gate say. */
    const started = sale.state === 'open' || now >= sale.start_ms;
    return phaseOf({ ...sale, started, accepting: true, sold_out: false }, now);
}

/* A long sale shows its first items and a button; `wholeAsk` is called when it is pressed. `id`: of the sale. */
export function createSale(wholeAsk, id) {
    const title = element('h2', { tabIndex: -1 });
    const span = element('p', { class: 'sale-window' });
    const countdown = createCountdown();
    const cards = element('ul', { class: 'cards' });
    const cardsPaint = createKeyed(cards, createCard);
    const report = routeLink(`/?report=${id}`, { class: 'sale-report' });
    const words = element('div', {}, title, span, report);
    const top = element('div', { class: 'sale-top' }, words, countdown.node);
    const whole = element('button', { type: 'button', class: 'plain more' });

    whole.addEventListener('click', async () => {
        const first = cards.childElementCount;
        await wholeAsk();
        cards.children[first]?.querySelector('a').focus(); /* the button is gone by now */
    });

    function paint(sale, now) {
        textSet(title, told(sale, 'title'));
        textSet(span, spanWords(sale.start_ms, sale.end_ms));
        const phase = salePhase(sale, now);
        report.hidden = phase === 'before';
        textSet(report, say('sale.report'));
        countdown.paint(phase, sale, now);
        cardsPaint(sale.items, (card, item) => card.paint(item, now));
        textSet(whole, say('sale.whole', { count: sale.item_count }));
        whole.hidden = sale.items.length >= sale.item_count;
    }

    const node = element('section', { class: 'sale' }, top, cards, whole);
    node.dataset.sale = String(id);
    return { node, paint };
}
