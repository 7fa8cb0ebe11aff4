// SPDX-License-Identifier: Apache-2.0
/* Pictures of every page in both languages, on a phone and on a desktop, into the folder SHOTS: `make screens`. Each page is also shown
 * to axe, with all of its rules, in light and dark: nothing may be found, and nothing may be wider than the window. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import axe from 'axe-core';
import { browserForTests, base, beyondOf, itemAddress, liveButton, need, saleMake, test } from './shop.mjs';

const visitor = browserForTests();
const folder = need('SHOTS');
const SIZES = { phone: { width: 390, height: 664 }, desktop: { width: 1440, height: 900 } };
const PATIENCE_MS = 30_000; /* a page that does not come is not worth more */
const looked = { pictures: 0, looks: 0 };

/* Pages load their parts one by one: until the picture of the page stands still. */
async function stillStand(page) {
    await page.waitForLoadState('networkidle').catch(() => {});
    await page.waitForTimeout(300);
}

async function screen(page, name) {
    await stillStand(page);
    await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 70 });
    looked.pictures++;
    assert.ok((await beyondOf(page)) <= 0, `${name} goes sideways`);
    await page.evaluate(axe.source);
    for (const colorScheme of ['dark', 'light']) {
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate(() => window.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`), [], `${name}, ${colorScheme}`);
        looked.looks++;
    }
}

after(() => console.log(`axe: 0 violations in ${looked.looks} looks at ${looked.pictures} pages`));

async function consoleSignIn(page, named) {
    await page.goto(`${base}/console/`);
    await page.waitForSelector('#key');
    await screen(page, named('console-sign-in'));
    await page.fill('#key', need('ADMIN_KEY'));
    await page.keyboard.press('Enter');
    await page.waitForSelector('nav a[aria-current]');
}

async function soldOutMake() {
    const gone = await saleMake({ startsInMs: -1_000, total: 1 });
    const { session } = await (await fetch(`${base}/v1/session`, { method: 'POST' })).json();
    const headers = { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'the-only-one' };
    const ask = async (path, more = {}, body = '{}') => (await fetch(`${base}/v1/items/${gone.item}/${path}`, { method: 'POST', headers: { ...headers, ...more }, body })).json();
    const { pass } = await ask('pass');
    await ask('buy', { 'Stampede-Pass': pass }, '{"quantity":1}');
    return gone;
}

for (const [locale, language] of [['en-US', 'en'], ['zh-CN', 'zh']])
    for (const [size, viewport] of Object.entries(SIZES)) {
        const named = (name) => `${name}-${language}-${size}`;
        const look = { locale, viewport, reducedMotion: 'reduce' };

        test(`before the start, ${named('all')}`, async () => {
            const { page } = await visitor(look);
            page.setDefaultTimeout(PATIENCE_MS);
            const soon = await saleMake({ startsInMs: 3_500_000, details: true });
            await saleMake({ startsInMs: -1_000 });
            await page.goto(base);
            await page.locator('.card').first().waitFor();
            await screen(page, named('sales'));
            await page.goto(itemAddress(soon.item));
            await page.locator('.item .buy').waitFor();
            await screen(page, named('item-before'));
            await page.locator('.ready-row button:visible').first().click();
            await page.locator('.ready form').waitFor();
            await screen(page, named('item-address'));
            await page.goto(`${base}/nothing`);
            await screen(page, named('not-found'));
            await page.goto(itemAddress(4_000_000_000));
            await page.locator('.nowhere-title').waitFor();
            await screen(page, named('no-such-item'));
            await page.goto(`${base}/?orders`);
            await page.locator('.to-sales:visible').waitFor();
            await screen(page, named('orders-none'));
        });

        test(`bought and paid, ${named('all')}`, async () => {
            const { page } = await visitor(look);
            page.setDefaultTimeout(PATIENCE_MS);
            const open = await saleMake({ startsInMs: -1_000 });
            await page.goto(itemAddress(open.item));
            await page.locator(liveButton).waitFor();
            await screen(page, named('item-open'));
            await page.locator(liveButton).click();
            await page.locator('.order .pay').first().waitFor();
            await screen(page, named('won'));
            await page.goto(`${base}/?orders`);
            await page.locator('.order .pay').first().waitFor();
            await screen(page, named('orders'));
            await page.locator('.order .pay').first().click();
            await page.waitForURL(/\/sandbox\/pay\.html\?id=/);
            await page.locator('.rehearse:not([hidden])').waitFor();
            await screen(page, named('bank'));
            await page.locator('.rehearse button').first().click();
            await page.waitForURL(/orders/);
            await page.locator('.badge[data-state="paid"]').first().waitFor();
            await screen(page, named('orders-paid'));
            await page.goto(itemAddress(open.item));
            await page.locator('.won[data-kind="paid"]').waitFor();
            await screen(page, named('paid'));
        });

        test(`the room, the check, and nothing left, ${named('all')}`, async () => {
            const { page } = await visitor(look);
            page.setDefaultTimeout(PATIENCE_MS);
            const room = await saleMake({ startsInMs: 600_000, room: true });
            const checked = await saleMake({ startsInMs: -1_000, check: 'slider' });
            const gone = await soldOutMake();
            await page.goto(itemAddress(room.item));
            await page.locator(liveButton).click();
            await page.locator('.item[data-view="room"]').waitFor();
            await screen(page, named('waiting-room'));
            await page.goto(itemAddress(checked.item));
            await page.locator(liveButton).click();
            await page.locator('dialog.human[open]').waitFor();
            await screen(page, named('human-check'));
            await page.goto(itemAddress(gone.item));
            await page.locator('.item[data-phase="soldOut"]').waitFor();
            await screen(page, named('sold-out'));
            await page.locator('.item .buy').click();
            await page.locator('.wait-box[data-waiting="true"]').waitFor();
            await screen(page, named('waitlist'));
        });

        test(`the report, ${named('all')}`, async () => {
            const { page } = await visitor(look);
            page.setDefaultTimeout(PATIENCE_MS);
            const { sale } = await saleMake({ startsInMs: -1_000, room: true });
            await page.goto(`${base}/?report=${sale}`);
            await page.locator('.report-units').waitFor();
            await screen(page, named('report'));
        });

        test(`the console, ${named('all')}`, async () => {
            const { page } = await visitor(look);
            page.setDefaultTimeout(PATIENCE_MS);
            await consoleSignIn(page, named);
            const { orders } = await (await fetch(`${base}/admin/v1/orders?limit=1`, { headers: { Authorization: `Bearer ${need('ADMIN_KEY')}` } })).json();
            const [{ view: { order } }] = orders;
            const addresses = {
                live: 'live', sales: 'sales', calendar: `sales/day/${new Date().toISOString().slice(0, 10)}`, sale: 'sales/1', 'sale-new': 'sales/new',
                'sale-edit': 'sales/1/edit', item: 'sales/1/items/1', clone: 'sales/1/clone', run: 'run', orders: 'orders', order: `orders/${order}`,
                trouble: 'trouble', reports: 'after', report: 'after/1', settings: 'settings',
            };
            for (const [name, address] of Object.entries(addresses)) {
                await page.goto(`${base}/console/#/${address}`);
                await page.waitForSelector('h1');
                await screen(page, named(`console-${name}`));
            }
            await page.goto(`${base}/console/#/settings`);
            await page.locator('.panel .acts button').first().click();
            await page.locator('dialog.ask').waitFor();
            await screen(page, named('console-key'));
        });
    }
