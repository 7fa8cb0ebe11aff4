// SPDX-License-Identifier: Apache-2.0
/* The public report of a sale: where every unit is, and the draw of its waiting room, from what the server publishes to everybody. The
 * page does the sums itself, and works the draw out again when it is asked to. What the first script has loaded is handed in: importing it here
 * would split that script in two. */

import { tellIn } from './report_words.js';

const SECONDS_MAX_MS = 100_000;

/* Rows of the table, and the names of items whose figures do not add up. */
export function reportModel(sale, now, told) {
    const rows = sale.items.map(({ product, counts, start_ms: start, sold_out_ms: gone = 0 }) => ({
        name: told(product, 'name'),
        ...counts,
        adds: counts.given === counts.sold + counts.held + counts.free,
        goneMs: gone > start ? gone - start : null,
    }));
    return { rows, wrong: rows.filter(({ adds }) => !adds).map(({ name }) => name), over: sale.state === 'ended' || now >= sale.end_ms };
}

function partsMake(tell, { element, count, lasting, serverAddress, arrivalsGet, roomGet }) {
    const goneWords = (ms) => (ms === null ? '–' : ms < SECONDS_MAX_MS ? tell('seconds', { count: (ms / 1000).toFixed(1) }) : tell('minutes', { count: count(Math.round(ms / 60_000)) }));

    function unitsTable({ rows }) {
        const cell = (name, words) => {
            const node = element('td', {}, words);
            node.dataset.column = tell(name);
            return node;
        };
        const columns = ['item', 'given', 'sold', 'held', 'free', 'gone'];
        return element('table', { class: 'report-units' }, element('caption', { textContent: tell('units') }),
            element('thead', {}, element('tr', {}, ...columns.map((name) => element('th', { scope: 'col', textContent: tell(name) })))),
            element('tbody', {}, ...rows.map((row) => element('tr', {}, element('th', { scope: 'row', textContent: row.name }),
                ...['given', 'sold', 'held', 'free'].map((name) => cell(name, count(row[name]))), cell('gone', goneWords(row.goneMs))))));
    }

    const fact = (name, value) => element('div', { class: 'fact report-fact' }, element('dt', { textContent: tell(name) }), element('dd', {}, element('code', { textContent: value })));

    /* One's own number in the line, where this browser has a session that waited; else null. */
    async function ownPlace(session, sale) {
        const opened = session.current();
        if (opened === null)
            return { user: null, number: null };
        const { number } = await roomGet(opened.session, sale).catch(() => ({ number: null }));
        return { user: number === null ? null : opened.user, number };
    }

    async function checkWords(session, sale, draw) {
        try {
            const [{ drawCheck }, marks, own] = await Promise.all([import('./draw_check.js'), arrivalsGet(sale), ownPlace(session, sale)]);
            const found = await drawCheck({ draw, marks, ...own, noted: lasting.read(`commitment.${sale}`) });
            if (found.wrong !== '')
                return [false, tell('check.wrong', { what: found.wrong })];
            return [true, tell(own.user === null ? 'check.good' : 'check.place', { count: count(found.count), place: count(found.place ?? 0) })];
        } catch {
            return [false, tell('check.away')];
        }
    }

    function drawPart(session, sale, draw) {
        const drawn = draw.state === 'drawn';
        const found = element('p', { class: 'room-found', role: 'status' });
        const check = element('button', { type: 'button', class: 'plain', textContent: tell('check'), hidden: !drawn || globalThis.crypto?.subtle === undefined });
        check.addEventListener('click', async () => {
            const [good, words] = await checkWords(session, sale, draw);
            found.dataset.good = String(good);
            found.textContent = words;
        });
        const facts = [fact('commitment', draw.commitment), ...(drawn ? [fact('secret', draw.secret)] : []), ...(draw.beacon_name ? [fact('beacon', draw.beacon_name)] : [])];
        return element('section', { class: 'report-part' }, element('h2', { textContent: tell('draw') }),
            element('p', { textContent: tell(drawn ? 'draw.after' : 'draw.before', { arrived: count(draw.arrived), count: count(draw.count ?? 0), head: count(draw.head ?? 0) }) }),
            element('p', { class: 'report-soft', textContent: tell('draw.how') }), element('dl', { class: 'facts' }, ...facts), check, found);
    }

    /* The sentence of the links, with a node in place of each name in braces. */
    function dataPart(sale, draw) {
        const address = (path) => new URL(path, serverAddress()).href;
        const link = (words, path) => element('a', { href: address(path), textContent: words });
        const nodes = {
            sale: link(tell('data.sale'), `/v1/sales/${sale}`),
            draw: link(tell('data.draw'), `/v1/sales/${sale}/draw`),
            command: element('code', { textContent: `stampede draw verify --url ${new URL(serverAddress()).origin} --sale ${sale}` }),
        };
        return element('p', { class: 'report-soft' }, ...tell(draw ? 'data' : 'data.only').split(/\{(\w+)\}/).map((part, at) => (at % 2 ? nodes[part] : part)));
    }

    return { unitsTable, drawPart, dataPart };
}

/* Fills `place` below `heading`. `tools`: api.js, dom.js, format.js and store.js, and the language. Returns what ends it. */
export function reportShow(place, heading, id, { clock, session, titleSet }, tools) {
    const { element, saleWhole, drawGet, span, onLanguage, told } = tools;
    const tell = (key, values) => tellIn(tools.language(), key, values);
    const parts = partsMake(tell, tools);
    let seen = null; /* { sale, draw } */
    let failure = '';
    let ended = false;

    function paint() {
        if (ended)
            return;
        const title = seen ? told(seen.sale, 'title') : '';
        heading.textContent = title === '' ? tell(failure || 'loading') : title;
        titleSet(heading.textContent);
        if (seen === null) {
            place.replaceChildren();
            return;
        }
        const { sale, draw } = seen;
        const model = reportModel(sale, clock.now(), told);
        const sums = model.wrong.length === 0 ? tell('adds') : tell('wrong', { items: model.wrong.join(', ') });
        const verdict = element('p', { class: 'room-found', textContent: sums });
        verdict.dataset.good = String(model.wrong.length === 0);
        place.replaceChildren(element('p', { class: 'sale-window', textContent: span(sale.start_ms, sale.end_ms) }), element('p', { class: 'lead', textContent: tell('lead') }),
            element('p', { class: 'report-soft', textContent: tell(model.over ? 'over' : 'on') }), element('section', { class: 'report-part' }, parts.unitsTable(model), verdict),
            ...(draw ? [parts.drawPart(session, id, draw)] : []), parts.dataPart(id, draw));
    }

    async function load() {
        try {
            const sale = await saleWhole(id);
            seen = { sale, draw: sale.waiting_room ? await drawGet(id) : null };
        } catch (refusal) {
            failure = refusal.status === 404 ? 'none' : 'away';
        }
        paint();
    }

    const quiet = onLanguage(paint);
    paint();
    load();
    return () => {
        ended = true;
        quiet();
    };
}
