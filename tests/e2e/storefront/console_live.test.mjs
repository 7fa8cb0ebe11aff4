// SPDX-License-Identifier: Apache-2.0
/* The console's live screen: what the metrics say, the past, each sale's funnel, attacks. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { admin, base, buy, dialog, LOOKS, signedIn, wellMade } from './console_kit.mjs';

describe('the live screen', () => {
    before(async () => {
        await admin('POST', '/sales/1/open');
    });

    test('shows what the metrics say', async () => {
        const { page, errors } = await signedIn();
        const session = await (await fetch(`${base}/v1/session`, { method: 'POST' })).json();
        const headers = { Authorization: `Bearer ${session.session}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'console-test' };
        const { pass } = await (await fetch(`${base}/v1/items/1/pass`, { method: 'POST', headers, body: '{}' })).json();
        await fetch(`${base}/v1/items/1/buy`, { method: 'POST', headers: { ...headers, 'Stampede-Pass': pass }, body: '{"quantity":1}' });
        await fetch(`${base}/v1/items/1/buy`, { method: 'POST', headers: { ...headers, 'Idempotency-Key': 'another' }, body: '{"quantity":1}' });
        const metrics = await (await fetch(`${base}/metrics`)).text();
        const door = [...metrics.matchAll(/^stampede_door_total\{.*\} (\d+)$/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
        const won = /^stampede_purchases_total\{answer="won"\} (\d+)$/m.exec(metrics)[1];
        assert.ok(Number(won) >= 1);
        const count = (step) => page.locator(`[data-step="${step}"] .funnel-count`);
        await page.waitForFunction((wanted) => document.querySelector('[data-step="ordered"] .funnel-count')?.textContent === wanted, won);
        assert.equal(await count('arrived').textContent(), String(door));
        assert.equal(await count('won').textContent(), won);
        await page.locator('.stock li[data-item="1"]').getByText('99 left').waitFor();
        assert.deepEqual(errors, []);
    });

    test('every chart has a table', async () => {
        const { page } = await signedIn();
        const tables = page.locator('.chart-panel');
        assert.equal(await tables.count(), 3);
        for (const panel of await tables.all()) {
            await panel.locator('summary').focus();
            await page.keyboard.press('Enter');
            await panel.locator('tbody tr').nth(1).waitFor();
        }
    });

    test('the past is there at once, and can be scrolled', async () => {
        const { page, errors } = await signedIn();
        const range = page.getByRole('group', { name: 'What the curves show' });
        await range.getByText('as it comes').waitFor();
        await range.getByRole('button', { name: '1 hour' }).click();
        await range.getByText(' – ').or(range.getByText('Nothing is known of that time.')).waitFor();
        await range.getByRole('button', { name: 'Earlier' }).click();
        await range.getByRole('button', { name: 'Earlier' }).click();
        await range.getByRole('button', { name: 'Earlier' }).click();
        await range.getByText('Nothing is known of that time.').waitFor();
        await range.getByRole('button', { name: '5 minutes' }).click();
        await range.getByText('as it comes').waitFor();
        await buy(1);
        await page.waitForFunction(() => [...document.querySelectorAll('.chart-panel')].some((panel) =>
            panel.textContent.includes('Time to answer') && (panel.querySelector('path.series')?.getAttribute('d') ?? '').length > 3));
        assert.deepEqual(errors, []);
    });

    test('one sale has its own funnel', async () => {
        const { page } = await signedIn();
        await page.getByLabel('Sale', { exact: true }).selectOption('1');
        await page.getByText('of this sale; orders and payments in units').waitFor();
        const won = await page.locator('[data-step="won"] .funnel-count').textContent();
        assert.ok(Number(won) >= 0);
    });

    test('who hammers is seen, and banned from there', async () => {
        for (let i = 0; i < 300; i++)
            await fetch(`${base}/v1/items/1/buy`, { method: 'POST', headers: { 'Stampede-Pass': 'wrong' } });
        const { page } = await signedIn();
        const row = page.locator('.panel', { hasText: 'Attacks' }).getByRole('row', { name: /127\.0\.0\.1|::1/ }).first();
        await row.getByRole('button', { name: 'Ban' }).click();
        await dialog(page).getByText('for bad tokens').waitFor();
        await wellMade(page, 'attack-ask');
        await page.keyboard.press('Escape');
    });

    test('says so when news do not come', async () => {
        const { page } = await signedIn();
        await page.waitForSelector('.pill[data-grade="good"]');
        await page.route('**/admin/v1/live', (route) => route.abort());
        await page.waitForSelector('.pill[data-grade="bad"]');
    });

    for (const look of LOOKS)
        test(`is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
            const { page } = await signedIn(look);
            await page.waitForSelector('.stock li[data-item="1"]');
            await wellMade(page, `live-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
        });
});
