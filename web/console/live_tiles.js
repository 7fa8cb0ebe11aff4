// SPDX-License-Identifier: Apache-2.0
/* The row of big numbers on the live screen: one for each question. */

import { element, textSet } from '../dom.js';
import { sparkMake } from './chart.js';
import { number, percent, rate, shortNumber } from './format.js';
import { say } from './i18n.js';
import { paidOf, stockOf } from './live_model.js';

const SPARK_POINTS = 60;

/* How each tile gets its number, its second line and its curve. */
const TILES = [
    {
        key: 'left',
        value: ({ stock }) => shortNumber(stock.free),
        more: ({ stock }) => say('tile.left.more', { given: number(stock.given), held: number(stock.held), sold: number(stock.sold) }),
        bar: ({ stock }) => (stock.given > 0 ? stock.free / stock.given : 0),
    },
    {
        key: 'arrived',
        value: ({ rates }) => rate(rates?.arrived ?? 0),
        more: ({ rates }) => say('tile.arrived.more', { all: rate(rates?.requests ?? 0) }),
        curve: (point) => point.arrived,
    },
    {
        key: 'won',
        value: ({ rates }) => rate(rates?.outcomes.won ?? 0),
        more: ({ metrics }) => say('tile.won.more', { total: number(metrics.stampede_purchases_total?.won ?? 0) }),
        curve: (point) => point.outcomes.won,
    },
    {
        key: 'paid',
        value: ({ metrics }) => shortNumber(paidOf(metrics)),
        more: ({ metrics }) =>
            say('tile.paid.more', { share: percent(paidOf(metrics), metrics.stampede_orders_written_total ?? 0) }),
        curve: (point) => point.paid,
    },
    {
        key: 'lag',
        value: ({ metrics }) => shortNumber(metrics.stampede_order_lag ?? 0),
        more: ({ metrics }) => say('tile.lag.more', { written: number(metrics.stampede_orders_written_total ?? 0) }),
        curve: (point) => point.lag,
    },
    {
        key: 'journal',
        value: ({ rates }) => rate(rates?.journal ?? 0),
        more: ({ metrics }) => say('tile.journal.more', { position: number(metrics.stampede_journal_durable_position ?? 0) }),
        curve: (point) => point.journal,
    },
];

function tileMake(tile) {
    const value = element('dd', { class: 'tile-value' });
    const more = element('dd', { class: 'tile-more' });
    const spark = tile.curve ? sparkMake() : null;
    const bar = element('span', { class: 'tile-bar' }, element('i'));
    const node = element('div', { class: 'tile', 'data-tile': tile.key }, element('dt', { textContent: say(`tile.${tile.key}`) }),
        value, element('dd', { class: 'tile-picture', 'aria-hidden': 'true' }, spark ? spark.node : bar), more);
    return {
        node,
        paint(seen, history) {
            textSet(value, tile.value(seen));
            textSet(more, tile.more(seen));
            if (spark)
                spark.paint(history.slice(-SPARK_POINTS).map(tile.curve));
            else
                bar.firstChild.style.width = `${tile.bar(seen) * 100}%`;
        },
    };
}

export function tilesMake() {
    const tiles = TILES.map(tileMake);
    return {
        node: element('dl', { class: 'tiles' }, ...tiles.map(({ node }) => node)),
        paint(model, sale) {
            const seen = { stock: stockOf(model.last, sale), metrics: model.last.metrics, rates: model.rates };
            for (const tile of tiles)
                tile.paint(seen, model.history);
        },
    };
}
