// SPDX-License-Identifier: Apache-2.0
/* The storefront's own check in a real browser: work, code and slider, by keyboard, without a serious
 * finding of axe; also where crypto.subtle is missing, as on plain HTTP. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { base, browserLaunch, items, placesOf } from './shop.mjs';

const BUY = '.buy[aria-disabled="false"]';
const WON = '.won-title';
let browser;

before(async () => {
    browser = await browserLaunch();
});
after(async () => {
    await browser?.close();
});

async function itemOpen(item, locale = 'en-US') {
    const context = await browser.newContext({ locale, reducedMotion: 'reduce' });
    const page = await context.newPage();
    const errors = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
        /* A refusal is an answer, but the browser logs every 403. */
        if (message.type() === 'error' && !message.text().includes('status of 403'))
            errors.push(message.text());
    });
    await page.addInitScript(() => Object.defineProperty(crypto, 'subtle', { value: undefined }));
    await page.goto(`${base}/?item=${item}`);
    await page.click(BUY);
    return { page, errors };
}

async function seriousIn(page) {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run('.human'));
    return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id }) => id);
}

test('work is done beside the page, and the purchase goes through', async () => {
    const { page, errors } = await itemOpen(items.pow);
    await page.waitForSelector(WON);
    assert.equal(await page.isVisible('.human'), false);
    assert.deepEqual(errors, []);
});

test('a wrong code brings another picture, and the work instead of it goes through', async () => {
    const { page, errors } = await itemOpen(items.image);
    const picture = () => page.getAttribute('.human img', 'src');
    await page.waitForSelector('.human img');
    const first = await picture();
    assert.match(first, /^data:image\/png/);
    assert.notEqual(await page.evaluate(() => document.querySelector('.human img').naturalWidth), 0);
    assert.deepEqual(await seriousIn(page), []);
    /* Nobody is queueing yet, and nobody has to look for what is asked. */
    assert.equal(await page.textContent('.buy'), 'One short check first');
    assert.equal(await page.textContent('#status'), 'Please do the short check. Your purchase continues right after it.');
    assert.ok(await page.evaluate(() => {
        const { top, bottom } = document.querySelector('.human').getBoundingClientRect();
        return top >= 0 && bottom < innerHeight + 1;
    }));
    await page.fill('#human-code', '00000');
    await page.keyboard.press('Enter');
    await page.waitForFunction((src) => {
        const now = document.querySelector('.human img');
        return now !== null && now.src !== src;
    }, first);
    await page.getByText('Can’t see it? Let the computer do the work').click();
    await page.waitForSelector(WON);
    assert.deepEqual(errors, []);
});

/* The token of the challenge that the page gets next. */
const tokenNext = async (page) =>
    (await (await page.waitForResponse((response) => response.url().includes('/challenge'))).json()).token;

async function lineMove(page, x) {
    await page.focus('#human-range');
    const from = Number(await page.inputValue('#human-range'));
    for (let at = Math.min(from, x); at < Math.max(from, x); at++)
        await page.keyboard.press(from < x ? 'ArrowRight' : 'ArrowLeft');
    assert.equal(await page.inputValue('#human-range'), String(x));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
}

test('both pieces are placed by keyboard, after a wrong answer and another picture', async () => {
    const { page, errors } = await itemOpen(items.slider, 'zh-CN');
    await page.waitForSelector('#human-range');
    assert.deepEqual(await seriousIn(page), []);
    const words = () => page.textContent('.human-words');
    const first = await page.getAttribute('.human-frame > img', 'src');
    await lineMove(page, 1);
    assert.match(await words(), /^第 2 个/);
    await lineMove(page, 1);
    await page.waitForFunction((src) => {
        const now = document.querySelector('.human-frame > img');
        return now !== null && now.src !== src;
    }, first);
    assert.equal(await page.textContent('.human-wrong'), '不太对，请再试一次。');
    assert.match(await words(), /^第 1 个/);
    const next = tokenNext(page);
    await page.getByText('换一张图片').click();
    const places = placesOf(await next);
    await page.waitForFunction(() => document.querySelector('.human-frame > img')?.complete);
    await lineMove(page, places[0]);
    await lineMove(page, places[1]);
    await page.waitForSelector(WON);
    assert.deepEqual(errors, []);
});

test('on a small phone the picture fits, a tap puts the line, and cancelling buys nothing', async () => {
    const context = await browser.newContext({ locale: 'en-US', viewport: { width: 320, height: 568 }, hasTouch: true });
    const page = await context.newPage();
    await page.goto(`${base}/?item=${items.slider}`);
    await page.click(BUY);
    await page.waitForSelector('.human-frame');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
    await page.locator('.human-frame').scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator('.human-frame').boundingBox();
    assert.ok(x >= 0 && x + width <= 320, `${x} ${width}`);
    await page.touchscreen.tap(x + width / 4, y + height - 20);
    const value = Number(await page.inputValue('#human-range'));
    assert.ok(Math.abs(value - 75) <= 2, String(value));
    assert.deepEqual(await seriousIn(page), []);
    await page.getByText('Cancel', { exact: true }).click();
    await page.waitForSelector('.human', { state: 'hidden' });
    assert.equal(await page.isVisible(WON), false);
    await context.close();
});
