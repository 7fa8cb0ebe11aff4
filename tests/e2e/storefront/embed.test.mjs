// SPDX-License-Identifier: Apache-2.0
/* An item in a page of another origin: EXPORT_URL is allowed to call the server (tests/e2e/kit/exported_shop.py), and stands in
 * for the shop's own page; another origin is not. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { browserForTests, need, seriousIn, shot, test } from './shop.mjs';

const visitor = browserForTests();
const shop = need('EXPORT_URL');
const api = need('EXPORT_API');
const item = need('EXPORT_ITEM');

const pageWith = (more = '') => `<!doctype html><html lang="en"><head><title>Shop</title><link rel="icon" href="data:,"><style>
    button { display: none } .stampede-item { --accent: #0a6b4f; --on-accent: #ffffff } h1 { color: #333333 }
    </style></head><body><main><h1>The shop's own page</h1>
    <script src="${api}/embed.js" data-item="${item}" ${more}></script></main></body></html>`;

let pages = 0;
async function shopPage({ page }, origin, more) {
    const name = `shop-${++pages}.html`;
    writeFileSync(join(need('EXPORT_FOLDER'), name), pageWith(more));
    await page.goto(`${origin}/${name}`);
}

for (const [language, width, words] of [['en', 1440, 'Buy now'], ['zh-CN', 390, '立即抢购']])
    test(`one script tag sells an item in another page, in ${language} at ${width} px`, async () => {
        const opened = await visitor({ viewport: { width, height: 800 } });
        const { page, errors } = opened;
        await shopPage(opened, shop, `data-language="${language}"`);
        const button = page.locator('.stampede-item .buy[aria-disabled="false"]');
        await button.waitFor();
        assert.match(await button.textContent(), new RegExp(words));
        const colour = await button.evaluate((node) => getComputedStyle(node).backgroundColor);
        assert.equal(colour, 'rgb(10, 107, 79)');
        assert.equal(await page.locator('.stampede-item .dock').evaluate((node) => getComputedStyle(node).position), 'static');
        assert.deepEqual(await seriousIn(page), []);
        await button.focus();
        await page.keyboard.press('Enter');
        await page.locator('.stampede-item .badge[data-state="pending"]').waitFor();
        await shot(page, `embed-${language}`);
        await page.locator('.stampede-item .order .pay').first().click();
        await page.waitForURL(`${api}/sandbox/pay.html*`);
        assert.deepEqual(errors, []);
    });

test('a page that is not allowed sells nothing', async () => {
    const opened = await visitor();
    const other = shop.replace('127.0.0.2', '127.0.0.3');
    await shopPage(opened, other);
    await opened.page.waitForFunction(() => document.querySelector('.stampede-item')?.shadowRoot.querySelector('.loading').textContent !== '');
    assert.equal(await opened.page.locator('.stampede-item .buy').isVisible(), false);
});
