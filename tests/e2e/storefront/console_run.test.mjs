// SPDX-License-Identifier: Apache-2.0
/* The console's run screen: degrade switches and the pace of waiting rooms, with their numbers, asked once, written down, undone. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { admin, dialog, LOOKS, signedIn, wellMade } from './console_kit.mjs';

const rowOf = (page, name) => page.locator(`[data-switch="${name}"]`);

async function turn(page, name, says, fill) {
    await rowOf(page, name).getByRole('button').focus();
    await page.keyboard.press('Enter');
    await dialog(page).getByText(says).waitFor();
    await fill(dialog(page));
    await dialog(page).getByRole('button', { name: 'Set', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
}

describe('run', () => {
    before(async () => {
        const now = Date.now();
        const product = await admin('POST', '/products', { name: 'Kettle', list_price: 200, currency: 'CNY' });
        const sale = await admin('POST', '/sales', { title: 'Kettles in line', start_ms: now + 60_000, end_ms: now + 3_600_000, waiting_room: true });
        await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 100, total: 5 });
        await admin('POST', `/sales/${sale.id}/publish`);
    });

    test('a number is set after a question with the present value, shown, written down and undone', async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'run');
        await page.getByText('No switch is turned').waitFor();
        await turn(page, 'room_rate', 'Now: 1,000 a second.', (box) => box.getByLabel('Value').fill('0'));
        await rowOf(page, 'room_rate').getByText('Nobody').waitFor();
        await page.getByText('Turned: 1').waitFor();
        assert.equal((await admin('GET', '/switches')).room_rate, 0);
        await page.locator('.panel', { hasText: 'Who did what' }).getByText('room rate: 0, was 1000').waitFor();
        await page.getByRole('button', { name: 'Undo' }).click();
        await page.getByText('It is as it was before.').waitFor();
        await rowOf(page, 'room_rate').getByText('1,000 a second').waitFor();
        assert.equal((await admin('GET', '/switches')).room_rate, 1000);
        await page.getByRole('row', { name: 'Kettles in line' }).first().waitFor();
        assert.deepEqual(errors, []);
    });

    test('a flag, an item that answers sold out, and a value that the server refuses', async () => {
        const { page } = await signedIn(LOOKS[0], 'run');
        await turn(page, 'refuse_new', 'Now: Off.', (box) => box.getByLabel('Value').selectOption('true'));
        await rowOf(page, 'refuse_new').getByText('On', { exact: true }).waitFor();
        await turn(page, 'sold_out_items', 'Now: None.', (box) => box.getByLabel('1 ·').check());
        assert.deepEqual((await admin('GET', '/switches')).sold_out_items, [1]);
        await turn(page, 'sold_out_items', 'Now:', (box) => box.getByLabel('1 ·').uncheck());
        await turn(page, 'refuse_new', 'Now: On.', (box) => box.getByLabel('Value').selectOption('false'));
        await page.getByText('No switch is turned').waitFor();
        await rowOf(page, 'pow_boost').getByRole('button').click();
        await dialog(page).getByLabel('Value').evaluate((field) => field.removeAttribute('max'));
        await dialog(page).getByLabel('Value').fill('11');
        await dialog(page).getByRole('button', { name: 'Set', exact: true }).click();
        await dialog(page).getByRole('alert').filter({ hasText: 'pow_boost' }).waitFor();
        await wellMade(page, 'run-ask');
        await page.keyboard.press('Escape');
        assert.equal((await admin('GET', '/switches')).pow_boost, 0);
    });

    for (const look of LOOKS)
        test(`is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
            const { page } = await signedIn(look, 'run');
            await page.waitForSelector('.switches');
            await wellMade(page, `run-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
        });
});
