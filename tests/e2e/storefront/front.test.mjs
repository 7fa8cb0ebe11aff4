// SPDX-License-Identifier: Apache-2.0
/* The front page of a shop with a long past, and who is signed in: in a real browser, against a server of its own with
 * default limits, 600 sales that are over, one that is open, and a key of the shop (tests/e2e/kit/old_sales.py). */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe } from 'node:test';
import {
    beyondOf,
    browserForTests,
    liveButton,
    need,
    seriousIn,
    shot,
    test,
} from './shop.mjs';

const front = need('FRONT_URL');
const key = need('FRONT_KEY');
const item = need('FRONT_ITEM');
const secret = Buffer.from(need('FRONT_SECRET'), 'hex');
const OLD = 600;
const REQUESTS_MAX = 5;
const PHONE = { viewport: { width: 390, height: 664 } };

const visitor = browserForTests();

async function admin(path, body) {
    const response = await fetch(`${front}/admin/v1${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
}

let tokens = 0;
function tokenOf(sub) {
    const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const seconds = Math.floor(Date.now() / 1000);
    const claims = { sub, iat: seconds, exp: seconds + 300, jti: `front-${process.pid}-${tokens++}` };
    const signed = `${encode({ alg: 'HS256', typ: 'JWT', kid: 'shop' })}.${encode(claims)}`;
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

const signedIn = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('stampede.session')));
const userOf = async (page) => (await signedIn(page))?.user;

async function signIn(page, sub) {
    await page.goto(`${front}/?item=${item}#token=${tokenOf(sub)}`);
    await page.waitForFunction(() => localStorage.getItem('stampede.session') !== null);
    return userOf(page);
}

describe('a shop with a long past', () => {
    test('the front page takes five requests and shows the sale of today', async () => {
        const { page, errors, requests } = await visitor();
        await page.goto(front);
        await page.waitForSelector(`.card[href="/items/${item}/"]`);
        await page.waitForLoadState('networkidle');
        assert.ok(requests.length <= REQUESTS_MAX, JSON.stringify(requests.map(({ path }) => path)));
        assert.equal(requests.filter(({ path }) => path !== '/v1/time').length, 1);
        assert.deepEqual(await page.locator('.sale h2').allTextContents(), ['Today']);
        assert.deepEqual(errors, []);
    });

    test('a round asks for one list, whatever is behind it', async () => {
        const { page, requests } = await visitor();
        await page.goto(front);
        await page.waitForSelector('.card');
        const lists = () => requests.filter(({ path }) => path !== '/v1/time');
        while (lists().length < 2)
            await page.waitForTimeout(200);
        assert.deepEqual([...new Set(lists().map(({ path }) => path))], ['/v1/sales']);
    });

    test('past sales come when they are asked for, page by page, and the keyboard reaches them', async () => {
        const { page, errors, requests } = await visitor();
        await page.goto(front);
        const show = page.getByRole('button', { name: `Show past sales (${OLD})` });
        await show.focus();
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Past sales' }).waitFor();
        const days = page.locator('.past .sale h2');
        assert.equal(await days.first().textContent(), `Day ${OLD}`);
        assert.equal(await page.evaluate(() => document.activeElement.textContent), `Day ${OLD}`);
        const first = await days.count();
        await page.getByRole('button', { name: 'Show more past sales' }).click();
        await page.waitForFunction((count) => document.querySelectorAll('.past .sale').length > count, first);
        assert.equal(await days.nth(first).textContent(), `Day ${OLD - first}`);
        const past = requests.filter(({ path, query }) => path === '/v1/sales' && query.includes('ended=1'));
        assert.equal(past.length, 2);
        assert.deepEqual(errors, []);
    });

    test('a long sale shows its first items, and all of them on request', async () => {
        const product = await admin('/products', { name: 'One of many', list_price: 200, currency: 'CNY' });
        const now = Date.now();
        const sale = await admin('/sales', { title: 'Long', start_ms: now - 1_000, end_ms: now + 3_600_000, start_draw_ms: 0 });
        for (let i = 0; i < 15; i++)
            await admin('/items', { sale: sale.id, product: product.id, flash_price: 100, total: 1 });
        await admin(`/sales/${sale.id}/publish`);
        const { page } = await visitor();
        await page.goto(front);
        const cards = page.locator('.sale', { hasText: 'Long' }).locator('.card');
        await page.getByRole('button', { name: 'Show all 15 items' }).click();
        await cards.nth(14).waitFor();
        assert.equal(await cards.count(), 15);
        await admin(`/sales/${sale.id}/end`);
    });

    test('nothing is serious for axe and nothing goes sideways on a phone', async () => {
        const { page } = await visitor(PHONE);
        await page.goto(front);
        await page.locator('.past .more').click();
        await page.waitForSelector('.past .sale');
        assert.equal(await beyondOf(page), 0);
        await page.evaluate(() => { /* a handful is as good as all, and much quicker to look at */
            for (const sale of [...document.querySelectorAll('.past .sale')].slice(3))
                sale.remove();
        });
        assert.deepEqual(await seriousIn(page), []);
    });
});

describe('pictures of products', () => {
    /* 2 x 2 pixels; the server makes it anew. */
    const PNG = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR42mNgCFgAQowBC4AIABfXA8PTQSmMAAAAAElFTkSuQmCC', 'base64');

    async function pictureAdd() {
        const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'image/png' };
        const sent = await fetch(`${front}/admin/v1/media`, { method: 'POST', headers, body: PNG });
        assert.equal(sent.status, 202);
        const { upload } = await sent.json();
        for (;;) {
            const answer = await (await fetch(`${front}/admin/v1/media/uploads/${upload}`, { headers })).json();
            if (answer.state === 'done')
                return answer.path;
            assert.equal(answer.state, 'working', JSON.stringify(answer));
            await new Promise((resolve) => setTimeout(resolve, 50));
        }
    }

    async function itemWith(images) {
        const product = await admin('/products', { name: 'With a picture', list_price: 200, currency: 'CNY', images });
        const now = Date.now();
        const sale = await admin('/sales', { title: 'Pictures', start_ms: now - 1_000, end_ms: now + 3_600_000 });
        const made = await admin('/items', { sale: sale.id, product: product.id, flash_price: 100, total: 1 });
        await admin(`/sales/${sale.id}/publish`);
        return { sale: sale.id, item: made.id };
    }

    const loaded = (image) => image.complete && image.naturalWidth > 0 && image.currentSrc;

    test('an uploaded picture is shown on the front page and on the page of its item', async () => {
        const path = await pictureAdd();
        const { sale, item: shown } = await itemWith([path]);
        const { page, errors } = await visitor();
        await page.goto(front);
        const card = page.locator(`.card[href="/items/${shown}/"] img`);
        await card.scrollIntoViewIfNeeded();
        assert.equal(await card.evaluate(async (image) => {
            await image.decode();
            return image.currentSrc;
        }), front + path);
        await page.goto(`${front}/?item=${shown}`);
        await page.waitForFunction(() => document.querySelector('.gallery img')?.complete);
        assert.equal(await page.locator('.gallery img').evaluate(loaded), front + path);
        assert.deepEqual(errors, []);
        await admin(`/sales/${sale}/end`);
    });

    test('a picture of another host is shown if its origin is named', async () => {
        const { sale, item: shown } = await itemWith(['https://img.example/a.png']);
        const { page, errors } = await visitor();
        await page.route('https://img.example/**', (route) => route.fulfill({ contentType: 'image/png', body: PNG }));
        await page.goto(`${front}/?item=${shown}`);
        await page.waitForFunction(() => document.querySelector('.gallery img')?.naturalWidth === 2);
        assert.deepEqual(errors, []);
        await admin(`/sales/${sale}/end`);
    });

    test('the policy keeps pictures of other hosts out', async () => {
        const { page, errors } = await visitor();
        await page.goto(front);
        await page.route('https://other.example/**', (route) => route.fulfill({ contentType: 'image/png', body: PNG }));
        await page.evaluate(() => new Promise((resolve) => {
            const image = new Image();
            image.onload = image.onerror = resolve;
            image.src = 'https://other.example/a.png';
        }));
        assert.match(errors.join(' '), /Content Security Policy/);
    });
});

describe('who is not signed in', { concurrency: true }, () => {
    const LOGIN = 'https://shop.example/login';

    async function later() {
        const product = await admin('/products', { name: 'Later', list_price: 200, currency: 'CNY' });
        const now = Date.now();
        const sale = await admin('/sales', { title: 'Later', start_ms: now + 3_600_000, end_ms: now + 7_200_000 });
        const made = await admin('/items', { sale: sale.id, product: product.id, flash_price: 100, total: 1 });
        await admin(`/sales/${sale.id}/publish`);
        return made.id;
    }

    for (const [locale, words, link] of [
        ['en-US', 'You are not signed in. Please sign in through the shop first.', 'Sign in'],
        ['zh-CN', '您还没有登录，请先在商城登录。', '去登录'],
    ])
        test(`is told so long before the start, with a link to the shop (${locale})`, async () => {
            const { page, errors, requests } = await visitor({ ...PHONE, locale });
            await page.goto(`${front}/?item=${await later()}`);
            await page.getByText(words).waitFor();
            assert.equal(await page.getByRole('link', { name: link }).getAttribute('href'), LOGIN);
            assert.deepEqual(await seriousIn(page), []);
            assert.equal(await beyondOf(page), 0);
            await shot(page, `sign-in-${locale}`);
            assert.equal(requests.filter(({ method }) => method === 'POST').length, 0);
            assert.deepEqual(errors, []);
        });

    test('finds the way to the shop on the button of an open sale', async () => {
        const { page, requests } = await visitor(PHONE);
        await page.route(`${LOGIN}**`, (route) => route.fulfill({ contentType: 'text/html', body: 'The shop.' }));
        await page.goto(`${front}/?item=${item}`);
        await page.getByRole('button', { name: 'Sign in to buy' }).click();
        await page.waitForURL(LOGIN);
        assert.equal(requests.filter(({ method }) => method === 'POST').length, 0);
    });

    test('reads so in place of an empty list of orders', async () => {
        const { page } = await visitor(PHONE);
        await page.goto(`${front}/?orders`);
        await page.getByText('Sign in through the shop to see your orders.').waitFor();
        assert.equal(await page.getByRole('link', { name: 'Sign in' }).getAttribute('href'), LOGIN);
        assert.deepEqual(await seriousIn(page), []);
    });

    test('and after signing in is not told so any more', async () => {
        const { page } = await visitor(PHONE);
        await signIn(page, 'customer-now');
        await page.locator(liveButton, { hasText: 'Buy now' }).waitFor(); /* before the session is there it offers to sign in */
        await page.goto(`${front}/?item=${await later()}`);
        await page.getByText('Signed in as customer-now').waitFor();
    });
});

describe('a link that signs in', () => {
    test('nobody was signed in: it signs in without a question', async () => {
        const { page, errors } = await visitor();
        assert.ok(await signIn(page, 'customer-1'));
        assert.equal(await page.locator('dialog[open]').count(), 0);
        assert.equal(page.url(), `${front}/?item=${item}`);
        assert.deepEqual(errors, []);
    });

    test('the same user again is not asked', async () => {
        const { page } = await visitor();
        const user = await signIn(page, 'customer-2');
        const old = (await signedIn(page)).session;
        await page.waitForTimeout(1_100); /* sessions of the same second are the same */
        await page.goto(`${front}/#token=${tokenOf('customer-2')}`);
        await page.waitForFunction(
            (before) => JSON.parse(localStorage.getItem('stampede.session')).session !== before, old);
        assert.equal(await page.locator('dialog[open]').count(), 0);
        assert.equal(await userOf(page), user);
    });

    for (const [locale, stay, change] of [
        ['en-US', 'Stay signed in as victim@shop', 'Go on as stranger@shop'],
        ['zh-CN', '继续使用victim@shop', '改用stranger@shop'],
    ]) {
        test(`another user is asked about, and Escape or Enter keeps who is signed in (${locale})`, async () => {
            const { page, errors } = await visitor({ ...PHONE, locale });
            const user = await signIn(page, 'victim@shop');
            for (const keyPressed of ['Escape', 'Enter']) {
                await page.goto(`${front}/#token=${tokenOf('stranger@shop')}`);
                await page.getByRole('button', { name: stay }).waitFor();
                assert.equal(await page.evaluate(() => document.activeElement.textContent), stay);
                assert.deepEqual(await seriousIn(page), []);
                assert.equal(await beyondOf(page), 0);
                await page.keyboard.press(keyPressed);
                await page.locator('dialog[open]').waitFor({ state: 'detached' });
                assert.equal(await userOf(page), user, keyPressed);
                await page.goto('about:blank');
            }
            await page.goto(`${front}/#token=${tokenOf('stranger@shop')}`);
            await page.getByRole('button', { name: change }).waitFor();
            await page.keyboard.press('Tab');
            await page.keyboard.press('Enter');
            await page.locator('dialog[open]').waitFor({ state: 'detached' });
            await page.waitForFunction(
                (before) => JSON.parse(localStorage.getItem('stampede.session')).user !== before, user);
            assert.deepEqual(errors, []);
        });
    }

    test('a click while the question is open waits for the answer', async () => {
        const { page, buys } = await visitor();
        const user = await signIn(page, 'clicker');
        await page.goto('about:blank');
        await page.goto(`${front}/?item=${item}#token=${tokenOf('other')}`);
        await page.locator('dialog[open]').waitFor();
        await page.waitForSelector(liveButton);
        await page.evaluate(() => document.querySelector('.buy').click());
        await page.waitForTimeout(500);
        assert.equal(buys().length, 0);
        await page.keyboard.press('Escape');
        await page.waitForFunction(() => document.querySelector('.order') !== null);
        assert.equal(await userOf(page), user);
    });

    for (const fragment of ['#token=%', '#token=', '#token=%E4%BD', '#token=a.b']) {
        test(`${fragment} leaves the page as it is`, async () => {
            const { page } = await visitor();
            await page.goto(`${front}/${fragment}`);
            await page.waitForSelector(`.card[href="/items/${item}/"]`);
            assert.equal(await page.locator('dialog[open]').count(), 0);
            assert.equal(await signedIn(page), null);
        });
    }

    test('a damaged link does not sign out', async () => {
        const { page } = await visitor();
        const user = await signIn(page, 'customer-3');
        await page.goto('about:blank');
        await page.goto(`${front}/#token=%`);
        await page.waitForSelector('.card');
        await page.goto(`${front}/?orders#token=a.b.c`);
        await page.waitForSelector('.orders-page');
        assert.equal(await userOf(page), user);
    });
});
