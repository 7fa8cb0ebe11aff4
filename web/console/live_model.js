// SPDX-License-Identifier: Apache-2.0
/* What the live screen makes of the server's counters: sums, rates, the funnel. Nothing here touches the page. */

export const HISTORY_S = 300;
/* How far back one can look, and how far the rows are apart. */
export const RANGES = [{ key: 'minutes', span_s: HISTORY_S, step_s: 1 }, { key: 'hour', span_s: 3600, step_s: 10 }, { key: 'day', span_s: 86_400, step_s: 60 }];

const DOOR = 'stampede_door_total';
const PURCHASES = 'stampede_purchases_total';

/* Reasons of the door, by the layer that gives them, in the order in which a request meets them. */
const LAYERS = [
    { key: 'window', reasons: ['unknown-item', 'not-started', 'ended', 'paused', 'unavailable'] },
    { key: 'limits', reasons: ['banned', 'too-fast', 'too-popular'] },
    {
        key: 'pass',
        reasons: ['session-invalid', 'pass-required', 'pass-invalid', 'pass-expired', 'pass-foreign', 'pass-spent', 'not-your-turn',
            'bad-body', 'bad-quantity', 'bad-channel', 'bad-key', 'key-required'],
    },
    { key: 'stock', reasons: ['sold-out', 'no-chance'] },
];

export const total = (values) => Object.values(values ?? {}).reduce((sum, value) => sum + value, 0);
const pick = (values, names) => names.reduce((sum, name) => sum + (values?.[name] ?? 0), 0);

export const paidOf = (metrics) =>
    (metrics.stampede_payment_news_total?.paid ?? 0) + (metrics.stampede_orders_reported_paid_total ?? 0);

/* Steps from the door to the money. `lost`: who went no further than the step before, by reason. */
export function funnelOf(metrics) {
    const door = metrics[DOOR] ?? {};
    const asked = door.go ?? 0;
    let left = total(door);
    const steps = [{ key: 'arrived', count: left, lost: {} }];
    for (const { key, reasons } of LAYERS) {
        const lost = Object.fromEntries(reasons.filter((name) => door[name] > 0).map((name) => [name, door[name]]));
        left -= total(lost);
        if (key !== 'stock')
            steps.push({ key, count: left, lost });
        else
            steps.push({ key: 'asked', count: asked, lost });
    }
    const { won = 0, ...others } = metrics[PURCHASES] ?? {};
    const refused = Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0));
    steps.push({ key: 'won', count: won, lost: refused });
    steps.push({ key: 'ordered', count: metrics.stampede_orders_written_total ?? 0, lost: {} });
    const expired = metrics.stampede_orders_expired_total ?? 0;
    steps.push({ key: 'paid', count: paidOf(metrics), lost: expired > 0 ? { expired } : {} });
    return steps;
}

/* Purchases by how they ended, each counted once. */
export function outcomesOf(metrics) {
    const door = metrics[DOOR] ?? {};
    const purchases = metrics[PURCHASES] ?? {};
    const sum = (names) => pick(door, names) + pick(purchases, names);
    const won = purchases.won ?? 0;
    const soldOut = sum(['sold-out', 'no-chance']);
    const tooFast = sum(['too-fast', 'too-popular', 'banned']);
    const closed = sum(['not-started', 'ended', 'paused', 'unavailable', 'unknown-item']);
    const known = won + soldOut + tooFast + closed + (purchases.deciding ?? 0);
    const all = total(door) - (door.go ?? 0) + total(purchases);
    return { won, soldOut, tooFast, closed, refused: Math.max(0, all - known) };
}

const itemsOf = (snapshot) => snapshot.sales.flatMap((sale) => sale.items.map((item) => ({ ...item, sale: sale.id })));

/* Numbers of one moment that have a rate. */
function countersOf(snapshot) {
    const { metrics } = snapshot;
    return {
        requests: metrics.stampede_edge_requests_total ?? 0,
        arrived: total(metrics[DOOR]),
        ordered: metrics.stampede_orders_written_total ?? 0,
        paid: paidOf(metrics),
        journal: metrics.stampede_journal_durable_position ?? 0,
        outcomes: outcomesOf(metrics),
    };
}

/* A counter that fell began anew: the server was restarted. */
const perSecond = (before, after, seconds) => (after >= before && seconds > 0 ? (after - before) / seconds : 0);

export function ratesOf(before, after) {
    const seconds = (after.now_ms - before.now_ms) / 1000;
    const [old, fresh] = [countersOf(before), countersOf(after)];
    const rates = { outcomes: {} };
    for (const name of ['requests', 'arrived', 'ordered', 'paid', 'journal'])
        rates[name] = perSecond(old[name], fresh[name], seconds);
    for (const name of Object.keys(fresh.outcomes))
        rates.outcomes[name] = perSecond(old.outcomes[name], fresh.outcomes[name], seconds);
    return rates;
}

export function modelMake() {
    return { last: null, rates: null, rows: [], history: [] };
}

/* Takes one answer of /admin/v1/live. */
export function modelTake(model, snapshot) {
    if (model.last !== null && snapshot.now_ms <= model.last.now_ms)
        return; /* the same moment, or an answer that was overtaken */
    if (model.last !== null)
        model.rates = ratesOf(model.last, snapshot);
    model.last = snapshot;
}

/* Takes rows of /admin/v1/live/history that are later than those before. */
export function modelRows(model, rows) {
    const last = model.rows.at(-1)?.time_ms ?? 0;
    const all = model.rows.concat(rows.filter(({ time_ms: time }) => time > last));
    const from = (all.at(-1)?.time_ms ?? 0) - HISTORY_S * 1000;
    model.rows = all.filter(({ time_ms: time }) => time >= from);
    model.history = pointsOf(model.rows);
}

/* Units of one sale, or of all (null). */
export function stockOf(snapshot, sale = null) {
    const sum = { given: 0, free: 0, held: 0, sold: 0, safety: 0, written_off: 0 };
    for (const item of itemsOf(snapshot))
        if (sale === null || item.sale === sale)
            for (const name of Object.keys(sum))
                sum[name] += item.counts[name] ?? 0;
    return sum;
}

const STOPPED = [null, 'disk', 'lag', 'full', 'failed', 'follower'];

/* One sentence about the whole: its key, how grave it is, and values for its words. */
export function stateOf(snapshot, sale = null) {
    const { metrics, alarms } = snapshot;
    const sales = snapshot.sales.filter((one) => sale === null || one.id === sale);
    const stopped = STOPPED[metrics.stampede_wins_stopped ?? 0];
    const raised = alarms.filter(({ up, name }) => up && name !== 'test-mode').length;
    if (stopped)
        return { key: `stopped-${stopped}`, grade: 'bad' };
    if (metrics.stampede_ready === 0)
        return { key: 'not-ready', grade: 'bad' };
    if (raised > 0)
        return { key: 'alarms', grade: 'warn', count: raised };
    if (sales.some(({ state }) => state === 'open'))
        return { key: stockOf(snapshot, sale).free === 0 ? 'sold-out' : 'selling', grade: 'good' };
    if (sales.some(({ state }) => state === 'paused'))
        return { key: 'paused', grade: 'warn' };
    const next = sales.filter(({ state }) => state === 'scheduled').sort((a, b) => a.start_ms - b.start_ms)[0];
    return next ? { key: 'next', grade: 'calm', start: next.start_ms, sale: next } : { key: 'idle', grade: 'calm' };
}

const RATES = ['requests', 'arrived', 'ordered', 'paid', 'journal'];
const OUTCOME_NAMES = { won: 'won', soldOut: 'sold_out', tooFast: 'too_fast', closed: 'closed', refused: 'refused' };

/* Rows of /admin/v1/live/history as points of the charts: what happened a second between one and the next. */
export function pointsOf(rows) {
    return rows.slice(1).map((row, at) => {
        const before = rows[at];
        const seconds = (row.time_ms - before.time_ms) / 1000;
        return {
            time: row.time_ms,
            ...Object.fromEntries(RATES.map((name) => [name, perSecond(before[name], row[name], seconds)])),
            outcomes: Object.fromEntries(Object.entries(OUTCOME_NAMES).map(([name, told]) => [name, perSecond(before[told], row[told], seconds)])),
            lag: row.lag,
            line: row.line,
            times: timesOf(row),
            free: row.free,
        };
    });
}

/* Milliseconds; null: nothing was timed. */
const timesOf = (row) => Object.fromEntries(['purchase_p50', 'purchase_p99', 'sync_p50', 'sync_p99'].map((name) => [name, row[`${name}_us`] > 0 ? row[`${name}_us`] / 1000 : null]));

/* The answers of one sale as if they were all there are. Orders and payments of a sale are told in units. */
export function saleMetrics({ funnel, items }) {
    const metrics = { [DOOR]: {}, [PURCHASES]: {} };
    for (const [name, count] of Object.entries(funnel)) {
        const [layer, ...answer] = name.split('.');
        metrics[layer === 'door' ? DOOR : PURCHASES][answer.join('.')] = count;
    }
    const sum = (name) => items.reduce((total_, { counts }) => total_ + counts[name], 0);
    return { ...metrics, stampede_orders_written_total: sum('held') + sum('sold'), stampede_orders_reported_paid_total: sum('sold') };
}
