// SPDX-License-Identifier: Apache-2.0
/* Texts in several languages, from the form of the console to what readers of each language see. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { admin, base, eventually, EVIL, LOOKS, signedIn, visitor, wellMade } from './console_kit.mjs';

const HOUR_MS = 3_600_000;

describe('texts in several languages', () => {
    let sale, item;

    before(async () => {
        const product = await admin('POST', '/products', { name: '青瓷茶壶', description: '手工烧制。', list_price: 20_000, currency: 'CNY', images: [] });
        sale = await admin('POST', '/sales', { title: '早市', start_ms: Date.now() + HOUR_MS, end_ms: Date.now() + 2 * HOUR_MS });
        item = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10_000, total: 50 });
        await admin('POST', `/sales/${sale.id}/publish`);
    });

    test('an operator writes them, sees how they read, and sends only what was written', async () => {
        const { page, errors } = await signedIn(LOOKS[3], `sales/${sale.id}/items/${item.id}`);
        await page.getByText('In other languages').click();
        const english = page.getByRole('group', { name: 'English' });
        await page.getByLabel('How it reads in').selectOption('en');
        await page.locator('.seen', { hasText: '青瓷茶壶' }).waitFor(); /* nothing yet: what everybody reads */
        await english.getByLabel('Product name').fill('Celadon teapot');
        await page.locator('.seen', { hasText: 'Celadon teapot' }).waitFor();
        assert.match(await page.locator('.seen').textContent(), /手工烧制/);
        await wellMade(page, 'item-texts');
        const [sent] = await Promise.all([page.waitForRequest((request) => request.method() === 'PATCH'), page.getByRole('button', { name: 'Save' }).click()]);
        assert.deepEqual(sent.postDataJSON(), { texts: { en: { name: 'Celadon teapot' } } });
        await page.getByRole('heading', { name: '早市' }).waitFor();
        assert.deepEqual(errors, []);
    });

    test('the title of a sale has languages too, in the Chinese console as well', async () => {
        const { page, errors } = await signedIn(LOOKS[2], `sales/${sale.id}/edit`);
        await page.getByText('其他语言').click();
        await page.getByRole('group', { name: '英语' }).getByLabel('名称').fill('Morning sale');
        await wellMade(page, 'sale-texts');
        const [sent] = await Promise.all([page.waitForRequest((request) => request.method() === 'PATCH'), page.getByRole('button', { name: '保存' }).click()]);
        assert.deepEqual(sent.postDataJSON(), { texts: { en: { title: 'Morning sale' } } });
        await page.getByRole('heading', { name: '早市' }).waitFor();
        assert.deepEqual(errors, []);
    });

    test('each reader sees his own, at once when he changes the language', async () => {
        for (const look of [LOOKS[0], LOOKS[3]]) {
            const { page, errors } = await visitor(look);
            await page.goto(`${base}/`);
            const part = page.locator(`[data-sale="${sale.id}"]`);
            await part.getByRole('heading', { name: 'Morning sale' }).waitFor();
            await part.getByRole('heading', { name: 'Celadon teapot' }).waitFor();
            await page.getByRole('button', { name: '中文' }).click();
            await part.getByRole('heading', { name: '青瓷茶壶' }).waitFor();
            await part.getByRole('heading', { name: '早市' }).waitFor();
            await page.goto(`${base}/items/${item.id}/`);
            await page.getByRole('heading', { level: 1, name: '青瓷茶壶' }).waitFor();
            await page.getByRole('button', { name: 'EN', exact: true }).click();
            await page.getByRole('heading', { level: 1, name: 'Celadon teapot' }).waitFor();
            assert.match(await page.title(), /^Celadon teapot/);
            await page.getByText('手工烧制。').waitFor();
            assert.deepEqual(errors, []);
        }
    });

    test('a link in a language opens in it, unless the reader has chosen one', async () => {
        const { page, errors } = await visitor(LOOKS[1]);
        await page.goto(`${base}/items/${item.id}/en/`);
        await page.getByRole('heading', { level: 1, name: 'Celadon teapot' }).waitFor();
        assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
        await page.getByRole('button', { name: '中文' }).click();
        await page.getByRole('heading', { level: 1, name: '青瓷茶壶' }).waitFor();
        await page.reload();
        await page.getByRole('heading', { level: 1, name: '青瓷茶壶' }).waitFor();
        assert.deepEqual(errors, []);
    });

    test('a text of another language is text and nothing else', async () => {
        await admin('PATCH', `/products/${item.product}`, { texts: { en: { name: EVIL, description: EVIL } } });
        await eventually(async () => (await (await fetch(`${base}/items/${item.id}/en/`)).text()).includes('&lt;img'), 'not changed');
        const { page, errors } = await visitor(LOOKS[0]);
        for (const path of ['/', `/items/${item.id}/`, `/items/${item.id}/en/`]) {
            await page.goto(base + path);
            await page.getByRole('heading', { name: EVIL }).first().waitFor();
            assert.equal(await page.evaluate(() => window.evil), undefined, path);
        }
        assert.deepEqual(errors, []);
    });
});
