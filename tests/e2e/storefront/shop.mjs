// SPDX-License-Identifier: Apache-2.0
/* What the storefront tests need around a page: a browser, a sale of its own, and a record of what
 * the page asked for. BASE_URL, ADMIN_KEY and ITEM_ID name a running server with a demo sale open;
 * CHROMIUM names the browser where it is not on the PATH. Each file has a browser and a server of its own
 * (tools/test-storefront), so that files can run side by side. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { after, before, test as nodeTest } from 'node:test';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { browserFind } from '../kit/browser.mjs';

const SHOWN_LOOKS_MAX = 1_000;
const SHOWN_LOOK_MS = 20;
const PATIENCE_MS = 120_000; /* with a page on a machine that has ten other things to do */
const LEADS_MS = [12_000, 45_000, 180_000]; /* before a start, for who must be ready by then */
const FLAGS = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
];

export function need(name) {
    const value = process.env[name];
    if (!value)
        throw new Error(`${name} is not set`);
    return value;
}

export const base = need('BASE_URL').replace(/\/$/, '');
export const demoItem = need('ITEM_ID');
const adminKey = need('ADMIN_KEY');

export async function admin(path, body, method = 'POST') {
    const response = await fetch(`${base}/admin/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${adminKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body ?? {}),
    });
    if (!response.ok)
        throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
}

export async function serverNow() {
    return (await (await fetch(`${base}/v1/time`)).json()).now_ms;
}

/* The edges take a new catalog up in their own time. */
async function itemShown(id) {
    for (let looks = 0; looks < SHOWN_LOOKS_MAX; looks++) {
        const response = await fetch(`${base}/v1/items/${id}`);
        await response.arrayBuffer();
        if (response.ok)
            return;
        await new Promise((resolve) => setTimeout(resolve, SHOWN_LOOK_MS));
    }
    throw new Error(`item ${id} is published but not shown`);
}

/* Publishes a sale with one item; `startsInMs` may be negative for a sale that is open already. */
export async function saleMake({
    startsInMs,
    total = 10,
    limit = 1,
    details = false,
    deduct = false,
    room = false,
    beacon = '',
    check = 'none',
    picture = true,
}) {
    const product = await admin('/products', {
        name: 'Test watch',
        description: 'For the storefront test.',
        images: picture ? ['/demo/watch.svg'] : [],
        list_price: 329900,
        currency: 'CNY',
    });
    const start = (await serverNow()) + startsInMs;
    const sale = await admin('/sales', {
        start_draw_ms: 0, /* the first click wins */
        return_draw_ms: 0,
        cooldown_s: 0,
        title: 'Storefront test',
        start_ms: start,
        end_ms: start + 3_600_000,
        limit_per_user: 0,
        details_required: details,
        waiting_room: room,
        beacon_name: beacon,
        human_check: check,
    });
    const item = await admin('/items', {
        sale: sale.id,
        product: product.id,
        flash_price: 129900,
        limit_per_user: limit,
        deduct_on_payment: deduct,
        total,
        channels: { web: total },
    });
    await admin(`/sales/${sale.id}/publish`);
    await itemShown(item.id);
    return { sale: sale.id, item: item.id, startMs: start };
}

const visits = new AsyncLocalStorage(); /* the contexts that the test under way has opened */

/* An answer that is still on its way through a route comes to nobody, and is no mistake. */
async function visitEnd(context) {
    await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
    await context.close();
}

/* node's, but the pages that the test has opened are closed when it ends: they would go on asking and drawing. */
export function test(name, run) {
    return nodeTest(name, () => visits.run([], async () => {
        try {
            await run();
        } finally {
            await Promise.all(visits.getStore().map(visitEnd));
        }
    }));
}

/* A fresh visitor: a context of its own, hence a guest of its own. */
async function visitorOpen(browser, options = {}) {
    const context = await browser.newContext({
        locale: 'en-US',
        viewport: { width: 1280, height: 860 },
        reducedMotion: 'reduce',
        ...options,
    });
    visits.getStore().push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const errors = [];
    const requests = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning')
            errors.push(message.text());
    });
    page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.pathname.startsWith('/v1/'))
            requests.push({
                method: request.method(),
                path: url.pathname,
                query: url.search,
                headers: request.headers(),
            });
    });
    const buys = () => requests.filter((request) => request.path.endsWith('/buy'));
    return { context, page, errors, requests, buys };
}

/* A browser for one file of tests, and fresh visitors in it. */
export function browserForTests() {
    let browser;
    before(async () => {
        browser = await chromium.launch({ executablePath: browserFind(), headless: true, args: FLAGS });
    });
    after(() => browser?.close());
    return (options) => visitorOpen(browser, options);
}

/* A sale that starts soon, and a visitor who is ready for it: `arrive` is done with his page `spareMs` before the start. A
 * machine that is too busy for that gets another sale, with more time. */
export async function aheadOfStart(visitor, options, sale, spareMs, arrive) {
    for (const startsInMs of LEADS_MS) {
        const made = await saleMake({ ...sale, startsInMs });
        const opened = await visitor(options);
        opened.context.setDefaultTimeout(startsInMs);
        try {
            await arrive(opened, made);
            if ((await serverNow()) < made.startMs - spareMs) {
                opened.context.setDefaultTimeout(PATIENCE_MS);
                return { ...opened, ...made };
            }
        } catch (error) {
            if ((await serverNow()) < made.startMs)
                throw error;
        }
        await visitEnd(opened.context);
    }
    throw new Error('no visitor was ready before a start');
}

/* How long a timer of the page, and of this process, was late at most: what a busy machine does to both. */
export async function lateTimersWatch(page) {
    const watch = () => {
        const TICK_MS = 20;
        let last = performance.now();
        globalThis.timersLateMs = 0;
        setInterval(() => {
            const now = performance.now();
            globalThis.timersLateMs = Math.max(globalThis.timersLateMs, now - last - TICK_MS);
            last = now;
        }, TICK_MS).unref?.();
    };
    watch();
    await page.addInitScript(watch);
    return async () => globalThis.timersLateMs + (await page.evaluate(() => globalThis.timersLateMs));
}

/* What axe finds serious on the page as it is now. */
export async function seriousIn(page) {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run());
    return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
}

/* Answers the question that a press has brought up. */
export async function answer(page, name) {
    await page.locator('dialog.question').getByRole('button', { name }).click();
    await page.locator('dialog.question').waitFor({ state: 'detached' });
}

/* Pictures of what was seen, where SHOTS names a folder for them. */
export async function shot(page, name, fullPage = false) {
    if (process.env.SHOTS)
        await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage });
}

/* How many pixels the page is wider than its window. */
export function beyondOf(page) {
    return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

export const itemAddress = (item) => `${base}/?item=${item}`;
export const liveButton = '.buy[aria-disabled="false"]';
export const greyButton = '.buy[aria-disabled="true"]';
export const orderNumber = '.order:has(.badge[data-state="pending"]) .fact:first-child dd';
