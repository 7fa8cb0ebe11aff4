// SPDX-License-Identifier: Apache-2.0
/* The storefront in a real browser against a real server. shop.mjs says what it needs. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
    aheadOfStart,
    answer,
    base,
    beyondOf,
    browserForTests,
    demoItem,
    greyButton,
    itemAddress,
    lateTimersWatch,
    liveButton,
    orderNumber,
    saleMake,
    seriousIn,
    test,
} from './shop.mjs';

const PHONE = { viewport: { width: 375, height: 812 } };
const DESKTOP = { viewport: { width: 1280, height: 860 } };
const LIVE_WITHIN_MS = 400;

const visitor = browserForTests();

describe('looking', { concurrency: 2 }, () => {
    test('the list and the item load without a console error', async () => {
        const { page, errors } = await visitor();
        await page.goto(base);
        await page.click(`.card[href="/items/${demoItem}/"]`);
        await page.waitForSelector(liveButton);
        assert.match(await page.textContent('.price-flash'), /\d/);
        assert.match(await page.textContent('.stock-words'), /^[\d,]+ of [\d,]+ left$/);
        const picture = page.locator('.gallery img');
        assert.notEqual(await picture.evaluate((image) => image.naturalWidth), 0);
        assert.deepEqual(errors, []);
    });

    test('before the click the page asks for nothing but time and status', async () => {
        const { page, requests } = await visitor();
        await page.goto(itemAddress(demoItem));
        await page.waitForSelector(liveButton);
        await page.waitForTimeout(3_000);
        const others = requests.filter(
            ({ method, path }) =>
                method !== 'GET' || !['/v1/time', '/v1/shop', `/v1/items/${demoItem}`].includes(path),
        );
        assert.deepEqual(others, []);
        assert.equal(requests.filter(({ path }) => path === '/v1/shop').length, 1);
        const asked = requests.filter(({ path }) => path.startsWith('/v1/items/')).length;
        assert.ok(asked <= 3, `${asked} status requests in three seconds`);
    });

    test('an unknown item is said to be unknown', async () => {
        const { page } = await visitor();
        await page.goto(itemAddress(999_999_999));
        await page.getByText('This item does not exist or is no longer shown.').waitFor();
        await page.getByRole('heading', { level: 1, name: 'Item not found' }).waitFor();
        assert.match(await page.title(), /^Item not found · /);
        await page.getByRole('link', { name: 'See the sales' }).waitFor();
        assert.deepEqual(await seriousIn(page), []);
    });

    test('an address that is none is a page that leads back', async () => {
        const { page } = await visitor();
        const response = await page.goto(`${base}/nonsense`);
        assert.equal(response.status(), 404);
        await page.getByText('There is no such page.').waitFor();
        assert.deepEqual(await seriousIn(page), []);
        await page.getByRole('link', { name: 'See the sales' }).click();
        await page.waitForSelector('.card');
        const program = await fetch(`${base}/nonsense`);
        assert.equal((await program.json()).type, '/problems/not-found');
    });

    test('the first visit loads one script and one style sheet, the next none', async () => {
        const { page } = await visitor();
        const files = [];
        page.on('response', (response) => {
            const { pathname } = new URL(response.url());
            if (/\.(js|css)$/.test(pathname))
                files.push(response.headerValue('cache-control').then((cache) => [pathname.split('.').pop(), cache]));
        });
        await page.goto(itemAddress(demoItem));
        await page.waitForSelector(liveButton);
        const kept = 'public, max-age=31536000, immutable';
        assert.deepEqual((await Promise.all(files)).sort(), [['css', kept], ['js', kept]]);
        const again = await page.reload();
        await page.waitForSelector(liveButton);
        assert.equal(await again.headerValue('cache-control'), 'no-cache');
        const bytes = await page.evaluate(() => performance.getEntriesByType('resource')
            .filter(({ name }) => /\.(js|css)$/.test(name)).map(({ transferSize }) => transferSize));
        assert.deepEqual(bytes, [0, 0]);
    });

    test('a language switch changes the words and is remembered', async () => {
        const { page } = await visitor({ locale: 'zh-CN' });
        await page.goto(itemAddress(demoItem));
        await page.waitForSelector(liveButton);
        assert.equal(await page.textContent('.buy'), '立即抢购');
        await page.click('[data-language="en"]');
        assert.equal(await page.textContent('.buy'), 'Buy now');
        assert.equal(await page.getAttribute('html', 'lang'), 'en');
        await page.reload();
        await page.waitForSelector(liveButton);
        assert.equal(await page.textContent('.buy'), 'Buy now');
        await page.click('[data-language="zh-CN"]');
        assert.equal(await page.textContent('.buy'), '立即抢购');
        assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
    });

    test('a token in the address is exchanged once and leaves the address', async () => {
        const { page } = await visitor();
        const tokens = [];
        await page.route('**/v1/session', (route) => {
            tokens.push(route.request().headers().authorization);
            return route.fulfill({
                status: 201,
                json: { session: 's', user: 'u', expires_ms: 9e15, guest: false },
            });
        });
        await page.goto(`${itemAddress(demoItem)}#token=a.b.c`);
        await page.waitForSelector(liveButton);
        assert.equal(page.url(), itemAddress(demoItem));
        await page.reload();
        await page.waitForSelector(liveButton);
        assert.deepEqual(tokens, ['Bearer a.b.c']);
    });
});

describe('the start', () => {
    test('the button is grey before the start and a click then sends nothing', async () => {
        const { item } = await saleMake({ startsInMs: 3_600_000 });
        const { page, requests } = await visitor();
        await page.goto(itemAddress(item));
        await page.getByRole('button', { name: /^Starts in (1:00:00|59:\d\d)$/ }).waitFor();
        await page.locator(greyButton).click({ force: true });
        await page.waitForTimeout(500);
        assert.equal(requests.filter(({ method }) => method === 'POST').length, 0);
    });

    /* Half of a round trip is taken off, so a slow way there and back makes no late start. What the two ways
     * differ by can't be known: the delay here is the same both ways. */
    test('the button turns live on time over a slow way and with a clock that is hours off', async () => {
        const ONE_WAY_MS = 900;
        const slowly = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
        let timersLate;
        const { page, startMs } = await aheadOfStart(visitor, {}, {}, 3_000, async ({ page: early }, { item }) => {
            timersLate = await lateTimersWatch(early);
            await early.addInitScript((skew) => {
                const real = Date.now.bind(Date);
                Date.now = () => real() - skew;
            }, 5 * 3_600_000);
            await early.route('**/v1/**', async (route) => {
                await slowly(ONE_WAY_MS);
                const response = await route.fetch();
                await slowly(ONE_WAY_MS);
                await route.fulfill({ response });
            });
            await early.goto(itemAddress(item));
            await early.waitForSelector(greyButton);
        });
        /* Noted by the page when it happens, so that a busy machine's way to us does not count. */
        const liveAt = await page.evaluate((live) => new Promise((resolve) => {
            const watcher = new MutationObserver(() => {
                if (document.querySelector(live) === null)
                    return;
                watcher.disconnect();
                resolve(performance.timeOrigin + performance.now());
            });
            watcher.observe(document.body, { subtree: true, attributes: true, childList: true });
        }), liveButton);
        await page.unrouteAll({ behavior: 'ignoreErrors' }); /* what is still on its way comes to nobody */
        const late = liveAt - startMs; /* the same machine as the server: its clock is the page's real one */
        const slack = await timersLate();
        assert.ok(late > -300 - slack && late < ONE_WAY_MS - 200 + slack, `live ${late} ms after the start`);
    });

    test('the button turns live on time though the local clock is an hour off', async () => {
        let timersLate;
        const { page, errors, startMs } = await aheadOfStart(visitor, {}, {}, 3_000, async ({ page: early }, { item }) => {
            timersLate = await lateTimersWatch(early);
            await early.addInitScript(() => {
                const real = Date.now.bind(Date);
                Date.now = () => real() + 3_600_000;
            });
            await early.goto(itemAddress(item));
            await early.waitForSelector(greyButton);
        });
        const liveAt = await page.evaluate((live) => new Promise((resolve) => {
            async function look() {
                if (document.querySelector(live) === null)
                    return;
                watcher.disconnect();
                resolve((await (await fetch('/v1/time')).json()).now_ms);
            }
            const watcher = new MutationObserver(look);
            watcher.observe(document.body, { subtree: true, attributes: true, childList: true });
            look();
        }), liveButton);
        const late = liveAt - startMs;
        const slack = await timersLate();
        assert.ok(late >= 0 && late < LIVE_WITHIN_MS + slack, `live ${late} ms after the start`);
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        assert.deepEqual(errors, []);
    });
});

describe('buying', { concurrency: 3 }, () => {
    test('a purchase ends with an order that survives a reload and is listed', async () => {
        const { page, errors } = await visitor();
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        const number = await page.textContent(orderNumber);
        assert.match(number, /^[0-9a-f]{16}$/);
        assert.equal(await page.textContent('.won-title'), 'You got it!');
        assert.equal(await page.isVisible('.buy'), false);
        await page.reload();
        await page.waitForSelector(orderNumber);
        assert.equal(await page.textContent(orderNumber), number);
        await page.getByRole('link', { name: 'My orders', exact: true }).click();
        await page.waitForSelector(`.orders ${orderNumber}`);
        assert.equal(await page.textContent(`.orders ${orderNumber}`), number);
        assert.deepEqual(errors, []);
    });

    test('a pending order can be cancelled, once the user is sure', async () => {
        const { page, errors } = await visitor();
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        await page.getByRole('link', { name: 'My orders', exact: true }).click();
        await page.waitForSelector('.order-cancel:not([hidden])');
        await page.click('.order-cancel');
        assert.deepEqual(await seriousIn(page), []);
        await page.keyboard.press('Enter'); /* what changes nothing has the focus */
        await page.locator('dialog').waitFor({ state: 'detached' });
        assert.equal(await page.textContent('.orders .badge'), 'Waiting for payment');
        await page.click('.order-cancel');
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({ state: 'detached' });
        await page.click('.order-cancel');
        await answer(page, 'Yes, cancel it');
        await page.waitForSelector('.orders .badge[data-state="closed"]');
        assert.equal(await page.textContent('.orders .badge'), 'Closed · Cancelled');
        assert.equal(await page.isVisible('.order-cancel'), false);
        assert.deepEqual(errors, []);
    });

    test('a double click sends exactly one buy request', async () => {
        const { page, buys } = await visitor();
        await page.goto(itemAddress(demoItem));
        await page.waitForSelector(liveButton);
        await page.dblclick('.buy');
        await page.evaluate(() => document.querySelector('.buy').click());
        await page.waitForSelector(orderNumber);
        assert.equal(buys().length, 1);
    });

    test('the keyboard alone can buy', async () => {
        const { page } = await visitor();
        await page.goto(itemAddress(demoItem));
        await page.waitForSelector(liveButton);
        for (let presses = 0; presses < 20; presses++) {
            await page.keyboard.press('Tab');
            if (await page.evaluate(() => document.activeElement.classList.contains('buy')))
                break;
        }
        await page.keyboard.press('Enter');
        await page.waitForSelector(orderNumber);
        assert.ok(await page.evaluate(() => document.activeElement.classList.contains('won-title')));
    });

    test('a lost answer is asked for again with the same key', async () => {
        const { page, buys } = await visitor();
        let wonTicket = null;
        await page.route('**/buy', async (route) => {
            if (wonTicket !== null)
                return route.continue();
            const answer = await route.fetch();
            wonTicket = (await answer.json()).ticket;
            return route.abort('connectionreset');
        });
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        const [response] = await Promise.all([
            page.waitForResponse((r) => r.url().endsWith('/buy') && r.status() === 202),
            page.waitForSelector(orderNumber),
        ]);
        assert.equal((await response.json()).ticket, wonTicket);
        const keys = new Set(buys().map(({ headers }) => headers['idempotency-key']));
        assert.equal(buys().length, 2);
        assert.equal(keys.size, 1);
    });

    test('a reload keeps the key of an unanswered purchase', async () => {
        const { page, buys } = await visitor();
        let hold = true;
        const reached = new Promise((resolve) => {
            page.route('**/buy', async (route) => {
                if (!hold)
                    return route.continue();
                await route.fetch(); /* and the answer never comes */
                return resolve();
            });
        });
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        await reached;
        hold = false;
        await page.reload();
        await page.getByRole('button', { name: 'Check my last attempt' }).click();
        await page.waitForSelector(orderNumber);
        const keys = new Set(buys().map(({ headers }) => headers['idempotency-key']));
        assert.equal(keys.size, 1);
    });

    test('too-popular is waited out for at least Retry-After', async () => {
        const { page, buys } = await visitor();
        const times = [];
        await page.route('**/buy', (route) => {
            times.push(performance.now());
            if (times.length > 1)
                return route.continue();
            return route.fulfill({
                status: 503,
                headers: { 'Retry-After': '2' },
                contentType: 'application/problem+json',
                body: JSON.stringify({ type: '/problems/too-popular', status: 503 }),
            });
        });
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        await page.getByText('Very busy. Trying again by itself (2 of 6).').waitFor();
        await page.waitForSelector(orderNumber);
        assert.equal(buys().length, 2);
        assert.ok(times[1] - times[0] >= 2_000, `asked again after ${times[1] - times[0]} ms`);
    });

    test('who is to come back in an hour is told so, and is not kept waiting', async () => {
        const { page, buys } = await visitor();
        await page.route('**/buy', (route) =>
            route.fulfill({
                status: 429,
                headers: { 'Retry-After': '3600' },
                contentType: 'application/problem+json',
                body: JSON.stringify({ type: '/problems/too-fast', status: 429 }),
            }),
        );
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        await page.getByText('Too fast. Please try again shortly.').waitFor();
        assert.equal(buys().length, 1);
    });

    test('who comes after the last unit is told that it is sold out', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, total: 1 });
        const first = await visitor();
        const second = await visitor();
        await second.page.goto(itemAddress(item));
        await second.page.waitForSelector(liveButton);
        await second.context.setOffline(true);
        await first.page.goto(itemAddress(item));
        await first.page.click(liveButton);
        await first.page.waitForSelector(orderNumber);
        await second.context.setOffline(false);
        await second.page.click('.buy');
        await second.page.getByRole('heading', { name: 'All gone' }).waitFor();
        await second.page.getByRole('button', { name: /^(Join|On) the waitlist/ }).waitFor();
    });

    test('who waits sees the place in line, and then the order that is offered', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, total: 1 });
        const owner = await visitor();
        await owner.page.goto(itemAddress(item));
        await owner.page.click(liveButton);
        await owner.page.waitForSelector(orderNumber);
        const { page, errors } = await visitor();
        await page.goto(itemAddress(item));
        await page.getByRole('button', { name: 'Join the waitlist' }).click();
        await page.getByText('You are number 1 on the waitlist.').waitFor();
        await page.reload();
        await page.getByText('You are number 1 on the waitlist.').waitFor();
        await page.getByRole('button', { name: 'Leave the waitlist' }).click();
        await page.getByRole('button', { name: 'Join the waitlist' }).click();
        await page.getByText('You are number 1 on the waitlist.').waitFor();
        await owner.page.click('.order-cancel');
        await answer(owner.page, 'Yes, cancel it');
        await page.waitForSelector(orderNumber);
        await page.getByText('A unit is kept for you!').waitFor();
        assert.equal(await page.locator('.wait-box').isVisible(), false);
        assert.deepEqual(errors, []);
    });

    test('every refusal is a sentence in the reader’s language', async () => {
        const refusals = [
            [409, 'sold-out', { free: 0 }, '已抢光，感谢参与。'],
            [403, 'paused', {}, '活动已暂停，请等待恢复。'],
            [410, 'ended', {}, '活动已结束。'],
            [403, 'not-eligible', {}, '本场活动仅限受邀用户参加。'],
            [403, 'not-your-turn', {}, '还没有轮到您，您的位置已保留。'],
            [403, 'human-check-required', {}, '请先完成验证。'],
            [401, 'session-required', {}, '请先在商城登录。'],
            [418, 'never-heard-of', {}, '商城未接受该请求，请刷新页面后再试。'],
        ];
        for (const [status, type, extra, sentence] of refusals) {
            const { page, context } = await visitor({ locale: 'zh-CN' });
            await page.route('**/buy', (route) => route.fulfill({
                status,
                contentType: 'application/problem+json',
                body: JSON.stringify({ type: `/problems/${type}`, status, ...extra }),
            }));
            await page.goto(itemAddress(demoItem));
            await page.click(liveButton);
            await page.getByRole('status').getByText(sentence).waitFor();
            await context.close();
        }
    });

    /* Six tries, and then the words; the fast clock of the page makes them short. */
    for (const [status, type, sentence] of [
        [429, 'too-fast', '操作太快，稍后再试。'],
        [503, 'too-popular', '太火爆了，请稍后再试。'],
    ]) {
        test(`${type} is waited out, and said when it does not end`, async () => {
            const { page, buys } = await visitor({ locale: 'zh-CN' });
            await page.addInitScript(() => {
                const real = globalThis.setTimeout.bind(globalThis);
                /* But not the patience with an answer, which a busy machine needs. */
                globalThis.setTimeout = (call, ms, ...more) =>
                    real(call, globalThis.fast && ms !== 8_000 ? ms / 20 : ms, ...more);
            });
            await page.route('**/buy', (route) => route.fulfill({
                status,
                headers: { 'Retry-After': '1' },
                contentType: 'application/problem+json',
                body: JSON.stringify({ type: `/problems/${type}`, status }),
            }));
            await page.goto(itemAddress(demoItem));
            await page.waitForSelector(liveButton);
            await page.evaluate(() => {
                globalThis.fast = true;
            });
            await page.click(liveButton);
            await page.getByRole('status').getByText(sentence).waitFor();
            assert.equal(buys().length, 6);
        });
    }

    test('after a refusal the button cools down for five to ten seconds', async () => {
        const { page } = await visitor();
        await page.route('**/buy', (route) => route.fulfill({
            status: 403,
            contentType: 'application/problem+json',
            body: JSON.stringify({ type: '/problems/not-eligible', status: 403 }),
        }));
        await page.goto(itemAddress(demoItem));
        await page.waitForSelector(liveButton);
        /* Noted by the page, so that a busy machine's way to us does not count. */
        const cooled = await page.evaluate(([live, grey]) => new Promise((resolve) => {
            let greyAt = null;
            new MutationObserver(() => {
                if (document.querySelector(grey) !== null)
                    greyAt ??= performance.now();
                if (greyAt !== null && document.querySelector(live) !== null)
                    resolve(performance.now() - greyAt);
            }).observe(document.body, { subtree: true, attributes: true, childList: true });
            document.querySelector(live).click();
        }), [liveButton, greyButton]);
        assert.ok(cooled > 4_500, `cooled down for ${cooled} ms`);
    });
});

describe('access', () => {
    for (const [width, size] of [['375', PHONE], ['1280', DESKTOP]]) {
        for (const colorScheme of ['light', 'dark']) {
            test(`axe finds nothing serious at ${width} px in ${colorScheme} mode`, async () => {
                const { page } = await visitor({ ...size, colorScheme });
                await page.goto(base);
                await page.waitForSelector('.card');
                assert.deepEqual(await seriousIn(page), []);
                await page.goto(itemAddress(demoItem));
                await page.waitForSelector(liveButton);
                assert.deepEqual(await seriousIn(page), []);
                await page.click(liveButton);
                await page.waitForSelector(orderNumber);
                assert.deepEqual(await seriousIn(page), []);
                await page.goto(`${base}/?orders`);
                await page.waitForSelector(orderNumber);
                assert.deepEqual(await seriousIn(page), []);
                const { item } = await saleMake({ startsInMs: -1_000, total: 0 });
                await page.goto(itemAddress(item));
                await page.click(liveButton);
                await page.waitForSelector('.wait-box[data-waiting="true"]');
                assert.deepEqual(await seriousIn(page), []);
            });
        }
    }

    test('a phone never scrolls sideways', async () => {
        const { page } = await visitor(PHONE);
        for (const address of [base, itemAddress(demoItem), `${base}/?orders`]) {
            await page.goto(address);
            await page.waitForSelector('h1');
            await page.waitForTimeout(500);
            const beyond = await beyondOf(page);
            assert.ok(beyond <= 0, `${address} is ${beyond} px too wide`);
        }
    });
});
