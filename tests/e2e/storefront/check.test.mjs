// SPDX-License-Identifier: Apache-2.0
/* The human check as a sheet, in a real browser. SHOTS names a folder for pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
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

const NARROW = { viewport: { width: 320, height: 568 }, hasTouch: true };
const WIDE = { viewport: { width: 1440, height: 900 } };
const visitor = browserForTests();

async function asked(check, options) {
    const { item } = await saleMake({ startsInMs: -1_000, check });
    const opened = await visitor(options);
    await opened.page.goto(itemAddress(item));
    await opened.page.click(liveButton);
    await opened.page.locator('dialog.human').waitFor();
    return opened;
}

const focused = (page) => page.evaluate(() => document.activeElement.id);

/* All of the sheet is on the screen, and nothing of it sticks out sideways. */
async function fits(page) {
    const inside = await page.evaluate(() => {
        const sheet = document.querySelector('dialog.human').getBoundingClientRect();
        const parts = [...document.querySelectorAll('dialog.human *')].map((node) => node.getBoundingClientRect());
        const within = parts.every(({ left, right, width }) => width === 0
            || (left >= sheet.left - 1 && right <= sheet.right + 1));
        return within && sheet.left >= 0 && sheet.right <= innerWidth && sheet.bottom <= innerHeight + 1 && sheet.top >= 0;
    });
    assert.ok(inside, 'the sheet sticks out');
    assert.equal(await beyondOf(page), 0);
    assert.deepEqual(await seriousIn(page), []);
}

describe('the human check', { concurrency: 2 }, () => {
    test('a wrong answer gets a word and a new picture, and the field has the focus', async () => {
        const { page } = await asked('image', NARROW);
        assert.equal(await focused(page), 'human-code');
        await fits(page);
        await shot(page, 'check-image-narrow');
        const first = await page.getAttribute('.human-picture', 'src');
        await page.keyboard.type('AAAAA');
        await page.keyboard.press('Enter');
        await page.getByText('Not quite. Here is another one.').waitFor();
        assert.notEqual(await page.getAttribute('.human-picture', 'src'), first);
        assert.equal(await focused(page), 'human-code');
        assert.equal(await page.inputValue('#human-code'), '');
        await fits(page);
        const second = await page.getAttribute('.human-picture', 'src');
        await page.getByRole('button', { name: 'Another picture' }).click();
        await page.waitForFunction((was) => document.querySelector('.human-picture')?.src !== was, second);
        await page.getByRole('button', { name: 'Let the computer do the work' }).click();
        await page.waitForSelector(orderNumber);
    });

    test('a slider fits a narrow phone, in Chinese', async () => {
        const { page } = await asked('slider', { ...NARROW, locale: 'zh-CN' });
        assert.equal(await focused(page), 'human-range');
        await fits(page);
        await shot(page, 'check-slider-narrow');
        await page.keyboard.press('Escape');
        await page.locator('dialog.human').waitFor({ state: 'hidden' });
        await page.getByText('请先完成验证。').waitFor();
    });

    test('Escape and Cancel give up, and the button is there again', async () => {
        const { page, buys } = await asked('image', WIDE);
        await fits(page);
        await shot(page, 'check-image-wide');
        await page.keyboard.press('Escape');
        await page.locator('dialog.human').waitFor({ state: 'hidden' });
        await page.getByText('Please do the short check first.').waitFor();
        await page.waitForSelector(liveButton);
        await page.click(liveButton);
        await page.locator('dialog.human').waitFor();
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.waitForSelector(liveButton);
        assert.equal(buys().length, 0);
    });
});
