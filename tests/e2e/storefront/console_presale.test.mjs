// SPDX-License-Identifier: Apache-2.0
/* Sessions and presale in the pages: a timetable is made and a day skipped in the console, an item takes bookings, a visitor books, units arrive. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { admin, base, dialog, eventually, LOOKS, signedIn, visitor, wellMade } from './console_kit.mjs';

const HOUR_MS = 3_600_000;

describe('sessions and presale', () => {
    let sale, item, other;

    before(async () => {
        const product = await admin('POST', '/products', { name: 'Teapot', list_price: 20_000, currency: 'CNY', images: [] });
        const now = Date.now();
        sale = await admin('POST', '/sales', { title: 'Tea time', start_ms: now - 1000, end_ms: now + HOUR_MS, start_draw_ms: 0, human_check: 'none' });
        item = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10_000, total: 0 });
        other = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 9_000, total: 5 });
        await admin('POST', `/sales/${sale.id}/publish`);
    });

    test('a timetable is made, its calendar shown, a day skipped and held again', async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'sales/times');
        await page.getByRole('button', { name: 'New timetable' }).click();
        await dialog(page).getByLabel('Model').selectOption(String(sale.id));
        await dialog(page).getByLabel('Name', { exact: true }).fill('Evening tea');
        await dialog(page).getByLabel('Starts at').fill('20:00');
        await dialog(page).getByLabel('Time zone').selectOption('UTC+08:00');
        await dialog(page).getByLabel('Sun').uncheck();
        await wellMade(page, 'timetable-form');
        await dialog(page).getByRole('button', { name: 'Save' }).click();
        const panel = page.locator('.panel', { hasText: 'Evening tea' });
        await panel.getByText('20:00 (UTC+08:00), 60 minutes, Mon Tue Wed Thu Fri Sat.').waitFor();
        await panel.getByRole('columnheader', { name: 'Start (UTC+08:00)' }).waitFor();
        assert.match(await panel.locator('tbody tr').last().innerText(), /20:00[\s\S]*21:00/); /* the timetable's clock, not the visitor's */
        const skip = panel.getByRole('button', { name: /^Skip/ }).last();
        const day = (await skip.getAttribute('aria-label')).replace('Skip: ', '');
        await skip.click();
        await panel.getByRole('button', { name: `Hold it: ${day}` }).waitFor();
        await wellMade(page, 'timetables-desktop');
        await panel.getByRole('button', { name: `Hold it: ${day}` }).click();
        await panel.getByRole('button', { name: `Skip: ${day}` }).waitFor();
        const [table] = (await admin('GET', '/timetables')).timetables;
        assert.deepEqual([table.start, table.weekdays.length, table.model], ['20:00', 6, sale.id]);
        assert.deepEqual(errors, []);
        await wellMade((await signedIn(LOOKS[1], 'sales/times')).page, 'timetables-phone');
    });

    test('an item shows others, then takes bookings; a visitor books; units arrive', async () => {
        const { page } = await signedIn(LOOKS[3], `sales/${sale.id}`);
        const row = page.locator(`[data-item="${item.id}"]`);
        const offer = async (fill) => {
            await row.getByRole('button', { name: 'When sold out' }).click();
            await fill(dialog(page));
            await wellMade(page, 'sold-out-form');
            await dialog(page).getByRole('button', { name: 'Save' }).click();
            await dialog(page).waitFor({ state: 'detached' });
        };
        await offer(async (form) => {
            await form.getByLabel('Offer').selectOption('substitutes');
            await form.getByLabel('Other items').fill(String(other.id));
        });
        const shop = await visitor(LOOKS[3]);
        await shop.page.goto(`${base}/items/${item.id}/`);
        await shop.page.locator('.lost-link').first().waitFor();
        assert.equal(await shop.page.locator('.lost-link').first().getAttribute('href'), `/items/${other.id}/`);
        await wellMade(shop.page, 'substitutes-phone');
        await offer((form) => form.getByLabel('Offer').selectOption('presale'));
        await eventually(async () => (await (await fetch(`${base}/v1/items/${item.id}`)).json()).offers?.kind === 'presale', 'no presale');
        await shop.page.goto(`${base}/items/${item.id}/`);
        await shop.page.getByRole('button', { name: 'Book', exact: true }).click();
        await shop.page.getByText('Booked', { exact: true }).first().waitFor();
        await wellMade(shop.page, 'booked-phone');
        await page.reload();
        await row.getByRole('button', { name: 'Bookings' }).click();
        await dialog(page).getByText('1 wait for a unit').waitFor();
        await wellMade(page, 'bookings-phone');
        await dialog(page).getByRole('button', { name: 'Units have arrived' }).click();
        await dialog(page).waitFor({ state: 'detached' });
        await eventually(async () => (await admin('GET', `/items/${item.id}/presale`)).bookings[0].offered, 'no offer');
        await shop.page.getByRole('button', { name: /Pay/ }).first().waitFor();
        const desk = await signedIn(LOOKS[0], 'sales/times');
        await desk.page.locator('.panel', { hasText: 'Purchase list' }).getByText('Teapot').waitFor();
        const chinese = await visitor(LOOKS[2]);
        await chinese.page.goto(`${base}/items/${item.id}/`);
        await chinese.page.getByRole('button', { name: '预订', exact: true }).waitFor();
        await wellMade(chinese.page, 'presale-desktop-zh');
        assert.deepEqual(shop.errors, []);
    });

    test('a visitor reads what becomes of the deposit before booking; the shop chooses it', async () => {
        const product = await admin('POST', '/products', { name: 'Kettle', list_price: 30_000, currency: 'CNY', images: [] });
        const now = Date.now();
        const times = { start_ms: now - 1000, end_ms: now + HOUR_MS, start_draw_ms: 0, human_check: 'none' };
        const hidden = await admin('POST', '/sales', { title: 'Deposits', ...times });
        const deposit = await admin('POST', '/items', { sale: hidden.id, product: product.id, flash_price: 1_000, total: 9 });
        await admin('POST', `/sales/${hidden.id}/preheat`);
        const open = await admin('POST', '/sales', { title: 'Kettles', ...times });
        const kettle = await admin('POST', '/items', { sale: open.id, product: product.id, flash_price: 20_000, total: 0 });
        await admin('POST', `/sales/${open.id}/publish`);
        const { page } = await signedIn(LOOKS[0], `sales/${open.id}`);
        await page.locator(`[data-item="${kettle.id}"]`).getByRole('button', { name: 'When sold out' }).click();
        await dialog(page).getByLabel('Offer').selectOption('presale');
        await dialog(page).getByLabel('Item of the deposit').fill(String(deposit.id));
        await dialog(page).getByLabel('The shop keeps the deposit').selectOption('unpaid');
        await wellMade(page, 'deposit-form-desktop');
        await dialog(page).getByRole('button', { name: 'Save' }).click();
        await dialog(page).waitFor({ state: 'detached' });
        await eventually(async () => (await (await fetch(`${base}/v1/items/${kettle.id}`)).json()).offers?.deposit_kept === 'unpaid', 'no terms');
        for (const look of LOOKS) {
            const shop = await visitor(look);
            await shop.page.goto(`${base}/items/${kettle.id}/`);
            await shop.page.getByText(look.locale === 'zh-CN' ? '到货后未按时付尾款，定金不退' : 'No refund if you do not pay the rest in time').waitFor();
            const [words, button] = await Promise.all(['.wait-words', '.dock button'].map((part) => shop.page.locator(part).first().boundingBox()));
            assert.ok(look.viewport.width > 500 || words.y + words.height <= button.y, 'the button hides the terms');
            await wellMade(shop.page, `deposit-${look.locale}-${look.viewport.width}`);
            await shop.page.locator('.buy:visible').first().click();
            await shop.page.getByText(look.locale === 'zh-CN' ? '待支付' : 'Waiting for payment').first().waitFor(); /* nothing is bought yet */
            assert.deepEqual(shop.errors, []);
        }
        const phone = await signedIn(LOOKS[1], `sales/${open.id}`);
        await phone.page.locator(`[data-item="${kettle.id}"]`).getByRole('button', { name: '售罄时' }).click();
        assert.equal(await dialog(phone.page).getByLabel('定金是否不退').inputValue(), 'unpaid');
        await wellMade(phone.page, 'deposit-form-phone-zh');
        await wellMade((await signedIn(LOOKS[2], 'sales/times')).page, 'purchases-desktop-zh');
    });
});
