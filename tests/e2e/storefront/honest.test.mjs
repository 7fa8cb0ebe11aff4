// SPDX-License-Identifier: Apache-2.0
/* What the page says while a purchase is under way, or can't be: the truth, and one truth at a time. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
    answer,
    browserForTests,
    itemAddress,
    liveButton,
    orderNumber,
    saleMake,
    seriousIn,
    shot,
    test,
} from './shop.mjs';

const PHONE = { viewport: { width: 390, height: 664 }, hasTouch: true };
const WIDE = { viewport: { width: 1440, height: 900 } };
const visitor = browserForTests();

/* Every sentence of the dock together with the stock beside it, as they appear. */
function watched(page) {
    return page.evaluate(() => {
        window.said = [];
        const look = () => {
            const part = (name) => document.querySelector(name)?.textContent ?? '';
            const now = [part('.buy'), part('.status'), part('.stock-words')].join(' | ');
            if (window.said.at(-1) !== now)
                window.said.push(now);
        };
        look();
        new MutationObserver(look).observe(document.body, {
            subtree: true, childList: true, attributes: true, characterData: true,
        });
    });
}
const said = (page) => page.evaluate(() => window.said);

async function open(item, options) {
    const opened = await visitor(options);
    await opened.page.goto(itemAddress(item));
    await opened.page.waitForSelector(liveButton);
    await watched(opened.page);
    return opened;
}

describe('honest words', { concurrency: 4 }, () => {
    test('who taps without a connection is told so, and it goes on by itself', async () => {
        const { item } = await saleMake({ startsInMs: -1_000 });
        const { page, context, buys } = await open(item, PHONE);
        await context.setOffline(true);
        await page.click(liveButton);
        await page.getByText('No connection. We’ll carry on as soon as you are back online.').waitFor();
        await page.getByRole('button', { name: 'No connection' }).waitFor();
        await shot(page, 'honest-offline');
        assert.equal(buys().length, 0);
        await context.setOffline(false);
        await page.waitForSelector(orderNumber);
        assert.doesNotMatch((await said(page)).join('\n'), /queue/i);
    });

    test('a busy shop is told with the tries, in both languages, and nobody is promised a place', async () => {
        const { item } = await saleMake({ startsInMs: -1_000 });
        for (const [locale, words] of [['en-US', /trying again by itself \(2 of 6\)/i], ['zh-CN', /正在自动重试（第 2 次，共 6 次）/]]) {
            const { page } = await open(item, { ...PHONE, locale });
            let refusals = 2;
            await page.route('**/buy', (route) => (refusals-- <= 0 ? route.continue() : route.fulfill({
                status: 503,
                headers: { 'Retry-After': '1' },
                contentType: 'application/problem+json',
                body: JSON.stringify({ type: '/problems/too-popular', status: 503 }),
            })));
            await page.click(liveButton);
            await page.getByText(words).waitFor();
            await shot(page, `honest-busy-${locale}`);
            await page.waitForSelector(orderNumber);
            const all = (await said(page)).join('\n');
            assert.match(all, words);
            assert.doesNotMatch(all, /queue|队/i);
        }
    });

    test('a lost answer is told as such', async () => {
        const { item } = await saleMake({ startsInMs: -1_000 });
        const { page } = await open(item, WIDE);
        let losses = 1;
        await page.route('**/buy', (route) => (losses-- > 0 ? route.abort('connectionreset') : route.continue()));
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        assert.match((await said(page)).join('\n'), /No answer\. Trying again by itself \(2 of 6\); you will not buy twice\./);
    });

    test('a unit that comes back is shown with its count, never as "buy now" beside "0 left"', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, total: 1 });
        const owner = await open(item, WIDE);
        const other = await open(item, PHONE);
        /* Who has a session hears of it by push. */
        await other.page.evaluate(async () => {
            const opened = await (await fetch('/v1/session', { method: 'POST' })).json();
            localStorage.setItem('stampede.session', JSON.stringify(opened));
        });
        await owner.page.click(liveButton);
        await owner.page.waitForSelector(orderNumber);
        assert.match((await said(owner.page)).at(-1), /\| 0 of 1 left$/);
        await other.page.reload();
        await other.page.getByRole('button', { name: 'Join the waitlist' }).waitFor();
        await watched(other.page);
        await shot(other.page, 'honest-sold-out');
        assert.deepEqual(await seriousIn(other.page), []);
        await other.page.waitForFunction(() => performance.getEntriesByType('resource').length > 0);
        await owner.page.locator('.order-cancel').click();
        await answer(owner.page, 'Yes, cancel it');
        await other.page.getByRole('button', { name: 'Buy now' }).waitFor();
        for (const now of await said(other.page))
            assert.ok(!/^Buy now/.test(now) || /\| 1 of 1 left$/.test(now), now);
    });
});
