// SPDX-License-Identifier: Apache-2.0
/* The console's settings: health, the configuration with its sources, who has a key; and no secret. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { key, LOOKS, signedIn, wellMade } from './console_kit.mjs';

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

    for (const look of LOOKS)
        test(`is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
            const { page } = await signedIn(look, 'settings');
            await page.waitForSelector('main .rows');
            await wellMade(page, `settings-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
        });
});
