// SPDX-License-Identifier: Apache-2.0
/* The seconds around the start, in a real browser: what the thumb finds under it. SHOTS names a folder for
 * pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
    aheadOfStart,
    base,
    beyondOf,
    browserForTests,
    greyButton,
    itemAddress,
    liveButton,
    orderNumber,
    saleMake,
    seriousIn,
    shot,
    test,
} from './shop.mjs';
import { WORDS } from '../../../web/words.js';

const SMALL = { viewport: { width: 390, height: 664 }, hasTouch: true }; /* what a browser leaves of a phone */
const NARROW = { viewport: { width: 320, height: 568 }, hasTouch: true };
const WIDE = { viewport: { width: 1440, height: 900 } };
const CHINESE = { locale: 'zh-CN' };

const visitor = browserForTests();

/* Notes the button's rectangle at every change of the page, together with what the button says. */
function rectanglesWatch(page) {
    return page.evaluate(() => {
        window.rectangles = [];
        const look = () => {
            const button = document.querySelector('.buy');
            const { x, y, width, height } = button.getBoundingClientRect();
            window.rectangles.push({ at: [x, y, width, height].join(' '), words: button.textContent });
        };
        look();
        new MutationObserver(look).observe(document.body, {
            subtree: true, childList: true, attributes: true, characterData: true,
        });
    });
}

describe('around the start', { concurrency: 6 }, () => {
    for (const [name, options] of Object.entries({
        'a small phone': SMALL,
        'a narrow phone in Chinese': { ...NARROW, ...CHINESE },
        'a wide screen': WIDE,
        'a wide screen in Chinese': { ...WIDE, ...CHINESE },
    })) {
        test(`the button does not move by a pixel when it turns live (${name})`, async () => {
            const { page, errors } = await aheadOfStart(visitor, options, {}, 3_000, async ({ page: early }, { item }) => {
                await early.goto(itemAddress(item));
                await early.waitForSelector(greyButton);
                await early.waitForLoadState('networkidle'); /* the picture and the status are there */
                await rectanglesWatch(early);
            });
            await shot(page, `start-before-${name}`);
            await page.waitForSelector('.buy[data-near="true"]');
            await shot(page, `start-near-${name}`);
            await page.waitForSelector(liveButton);
            await page.waitForTimeout(1_000); /* what the start brings has come */
            await shot(page, `start-open-${name}`);
            const seen = await page.evaluate(() => window.rectangles);
            assert.deepEqual([...new Set(seen.map(({ at }) => at))].length, 1, JSON.stringify(seen));
            const words = seen.map((one) => one.words).join('|');
            assert.match(words, options.locale ? /\|\d\.\d 后开抢\|.*立即抢购/ : /\|Starts in \d\.\d\|.*Buy now/);
            assert.equal(await beyondOf(page), 0);
            assert.deepEqual(await seriousIn(page), []);
            assert.deepEqual(errors, []);
        });
    }

    test('nothing on the page moves at the start, the checklist keeps its place', async () => {
        const { page } = await aheadOfStart(visitor, SMALL, { details: true }, 2_000, async ({ page: early }, { item }) => {
            await early.goto(itemAddress(item));
            await early.locator('.ready-row').nth(1).waitFor();
        });
        await page.evaluate(() => {
            window.moved = 0;
            new PerformanceObserver((list) => list.getEntries().forEach(({ value }) => { window.moved += value; })).observe({ type: 'layout-shift' });
        });
        const before = await page.locator('.stock').boundingBox();
        await page.locator(liveButton).waitFor();
        await page.waitForTimeout(500);
        assert.deepEqual(await page.locator('.stock').boundingBox(), before);
        assert.ok((await page.evaluate(() => window.moved)) < 0.01);
        await page.locator(liveButton).click();
        await page.locator('.item[data-view="order"]').waitFor();
        assert.equal(await page.locator('.ready').isVisible(), false);
    });

    test('on a small phone the button with the countdown is on the first screen', async () => {
        const { item } = await saleMake({ startsInMs: 3_600_000 });
        const { page } = await visitor(SMALL);
        await page.goto(itemAddress(item));
        await page.waitForSelector(greyButton);
        const box = await page.locator('.buy').boundingBox();
        assert.ok(box.y > 0 && box.y + box.height <= SMALL.viewport.height, JSON.stringify(box));
        assert.equal(box.height, 60);
        for (const part of ['h1', '.price-flash', '.when'])
            assert.ok(await page.locator(part).evaluate((node) => node.getBoundingClientRect().top < innerHeight), part);
    });

    for (const [name, options] of [['phone', NARROW], ['wide', WIDE]])
        test(`no sentence moves the button or is cut off (${name})`, async () => {
            const { item } = await saleMake({ startsInMs: -1_000 });
            const { page } = await visitor(options);
            await page.goto(itemAddress(item));
            await page.waitForSelector(liveButton);
            const wrong = await page.evaluate((everyLanguage) => {
                const button = document.querySelector('.buy');
                const status = document.querySelector('.status');
                const dock = document.querySelector('.dock');
                const place = () => JSON.stringify(button.getBoundingClientRect());
                const first = place();
                const found = [];
                for (const words of everyLanguage) {
                    for (const [key, sentence] of Object.entries(words)) {
                        if (!/^(status|problem)\./.test(key))
                            continue;
                        status.textContent = sentence;
                        if (place() !== first)
                            found.push(`${key} moves the button`);
                        if (status.scrollWidth > status.clientWidth || dock.getBoundingClientRect().height > 190)
                            found.push(`${key} does not fit`);
                    }
                }
                return found;
            }, Object.values(WORDS));
            assert.deepEqual(wrong, []);
        });

    /* Ready before the start. */

    async function addressGive(page, [name, phone, address, save], fill) {
        await page.locator('.ready').getByRole('button', { name: fill }).click();
        assert.ok(await page.getByRole('textbox', { name }).evaluate((node) => node === document.activeElement));
        await page.getByRole('textbox', { name }).fill('王小明');
        await page.getByRole('textbox', { name: phone }).fill('138 0000 0000');
        await page.getByRole('textbox', { name: address }).fill('北京市海淀区 1 号');
        await page.getByRole('button', { name: save }).click();
    }

    for (const [language, options, words] of [
        ['English', SMALL, {
            fields: ['Name', 'Phone', 'Address', 'Save and go on'], fill: 'Fill in',
            todo: 'Do this now', ready: 'You are ready. One tap at the start.', quantity: 'Quantity: 2',
        }],
        ['Chinese', { ...WIDE, ...CHINESE }, {
            fields: ['姓名', '电话', '地址', '保存并继续'], fill: '填写',
            todo: '现在准备好', ready: '已准备就绪', quantity: '数量：2',
        }],
    ])
        test(`all that can be done before is done, and the tap is one request (${language})`, async () => {
            const wanted = { limit: 3, details: true, check: 'pow' };
            const { page, requests, errors, item } = await aheadOfStart(visitor, options, wanted, 300, async (early, made) => {
                await early.page.goto(itemAddress(made.item));
                await early.page.getByText(words.todo).waitFor();
                await shot(early.page, `ready-todo-${language}`, true);
                await addressGive(early.page, words.fields, words.fill);
                await early.page.selectOption('#quantity', { index: 1 });
                await early.page.getByText(words.quantity).waitFor();
                await early.page.getByText(words.ready).waitFor(); /* shortly before the start */
                await shot(early.page, `ready-done-${language}`);
            });
            assert.equal(await beyondOf(page), 0);
            await page.waitForSelector(liveButton);
            const before = requests.length;
            await page.evaluate(() => {
                window.wonAfter = new Promise((resolve) => {
                    const seen = new MutationObserver(() => {
                        if (document.querySelector('.order') === null || document.querySelector('.order').offsetParent === null)
                            return;
                        seen.disconnect();
                        resolve(performance.getEntriesByType('resource').filter(({ name, startTime }) =>
                            name.includes('/v1/') && !name.endsWith('/v1/time') && startTime >= window.tappedAt).map(({ name }) => new URL(name).pathname));
                    });
                    seen.observe(document.body, { subtree: true, childList: true, attributes: true });
                });
                document.querySelector('.buy').addEventListener('click', () => {
                    window.tappedAt = performance.now();
                }, { capture: true, once: true });
            });
            await page.click(liveButton);
            const asked = await page.evaluate(() => window.wonAfter);
            assert.deepEqual(asked, [`/v1/items/${item}/buy`]);
            assert.equal(requests.slice(before).find(({ path }) => path !== '/v1/time').path, `/v1/items/${item}/buy`);
            assert.equal(requests.filter(({ path }) => path.endsWith('/pass')).length, 1);
            await page.waitForSelector(orderNumber);
            await page.waitForSelector('.order .pay');
            assert.equal(await page.locator('.details-form:visible').count(), 0);
            const session = await page.evaluate(() => JSON.parse(localStorage.getItem('stampede.session')).session);
            const headers = { Authorization: `Bearer ${session}` };
            const number = await page.textContent(orderNumber);
            const order = await (await fetch(`${base}/v1/orders/${number}`, { headers })).json();
            assert.equal(order.quantity, 2);
            const details = await (await fetch(`${base}/v1/orders/${number}/details`, { headers })).json();
            assert.equal(details.address, '北京市海淀区 1 号');
            assert.deepEqual(errors, []);
        });

    test('what there is to do before the start can be read by all', async () => {
        const { item } = await saleMake({ startsInMs: 3_600_000, limit: 3, details: true, check: 'pow' });
        const { page } = await visitor(SMALL);
        await page.goto(itemAddress(item));
        await page.getByText('Do this now').waitFor();
        assert.deepEqual(await seriousIn(page), []);
    });

    test('an address that is being typed stays when the sale starts', async () => {
        const { page } = await aheadOfStart(visitor, SMALL, { details: true }, 0, async ({ page: early }, { item }) => {
            await early.goto(itemAddress(item));
            await early.locator('.ready').getByRole('button', { name: 'Fill in' }).click();
            await early.getByRole('textbox', { name: 'Name' }).fill('Ann');
        });
        await page.waitForSelector(liveButton);
        assert.equal(await page.getByRole('textbox', { name: 'Name' }).inputValue(), 'Ann');
        assert.ok(await page.getByRole('textbox', { name: 'Name' }).isVisible());
    });

    test('a check by picture is done ahead and is not asked for again', async () => {
        const { page, requests } = await aheadOfStart(visitor, SMALL, { check: 'image' }, 5_500, async ({ page: early }, { item }) => {
            await early.goto(itemAddress(item));
            await early.getByRole('button', { name: 'Do it now' }).click();
            await early.getByRole('button', { name: 'Let the computer do the work' }).click();
            await early.getByText('Short check done').waitFor();
        });
        await page.getByText('You are ready. One tap at the start.').waitFor();
        const asked = requests.filter(({ path }) => path.endsWith('/challenge')).length;
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        assert.equal(requests.filter(({ path }) => path.endsWith('/challenge')).length, asked);
    });
});
