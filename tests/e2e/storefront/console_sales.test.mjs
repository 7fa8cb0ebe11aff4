// SPDX-License-Identifier: Apache-2.0
/* Sales in the console: changed, with their items and pictures; cloned into many sessions; seen in a calendar; archived and back. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { act, admin, dialog, EVIL, LOOKS, PNG, signedIn, wellMade } from './console_kit.mjs';

const DAY_MS = 86_400_000;
const TODAY = new Date(Date.now() + 2 * DAY_MS);
const dayText = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;

/* 80 x 40 pixels: the left half red, the right half blue. */
const WIDE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAFAAAAAoCAIAAADmAupWAAAARElEQVR42u3PsQ0AAAzCMP5/mn5RFkvZI6fJpNG2AQYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYGBgYG/u0AiOx0Nd5R9e8AAAAASUVORK5CYII=', 'base64');

describe('changing sales', () => {
    let sale, item;

    before(async () => {
        const product = await admin('POST', '/products', { name: 'Teapot', list_price: 20_000, currency: 'CNY', images: [] });
        sale = await admin('POST', '/sales', { title: 'Tea time', start_ms: TODAY.getTime(), end_ms: TODAY.getTime() + 3_600_000 });
        item = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10_000, total: 50 });
    });

    test('a sale is changed, and what was left alone is not sent', async () => {
        const { page, errors } = await signedIn(LOOKS[0], `sales/${sale.id}`);
        await page.getByRole('link', { name: 'Edit', exact: true }).click();
        await page.getByLabel('Name', { exact: true }).fill(`Tea ${EVIL}`);
        await page.getByLabel('Waiting room').check();
        await page.getByText('More rules').click();
        await page.getByLabel('Cool-down, seconds').fill('30');
        assert.equal(await page.getByLabel('Shards').inputValue(), '1');
        const [sent] = await Promise.all([page.waitForRequest((request) => request.method() === 'PATCH'), page.getByRole('button', { name: 'Save' }).click()]);
        assert.deepEqual(sent.postDataJSON(), { title: `Tea ${EVIL}`, waiting_room: true, cooldown_s: 30 });
        await page.getByRole('heading', { name: EVIL }).waitFor();
        const now = await admin('GET', `/sales/${sale.id}`);
        assert.deepEqual([now.waiting_room, now.cooldown_s, now.start_ms], [true, 30, sale.start_ms]);
        await page.locator('.panel', { hasText: 'Who did what' }).getByText('cooldown: 60 → 30 s').waitFor();
        assert.equal(await page.evaluate(() => window.evil), undefined);
        assert.deepEqual(errors, []);
    });

    test('a word to those who wait is written, shown as text, and taken away', async () => {
        const { id } = await admin('POST', '/sales', { title: 'Queue', start_ms: TODAY.getTime(), end_ms: TODAY.getTime() + 3_600_000, waiting_room: true });
        const { page, errors } = await signedIn(LOOKS[3], `sales/${id}`);
        const panel = page.locator('.panel', { hasText: 'Message to those who wait' }).first();
        const write = async (text) => {
            await panel.getByRole('button', { name: 'Write a message' }).click();
            await dialog(page).getByText('Everybody in the waiting room of “Queue” reads it at once').waitFor();
            await dialog(page).getByLabel('Message').fill(text);
            await dialog(page).getByRole('button', { name: 'Save' }).click();
            await dialog(page).waitFor({ state: 'detached' });
        };
        await write(EVIL);
        await panel.getByText(EVIL).waitFor();
        assert.equal((await admin('GET', `/sales/${id}`)).room_message, EVIL);
        assert.equal(await page.evaluate(() => window.evil), undefined);
        await wellMade(page, 'sale-message');
        await write('');
        await panel.getByText('None').waitFor();
        assert.equal((await admin('GET', `/sales/${id}`)).room_message, '');
        assert.deepEqual(errors, []);
    });

    test('of a picture that is not square the merchant chooses the square', async () => {
        const { page, errors } = await signedIn(LOOKS[1], 'sales/new');
        await page.locator('input[type=file]').setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer: WIDE });
        await dialog(page).getByText('请选择 wide.png 中要显示的部分').waitFor();
        const right = dialog(page).getByLabel('左右位置');
        await right.fill('100');
        assert.deepEqual(await page.evaluate(() => [...document.querySelector('.crop canvas').getContext('2d').getImageData(120, 120, 1, 1).data]), [0, 0, 255, 255]);
        await wellMade(page, 'picture-crop');
        await dialog(page).getByRole('button', { name: '使用这一部分' }).click();
        const stored = page.getByAltText('图片 1');
        await stored.waitFor();
        await page.waitForFunction(() => document.querySelector('.picture-shown').naturalWidth > 0);
        assert.deepEqual(await stored.evaluate((node) => [node.naturalWidth, node.naturalHeight]), [40, 40]);
        await page.locator('input[type=file]').setInputFiles({ name: 'wide.png', mimeType: 'image/png', buffer: WIDE });
        await dialog(page).getByRole('button', { name: '取消' }).click();
        await dialog(page).waitFor({ state: 'detached' });
        assert.equal(await page.locator('.picture-shown').count(), 1);
        assert.deepEqual(errors, []);
    });

    test('a refusal is told in the form', async () => {
        const { page } = await signedIn(LOOKS[0], `sales/${sale.id}/edit`);
        await page.getByLabel('End', { exact: true }).fill('2026-01-01T00:00');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('alert').getByText('“End” must be after “Start”').waitFor();
        await wellMade(page, 'sale-edit-refused');
    });

    test('an item is changed with its product; pictures are added, put in order and removed', async () => {
        const { page } = await signedIn(LOOKS[0], `sales/${sale.id}`);
        await page.getByRole('link', { name: 'Edit Teapot' }).click();
        assert.equal(await page.getByLabel('Sale price').inputValue(), '100.00');
        await page.getByLabel('Sale price').fill('88.50');
        await page.getByLabel('Kept back').fill('5');
        await page.getByLabel('Description').fill(EVIL);
        for (const name of ['a.png', 'b.png'])
            await page.getByLabel('Picture', { exact: true }).setInputFiles({ name, mimeType: 'image/png', buffer: PNG });
        await page.getByAltText('Picture 2').waitFor();
        await page.getByRole('button', { name: 'Move picture 2 to' }).click();
        await page.getByRole('button', { name: 'Remove picture 2' }).click();
        await wellMade(page, 'item-edit');
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('¥88.50').waitFor();
        const now = await admin('GET', `/items/${item.id}`);
        assert.deepEqual([now.flash_price, now.safety, now.total, now.channels.web], [8850, 5, 50, 45]);
        const product = await admin('GET', `/products/${item.product}`);
        assert.deepEqual([product.description, product.images.length], [EVIL, 1]);
        assert.equal(await page.evaluate(() => window.evil), undefined);
    });

    test('an item that is not loaded can be removed', async () => {
        const product = await admin('POST', '/products', { name: 'Spoon', list_price: 20, currency: 'CNY' });
        const spoon = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10, total: 5 });
        const { page } = await signedIn(LOOKS[0], `sales/${sale.id}/items/${spoon.id}`);
        await act(page, 'Remove', 'The item leaves this sale.');
        await page.getByText('Teapot').first().waitFor();
        assert.equal(await page.getByText('Spoon').count(), 0);
    });

    test('a sale is cloned into sessions of two days, which the calendar shows', async () => {
        const { page, errors } = await signedIn(LOOKS[0], `sales/${sale.id}/clone`);
        await page.getByLabel('Name', { exact: true }).fill('Round');
        await page.getByLabel('First day').fill(dayText(TODAY));
        await page.getByLabel('Days', { exact: true }).fill('2');
        await page.getByLabel('Times of day').fill('noon');
        await page.getByText('Times look like 10:00, 12:00.').waitFor();
        await page.getByLabel('Times of day').fill('10:00, 20:30');
        await page.getByText('These will be made: 4').waitFor();
        await wellMade(page, 'clone');
        await page.getByRole('button', { name: 'Make drafts' }).click();
        await page.locator('.day').getByText('20:30 – 21:30').waitFor();
        const made = (await admin('GET', '/sales')).sales.filter(({ title }) => title.startsWith('Round · '));
        assert.equal(made.length, 4);
        assert.ok(made.every(({ published, waiting_room: room }) => !published && room));
        const items = (await admin('GET', `/items?sale=${made[0].id}`)).items;
        assert.deepEqual(items.map(({ product, total }) => [product, total]), [[item.product, 50]]);
        await page.getByRole('link', { name: 'The week after' }).click();
        await page.getByText('No sale on this day.').or(page.locator('.day')).waitFor();
        assert.deepEqual(errors, []);
    });

    test('a sale that is over is archived, found among the archived, and brought back', async () => {
        const now = Date.now();
        const product = await admin('POST', '/products', { name: 'Bowl', list_price: 20, currency: 'CNY' });
        const old = await admin('POST', '/sales', { title: 'Bowls', start_ms: now - 1000, end_ms: now + 3_600_000 });
        await admin('POST', '/items', { sale: old.id, product: product.id, flash_price: 10, total: 5 });
        await admin('POST', `/sales/${old.id}/publish`);
        await admin('POST', `/sales/${old.id}/end`);
        const { page } = await signedIn(LOOKS[0], `sales/${old.id}`);
        await act(page, 'Archive', 'It leaves all lists.');
        await page.getByRole('button', { name: 'Unarchive' }).waitFor();
        await page.goto(page.url().replace(/#.*/, '#/sales'));
        await page.getByLabel('Which sales').selectOption('1');
        await page.getByRole('link', { name: 'Bowls' }).click();
        await act(page, 'Unarchive', 'It is in the lists again.');
        assert.equal((await admin('GET', `/sales/${old.id}`)).archived, false);
        assert.equal(await dialog(page).count(), 0);
    });

    for (const look of LOOKS)
        for (const screen of ['sales/1/edit', 'sales/1/items/1', 'sales/1/clone', `sales/day/${dayText(TODAY)}`])
            test(`${screen} is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
                const { page } = await signedIn(look, screen);
                await page.waitForSelector('main .form, main .day');
                await wellMade(page, `${screen.replaceAll('/', '-')}-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
            });
});
