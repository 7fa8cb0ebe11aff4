// SPDX-License-Identifier: Apache-2.0
/* Cases in the console: one is opened, its orders get a remedy, what was said is kept, it is closed. An order is shipped and delivered, some of its money goes back. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { admin, buy, dialog, LOOKS, signedIn, wellMade } from './console_kit.mjs';

const HOUR_MS = 3_600_000;

describe('goods and cases', () => {
    let item, sent, missed;

    before(async () => {
        const product = await admin('POST', '/products', { name: 'Lamp', list_price: 20_000, currency: 'CNY', images: [] });
        const now = Date.now();
        const sale = await admin('POST', '/sales', { title: 'Light', start_ms: now - 1000, end_ms: now + HOUR_MS, start_draw_ms: 0, human_check: 'none' });
        item = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10_000, total: 5 });
        await admin('POST', `/sales/${sale.id}/publish`);
        [sent, missed] = [await buy(item.id), await buy(item.id)];
        for (const { order } of [sent, missed])
            await admin('POST', `/orders/${order}/paid`, { reference: `r-${order}`, amount: 10_000, currency: 'CNY' });
    });

    test('an order is shipped and delivered', async () => {
        const { page } = await signedIn(LOOKS[0], `orders/${sent.order}`); // it has no details: 404 is an answer
        await page.getByRole('button', { name: 'Ship', exact: true }).click();
        await dialog(page).getByLabel('Carrier').fill('SF Express');
        await dialog(page).getByLabel('Tracking number').fill('SF123456');
        await wellMade(page, 'ship-form');
        await dialog(page).getByRole('button', { name: 'Ship', exact: true }).click();
        await page.getByText('SF123456').first().waitFor();
        await page.getByRole('button', { name: 'Delivered', exact: true }).click();
        await dialog(page).getByRole('button', { name: 'Delivered', exact: true }).click();
        await dialog(page).waitFor({ state: 'detached' });
        assert.equal((await admin('GET', `/orders/${sent.order}`)).view.shipment.state, 'delivered');
        await wellMade(page, 'order-delivered');
    });

    test('a case is opened, decided, noted and closed', async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'cases');
        await page.getByRole('button', { name: 'New case' }).click();
        const form = dialog(page);
        await form.getByLabel('Item').fill(String(item.id));
        await form.getByLabel('Channel').fill('web');
        await form.getByLabel('Report').fill('day 7');
        await form.getByLabel('Reason').fill('sold after the end');
        await wellMade(page, 'case-form');
        await form.getByRole('button', { name: 'New case' }).click();
        await page.getByRole('link', { name: missed.order }).waitFor();
        await wellMade(page, 'case-desktop');
        const id = page.url().split('/').pop();
        await wellMade((await signedIn(LOOKS[1], `cases/${id}`)).page, 'case-phone-zh');
        await page.getByRole('button', { name: 'Apply' }).click();
        await wellMade(page, 'case-decide');
        await dialog(page).getByRole('button', { name: 'Apply' }).click();
        await page.getByRole('button', { name: 'Close the case' }).click();
        await dialog(page).getByLabel('Outcome').fill('refunded, with a coupon');
        await dialog(page).getByRole('button', { name: 'Close the case' }).click();
        await page.locator('.chip', { hasText: 'Closed' }).first().waitFor();
        const whole = await admin('GET', `/cases/${id}`);
        assert.deepEqual([whole.state, whole.undecided, whole.rows[0].done.remedy], ['closed', 0, 'refund-coupon']);
        await wellMade((await signedIn(LOOKS[3], 'cases')).page, 'cases-phone');
        assert.deepEqual(errors, []);
    });
});
