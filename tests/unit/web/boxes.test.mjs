// SPDX-License-Identifier: Apache-2.0
/* The parts of an item's page: web/countdown.js, dock.js, item_parts.js, room_box.js, ready_box.js, sale_part.js,
 * won.js and lost.js as they are painted. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { fresh, part, seen, settle } from './page.mjs';

const { createCountdown } = await import('../../../web/countdown.js');
const { createDock } = await import('../../../web/dock.js');
const { createPrices, createStock, whenWords } = await import('../../../web/item_parts.js');
const { createRoomBox } = await import('../../../web/room_box.js');
const { createReadyBox } = await import('../../../web/ready_box.js');
const { createSale, salePhase } = await import('../../../web/sale_part.js');
const { createLostBox } = await import('../../../web/lost.js');
const { createWonHead } = await import('../../../web/won.js');

let reminded = false;
const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 16, 12);
const item = {
    id: 1, product: { name: 'Watch' }, flash_price: 100, list_price: 200, currency: 'CNY', limit_per_user: 1,
    start_ms: NOW - 1_000, end_ms: NOW + 3 * HOUR, counts: { free: 3, given: 10 }, accepting: true, started: true, state: 'open',
};
beforeEach(fresh);

test('a countdown counts to the start, then to the end, and then not at all', () => {
    const { node, paint } = createCountdown();
    paint('before', { start_ms: NOW + 90_000, end_ms: NOW + HOUR }, NOW);
    assert.deepEqual(node.querySelectorAll('.digits').map((one) => one.textContent).slice(2), ['01', '30']);
    assert.equal(node.querySelectorAll('.cell')[0].hidden, true);
    paint('open', { start_ms: NOW, end_ms: NOW + 26 * HOUR }, NOW);
    assert.equal(node.querySelectorAll('.cell')[0].hidden, false);
    paint('ended', { start_ms: NOW, end_ms: NOW + HOUR }, NOW);
    assert.equal(seen(node), '', 'who ended it by hand is not known to the page');
    paint('ended', { start_ms: NOW - HOUR, end_ms: NOW }, NOW);
    assert.notEqual(seen(node), '');
    paint('unknown', {}, NOW);
    assert.equal(node.hidden, true);
});

test('the button of the dock is not disabled but says so, and the note gives way to a sentence', () => {
    const { node, button, paint } = createDock();
    paint({ words: 'Starts in 9.9', live: false, kind: 'info', sentence: '', noteWords: '3 of 10 left', startsInMs: 9_900 });
    assert.deepEqual([button.getAttribute('aria-disabled'), button.getAttribute('data-near')], ['true', 'true']);
    assert.equal(seen(part(node, 'dock-lines')), '3 of 10 left');
    paint({ words: 'Buy now', live: true, busy: true, kind: 'bad', sentence: 'Too fast.', noteWords: '3 of 10 left' });
    assert.deepEqual([button.getAttribute('aria-disabled'), button.getAttribute('aria-busy'), button.getAttribute('data-near')], ['false', 'true', 'false']);
    assert.equal(seen(part(node, 'dock-lines')), 'Too fast.');
    paint({ words: 'x', live: false, kind: 'info', sentence: '', noteWords: '', startsInMs: 10_001 });
    assert.equal(button.getAttribute('data-near'), 'false');
});

test('a list price that is no more than the price is not struck through', () => {
    const prices = createPrices();
    prices.paint(item);
    assert.equal(part(prices.node, 'price-list').hidden, false);
    prices.paint({ ...item, list_price: 100 });
    assert.equal(part(prices.node, 'price-list').hidden, true);
    assert.equal(part(prices.node, 'price-saving').hidden, true);
});

test('the bar of the stock never leaves its ends, and a fifth is little', () => {
    const stock = createStock();
    const bar = part(stock.node, 'stock-bar');
    for (const [free, given, value, low] of [[3, 10, '3', 'false'], [2, 10, '2', 'true'], [12, 10, '10', 'false'], [-1, 0, '0', 'true']]) {
        stock.paint({ ...item, counts: { free, given } });
        assert.deepEqual([bar.getAttribute('value'), stock.node.dataset.low], [value, low], `${free} of ${given}`);
        assert.ok(Number(bar.getAttribute('max')) >= 1);
    }
});

test('when something ends that can’t be had is no news', () => {
    for (const phase of ['soldOut', 'paused'])
        assert.equal(whenWords(phase, item, NOW), '');
    assert.notEqual(whenWords('open', item, NOW), whenWords('open', { ...item, end_ms: NOW + 60_000 }, NOW));
    assert.equal(whenWords('ended', item, NOW), '');
    assert.notEqual(whenWords('ended', { ...item, end_ms: NOW }, NOW), '');
});

test('the room shows the place large, and trouble in place of its words', () => {
    const box = createRoomBox({ on: () => false, toggle: async () => {} }, null);
    box.paint({ kind: 'line', words: 'room.line', number: ['room.ahead', 1234], eta: 'room.eta.minutes', minutes: 3, inMs: 180_000, of: 10, done: 4 }, '', NOW);
    assert.equal(part(box.node, 'room-number').textContent, '1,234');
    assert.equal(part(box.node, 'room-bar').getAttribute('value'), '4');
    assert.match(part(box.node, 'room-eta').textContent, /3/);
    assert.equal(part(box.node, 'room-bell').hidden, false);
    box.paint({ kind: 'out', words: 'room.offer' }, 'No room.', NOW);
    assert.equal(part(box.node, 'room-number').hidden, true);
    assert.equal(part(box.node, 'room-words').textContent, 'No room.');
    box.paint(null, '', NOW);
    assert.equal(box.node.hidden, true);
});

test('the check of the draw says right, wrong, or that it could not be done', async () => {
    const results = [{ wrong: '', place: 7, count: 9 }, { wrong: 'arrivals', count: 9 }];
    const box = createRoomBox({ on: () => true, toggle: async () => {} }, async () => {
        if (results.length === 0)
            throw new Error('away');
        return results.shift();
    });
    const proof = part(box.node, 'room-proof');
    box.paint({ kind: 'in', words: 'room.admitted' }, '', NOW);
    for (const [good, words] of [['true', /place 7 of 9/], ['false', /arrivals/], ['false', /./]]) {
        proof.querySelector('button').click();
        await settle();
        assert.equal(part(proof, 'room-found').dataset.good, good);
        assert.match(part(proof, 'room-found').textContent, words);
    }
});

test('the bell is switched by a press and says so', async () => {
    let on = false;
    const box = createRoomBox({ on: () => on, toggle: async () => { on = !on; } }, null);
    box.paint({ kind: 'line', words: 'room.line' }, '', NOW);
    const bell = part(box.node, 'room-bell');
    assert.equal(bell.getAttribute('aria-pressed'), 'false');
    bell.click();
    await settle();
    assert.equal(bell.getAttribute('aria-pressed'), 'true');
});

test('the checklist has a row for each thing, with a button or a link to do it', () => {
    let checked = 0;
    const box = createReadyBox({ check: () => checked++, changed: () => {}, detailsSaved: () => {}, remind: async () => { reminded = !reminded; }, reminded: () => reminded });
    const rows = [
        { id: 'signIn', words: 'ready.signIn', done: false, act: 'ready.signInNow', link: 'https://shop.example/login' },
        { id: 'check', words: 'ready.check', done: false, act: 'ready.checkNow' },
        { id: 'quantity', words: 'ready.quantity', values: { quantity: 2 }, done: true },
    ];
    box.paint({ rows, ready: false });
    const shown = box.node.querySelectorAll('.ready-row');
    assert.deepEqual(shown.map((row) => row.dataset.done), ['false', 'false', 'true']);
    assert.equal(shown[0].querySelector('a').href, 'https://shop.example/login');
    assert.equal(shown[0].querySelector('button').hidden, true);
    shown[1].querySelector('button').click();
    assert.equal(checked, 1);
    box.paint({ rows: rows.slice(2), ready: true });
    assert.equal(box.node.querySelectorAll('.ready-row')[0], shown[2]);
    assert.equal(box.node.dataset.ready, 'true');
    box.paint(null);
    assert.equal(box.node.hidden, true);
});

test('an address that is being typed stays when the checklist goes', () => {
    const box = createReadyBox({ check: () => {}, changed: () => {}, detailsSaved: () => {}, remind: async () => { reminded = !reminded; }, reminded: () => reminded });
    box.paint({ rows: [{ id: 'address', words: 'ready.address', done: false, act: 'ready.fill' }], ready: false });
    part(box.node, 'ready-row').querySelector('button').click();
    box.paint(null);
    assert.equal(box.node.hidden, false);
    assert.equal(part(box.node, 'details-form').hidden, false);
    assert.equal(part(box.node, 'ready-list').hidden, true);
});

test('a sale stands where its schedule and its gate say', () => {
    const sale = { state: 'scheduled', start_ms: NOW + 1, end_ms: NOW + HOUR };
    assert.equal(salePhase(sale, NOW), 'before');
    assert.equal(salePhase(sale, NOW + 1), 'open');
    assert.equal(salePhase({ ...sale, state: 'open' }, NOW), 'open');
    assert.equal(salePhase({ ...sale, state: 'paused' }, NOW + 1), 'paused');
    assert.equal(salePhase(sale, NOW + HOUR), 'ended');
});

test('a long sale offers the rest of its items', () => {
    let asked = 0;
    const sale = createSale(async () => asked++, 5);
    const told = { title: 'Today', state: 'open', start_ms: NOW, end_ms: NOW + HOUR, items: [item], item_count: 3 };
    sale.paint(told, NOW);
    const more = part(sale.node, 'more');
    assert.equal(more.hidden, false);
    assert.equal(part(sale.node, 'card').href, '/items/1/');
    more.click();
    assert.equal(asked, 1);
    sale.paint({ ...told, item_count: 1 }, NOW);
    assert.equal(more.hidden, true);
});

test('the head of a win has a clock while there is time, and tells what went wrong', () => {
    const head = createWonHead();
    head.paint({ kind: 'open', title: 'won.title', words: 'won.until', untilMs: NOW, leftMs: 61_000, share: 0.5 }, 'Declined.');
    assert.equal(part(head.node, 'won-clock').textContent, '1:01');
    assert.equal(part(head.node, 'won-trouble').textContent, 'Declined.');
    head.paint({ kind: 'paid', title: 'won.paid', words: 'won.paidWords' }, '');
    assert.equal(part(head.node, 'won-clock').hidden, true);
    assert.equal(part(head.node, 'won-trouble').hidden, true);
});

test('who lost is offered what else there is', () => {
    const box = createLostBox();
    box.paint({ gone: ['lost.after', { seconds: '3.2' }], words: 'lost.gone', values: { given: '10' }, others: [{ ...item, id: 9 }] });
    assert.equal(part(box.node, 'lost-gone').textContent, 'Sold out after 3.2 s.');
    assert.equal(part(box.node, 'lost-link').href, '/items/9/');
    box.paint({ gone: null, words: 'lost.gone', values: { given: '10' }, others: [] });
    assert.equal(part(box.node, 'lost-gone').hidden, true);
    assert.equal(part(box.node, 'lost-more').hidden, true);
    box.paint(null);
    assert.equal(box.node.hidden, true);
});
