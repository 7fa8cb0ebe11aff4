// SPDX-License-Identifier: Apache-2.0
/* The public report of a sale in a real browser: the sums of its units, its draw, and checking it; in both languages. SHOTS names a folder for
 * pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { admin, base, beyondOf, browserForTests, itemAddress, liveButton, orderNumber, saleMake, seriousIn, shot, test } from './shop.mjs';

const PHONE = { viewport: { width: 390, height: 664 } };
const DESKTOP = { viewport: { width: 1440, height: 900 } };
const visitor = browserForTests();

async function clean(page) {
    assert.deepEqual(await seriousIn(page), []);
    assert.ok((await beyondOf(page)) <= 0, `${page.url()} goes sideways`);
}

const cells = (page) => page.locator('.report-units tbody tr').first().locator('td').allTextContents();

describe('the public report', () => {
    test('who was in the room sees where the units went, and finds his own place in the draw', async () => {
        const { sale, item } = await saleMake({ startsInMs: 600_000, total: 2, room: true });
        const { page, errors } = await visitor(DESKTOP);
        await page.goto(itemAddress(item));
        await page.getByRole('button', { name: 'Join the queue' }).click();
        await page.locator('.item[data-view="room"]').waitFor();
        await page.goto(`${base}/?report=${sale}`);
        await page.getByText('In the waiting room: 1. The draw is made at the start.').waitFor();
        await admin(`/sales/${sale}/open`);
        await page.goto(itemAddress(item));
        await page.getByText('It is your turn: buy now.').waitFor();
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        await page.goto(`${base}/?report=${sale}`);
        await page.getByText('Checked: for each item').waitFor();
        assert.deepEqual((await cells(page)).slice(0, 4), ['2', '0', '1', '1']);
        await page.getByRole('button', { name: 'Check the draw in this browser' }).click();
        await page.getByText('Your place is 1.').waitFor();
        await clean(page);
        await shot(page, 'report-en-desktop', true);
        await page.getByRole('button', { name: '中文' }).click();
        await page.getByText('已核对').waitFor();
        assert.deepEqual(errors, []);
    });

    test('who was not there checks it too, on a phone, in Chinese', async () => {
        const { sale, item } = await saleMake({ startsInMs: 600_000, total: 1, room: true });
        const { session } = await (await fetch(`${base}/v1/session`, { method: 'POST' })).json();
        await fetch(`${base}/v1/sales/${sale}/room`, { method: 'POST', headers: { Authorization: `Bearer ${session}` } });
        await admin(`/sales/${sale}/open`);
        const { page, errors } = await visitor({ ...PHONE, locale: 'zh-CN', colorScheme: 'dark' });
        await page.goto(itemAddress(item));
        await page.locator('.item').waitFor();
        await page.goto(`${base}/?report=${sale}`);
        await page.getByRole('button', { name: '在此浏览器中核验抽签' }).click();
        await page.getByText('全部相符：承诺、1 位参加者的名单和密钥。').waitFor();
        await clean(page);
        await shot(page, 'report-zh-phone', true);
        assert.deepEqual(errors, []);
    });

    test('figures that do not add up are told, with the item', async () => {
        const { sale } = await saleMake({ startsInMs: -1_000, total: 3 });
        const { page } = await visitor(PHONE);
        await page.route(`**/v1/sales/${sale}`, async (route) => {
            const answer = await (await route.fetch()).json();
            answer.items[0].counts.free--;
            await route.fulfill({ json: answer });
        });
        await page.goto(`${base}/?report=${sale}`);
        await page.getByText('These figures do not add up: Test watch.').waitFor();
        assert.equal(await page.getByRole('button', { name: 'Check the draw' }).count(), 0, 'no room, no draw');
    });

    test('the list of sales leads to it, and a sale that is not there is said to be none', async () => {
        const { sale } = await saleMake({ startsInMs: -1_000 });
        const { page } = await visitor(PHONE);
        await page.goto(base);
        await page.locator(`[data-sale="${sale}"]`).getByRole('link', { name: 'Report of this sale' }).click();
        await page.getByText('Where every unit is').waitFor();
        await page.goto(`${base}/?report=4000000000`);
        await page.getByRole('heading', { name: 'There is no such sale.' }).waitFor();
    });
});
