// SPDX-License-Identifier: Apache-2.0
/* The console in Chinese: no screen shows an English sentence, whoever wrote it: the page, the server's refusals, alarms or audit trail. */

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { admin, base, buy, dialog, key, LOOKS, signedIn, wellMade } from './console_kit.mjs';

const CHINESE = LOOKS[1];
let order;
let titles = [];

/* Texts on the page with three English words in a row; names that a merchant gave, settings and commands are what they are. */
async function englishIn(page) {
    const texts = await page.evaluate(() => {
        const found = [];
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode())
            if (!node.parentElement.closest('script, style, noscript, pre, code, .mono, select'))
                found.push(node.data);
        for (const node of document.querySelectorAll('[aria-label], [title], [placeholder]'))
            found.push(...['aria-label', 'title', 'placeholder'].map((name) => node.getAttribute(name) ?? ''));
        return found;
    });
    return texts.map((text) => titles.reduce((left, title) => left.replaceAll(title, ''), text).replace(/“stampede [^”]*”/g, '')).filter((text) => /[A-Za-z]+(?:[ ,:]+[a-z]+){2,}/.test(text));
}

describe('the console in Chinese', () => {
    before(async () => {
        await admin('POST', '/sales/1/open');
        ({ order } = await buy(1));
        await admin('POST', `/orders/${order}/notes`, { note: '已电话联系' });
        await admin('POST', `/orders/${order}/cancel`);
        await admin('POST', '/sales/1/pause');
        await admin('POST', '/sales/1/resume');
        await admin('PATCH', '/sales/1', { pass_once: true });
        await admin('POST', '/items/1/adjust', { delta: 2 });
        await admin('PATCH', '/switches', { room_rate: 50 });
        await admin('POST', '/keys', { name: 'till-2', role: 'viewer' });
        await admin('POST', '/keys/revoke', { name: 'till-2' });
        await admin('POST', '/bans', { address: '198.51.100.7', minutes: 5, reason: '刷单' });
        await admin('POST', '/statements', { provider: 'sandbox', first: true, rows: [{ kind: 'captured', reference: '00000000000000ab-1', amount: 1, currency: 'CNY' }] });
        const { sales } = await admin('GET', '/sales');
        const { products } = await admin('GET', '/products');
        const inEach = ({ texts = {}, title, name, description }) => [title, name, description, ...Object.values(texts).flatMap(Object.values)];
        titles = [...sales, ...products].flatMap(inEach).filter(Boolean);
    });

    const screens = () => ['live', 'sales', 'sales/1', 'sales/new', 'sales/1/edit', 'sales/1/items/1', 'sales/1/clone', 'run', 'orders', `orders/${order}`, 'trouble', 'after', 'settings'];

    test('no screen shows an English sentence', async () => {
        const { page } = await signedIn(CHINESE, 'live');
        for (const screen of screens()) {
            await page.goto(`${base}/console/#/${screen}`);
            await page.waitForSelector('main h1');
            await page.waitForFunction(() => !document.querySelector('main').textContent.includes('加载中'));
            assert.deepEqual(await englishIn(page), [], screen);
        }
    });

    test('alarms and the audit trail tell their values', async () => {
        const { page } = await signedIn(CHINESE, 'trouble');
        await page.getByText('sandbox 的账单中有数据库不认识的付款。').waitFor();
        await page.getByText('支付由沙盒处理，不涉及真实资金。').waitFor();
        await wellMade(page, 'trouble-words-zh');
        await page.goto(`${base}/console/#/sales/1`);
        await page.getByText('暂停活动').first().waitFor();
        await page.getByText('要求 2，实际 2').waitFor();
        await wellMade(page, 'sale-words-zh');
    });

    test('a refusal is told in Chinese', async () => {
        const { page } = await signedIn(CHINESE, 'settings');
        await page.getByRole('row', { name: 'demo' }).getByRole('button', { name: '吊销' }).click();
        await dialog(page).getByRole('button', { name: '吊销' }).click();
        await dialog(page).getByText('这是最后一个管理员密钥或密码').waitFor();
        assert.deepEqual(await englishIn(page), []);
        await page.keyboard.press('Escape');
        assert.ok(!(await page.content()).includes(key));
    });
});
