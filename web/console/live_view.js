// SPDX-License-Identifier: Apache-2.0
/* The live screen: asks the server once a second while the page can be seen, and paints what it says. */

import { element, textSet } from '../dom.js';
import { read } from './api.js';
import { chartMake } from './chart.js';
import { clockTime, span } from './format.js';
import { nameIn, say } from './i18n.js';
import { funnelMake } from './live_funnel.js';
import { attackMake } from './live_attack.js';
import { historyMake, pastRead } from './live_history.js';
import { modelMake, modelRows, modelTake, stateOf } from './live_model.js';
import { alarmsMake, refusedMake, roomsMake, stockMake } from './live_parts.js';
import { tilesMake } from './live_tiles.js';

const EVERY_MS = 1000;
const STALE_MS = 4000;
const CHART_ITEMS_MAX = 5;
const TIMES = ['purchase_p50', 'purchase_p99', 'sync_p50', 'sync_p99'];
const OUTCOMES = ['won', 'soldOut', 'tooFast', 'closed', 'refused'];

const model = modelMake(); /* kept while one looks at other screens */

/* Which sale is looked at; "": all. */
function chooserMake(onChange) {
    const select = element('select', { 'aria-label': say('live.sale') });
    select.addEventListener('change', () => onChange(select.value === '' ? null : Number(select.value)));
    let shown = '';
    return {
        node: select,
        paint(sales) {
            const known = JSON.stringify(sales.map(({ id, title }) => [id, title]));
            if (known === shown)
                return;
            shown = known;
            const kept = select.value;
            select.replaceChildren(element('option', { value: '', textContent: say('live.all') }),
                ...sales.map(({ id, title }) => element('option', { value: String(id), textContent: title })));
            select.value = sales.some(({ id }) => String(id) === kept) ? kept : '';
        },
    };
}

function stateSay(state, now) {
    const values = { count: state.count, title: state.sale ? nameIn(state.sale) : '', time: state.start ? span(state.start - now) : '' };
    return say(`state.${state.key}`, values);
}

function chartsPaint({ outcomes, stock, latency }, points, snapshot, sale) {
    const times = points.map(({ time }) => time);
    latency.paint(times, TIMES.map((name, place) => ({ name: say(`time.${name}`), place, values: points.map((point) => point.times?.[name] ?? null) })));
    outcomes.paint(times, OUTCOMES.map((name, place) => ({
        name: say(`outcome.${name}`),
        place,
        values: points.map((point) => point.outcomes[name]),
    })));
    const items = snapshot.sales.filter((one) => sale === null || one.id === sale).flatMap(({ items: rows }) => rows);
    stock.paint(times, items.slice(0, CHART_ITEMS_MAX).map((item, place) => ({
        name: nameIn(item.product),
        place,
        values: points.map((point) => point.free[item.id] ?? null),
    })));
}

export function liveShow(main) {
    let sale = null;
    let heard = 0;
    let ended = false;
    let timer;

    const sentence = element('p', { class: 'pill', role: 'status' });
    const clock = element('time', { class: 'clock' });
    const chooser = chooserMake((chosen) => {
        sale = chosen;
        paint();
    });
    const tiles = tilesMake();
    const funnel = funnelMake();
    const alarms = alarmsMake();
    const outcomes = chartMake(say('live.outcomes'), { unit: '/s' });
    const charts = { outcomes, stock: chartMake(say('live.left')), latency: chartMake(say('live.times'), { unit: ' ms' }) };
    const past = historyMake(() => paint());
    const attack = attackMake();
    const stock = stockMake();
    const rooms = roomsMake();
    const refused = refusedMake();
    main.replaceChildren(
        element('div', { class: 'title-row' }, element('h1', { textContent: say('nav.live') }), sentence,
            element('div', { class: 'title-end' }, chooser.node, clock)),
        tiles.node,
        element('div', { class: 'grid wide-left' }, funnel.node, element('div', { class: 'stack' }, alarms.node, rooms.node)),
        past.node,
        element('div', { class: 'grid halves' }, outcomes.node, charts.stock.node),
        element('div', { class: 'grid halves' }, charts.latency.node, attack.node),
        element('div', { class: 'grid wide-left' }, stock.node, refused.node),
        element('p', { class: 'note', textContent: say('live.note') }),
    );

    function paint() {
        const snapshot = model.last;
        if (snapshot === null)
            return;
        const quiet = Date.now() - heard;
        const state = heard > 0 && quiet > STALE_MS ? { key: 'stale', grade: 'bad' } : stateOf(snapshot, sale);
        textSet(sentence, state.key === 'stale' ? say('state.stale', { seconds: Math.round(quiet / 1000) }) : stateSay(state, snapshot.now_ms));
        sentence.dataset.grade = state.grade;
        textSet(clock, clockTime(snapshot.now_ms));
        chooser.paint(snapshot.sales);
        tiles.paint(model, sale);
        funnel.paint(model, sale);
        alarms.paint(snapshot);
        rooms.paint(snapshot, sale);
        stock.paint(snapshot, sale);
        refused.paint(snapshot);
        chartsPaint(charts, past.points() ?? model.history, snapshot, sale);
    }

    async function look() {
        if (ended || document.hidden)
            return;
        try {
            const [snapshot, rows] = await Promise.all([read('/live'), pastRead(1, model.rows.at(-1)?.time_ms ?? 0)]);
            modelTake(model, snapshot);
            modelRows(model, rows);
            heard = Date.now();
        } catch (wrong) {
            if (wrong.status === 401)
                return;
        }
        if (ended)
            return;
        paint();
        timer = setTimeout(look, EVERY_MS);
    }
    const seen = () => {
        clearTimeout(timer);
        look();
    };
    document.addEventListener('visibilitychange', seen);
    look();
    attack.start(() => ended);
    return () => {
        ended = true;
        clearTimeout(timer);
        past.end();
        document.removeEventListener('visibilitychange', seen);
    };
}
