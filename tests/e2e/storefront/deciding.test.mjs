// SPDX-License-Identifier: Apache-2.0
/* A purchase that is not decided yet, in a real browser. One machine never answers so: the test answers in its place.
 * SHOTS names a folder for pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { base, beyondOf, browserForTests, itemAddress, liveButton, orderNumber, saleMake, seriousIn, shot, test } from './shop.mjs';

const PHONE = { viewport: { width: 390, height: 664 }, hasTouch: true };
const visitor = browserForTests();
const LANGUAGES = [
    ['English', PHONE, {
        deciding: 'You are in line: we are deciding', won: 'You got it!', group: 'In line',
        void: 'Your purchase was not kept. You were not charged. Try again.', buy: 'Buy now',
    }],
    ['Chinese', { ...PHONE, locale: 'zh-CN' }, {
        deciding: '正在排队中', won: '恭喜，抢到了！', group: '排队中',
        void: '这次购买没有保留，未扣款。请再试一次。', buy: '立即抢购',
    }],
];

async function good(page) {
    assert.deepEqual(await seriousIn(page), []);
    assert.equal(await beyondOf(page), 0);
}

/* A purchase goes to the server, which wins it; the page hears `deciding` until the test decides: `keep` lets it have the
 * order, `lose` tells void. */
async function undecidedBuy(options) {
    const { item } = await saleMake({ startsInMs: -1_000 });
    const opened = await visitor(options);
    const { page } = opened;
    const said = new Set(); /* every title that the screen of a win ever had */
    let end = null;
    const ended = new Promise((resolve) => { end = resolve; });
    await page.route('**/v1/items/*/buy', async (route) => {
        const { ticket, quantity } = await (await route.fetch()).json();
        await route.fulfill({
            status: 202,
            headers: { 'Retry-After': '1', Location: `/v1/tickets/${ticket}` },
            json: { outcome: 'deciding', ticket, item, quantity },
        });
    });
    await page.route('**/v1/tickets/*', async (route) => {
        const ticket = new URL(route.request().url()).pathname.split('/').at(-1);
        const asksNow = route.request().url().includes('wait=0');
        const how = asksNow ? 'deciding' : await ended;
        if (how === 'keep')
            await route.continue();
        else
            await route.fulfill({ json: { ticket, state: how } });
    });
    await page.route('**/v1/orders', (route) => route.fulfill({ json: { orders: [] } })); /* nothing is kept yet */
    await page.exposeFunction('titleSaid', (title) => said.add(title));
    await page.addInitScript(() => {
        new MutationObserver(() => {
            const title = document.querySelector('.won-title')?.textContent;
            if (title)
                window.titleSaid(title);
        }).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await page.goto(itemAddress(item));
    await page.click(liveButton);
    return { ...opened, item, said, keep: () => end('keep'), lose: () => end('void') };
}

describe('a purchase that is being decided', { concurrency: 2 }, () => {
    for (const [language, options, words] of LANGUAGES) {
        test(`is in line, also after a reload and in the orders, and then it is won (${language})`, async () => {
            const { page, errors, said, buys, keep, item } = await undecidedBuy(options);
            const title = page.locator('.won-title');
            await title.getByText(words.deciding).waitFor();
            assert.equal(await page.isVisible('.order'), false);
            assert.equal(await page.isVisible('.buy'), false);
            await shot(page, `deciding-${language}`);
            await good(page);
            await page.reload();
            await title.getByText(words.deciding).waitFor();
            await page.goto(`${base}/?orders`);
            await page.locator('.order-row .badge').getByText(words.group, { exact: true }).waitFor();
            assert.equal(await page.isVisible('.timeline'), false, 'nothing has happened yet');
            await shot(page, `deciding-orders-${language}`);
            await good(page);
            await page.goto(itemAddress(item));
            await title.getByText(words.deciding).waitFor();
            assert.deepEqual([...said], [words.deciding], 'nothing is said to be won before it is');
            keep();
            await title.getByText(words.won).waitFor();
            await page.waitForSelector(orderNumber);
            await shot(page, `deciding-won-${language}`);
            await good(page);
            assert.equal(buys().length, 1);
            assert.deepEqual(errors, []);
        });

        test(`is told when it is void, and the button is there again (${language})`, async () => {
            const { page, errors, said, lose } = await undecidedBuy(options);
            await page.locator('.won-title').getByText(words.deciding).waitFor();
            lose();
            await page.locator('.status').getByText(words.void).waitFor();
            await page.locator(liveButton).getByText(words.buy).waitFor();
            await shot(page, `void-${language}`);
            await good(page);
            assert.deepEqual([...said], [words.deciding]);
            await page.reload();
            await page.waitForSelector(liveButton);
            assert.equal(await page.isVisible('.won'), false, 'it is forgotten');
            assert.deepEqual(errors, []);
        });
    }
});
