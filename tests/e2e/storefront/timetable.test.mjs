// SPDX-License-Identifier: Apache-2.0
/* The front page as a timetable: times, cards with what to do, a reminder. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe } from 'node:test';
import { admin, base, beyondOf, browserForTests, itemAddress, saleMake, seriousIn, test } from './shop.mjs';

const visitor = browserForTests();
const PHONE = { viewport: { width: 390, height: 664 } };
const LATER_MS = 1_800_000;

const cardOf = (page, item) => page.locator('.card-place', { has: page.locator(`.card[href="/items/${item}/"]`) });

describe('the timetable', () => {
    for (const [locale, words] of [['en-US', ['Now', 'Remind me', 'Reminder saved', '0% taken']], ['zh-CN', ['正在进行', '提醒我', '已设提醒', '已抢 0%']]])
        test(`leads to a later sale, and its card reminds: ${locale}`, async () => {
            const later = await saleMake({ startsInMs: LATER_MS });
            const open = await saleMake({ startsInMs: -1_000 });
            const { page, errors } = await visitor({ locale, ...PHONE });
            await page.goto(base);
            await page.locator('.time', { hasText: words[0] }).waitFor();
            assert.match(await page.locator('.time').nth(1).locator('span').textContent(), /\d\d:\d\d/);
            await page.locator('.time').last().click();
            assert.equal(await page.evaluate(() => document.activeElement.closest('.sale') !== null), true);
            await cardOf(page, open.item).getByText(words[3]).waitFor();

            const card = cardOf(page, later.item);
            const button = card.getByRole('button');
            await button.getByText(words[1]).waitFor();
            const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
            const entry = await readFile(await file.path(), 'utf8');
            assert.match(entry, /^BEGIN:VCALENDAR\r\n/);
            assert.ok(entry.replaceAll('\r\n ', '').includes(`URL:${new URL(itemAddress(later.item)).origin}/items/${later.item}/`), entry);
            await button.getByText(words[2]).waitFor();
            assert.equal(await button.getAttribute('aria-pressed'), 'true');
            assert.deepEqual(await seriousIn(page), []);
            assert.equal(await beyondOf(page), 0);

            await page.goto(itemAddress(later.item)); /* the item's page knows */
            await page.locator('.ready').getByRole('button', { name: words[2] }).waitFor();
            await page.locator('.ready').getByRole('button', { name: words[2] }).click();
            await page.locator('.ready').getByRole('button', { name: words[1] }).waitFor();
            assert.deepEqual(errors, []);
            for (const { sale } of [later, open])
                await admin(`/sales/${sale}/end`);
        });

    test('a card on a phone is a row, with the action in reach', async () => {
        const { item, sale } = await saleMake({ startsInMs: -1_000 });
        const { page } = await visitor(PHONE);
        await page.goto(base);
        const card = cardOf(page, item);
        await card.getByText('Buy now').waitFor();
        const box = await card.boundingBox();
        assert.ok(box.height < 260, `a card is ${box.height} px high`);
        await card.getByText('Buy now').click();
        await page.locator('.item .buy').waitFor();
        await admin(`/sales/${sale}/end`);
    });
});
