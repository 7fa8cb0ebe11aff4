// SPDX-License-Identifier: Apache-2.0
/* The console in a real browser, against a demo server of its own: signing in, sales, orders, trouble, and how it looks to axe, at
 * 390 and 1440 pixels, in both languages, light and dark. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { act, admin, base, buy, dialog, eventually, EVIL, invitation, key, LOOKS, passwordSet, PNG, signedIn, visitor, wellMade } from './console_kit.mjs';

const FIRST_SCREEN_MAX = 150_000;

describe('signing in', () => {
    test('the address that the demo prints signs in once, and its token does not stay in the address', async () => {
        const { page, context, errors } = await visitor();
        await page.goto(`${base}/console/#${invitation}`);
        await page.waitForSelector('nav a[aria-current]');
        assert.ok(!page.url().includes('once_'));
        assert.deepEqual(errors, []);
        const [cookie] = await context.cookies();
        assert.equal(cookie.httpOnly, true);
        assert.equal(cookie.sameSite, 'Strict');
        assert.equal(await page.evaluate(() => document.cookie), '');
        await page.reload();
        await page.waitForSelector('nav a[aria-current]');
        const other = await visitor();
        await other.page.goto(`${base}/console/#${invitation}`);
        await other.page.getByText('already used').waitFor();
    });

    test('a wrong key is said, the right one opens, and signing out closes', async () => {
        const { page } = await visitor();
        await page.goto(`${base}/console/`);
        await page.fill('#key', `sk_${'x'.repeat(43)}`);
        await page.keyboard.press('Enter');
        await page.getByText('This key is not valid.').waitFor();
        await wellMade(page, 'sign-in');
        await page.fill('#key', key);
        await page.keyboard.press('Enter');
        await page.waitForSelector('nav a[aria-current]');
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForSelector('#key');
        const answer = await page.evaluate(async () => (await fetch('/admin/v1/sales', { headers: { 'Stampede-Console': '1' } })).status);
        assert.equal(answer, 401);
    });

    test('a user name and a password open too, and the page remembers which way was used', async () => {
        passwordSet('anna', 'viewer', 'correct horse battery');
        for (const look of LOOKS) {
            const { page, errors } = await visitor(look);
            const chinese = look.locale === 'zh-CN';
            await page.goto(`${base}/console/`);
            await page.getByRole('button', { name: chinese ? '密码' : 'Password' }).click();
            await page.fill('#name', 'anna');
            await page.fill('#password', 'wrong horse battery');
            await page.keyboard.press('Enter');
            await page.getByText(chinese ? '用户名或密码错误。' : 'The user name or the password is wrong.').waitFor();
            assert.deepEqual(errors.filter((error) => !error.includes('401')), []);
            await wellMade(page, `sign-in-password-${look.locale}-${look.viewport.width}`);
            await page.fill('#password', 'correct horse battery');
            await page.keyboard.press('Enter');
            await page.waitForSelector('nav a[aria-current]');
            await page.getByRole('button', { name: chinese ? '退出' : 'Sign out' }).click();
            await page.waitForSelector('#password');
        }
    });

    test('a session that ends elsewhere leads back to signing in', async () => {
        const { page, context } = await signedIn();
        await context.clearCookies();
        await page.getByText('You were signed out.').waitFor();
    });

    test('the console is in nobody’s frame', async () => {
        const { page } = await visitor();
        await page.goto(`${base}/`);
        await page.evaluate((address) => {
            const frame = document.createElement('iframe');
            frame.src = address;
            document.body.append(frame);
        }, `${base}/console/`);
        await page.waitForTimeout(500);
        const framed = page.frames().find((frame) => frame !== page.mainFrame());
        assert.equal(await framed.locator('#root').count().catch(() => 0), 0);
    });

    test('the first screen is small and comes from this server alone', async () => {
        const { page } = await visitor();
        const answers = [];
        const hosts = new Set();
        page.on('response', (response) => {
            hosts.add(new URL(response.url()).origin);
            answers.push(response.allHeaders());
        });
        await page.goto(`${base}/console/`, { waitUntil: 'networkidle' });
        const bytes = (await Promise.all(answers)).reduce((sum, headers) => sum + Number(headers['content-length'] ?? 0), 0);
        assert.ok(bytes > 0 && bytes <= FIRST_SCREEN_MAX, `${bytes} bytes`);
        assert.deepEqual([...hosts], [base]);
    });
});

describe('sales', () => {
    test('a sale with an uploaded picture is made, checked, published, run and ended', async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'sales/new');
        await page.getByLabel('Name', { exact: true }).fill(`Evening ${EVIL}`);
        await page.getByLabel('Product name').fill(`Lamp ${EVIL}`);
        await page.getByLabel('Description').fill(EVIL);
        await page.getByLabel('Picture', { exact: true }).setInputFiles({ name: 'lamp.png', mimeType: 'image/png', buffer: PNG });
        await page.getByText('The picture is stored.').waitFor();
        await page.getByLabel('Usual price').fill('199.00');
        await page.getByLabel('Sale price').fill('99.50');
        await page.getByLabel('Units', { exact: true }).fill('7');
        await page.getByRole('button', { name: 'Save as a draft' }).click();
        await page.locator('.chip', { hasText: 'Draft' }).waitFor();
        await page.getByText('1 items with 7 units').waitFor();
        assert.ok((await page.locator('.stock img').getAttribute('src')).startsWith('/media/'));
        await wellMade(page, 'sale-draft');
        await act(page, 'Publish', '1 items with 7 units');
        await page.locator('.chip', { hasText: 'Scheduled' }).waitFor();
        await act(page, 'Open now', '7 units can be bought at once');
        await page.locator('.chip', { hasText: 'Open' }).waitFor();
        await act(page, 'Pause', 'Nobody can buy until you resume. 7 units stay');
        await page.locator('.chip', { hasText: 'Paused' }).waitFor();
        await act(page, 'Resume', '7 units can be bought again');
        await page.getByText('It is selling now.').waitFor();
        await page.getByRole('button', { name: 'Add units' }).click();
        await dialog(page).getByLabel('Units').fill('3');
        await dialog(page).getByRole('button', { name: 'Add units' }).click();
        await page.getByText('10 left').waitFor();
        await act(page, 'End', '10 units stay unsold');
        await page.locator('.chip', { hasText: 'Ended' }).waitFor();
        const trail = page.locator('.panel', { hasText: 'Who did what' });
        for (const action of ['sale publish', 'sale open', 'sale pause', 'sale resume', 'sale end'])
            await trail.getByText(action, { exact: true }).waitFor();
        assert.equal(await page.evaluate(() => window.evil), undefined);
        assert.equal(await page.locator('main script, main img[onerror]').count(), 0);
        await page.getByRole('heading', { name: EVIL }).waitFor();
        assert.deepEqual(errors, []);
    });

    test('cancel changes nothing, and a refusal is told in the question', async () => {
        const { page } = await signedIn(LOOKS[0], 'sales/1');
        await page.getByRole('button', { name: 'Take units away' }).first().click();
        await page.keyboard.press('Escape');
        await dialog(page).waitFor({ state: 'detached' });
        await page.route('**/adjust', (route) => route.fulfill({ status: 409, contentType: 'application/problem+json', body: '{"type":"/problems/conflict","detail":"Not now."}' }));
        await page.getByRole('button', { name: 'Take units away' }).first().click();
        await dialog(page).getByRole('button', { name: 'Take units away' }).click();
        await dialog(page).getByText('Not now.').waitFor();
        await wellMade(page, 'ask');
        await dialog(page).getByRole('button', { name: 'Cancel' }).click();
        assert.equal((await admin('GET', '/items/1/counts')).counts.given, 100);
    });

    for (const look of LOOKS)
        for (const screen of ['sales', 'sales/new', 'sales/1'])
            test(`${screen} is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
                const { page } = await signedIn(look, screen);
                await page.waitForSelector('main .rows, main .form, main .stock li');
                await wellMade(page, `${screen.replace('/', '-')}-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
            });
});

describe('orders, trouble and the report', () => {
    let paid, open;

    before(async () => {
        const now = Date.now();
        const product = await admin('POST', '/products', { name: 'Cup', list_price: 200, currency: 'CNY' });
        const sale = await admin('POST', '/sales', { title: 'Cups', start_ms: now - 1_000, end_ms: now + 3_600_000, start_draw_ms: 0, return_draw_ms: 0, cooldown_s: 0 });
        const item = await admin('POST', '/items', { sale: sale.id, product: product.id, flash_price: 100, total: 5 });
        await admin('POST', `/sales/${sale.id}/publish`);
        for (let shown = false; !shown; await new Promise((resolve) => setTimeout(resolve, 50)))
            shown = (await fetch(`${base}/v1/items/${item.id}`)).ok;
        paid = await buy(item.id);
        open = await buy(item.id);
        await paid.ask('PUT', `/v1/orders/${paid.order}/details`, { name: EVIL, phone: '12345678', address: EVIL, note: EVIL });
        await admin('POST', `/orders/${paid.order}/paid`, { amount: 100, currency: 'CNY', reference: '=HYPERLINK("x")' });
    });

    test('an order is found, its story is told, and it is refunded', async () => {
        const { page, errors } = await signedIn(LOOKS[0], 'orders');
        await page.getByLabel('Order number').fill(paid.order);
        await page.getByRole('button', { name: 'Search' }).click();
        await page.getByText('Won as number').waitFor();
        await page.getByText(EVIL).first().waitFor();
        assert.equal(await page.evaluate(() => window.evil), undefined);
        await wellMade(page, 'order');
        await act(page, 'Refund', 'goes back to the customer');
        await page.locator('.chip', { hasText: 'Refunded' }).waitFor();
        assert.equal((await admin('GET', `/orders/${paid.order}`)).view.state, 'refunded');
        assert.deepEqual(errors, []);
    });

    test('an order’s messages to the shop are shown, and one is sent again', async () => {
        const sent = async () => (await admin('GET', `/webhooks?order=${paid.order}&state=delivered`)).webhooks;
        await eventually(async () => (await sent()).length >= 2, 'the shop was not told');
        for (const look of LOOKS) {
            const { page, errors } = await signedIn(look, `orders/${paid.order}`);
            const [title, good, told] = look.locale === 'zh-CN' ? ['发给商城的消息', '已送达', '订单已付款'] : ['Messages to the shop', 'Sent', 'order.paid'];
            const row = page.locator('.panel', { hasText: title }).getByRole('row').filter({ hasText: told });
            await row.getByText(good, { exact: true }).waitFor();
            await wellMade(page, `order-webhooks-${look.locale}-${look.viewport.width}`);
            assert.deepEqual(errors, []);
        }
        const [before] = (await sent()).filter(({ type }) => type === 'order.paid');
        const { page } = await signedIn(LOOKS[0], `orders/${paid.order}`);
        await page.locator('.panel', { hasText: 'Messages to the shop' }).getByRole('row').filter({ hasText: 'order.paid' }).getByRole('button', { name: 'Send again' }).click();
        await dialog(page).getByRole('button', { name: 'Send again' }).click();
        await page.getByText('The message is being sent again.').waitFor();
        await eventually(async () => (await sent()).some(({ type, tried_ms: tried }) => type === 'order.paid' && tried > before.tried_ms), 'not sent again');
    });

    test('an unpaid order is cancelled by keyboard', async () => {
        const { page } = await signedIn(LOOKS[0], `orders/${open.order}`);
        await act(page, 'Cancel the order', 'return to the stock');
        await page.locator('.chip', { hasText: 'Closed' }).waitFor();
    });

    test('a list of orders is a file for spreadsheets', async () => {
        const { page } = await signedIn(LOOKS[0], 'orders');
        await page.getByRole('link', { name: paid.order }).waitFor();
        const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as CSV' }).click()]);
        const text = await (await import('node:fs/promises')).readFile(await file.path(), 'utf8');
        assert.match(text, /^\ufefforder,state,reason,item/);
        assert.ok(text.includes(paid.order));
    });

    test('a note about an order is kept with its writer', async () => {
        const { page } = await signedIn(LOOKS[0], `orders/${open.order}`);
        await page.getByRole('button', { name: 'Write a note' }).click();
        await dialog(page).getByLabel('Note').fill(`called ${EVIL}`);
        await dialog(page).getByRole('button', { name: 'Keep' }).click();
        await page.getByText('The note is kept.').waitFor();
        const trail = page.locator('.panel', { hasText: 'Who did what' });
        await trail.getByRole('row', { name: 'order note' }).getByText('called').waitFor();
        assert.equal(await page.evaluate(() => window.evil), undefined);
        const [file] = await Promise.all([page.waitForEvent('download'), trail.getByRole('button', { name: 'Save as CSV: Who did what' }).click()]);
        assert.match(await (await import('node:fs/promises')).readFile(await file.path(), 'utf8'), /^\ufeffTime,Who,What,Details\r\n.*order note/s);
    });

    test('database and inventory are compared, an address is banned and freed', async () => {
        const { page } = await signedIn(LOOKS[0], 'trouble');
        await act(page, 'Compare now', 'nothing is changed');
        await page.getByText('Last run').waitFor();
        await page.getByRole('button', { name: 'Ban an address' }).click();
        await dialog(page).getByLabel('Address or block').fill('203.0.113.0/24');
        await dialog(page).getByLabel('Reason').fill(EVIL);
        await dialog(page).getByRole('button', { name: 'Ban an address' }).click();
        await page.getByText('203.0.113.0/24').waitFor();
        assert.equal(await page.evaluate(() => window.evil), undefined);
        await act(page, 'Lift', 'can buy again');
        await page.getByText('Nobody is banned.').waitFor();
    });

    for (const look of LOOKS)
        for (const screen of ['orders', 'trouble', 'after/1'])
            test(`${screen} is well made: ${look.viewport.width} px, ${look.locale}, ${look.colorScheme}`, async () => {
                const { page } = await signedIn(look, screen);
                await page.waitForSelector('main .rows, main .facts, main .alarms');
                await wellMade(page, `${screen.replace('/', '-')}-${look.viewport.width}-${look.locale}-${look.colorScheme}`);
            });
});
