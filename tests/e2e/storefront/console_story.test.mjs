// SPDX-License-Identifier: Apache-2.0
/* A whole sale as its merchant sees it, in the browser: made with a picture, published, sold out under a crowd, an order refunded, a
 * finding repaired, the final report. CROWD says how many people come; `make check-pages` sends 20,000. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { act, admin, base, dataFolder, eventually, LOOKS, PNG, signedIn, wellMade } from './console_kit.mjs';

const CROWD = Number(process.env.CROWD ?? 300);
const AT_ONCE = 60;
const UNITS = 20;

async function ask(path, headers, body = '{}') {
    const response = await fetch(`${base}${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
    return { status: response.status, body: await response.json() };
}

/* A draw at the start is not over yet: whoever asks again has a moment in it. */
const isGone = ({ status, body }) => status === 410 || (status === 409 && body.type !== '/problems/not-your-moment');

/* One of the crowd: 'won', 'gone', or what else was said. */
async function person(item, number) {
    const { body: { session } } = await ask('/v1/session', {}, undefined);
    const headers = { Authorization: `Bearer ${session}`, 'Idempotency-Key': `person-${number}` };
    for (let tries = 0; tries < 20; tries++) {
        const given = await ask(`/v1/items/${item}/pass`, headers);
        if (isGone(given))
            return 'gone';
        if (given.status < 300) {
            const bought = await ask(`/v1/items/${item}/buy`, { ...headers, 'Stampede-Pass': given.body.pass }, '{"quantity":1}');
            if (bought.status < 300)
                return 'won';
            if (isGone(bought))
                return 'gone';
        }
        await new Promise((resolve) => setTimeout(resolve, 100 * (tries + 1)));
    }
    return 'nothing';
}

async function crowdCome(item) {
    const told = { won: 0, gone: 0, nothing: 0 };
    let next = 0;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        while (next < CROWD)
            told[await person(item, next++)]++;
    }));
    return told;
}

async function saleMake(page) {
    await page.getByLabel('Name', { exact: true }).fill('The big evening');
    await page.getByLabel('Product name').fill('Lamp');
    await page.getByLabel('Picture', { exact: true }).setInputFiles({ name: 'lamp.png', mimeType: 'image/png', buffer: PNG });
    await page.getByText('The picture is stored.').waitFor();
    await page.getByLabel('Usual price').fill('199.00');
    await page.getByLabel('Sale price').fill('99.50');
    await page.getByLabel('Units', { exact: true }).fill(String(UNITS));
    await page.getByRole('button', { name: 'Save as a draft' }).click();
    await page.locator('.chip', { hasText: 'Draft' }).waitFor();
    return Number(/sales\/(\d+)/.exec(page.url())[1]);
}

describe('a whole sale', () => {
    test(`is made, sold out under a crowd of ${CROWD}, refunded, repaired and reported`, async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'sales/new');
        await admin('PATCH', '/switches', { bypass_address_limit: true }); /* the crowd has one address */
        const sale = await saleMake(page);
        const [item] = (await admin('GET', `/items?sale=${sale}`)).items;
        await act(page, 'Publish', `${UNITS} units`);
        await act(page, 'Open now', `${UNITS} units can be bought at once`);
        await page.locator('.chip', { hasText: 'Open' }).waitFor();

        const told = await crowdCome(item.id);
        console.log(`crowd: ${CROWD} people, ${told.won} won, ${told.gone} came too late`);
        assert.deepEqual(told, { won: UNITS, gone: CROWD - UNITS, nothing: 0 });
        await page.getByText('· 0 left').waitFor();
        await page.goto(`${base}/console/#/live`);
        await page.locator('.panel', { hasText: 'Funnel' }).first().waitFor();
        await wellMade(page, 'story-live');

        const order = await eventually(async () => (await admin('GET', `/orders?item=${item.id}&limit=1`)).orders[0]?.view.order, 'no order');
        await admin('POST', `/orders/${order}/paid`, { amount: 9950, currency: 'CNY', reference: 'by hand' });
        await page.goto(`${base}/console/#/orders/${order}`);
        await act(page, 'Refund', 'goes back to the customer');
        await page.locator('.chip', { hasText: 'Refunded' }).waitFor();

        const planted = spawnSync('sqlite3', ['-cmd', '.timeout 20000', join(dataFolder(), 'stampede.db'), `UPDATE items SET sold = sold - 3 WHERE id = ${item.id}`]);
        assert.equal(planted.status, 0, String(planted.stderr));
        await page.goto(`${base}/console/#/trouble`);
        await act(page, 'Compare now', 'nothing is changed');
        await page.getByText('Can be repaired').first().waitFor();
        await act(page, 'Repair', 'will be repaired');
        await page.locator('.chip', { hasText: 'Repaired' }).first().waitFor();

        await page.goto(`${base}/console/#/after/${sale}`);
        await page.locator('.facts', { hasText: 'Winners' }).getByText(String(UNITS), { exact: true }).waitFor();
        await page.getByText('Sold out after').waitFor();
        await wellMade(page, 'story-report');
        assert.deepEqual(errors.filter((words) => !words.includes('404')), []); /* an order without an address has none to show */
    });
});
