// SPDX-License-Identifier: Apache-2.0
/* Exported pages at another origin than the server: EXPORT_URL is an nginx that carries them, EXPORT_API the server
 * (tests/e2e/kit/exported_shop.py). */

import assert from 'node:assert/strict';
import { browserForTests, liveButton, need, seriousIn, shot, test } from './shop.mjs';

const visitor = browserForTests();
const pages = need('EXPORT_URL');
const api = need('EXPORT_API');
const item = need('EXPORT_ITEM');

for (const [locale, width] of [['en-US', 1440], ['zh-CN', 390]])
    test(`a whole purchase works with the pages on another origin, at ${width} px in ${locale}`, async () => {
        const { page, errors } = await visitor({ locale, viewport: { width, height: 800 } });
        const asked = [];
        page.on('request', (request) => asked.push(new URL(request.url())));
        await page.goto(`${pages}/`);
        await page.locator(`.card[href="/items/${item}/"]`).click();
        await page.waitForURL(`${pages}/items/${item}/`);
        await page.reload();
        await page.locator(liveButton).waitFor();
        assert.equal(await page.locator('h1').count(), 1);
        assert.deepEqual(await seriousIn(page), []);
        const before = asked.filter(({ pathname }) => pathname.startsWith('/v1/')).map(({ pathname }) => pathname);
        assert.deepEqual([...new Set(before)].sort(), [`/v1/items/${item}`, '/v1/sales', '/v1/shop', '/v1/time']);
        await page.locator(liveButton).click();
        await page.locator('.order .pay').first().click();
        await page.waitForURL(`${api}/sandbox/pay.html*`);
        await page.locator('button.pay').click();
        await page.waitForURL(`${pages}/?orders`);
        await page.locator('.badge[data-state="paid"]').waitFor();
        assert.ok(asked.every((url) => [pages, api].includes(url.origin) || url.protocol === 'data:'), 'a third party was asked');
        assert.deepEqual(errors, []);
        await shot(page, `export-paid-${width}`);
    });

test('without JavaScript an item can be read', async () => {
    for (const [locale, width] of [['en-US', 390], ['zh-CN', 1440]]) {
        const { page } = await visitor({ locale, javaScriptEnabled: false, viewport: { width, height: 664 } });
        await page.goto(`${pages}/items/${item}/`);
        assert.equal(await page.locator('h1').textContent(), 'Phone');
        assert.match(await page.locator('.price-flash').textContent(), /999\.00 CNY/);
        assert.match(await page.locator('.dock-lines').textContent(), /JavaScript to buy/);
        assert.equal(await page.locator('.description').textContent(), 'A phone.');
        assert.ok(await page.locator('.description').isVisible());
        assert.ok(await page.locator('main img').isVisible());
        await shot(page, `export-no-script-${width}`);
    }
});
