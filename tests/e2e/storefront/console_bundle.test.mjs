// SPDX-License-Identifier: Apache-2.0
/* An ended sale in the console: why it can't leave for a bundle, letting it leave, how far it is, and the bundle. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { act, admin, dataFolder, eventually, LOOKS, signedIn, wellMade } from './console_kit.mjs';

const WORDS = {
    'en-US': { ask: 'Move to a bundle', says: 'This can’t be undone', can: 'Its orders can leave the database', not: 'The sale is not over: its end has not come.', panel: 'Bundle' },
    'zh-CN': { ask: '移入归档包', says: '此操作无法撤销', can: '订单可以移出数据库', not: '活动尚未结束：结束时间未到。', panel: '归档包' },
};

async function saleMake(title, lasts_ms) {
    const now = Date.now();
    const product = await admin('POST', '/products', { name: 'Bowl', list_price: 20, currency: 'CNY' });
    const sale = await admin('POST', '/sales', { title, start_ms: now - 1000, end_ms: now + lasts_ms });
    await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 10, total: 5 });
    await admin('POST', `/sales/${sale.id}/publish`);
    return sale;
}

describe('bundles', () => {
    for (const look of LOOKS) {
        const words = WORDS[look.locale];
        const name = `${look.viewport.width}-${look.locale}-${look.colorScheme}`;

        test(`a sale leaves for a bundle, which is shown: ${name}`, async () => {
            const sale = await saleMake('Bowls', 3000);
            await eventually(async () => (await admin('GET', `/sales/${sale.id}/bundle`)).can, 'it is not over');
            const { page, errors } = await signedIn(look, `sales/${sale.id}`);
            const panel = page.locator('.panel', { has: page.getByRole('heading', { name: words.panel, exact: true }) });
            await panel.getByText(words.can).waitFor();
            await wellMade(page, `bundle-can-${name}`);
            await act(page, words.ask, words.says);
            const told = await eventually(async () => {
                const bundle = await admin('GET', `/sales/${sale.id}/bundle`);
                return bundle.step === 'done' && bundle;
            }, 'it does not leave');
            await panel.getByText(told.sha256).waitFor();
            await panel.getByText(told.name).waitFor();
            await eventually(async () => (await panel.getByRole('progressbar').count()) === 0, 'it does not end');
            await eventually(async () => (await page.getByRole('button', { name: /^(Reopen|重新开放)$/ }).count()) === 0, 'it can be opened again');
            await wellMade(page, `bundle-done-${name}`);
            const file = readFileSync(join(dataFolder(), 'archive', told.name));
            assert.deepEqual([file.length, createHash('sha256').update(file).digest('hex')], [told.bytes, told.sha256]);
            assert.deepEqual(errors, []);
        });

        test(`why a sale can't leave is said: ${name}`, async () => {
            const sale = await saleMake('Early', 3_600_000);
            await admin('POST', `/sales/${sale.id}/end`);
            const { page } = await signedIn(look, `sales/${sale.id}`);
            await page.getByText(words.not).waitFor();
            assert.equal(await page.getByRole('button', { name: words.ask }).count(), 0);
            await wellMade(page, `bundle-not-${name}`);
        });
    }
});
