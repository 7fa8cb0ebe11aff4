// SPDX-License-Identifier: Apache-2.0
/* What the console's tests share: a demo server and a browser of their own, signing in, and how a page must look to axe. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import { browserFind } from '../kit/browser.mjs';

const SERVER = process.env.TEST_SERVER ?? new URL('../../../build/release/stampede', import.meta.url).pathname;
const SETTINGS = (process.env.CONSOLE_SETTINGS ?? '').split(' ').filter(Boolean); /* of a file that needs some: NAME=VALUE … */
const PATIENCE_MS = 60_000;
export const LOOKS = [
    { locale: 'en-US', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
    { locale: 'zh-CN', viewport: { width: 390, height: 664 }, colorScheme: 'light' },
    { locale: 'zh-CN', viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
    { locale: 'en-US', viewport: { width: 390, height: 664 }, colorScheme: 'dark' },
];

export let base, key, invitation;
let browser, server, folder, shop;
const contexts = [];

before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stampede-console-'));
    shop = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end())).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    writeFileSync(join(folder, 'webhook.secret'), 'whsec_c2VjcmV0IG9mIHRoZSBzaG9wIGZvciB0ZXN0cyE=', { mode: 0o600 });
    const webhook = { url: `http://127.0.0.1:${shop.address().port}/`, secret_file: join(folder, 'webhook.secret'), allow_private: 'yes' };
    server = spawn(SERVER, ['demo', '--port', '0', '--data', join(folder, 'data'), '--set', 'human.pictures=2', ...SETTINGS.flatMap((set) => ['--set', set]), ...Object.entries(webhook).flatMap(([name, value]) => ['--set', `webhook.${name}=${value}`])],
        { stdio: ['ignore', 'pipe', 'ignore'] });
    const said = await new Promise((resolve, reject) => {
        let text = '';
        server.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
        server.stdout.on('data', (bytes) => {
            text += bytes;
            if (text.includes('Ctrl-C'))
                resolve(text);
        });
    });
    [, base, invitation] = /console +(http:[^ ]+)\/console\/#(once_\S+)/.exec(said);
    [, key] = /admin key: (\S+)/.exec(said);
    browser = await chromium.launch({ executablePath: browserFind(), headless: true, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'] });
});

after(async () => {
    for (const context of contexts)
        await context.close();
    await browser?.close();
    if (server && server.exitCode === null) {
        const ended = new Promise((resolve) => server.once('exit', resolve));
        server.kill('SIGTERM');
        await ended;
    }
    shop?.close();
    rmSync(folder, { recursive: true, force: true });
});

export async function visitor(options = LOOKS[0]) {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    return { page, context, errors };
}

export async function signedIn(options, screen = 'live') {
    const opened = await visitor(options);
    await opened.page.goto(`${base}/console/#/${screen}`);
    await opened.page.fill('#key', key);
    await opened.page.click('button[type=submit]');
    await opened.page.waitForSelector('nav a[aria-current]');
    return opened;
}

export const dataFolder = () => join(folder, 'data');

/* A password for the console, and the server reads it. */
export function passwordSet(name, role, password) {
    const done = spawnSync(SERVER, ['key', 'password', '--name', name, '--role', role, '--file', join(folder, 'data', 'admin.keys')], { input: `${password}\n` });
    assert.equal(done.status, 0, String(done.stderr));
    server.kill('SIGHUP');
}

/* Until it says something true. */
export async function eventually(look, what) {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
        const seen = await look();
        if (seen)
            return seen;
    }
    return assert.fail(what);
}

export async function admin(method, path, body) {
    const response = await fetch(`${base}/admin/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
        body: body && JSON.stringify(body),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return response.json();
}

async function violationsIn(page) {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

const beyond = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/* Looks at the page as it is: nothing for axe to find, nothing wider than the window. */
export async function wellMade(page, name) {
    assert.deepEqual(await violationsIn(page), [], name);
    assert.ok((await beyond(page)) <= 0, `${name} goes sideways`);
    if (process.env.SHOTS)
        await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
}

/* 2 x 2 pixels; the server makes it anew. */
export const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR42mNgCFgAQowBC4AIABfXA8PTQSmMAAAAAElFTkSuQmCC', 'base64');
export const EVIL = '<img src=x onerror="window.evil=1"><script>window.evil=1</script>';

export const dialog = (page) => page.locator('dialog.ask');

/* Presses a button of the page by keyboard, reads what it says it will do, and says yes. */
export async function act(page, name, says) {
    const button = page.getByRole('button', { name, exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByText(says).waitFor();
    await dialog(page).getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
}

/* A guest who buys one unit of an item that is on sale. */
export async function buy(item) {
    const { session } = await (await fetch(`${base}/v1/session`, { method: 'POST' })).json();
    const headers = { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json', 'Idempotency-Key': `guest-${Math.random()}` };
    const { pass } = await (await fetch(`${base}/v1/items/${item}/pass`, { method: 'POST', headers, body: '{}' })).json();
    const won = await (await fetch(`${base}/v1/items/${item}/buy`, { method: 'POST', headers: { ...headers, 'Stampede-Pass': pass }, body: '{"quantity":1}' })).json();
    const ask = async (method, path, body) => (await fetch(`${base}${path}`, { method, headers, body: body && JSON.stringify(body) })).json();
    const order = await ask('GET', `/v1/tickets/${won.ticket}?wait=20`);
    return { order: order.order, ask };
}
