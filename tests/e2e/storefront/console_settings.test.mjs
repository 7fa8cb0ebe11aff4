// SPDX-License-Identifier: Apache-2.0
/* The console's settings: health, the configuration with its sources, who has a key; and no secret. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { admin, base, dialog, EVIL, key, LOOKS, signedIn, visitor, wellMade } from './console_kit.mjs';

describe('settings', () => {
    test('values tell where they come from, can be searched, and no key is on the page', async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'settings');
        await page.getByRole('row', { name: 'data.folder' }).getByText('command line').waitFor();
        await page.getByLabel('Which settings').selectOption('');
        await page.getByRole('row', { name: 'room.rate_max' }).getByText('default').waitFor();
        await page.getByLabel('Search settings').fill('payment.providers');
        const row = page.getByRole('row', { name: 'payment.providers' });
        await row.getByText('sandbox').waitFor();
        assert.equal(await page.getByRole('row', { name: 'room.rate_max' }).count(), 0);
        await page.locator('[data-part="payments"]').getByText('no real money').waitFor();
        await page.getByRole('row', { name: 'demo' }).getByText('Administrator').waitFor();
        assert.ok(!(await page.content()).includes(key));
        const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as CSV' }).click()]);
        assert.equal(file.suggestedFilename(), 'settings.csv');
        assert.deepEqual(errors, []);
    });

    const opens = async (shown) => (await fetch(`${base}/admin/v1/sales`, { headers: { Authorization: `Bearer ${shown}` } })).status;

    test('a key is made, shown once, signs in, and is revoked at once', async () => {
        const { page, context, errors } = await signedIn(LOOKS[0], 'settings');
        await context.grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'Make a key' }).click();
        await dialog(page).getByLabel('Name').fill('two words');
        await dialog(page).getByRole('button', { name: 'Make a key' }).click();
        assert.equal(await dialog(page).getByLabel('Name').evaluate((node) => node.validity.patternMismatch), true);
        await dialog(page).getByLabel('Name').fill('till-1');
        await dialog(page).getByLabel('Role').selectOption('operator');
        await wellMade(page, 'key-make');
        await dialog(page).getByRole('button', { name: 'Make a key' }).click();
        await dialog(page).getByText('It is shown once').waitFor();
        const made = await dialog(page).locator('.secret').textContent();
        assert.match(made, /^sk_[\w-]{43}$/);
        await wellMade(page, 'key-shown');
        await dialog(page).getByRole('button', { name: 'Copy' }).click();
        await dialog(page).getByText('Copied.').waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), made);
        await page.keyboard.press('Escape');
        const row = page.getByRole('row', { name: 'till-1' }).filter({ hasText: 'Admin key' });
        await row.getByText('Operator').waitFor();
        assert.ok(!(await page.content()).includes(made));
        assert.equal(await opens(made), 200);

        const other = await visitor();
        await other.page.goto(`${base}/console/#/settings`);
        await other.page.fill('#key', made);
        await other.page.click('button[type=submit]');
        await other.page.getByText('Operator').first().waitFor();
        assert.equal(await other.page.getByRole('button', { name: 'Make a key' }).count(), 0);

        await row.getByRole('button', { name: 'Revoke' }).click();
        await dialog(page).getByText('The key of till-1 (Operator) opens nothing from now on').waitFor();
        await dialog(page).getByRole('button', { name: 'Revoke' }).click();
        await row.waitFor({ state: 'detached' });
        assert.equal(await opens(made), 401);
        await page.getByRole('row', { name: 'key revoke' }).getByText('till-1, operator').waitFor();
        await page.getByRole('row', { name: 'key create' }).getByText('till-1, operator').waitFor();
        await other.page.reload();
        await other.page.waitForSelector('#key');
        assert.deepEqual(errors, []);
    });

    test('what the server refuses is told in the dialog', async () => {
        const { page } = await signedIn(LOOKS[0], 'settings');
        await page.getByRole('row', { name: 'demo' }).getByRole('button', { name: 'Revoke' }).click();
        await dialog(page).getByText('you may be signed out').waitFor();
        await dialog(page).getByRole('button', { name: 'Revoke' }).click();
        await dialog(page).getByText('the last key or password of an administrator').waitFor();
        await page.keyboard.press('Escape');
        await page.getByRole('row', { name: 'demo' }).first().waitFor();
    });

    test('a name with markup is shown as text', async () => {
        const name = EVIL.replaceAll(' ', '').slice(0, 60);
        await admin('POST', '/keys', { name, role: 'viewer' });
        const { page } = await signedIn(LOOKS[0], 'settings');
        await page.getByText(name, { exact: true }).waitFor();
        assert.equal(await page.evaluate(() => window.evil), undefined);
        await admin('POST', '/keys/revoke', { name });
    });

    for (const look of LOOKS)
        test(`is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
            const { page } = await signedIn(look, 'settings');
            await page.waitForSelector('main .rows');
            await wellMade(page, `settings-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
        });
});
