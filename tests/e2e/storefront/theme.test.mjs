// SPDX-License-Identifier: Apache-2.0
/* The shop's own look: THEME_URL is a server whose page.theme has a name, colours, links and a language that is written from
 * right to left (tests/e2e/kit/themed_shop.py). */

import assert from 'node:assert/strict';
import { beyondOf, browserForTests, need, seriousIn, shot, test } from './shop.mjs';

const visitor = browserForTests();
const shop = need('THEME_URL');

const styleOf = (page, variable) =>
    page.evaluate((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(), variable);

for (const [locale, name, link, title] of [
    ['en-US', 'Tea House', 'Imprint', 'Tea at noon'],
    ['zh-CN', '茶舍', '版权信息', '限时秒杀'],
])
    test(`name, logo, links and words are the shop's, in ${locale}`, async () => {
        for (const [scheme, accent] of [['light', '#0a6b4f'], ['dark', '#7fe0bd']]) {
            const { page, errors } = await visitor({ locale, colorScheme: scheme, viewport: { width: 390, height: 664 } });
            await page.goto(shop);
            await page.locator('.card').first().waitFor();
            assert.equal(await page.locator('.brand').textContent().then((text) => text.trim()), name);
            assert.match(await page.locator('.brand img').getAttribute('src'), /^\/logo-[0-9a-f]{16}\.svg$/);
            assert.equal(await page.locator('.brand').getAttribute('href'), 'https://tea.example/');
            assert.equal(await page.locator('h1').textContent(), title);
            assert.ok((await page.title()).includes(name), await page.title());
            const imprint = page.getByRole('link', { name: link });
            assert.equal(await imprint.getAttribute('href'), 'https://tea.example/imprint');
            assert.equal(await styleOf(page, '--accent'), accent);
            assert.deepEqual(await seriousIn(page), []);
            assert.equal(await beyondOf(page), 0);
            assert.deepEqual(errors, []);
            await shot(page, `theme-${locale}-${scheme}`);
        }
    });

test('a language that is written from right to left fits the page', async () => {
    for (const width of [320, 390, 1440]) {
        const { page, errors } = await visitor({ locale: 'ar-EG', viewport: { width, height: 800 } });
        await page.goto(shop);
        await page.locator('.card').first().waitFor();
        assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
        assert.equal(await page.locator('nav a').first().textContent(), 'العروض');
        assert.equal(await beyondOf(page), 0);
        await page.locator('.card').first().click();
        await page.locator('.item .buy').waitFor();
        assert.equal(await beyondOf(page), 0);
        assert.deepEqual(await seriousIn(page), []);
        await page.getByRole('button', { name: 'EN', exact: true }).click();
        assert.equal(await page.locator('html').getAttribute('dir'), 'ltr');
        assert.deepEqual(errors, []);
        await shot(page, `theme-rtl-${width}`);
    }
});
