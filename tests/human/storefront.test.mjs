/* The storefront's own check in a real browser: work, code and slider, by keyboard, without a serious
 * finding of axe; also where crypto.subtle is missing, as on plain HTTP. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { base, browserLaunch, items } from './shop.mjs';

const BUY = '.buy[aria-disabled="false"]';
const WON = '.status[data-kind="good"]';
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
    assert.match(await page.textContent('#status'), /complete the short check below/);
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

/* Where the real gap is: the one dark shape on the piece's line. */
function gapFind(page) {
    return page.evaluate(async () => {
        const [whole, piece] = document.querySelectorAll('.human-frame img');
        const canvas = document.createElement('canvas');
        canvas.width = whole.width;
        canvas.height = whole.height;
        const context = canvas.getContext('2d');
        context.drawImage(whole, 0, 0);
        const top = Number.parseInt(piece.style.top, 10);
        const { data } = context.getImageData(0, top, whole.width, piece.height);
        const light = (x, y) => {
            const at = 4 * (y * whole.width + x);
            return data[at] + data[at + 1] + data[at + 2];
        };
        /* Its outline is brighter than what is on either side, all the way down. */
        let best = { score: -Infinity, x: 0 };
        for (let x = piece.width; x < whole.width - piece.width; x++) {
            let score = 0;
            for (let y = 10; y < piece.height - 1; y++) {
                if (Math.abs(y - piece.height / 2) < 10)
                    continue;
                const right = x + piece.width - 1;
                score += light(x, y) - light(x + 2, y) + light(right, y) - light(right - 2, y);
            }
            if (score > best.score)
                best = { score, x };
        }
        return best.x;
    });
}

test('the piece is moved by keyboard into its place', async () => {
    const { page, errors } = await itemOpen(items.slider, 'zh-CN');
    for (let tries = 0; tries < 4 && !(await page.isVisible(WON)); tries++) {
        await page.waitForSelector(`#human-range, ${WON}`);
        if (await page.isVisible(WON))
            break;
        if (tries === 0)
            assert.deepEqual(await seriousIn(page), []);
        const token = await page.getAttribute('.human img', 'src');
        const x = await gapFind(page);
        await page.focus('#human-range');
        for (let at = 0; at < x; at++)
            await page.keyboard.press('ArrowRight');
        assert.equal(await page.inputValue('#human-range'), String(x));
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await page.waitForFunction(
            (src) => document.querySelector('.human img')?.src !== src,
            token,
        );
    }
    await page.waitForSelector(WON);
    assert.deepEqual(errors, []);
});
