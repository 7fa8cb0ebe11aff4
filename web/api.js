// SPDX-License-Identifier: Apache-2.0
/* Every request the page makes. An answer is returned; anything else is thrown as a Refusal, whose
 * `type` is the last part of the problem's type, or `network` when no answer came at all. */

const TIMEOUT_MS = 8_000;
const LONG_POLL_S = 20;
const LONG_POLL_TIMEOUT_MS = (LONG_POLL_S + 12) * 1000;
const PAY_TIMEOUT_MS = 25_000; /* the server itself waits for the provider before it answers */

/* Exported pages name the server that they belong to, and a script in another page (embed.js) comes from it or names it; the
 * server's own pages ask where they come from. */
function serverFind(page) {
    const script = page?.currentScript; /* null: a module, hence a page of ours */
    if (script)
        return script.dataset.api ?? new URL(script.src).origin;
    return page?.querySelector?.('meta[name="api"]')?.content ?? '';
}
const API = serverFind(globalThis.document);
/* An address on that server: addresses that it names are seen from there. */
export const serverAddress = () => API || location.href;
/* Of its push connections. */
export const pushOrigin = () => (API || location.origin).replace(/^http/, 'ws');

export class Refusal extends Error {
    constructor(type, status, retryAfterMs, body) {
        super(type);
        this.type = type;
        this.status = status;
        this.retryAfterMs = retryAfterMs;
        this.body = body;
    }
}

/* Retry-After is seconds or a date; a date is measured against the answer's own Date header. */
function retryAfterRead(headers) {
    const text = headers.get('Retry-After');
    if (text === null)
        return 0;
    if (/^\d+$/.test(text))
        return Number(text) * 1000;
    const wait = Date.parse(text) - Date.parse(headers.get('Date') ?? '');
    return wait > 0 ? wait : 0;
}

function typeRead(status, body) {
    const named = /\/problems\/([a-z0-9-]+)$/.exec(body.type ?? '');
    if (named)
        return named[1];
    if (status === 429)
        return 'too-popular';
    return status >= 500 ? 'unavailable' : 'refused';
}

async function call(method, path, { headers = {}, body, timeoutMs = TIMEOUT_MS, signal } = {}) {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), timeoutMs);
    const stop = () => abort.abort();
    signal?.addEventListener('abort', stop);
    try {
        const response = await fetch(API + path, {
            method,
            headers,
            body,
            signal: abort.signal,
            cache: 'no-store',
            credentials: 'omit',
        });
        const text = await response.text();
        if (response.ok)
            return JSON.parse(text);
        let problem = {};
        try {
            problem = JSON.parse(text) ?? {};
        } catch {
            /* A proxy may answer in HTML; the status alone decides then. */
        }
        throw new Refusal(
            typeRead(response.status, problem),
            response.status,
            retryAfterRead(response.headers),
            problem,
        );
    } catch (error) {
        throw error instanceof Refusal ? error : new Refusal('network', 0, 0, {});
    } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
    }
}

const bearer = (token) => ({ Authorization: `Bearer ${token}` });

/* Reads of sales and items carry the session only where it sees other units than everybody does. */
let reader = {};
export function readAs(session) {
    reader = (session?.channel ?? 'web') === 'web' ? {} : bearer(session.session);
}

/* { now_ms, test }: test is true where no real money moves. */
export const timeGet = () => call('GET', '/v1/time');
/* { guests, pass_early_ms, challenge_ms, login_url }: how one gets in. */
export const shopGet = () => call('GET', '/v1/shop');
export const itemGet = (item) =>
    call('GET', `/v1/items/${encodeURIComponent(item)}`, { headers: reader });

/* Long lists come in pages: `next` is where the following one begins. */
async function pagesGet(path, list) {
    const first = await call('GET', path, { headers: reader });
    for (let { next } = first; next !== undefined; ) {
        const page = await call('GET', `${path}?after=${next}`, { headers: reader });
        first[list].push(...page[list]);
        ({ next } = page);
    }
    return first;
}

/* Sales with their first items, and how many are over: those that are not over, or those that are.
 * `after`: the `next` of the page before. */
export function salesGet({ ended = false, after } = {}) {
    const query = new URLSearchParams();
    if (ended)
        query.set('ended', '1');
    if (after !== undefined)
        query.set('after', after);
    return call('GET', String(query) === '' ? '/v1/sales' : `/v1/sales?${query}`, { headers: reader });
}

/* A sale with all of its items. */
export async function saleWhole(id) {
    const sale = await pagesGet(`/v1/sales/${id}`, 'items');
    return { ...sale, item_count: sale.items.length };
}

export const saleGet = (sale) => call('GET', `/v1/sales/${sale}`, { headers: reader });

export function sessionPost(token) {
    return call('POST', '/v1/session', { headers: token ? bearer(token) : {} });
}

/* `solution`: of the human check, where the sale asks for one. */
export function passPost(session, item, solution) {
    return solution === undefined
        ? call('POST', `/v1/items/${item}/pass`, { headers: bearer(session) })
        : jsonCall('POST', `/v1/items/${item}/pass`, session, { solution });
}

/* `kind` undefined: what the sale asks for. */
export function challengeGet(session, item, kind) {
    const query = kind === undefined ? '' : `?kind=${kind}`;
    return call('GET', `/v1/items/${item}/challenge${query}`, { headers: bearer(session) });
}

function wishPost(what, session, pass, item, key, quantity) {
    return call('POST', `/v1/items/${item}/${what}`, {
        headers: {
            ...bearer(session),
            'Stampede-Pass': pass,
            'Idempotency-Key': key,
            'Content-Type': 'application/json',
        },
        body: JSON.stringify({ quantity, channel: 'web' }),
    });
}

export const buyPost = (...wish) => wishPost('buy', ...wish);

/* For an item whose units are taken on payment: what to pay with intentPay. */
export const intentPost = (...wish) => wishPost('intent', ...wish);

function jsonCall(method, path, session, body, timeoutMs) {
    return call(method, path, {
        headers: { ...bearer(session), 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        timeoutMs,
    });
}

/* `details` may be undefined: not every sale wants any. */
export function intentPay(session, intent, provider, details) {
    const body = { intent, provider, details };
    return jsonCall('POST', '/v1/intents/pay', session, body, PAY_TIMEOUT_MS);
}

/* How this shop can be paid, and for how long a paid order can be given back. */
export const waysGet = (session) => call('GET', '/v1/payments', { headers: bearer(session) });

export function orderGet(session, order) {
    return call('GET', `/v1/orders/${encodeURIComponent(order)}`, { headers: bearer(session) });
}

export function payPost(session, order, provider) {
    return jsonCall('POST', `/v1/orders/${order}/pay`, session, { provider }, PAY_TIMEOUT_MS);
}

export function detailsPut(session, order, details) {
    return jsonCall('PUT', `/v1/orders/${order}/details`, session, details);
}

/* "I have paid": the provider is asked soon. */
export function queryPost(session, order) {
    return call('POST', `/v1/orders/${order}/query`, { headers: bearer(session) });
}

export function refundPost(session, order) {
    return call('POST', `/v1/orders/${order}/refund`, { headers: bearer(session) });
}

/* The sandbox's pay page: what is to be paid, and what its buttons do. */
const sandboxPath = (id) => `/sandbox/v1/pay/${encodeURIComponent(id)}`;
export const sandboxGet = (id) => call('GET', sandboxPath(id));

export function sandboxPost(id, how) {
    return call('POST', sandboxPath(id), {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ how }),
    });
}

export function mineGet(session, item) {
    return call('GET', `/v1/items/${item}/mine`, { headers: bearer(session) });
}

export function ordersGet(session) {
    return call('GET', '/v1/orders', { headers: bearer(session) });
}

export function cancelPost(session, order) {
    return call('POST', `/v1/orders/${order}/cancel`, { headers: bearer(session) });
}

/* `line`: waitlist or presale. */
export function waitlistGet(session, item, line = 'waitlist') {
    return call('GET', `/v1/items/${item}/${line}`, { headers: bearer(session) });
}

export function waitlistPost(session, pass, item, quantity, line) {
    return call('POST', `/v1/items/${item}/${line}`, {
        headers: { ...bearer(session), 'Stampede-Pass': pass, 'Content-Type': 'application/json' },
        body: JSON.stringify({ quantity }),
    });
}

export function waitlistDelete(session, item, line) {
    return call('DELETE', `/v1/items/${item}/${line}`, { headers: bearer(session) });
}

/* The waiting room of a sale: where one stands, and entering it. */
export const roomGet = (session, sale) => call('GET', `/v1/sales/${sale}/room`, { headers: bearer(session) });
export const roomPost = (session, sale) => call('POST', `/v1/sales/${sale}/room`, { headers: bearer(session) });

/* The draw of a waiting room as it is published, and the marks of all who came, as one text of hex digits. */
export const drawGet = (sale) => call('GET', `/v1/sales/${sale}/draw`);
export async function arrivalsGet(sale) {
    let marks = '';
    for (let after = 0; after !== undefined; ) {
        const page = await call('GET', `/v1/sales/${sale}/draw/arrivals?after=${after}`);
        marks += page.marks;
        after = page.next;
    }
    return marks;
}

/* The order behind a ticket; with a version it answers once the order has changed from it. `wait`: for so many seconds at most. */
export function ticketWait(session, ticket, version, signal, wait = LONG_POLL_S) {
    const since = version === undefined ? '' : `&version=${version}`;
    return call('GET', `/v1/tickets/${ticket}?wait=${wait}${since}`, {
        headers: bearer(session),
        timeoutMs: LONG_POLL_TIMEOUT_MS,
        signal,
    });
}
