// SPDX-License-Identifier: Apache-2.0
/* The panel "Channels and safety stock" of an item: a preview is applied, units move, the safety stock is raised and used. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

process.env.CONSOLE_SETTINGS = 'channels.names=web,tmall,jd';
const { admin, dialog, LOOKS, signedIn, wellMade } = await import('./console_kit.mjs');

const SHOTS = process.env.SHOTS;
const TITLES = { 'en-US': 'Channels and safety stock', 'zh-CN': '渠道与安全库存' };

describe('channels and safety stock', () => {
    let sale, item;
    const place = () => `sales/${sale.id}/items/${item.id}`;
    const channels = async () => (await admin('GET', `/items/${item.id}/counts`)).counts.channels;

    before(async () => {
        const product = await admin('POST', '/products', { name: 'Kettle', list_price: 20_000, currency: 'CNY', images: [] });
        const now = Date.now();
        sale = await admin('POST', '/sales', { title: 'Channels', start_ms: now - 1000, end_ms: now + 3_600_000 });
        item = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10_000, total: 110, safety: 10 });
        await admin('POST', `/sales/${sale.id}/publish`);
        await admin('POST', '/channels/figures', { channel: 'tmall', units: 3000, orders: 2100, visits: 70_000, value: 21_000_000 });
        await admin('POST', '/channels/figures', { channel: 'jd', units: 2000, orders: 1600, visits: 40_000, value: 17_600_000 });
        await admin('POST', '/channels/figures', { channel: 'web', units: 0, orders: 0, visits: 1000, value: 0 });
    });

    for (const look of LOOKS)
        test(`it is well made in ${look.locale} at ${look.viewport.width}, ${look.colorScheme}`, async () => {
            const { page, errors } = await signedIn(look, place());
            const panel = page.locator('.panel', { hasText: TITLES[look.locale] }).last();
            await panel.waitFor();
            await wellMade(page);
            if (SHOTS) {
                await panel.scrollIntoViewIfNeeded();
                await page.screenshot({ path: `${SHOTS}/channels-${look.locale}-${look.viewport.width}-${look.colorScheme}.png` });
                await panel.screenshot({ path: `${SHOTS}/panel-${look.locale}-${look.viewport.width}-${look.colorScheme}.png` });
            }
            assert.deepEqual(errors, []);
        });

    test('a preview is applied, units are moved, and the safety stock is used with a reason', async () => {
        const { page, errors } = await signedIn(LOOKS[0], place());
        const panel = page.locator('.panel', { hasText: TITLES['en-US'] }).last();
        const { channels: rows } = await admin('GET', `/items/${item.id}/allocation`);
        await panel.getByRole('button', { name: 'Share units out' }).click();
        await dialog(page).getByRole('button', { name: 'Share units out' }).click();
        await dialog(page).waitFor({ state: 'detached' });
        assert.deepEqual(await channels(), Object.fromEntries(rows.map(({ channel, proposed }) => [channel, proposed])));
        await panel.getByRole('button', { name: 'Move units' }).click();
        await dialog(page).getByLabel('From').selectOption('tmall');
        await dialog(page).getByLabel('To').selectOption('web');
        await dialog(page).getByLabel('Units').fill('3');
        await dialog(page).getByRole('button', { name: 'Move', exact: true }).click();
        await dialog(page).waitFor({ state: 'detached' });
        const tmall = rows.find(({ channel }) => channel === 'tmall').proposed;
        assert.equal((await channels()).tmall, tmall - 3);
        await panel.getByRole('button', { name: 'Take out for good' }).click();
        await dialog(page).getByLabel('Reason').selectOption('damage');
        await dialog(page).getByLabel('Note').fill('wet');
        await dialog(page).getByRole('button', { name: 'Take out', exact: true }).click();
        await dialog(page).waitFor({ state: 'detached' });
        assert.equal((await admin('GET', `/items/${item.id}/safety`)).safety, 9);
        await panel.getByText('9', { exact: true }).first().waitFor();
        assert.deepEqual(errors, []);
    });
});
