// SPDX-License-Identifier: Apache-2.0
/* Pictures of every page in both languages, on a phone and on a desktop, into the folder SHOTS: `make screens`. */

import { browserForTests, admin, base, itemAddress, liveButton, need, saleMake, test } from './shop.mjs';
import { join } from 'node:path';

const visitor = browserForTests();
const folder = need('SHOTS');
const SIZES = { phone: { width: 390, height: 664 }, desktop: { width: 1440, height: 900 } };
const CONSOLE = ['live', 'sales', 'orders', 'trouble'];

async function screen(page, name) {
    await page.waitForTimeout(300); /* pictures and the first numbers */
    await page.screenshot({ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 70 });
}

for (const [locale, language] of [['en-US', 'en'], ['zh-CN', 'zh']])
    for (const [size, viewport] of Object.entries(SIZES)) {
        const named = (name) => `${name}-${language}-${size}`;

        test(`the storefront, ${named('all')}`, async () => {
            const { page } = await visitor({ locale, viewport });
            const soon = await saleMake({ startsInMs: 3_600_000 });
            const open = await saleMake({ startsInMs: -1_000 });
            const room = await saleMake({ startsInMs: 600_000, room: true });
            await page.goto(base);
            await page.locator('.card').first().waitFor();
            await screen(page, named('sales'));
            await page.goto(itemAddress(soon.item));
            await page.locator('.item .buy').waitFor();
            await screen(page, named('item-before'));
            await page.goto(itemAddress(open.item));
            await page.locator(liveButton).waitFor();
            await screen(page, named('item-open'));
            await page.locator(liveButton).click();
            await page.locator('.order .pay').first().waitFor();
            await screen(page, named('won'));
            await page.goto(`${base}/?orders`);
            await page.locator('.order .pay').first().waitFor();
            await screen(page, named('orders'));
            await page.goto(itemAddress(room.item));
            await page.locator(liveButton).click();
            await page.locator('.item[data-view="room"]').waitFor();
            await screen(page, named('waiting-room'));
            const gone = await saleMake({ startsInMs: -1_000, total: 1 });
            await admin(`/items/${gone.item}/adjust`, { delta: -1, channel: 'web' });
            await page.goto(itemAddress(gone.item));
            await page.locator('.item[data-phase="soldOut"]').waitFor();
            await screen(page, named('sold-out'));
            await page.goto(`${base}/nothing`);
            await screen(page, named('not-found'));
        });

        test(`the console, ${named('all')}`, async () => {
            const { page } = await visitor({ locale, viewport });
            await page.goto(`${base}/console/`);
            await page.fill('#key', need('ADMIN_KEY'));
            await screen(page, named('console-sign-in'));
            await page.keyboard.press('Enter');
            await page.waitForSelector('nav a[aria-current]');
            for (const name of CONSOLE) {
                await page.goto(`${base}/console/#/${name}`);
                await page.waitForSelector('h1');
                await screen(page, named(`console-${name}`));
            }
        });
    }
