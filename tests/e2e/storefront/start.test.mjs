// SPDX-License-Identifier: Apache-2.0
/* The seconds around the start, in a real browser: what the thumb finds under it. SHOTS names a folder for
 * pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
    beyondOf,
    browserForTests,
    greyButton,
    itemAddress,
    liveButton,
    saleMake,
    seriousIn,
    shot,
} from './shop.mjs';

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

describe('the start', { concurrency: 4 }, () => {
    for (const [name, options] of Object.entries({
        'a small phone': SMALL,
        'a narrow phone in Chinese': { ...NARROW, ...CHINESE },
        'a wide screen': WIDE,
        'a wide screen in Chinese': { ...WIDE, ...CHINESE },
    })) {
        test(`the button does not move by a pixel when it turns live (${name})`, async () => {
            const { item } = await saleMake({ startsInMs: 16_000 });
            const { page, errors } = await visitor(options);
            await page.goto(itemAddress(item));
            await page.waitForSelector(greyButton);
            await page.waitForTimeout(1_000); /* the picture and the status are there */
            await rectanglesWatch(page);
            await shot(page, `start-before-${name}`);
            await page.waitForSelector('.buy[data-near="true"]');
            await shot(page, `start-near-${name}`);
            await page.waitForSelector(liveButton);
            await page.waitForTimeout(1_000);
            await shot(page, `start-open-${name}`);
            const seen = await page.evaluate(() => window.rectangles);
            assert.deepEqual([...new Set(seen.map(({ at }) => at))].length, 1, JSON.stringify(seen));
            const words = seen.map((one) => one.words).join('|');
            assert.match(words, options.locale ? /\|9\.\d 后开抢\|/ : /\|Starts in 9\.\d\|/);
            assert.match(words, options.locale ? /\|0\.[1-3] 后开抢\|.*立即抢购/ : /\|Starts in 0\.[1-3]\|.*Buy now/);
            assert.equal(await beyondOf(page), 0);
            assert.deepEqual(await seriousIn(page), []);
            assert.deepEqual(errors, []);
        });
    }

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
            const wrong = await page.evaluate(async () => {
                const { WORDS } = await import('/words.js');
                const button = document.querySelector('.buy');
                const status = document.querySelector('.status');
                const dock = document.querySelector('.dock');
                const place = () => JSON.stringify(button.getBoundingClientRect());
                const first = place();
                const found = [];
                for (const words of Object.values(WORDS)) {
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
            });
            assert.deepEqual(wrong, []);
        });
});
