// SPDX-License-Identifier: Apache-2.0
/* How it ends, in a real browser: won, lost, declined. SHOTS names a folder for pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
    admin,
    base,
    beyondOf,
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

async function good(page) {
    assert.deepEqual(await seriousIn(page), []);
    assert.equal(await beyondOf(page), 0);
}

async function bought(item, options) {
    const opened = await visitor(options);
    await opened.page.goto(itemAddress(item));
    await opened.page.click(liveButton);
    await opened.page.waitForSelector(orderNumber);
    return opened;
}

describe('the outcome', { concurrency: 3 }, () => {
    for (const [language, options, title, pay] of [
        ['English', PHONE, 'You got it!', 'Pay with Sandbox'],
        ['Chinese', { ...WIDE, locale: 'zh-CN' }, '恭喜，抢到了！', '去支付（沙盒支付）'],
    ])
        test(`a win is a screen of its own, with the time and the way to pay at first sight (${language})`, async () => {
            const { item } = await saleMake({ startsInMs: -1_000 });
            const { page, errors } = await bought(item, options);
            assert.equal(await page.textContent('.won-title'), title);
            assert.match(await page.textContent('.won-clock'), /^1[45]:\d\d$/);
            await page.getByRole('button', { name: pay }).waitFor();
            for (const part of ['.won-title', '.won-clock', '.order .pay']) {
                const box = await page.locator(part).first().boundingBox();
                assert.ok(box.y >= 0 && box.y + box.height <= options.viewport.height, `${part} ${JSON.stringify(box)}`);
            }
            for (const gone of ['.buy', '.stock', '.prices'])
                assert.equal(await page.isVisible(gone), false, gone);
            await shot(page, `won-${language}`);
            await good(page);
            assert.deepEqual(errors, []);
        });

    test('who may have more gets back to the item', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, limit: 2 });
        const { page } = await bought(item, PHONE);
        await page.getByRole('button', { name: 'Back to the item' }).click();
        await page.waitForSelector('.buy:visible');
        await page.waitForSelector(liveButton);
        await page.click(liveButton);
        await page.locator('.won-title').waitFor();
        await good(page);
    });

    test('a declined payment is told, with the way to try again', async () => {
        const { item } = await saleMake({ startsInMs: -1_000 });
        const { page } = await bought(item, PHONE);
        await page.click('.order .pay');
        await page.waitForURL(/\/sandbox\/pay\.html\?id=/);
        await page.getByRole('button', { name: 'Decline' }).click();
        await page.waitForURL(`${base}/?orders`);
        await page.getByText('The payment with Sandbox was declined or stopped. Nothing was taken').waitFor();
        await page.waitForSelector('.order .pay[aria-disabled="false"]');
        await shot(page, 'declined');
        await good(page);
    });

    for (const [language, options, words] of [
        ['English', PHONE, { came: /You tapped \d+\.\d s after the start\. By then nothing was left \(of 1\)\./, join: 'Join the waitlist', number: 'On the waitlist: number 1' }],
        ['Chinese', { ...WIDE, locale: 'zh-CN' }, { came: /您在开始后 \d+\.\d 秒点击/, join: '加入候补', number: '候补中：第 1 位' }],
    ])
        test(`who came too late learns by how much, and what else there is (${language})`, async () => {
            const { item, sale } = await saleMake({ startsInMs: -1_000, total: 1 });
            const product = await admin('/products', { name: 'Another watch', list_price: 5000, currency: 'CNY' });
            const other = await admin('/items', { sale, product: product.id, flash_price: 4000, total: 5, channels: { web: 5 } });
            const { page, errors } = await visitor(options);
            await page.goto(itemAddress(item));
            await page.waitForSelector(liveButton);
            await page.route('**/v1/items/*', (route) => route.abort()); /* it does not learn before it taps */
            await bought(item, WIDE);
            await page.click(liveButton);
            await page.getByText(words.came).waitFor();
            await page.unrouteAll({ behavior: 'ignoreErrors' });
            await page.locator(`.lost-link[href="/items/${other.id}/"]`).waitFor();
            await shot(page, `lost-${language}`, true);
            await good(page);
            const main = page.getByRole('button', { name: words.join });
            assert.ok((await main.boundingBox()).y < options.viewport.height);
            await main.click();
            await page.getByRole('button', { name: words.number }).waitFor();
            await good(page);
            errors.splice(0, errors.length, ...errors.filter((error) => !/ERR_FAILED|409/.test(error)));
            assert.deepEqual(errors, []);
        });

    /* My orders. */

    test('orders are grouped: to pay, paid, waitlists, past', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, limit: 3 });
        const gone = await saleMake({ startsInMs: -1_000, total: 0 });
        const { page, errors } = await bought(item, PHONE);
        const session = await page.evaluate(() => JSON.parse(localStorage.getItem('stampede.session')).session);
        const headers = { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json' };
        const orders = async () => (await (await fetch(`${base}/v1/orders`, { headers })).json()).orders;
        const [first] = await orders();
        await fetch(`${base}/v1/orders/${first.order}/cancel`, { method: 'POST', headers });
        await page.goto(itemAddress(item));
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        await page.goto(itemAddress(gone.item));
        await page.getByRole('button', { name: 'Join the waitlist' }).click();
        await page.getByRole('button', { name: 'On the waitlist: number 1' }).waitFor();
        await page.goto(`${base}/?orders`);
        await page.getByText('On the waitlist: number 1').waitFor();
        assert.deepEqual(await page.locator('.orders-title:visible').allTextContents(), ['To pay', 'Waitlists', 'Past']);
        await page.waitForSelector('.orders-group:nth-child(2) .order .pay');
        await shot(page, 'orders-phone', true);
        await good(page);
        assert.deepEqual(errors, []);
    });

    for (const [language, options, words] of [
        ['English', PHONE, { heading: 'Your order', all: 'See all my orders', none: 'You have no order with this number.' }],
        ['Chinese', { ...WIDE, locale: 'zh-CN' }, { heading: '您的订单', all: '查看全部订单', none: '您没有这个编号的订单' }],
    ])
        test(`an order has an address of its own (${language})`, async () => {
            const { item } = await saleMake({ startsInMs: -1_000 });
            const { page, errors } = await bought(item, options);
            const number = await page.textContent(orderNumber);
            await page.goto(`${base}/?order=${number}`);
            await page.waitForSelector('.order .pay');
            await page.getByRole('heading', { level: 1, name: words.heading }).waitFor();
            assert.equal(await page.textContent(orderNumber), number);
            await shot(page, `order-${language}`, true);
            await good(page);
            await page.getByRole('link', { name: words.all }).click();
            await page.waitForURL(`${base}/?orders`);
            assert.deepEqual(errors, []);
            const stranger = await bought(item, options);
            await stranger.page.goto(`${base}/?order=${number}`);
            await stranger.page.getByText(words.none).waitFor();
            await shot(stranger.page, `order-of-others-${language}`);
            await good(stranger.page);
        });

    test('a guest whose visit is over is told so, and not that there are no orders', async () => {
        const { item } = await saleMake({ startsInMs: -1_000 });
        const { page } = await bought(item, WIDE);
        await page.evaluate(() => {
            const session = JSON.parse(localStorage.getItem('stampede.session'));
            localStorage.setItem('stampede.session', JSON.stringify({ ...session, expires_ms: 1 }));
        });
        await page.goto(`${base}/?orders`);
        await page.getByText('Your visit as a guest has ended').waitFor();
        assert.equal(await page.getByText('You have no orders yet.').count(), 0);
    });

    test('two tabs of one guest share one session, and both see its orders', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, limit: 1 });
        const { page, context } = await visitor(WIDE);
        const other = await context.newPage();
        await Promise.all([page, other].map((tab) => tab.goto(itemAddress(item))));
        await Promise.all([page, other].map((tab) => tab.waitForSelector(liveButton)));
        await Promise.all([page, other].map((tab) => tab.evaluate(() => document.querySelector('.buy').click())));
        await Promise.all([page, other].map((tab) => tab.waitForSelector(orderNumber)));
        assert.equal(await page.textContent(orderNumber), await other.textContent(orderNumber));
    });
});
