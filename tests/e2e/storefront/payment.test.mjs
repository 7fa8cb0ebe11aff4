// SPDX-License-Identifier: Apache-2.0
/* Paying in a real browser at the sandbox of a real server. shop.mjs says what it needs. Where the
 * sandbox can't play a part (a provider's code, money that comes too late), an answer is put in the
 * page's way instead. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe } from 'node:test';
import {
    admin,
    answer,
    base,
    beyondOf,
    browserForTests,
    demoItem,
    itemAddress,
    liveButton,
    orderNumber,
    saleMake,
    seriousIn,
    test,
} from './shop.mjs';

const PHONE = { viewport: { width: 390, height: 844 } };
const DESKTOP = { viewport: { width: 1280, height: 860 } };
const LANGUAGES = { en: { locale: 'en-US' }, zh: { locale: 'zh-CN' } };
const badge = (state) => `.badge[data-state="${state}"]`;
const CODE = 'weixin://wxpay/bizpayurl?pr=p4lpSuKzz';

const visitor = browserForTests();

/* Nothing serious for axe, and nothing to scroll sideways for. */
async function good(page) {
    assert.deepEqual(await seriousIn(page), []);
    assert.ok((await beyondOf(page)) <= 0, `${page.url()} is too wide`);
}

/* At the order of a fresh purchase, with its pay buttons. */
async function bought(options, item = demoItem) {
    const opened = await visitor(options);
    await opened.page.goto(itemAddress(item));
    await opened.page.click(liveButton);
    await opened.page.waitForSelector(orderNumber);
    return opened;
}

/* At the sandbox's page. */
async function atBank(page) {
    await page.click('.order .pay');
    await page.waitForURL(/\/sandbox\/pay\.html\?id=/);
    await page.waitForSelector('.rehearse:not([hidden])');
}

async function bankDo(page, name) {
    await page.getByRole('button', { name }).click();
    await page.waitForURL(`${base}/?orders`);
}

/* The answer to a request, changed on its way to the page. */
async function answerChange(page, address, change) {
    await page.route(address, async (route) => {
        const response = await route.fetch();
        const body = await response.text();
        return route.fulfill({ response, json: change(JSON.parse(body), route.request()) });
    });
}

function refuse(route, status, type, extra = {}) {
    return route.fulfill({
        status,
        contentType: 'application/problem+json',
        body: JSON.stringify({ type: `/problems/${type}`, status, ...extra }),
    });
}

describe('test mode', () => {
    const WORDS = { en: 'Test mode: no real money.', zh: '测试模式：不会产生真实扣款。' };
    for (const [language, words] of Object.entries(WORDS)) {
        test(`every page says that no real money moves (${language})`, async () => {
            const { page } = await visitor({ ...LANGUAGES[language], ...PHONE });
            for (const address of [base, `${base}/?orders`, itemAddress(demoItem)]) {
                await page.goto(address);
                await page.waitForSelector('#test-mode:not([hidden])');
                assert.equal(await page.textContent('#test-mode'), words);
            }
            await good(page);
        });
    }

    test('a server with real providers says nothing of the kind', async () => {
        const { page } = await visitor({ ...LANGUAGES.en, ...PHONE });
        const asked = page.waitForResponse('**/v1/time');
        await answerChange(page, '**/v1/time', ({ now_ms }) => ({ now_ms }));
        await page.goto(base);
        await asked;
        assert.equal(await page.isVisible('#test-mode'), false);
    });
});

describe('from the purchase to the money', () => {
    const WORDS = {
        en: {
            pay: 'Pay with Sandbox',
            banner: 'Sandbox: no real money',
            bank: 'Pay ¥999.00',
            paid: 'Paid. Thank you!',
            steps: ['Ordered', 'Paid'],
        },
        zh: {
            pay: '去支付（沙盒支付）',
            banner: '沙盒：不是真钱',
            bank: '支付 ¥999.00',
            paid: '支付成功，谢谢！',
            steps: ['下单', '支付成功'],
        },
    };
    for (const [language, words] of Object.entries(WORDS)) {
        for (const size of [PHONE, DESKTOP]) {
            for (const colorScheme of ['light', 'dark']) {
                const place = `${language}, ${size.viewport.width} px, ${colorScheme}`;
                test(`bought, paid at the sandbox, paid (${place})`, async () => {
                    const options = { ...LANGUAGES[language], ...size, colorScheme };
                    const { page, errors } = await bought(options);
                    const number = await page.textContent(orderNumber);
                    await page.getByRole('button', { name: words.pay }).waitFor();
                    await good(page);
                    await atBank(page);
                    assert.equal(await page.textContent('.banner'), words.banner);
                    await good(page);
                    await bankDo(page, words.bank);
                    await page.waitForSelector(badge('paid'));
                    assert.equal(await page.textContent('.fact:first-child dd'), number);
                    await page.getByText(words.paid).waitFor();
                    assert.equal(await page.locator('.pay').count(), 0);
                    assert.deepEqual(await page.locator('.timeline li span').allTextContents(), words.steps);
                    const times = await page.locator('.timeline time').evaluateAll((nodes) => nodes.map((node) => Date.parse(node.dateTime)));
                    assert.ok(times.length === 2 && times[0] <= times[1], `${times}`);
                    await good(page);
                    assert.deepEqual(errors, []);
                });
            }
        }
    }

    test('the time to pay is counted down', async () => {
        const { page } = await bought();
        const left = page.locator('.fact', { hasText: 'Pay within' }).locator('dd');
        const first = await left.textContent();
        assert.match(first, /^1[45]:\d\d$/);
        await page.waitForFunction((was) => {
            const rows = [...document.querySelectorAll('.fact')];
            return rows.some((row) => /^Pay within1[45]:/.test(row.textContent)
                && !row.textContent.endsWith(was));
        }, first);
    });

    test('who comes back asks once for the payment, and a lost callback does not matter', async () => {
        const { page, requests } = await bought();
        await atBank(page);
        requests.length = 0;
        await bankDo(page, 'Pay, and the callback gets lost');
        await page.waitForSelector(badge('paid'));
        assert.equal(requests.filter(({ path }) => path.endsWith('/query')).length, 1);
    });

    test('“I have paid” has the provider asked', async () => {
        const { page, requests } = await bought();
        await atBank(page);
        await page.route('**/v1/orders', (route) => route.abort()); /* the return asks for nothing */
        await bankDo(page, 'Pay, and the callback gets lost');
        await page.goto(itemAddress(demoItem));
        requests.length = 0;
        await page.getByRole('button', { name: 'I have paid' }).click();
        await page.waitForSelector(badge('paid'));
        assert.equal(requests.filter(({ path }) => path.endsWith('/query')).length, 1);
    });

    test('“I have paid” before paying is told that nothing has come', async () => {
        const { page } = await bought();
        await atBank(page);
        await page.getByRole('link', { name: 'Back to the shop' }).click();
        await page.getByText('Asking the payment provider…').waitFor();
        await page.getByText('No payment has arrived yet.').waitFor();
        assert.equal(await page.textContent('.orders .badge'), 'Waiting for payment');
        await good(page);
    });

    for (const how of ['Pay, and the callback comes twice', 'Pay, and the callback tells a wrong amount'])
        test(`${how}: it is paid once`, async () => {
            const { page } = await bought();
            await atBank(page);
            await bankDo(page, how);
            await page.waitForSelector(badge('paid'));
        });

    test('a declined payment can be begun anew', async () => {
        const { page } = await bought();
        await atBank(page);
        await bankDo(page, 'Decline');
        await page.waitForSelector(`.orders ${badge('pending')}`);
        await page.waitForFunction(() => document.querySelector('.order-paid')?.hidden === true);
        await atBank(page);
        await bankDo(page, 'Pay ¥999.00');
        await page.waitForSelector(badge('paid'));
    });
});

describe('giving it up, giving it back', () => {
    test('a cancelled order shows that its payment is closed first, then that it is closed', async () => {
        const { page } = await bought();
        await atBank(page);
        await page.getByRole('link', { name: 'Back to the shop' }).click();
        await page.waitForSelector('.order-cancel:not([hidden])');
        await admin('/sandbox', { unreached: 100 }, 'PATCH');
        try {
            await page.click('.order-cancel[aria-disabled="false"]');
            await answer(page, 'Yes, cancel it');
            await page.getByText('Please do not pay any more.').waitFor();
            assert.equal(await page.textContent('.orders .badge'), 'Being closed');
            assert.equal(await page.locator('.pay:visible').count(), 0);
            await good(page);
        } finally {
            await admin('/sandbox', { unreached: 0 }, 'PATCH');
        }
        await page.waitForSelector(badge('closed'));
        assert.equal(await page.textContent('.orders .badge'), 'Closed · Cancelled');
    });

    test('a paid order goes back once the buyer is sure', async () => {
        const { page, errors } = await bought();
        await atBank(page);
        await bankDo(page, 'Pay ¥999.00');
        const back = page.getByRole('button', { name: 'Return for a refund' });
        await back.waitFor();
        await back.click();
        await answer(page, 'Keep the order');
        assert.equal(await page.textContent('.orders .badge'), 'Paid');
        await back.click();
        await answer(page, 'Yes, return it');
        await page.waitForSelector(badge('refunded'));
        await page.getByText('¥999.00 has been refunded to you.').waitFor();
        assert.deepEqual(await page.locator('.timeline li span').allTextContents(), ['Ordered', 'Paid', 'Refund started', 'Refunded']);
        assert.equal(await page.locator('.timeline time:not([hidden])').count(), 4);
        await good(page);
        assert.deepEqual(errors, []);
    });

    const LATE = {
        en: 'Your payment came too late. Your refund of ¥999.00 is on its way.',
        zh: '付款太晚，款项将原路退回：¥999.00。',
    };
    for (const [language, sentence] of Object.entries(LATE))
        test(`money that came too late is said to go back (${language})`, async () => {
            const { page } = await bought({ ...LANGUAGES[language], ...PHONE });
            const refund = { state: 'wanted', amount: 99900 };
            await answerChange(page, '**/v1/orders', ({ orders }) => ({
                orders: orders.map((order) => ({
                    ...order, state: 'closed', reason: 'expired', refund,
                })),
            }));
            await page.goto(`${base}/?orders`);
            await page.getByText(sentence).waitFor();
            await good(page);
        });
});

describe('details', () => {
    for (const [language, size] of [['en', PHONE], ['zh', DESKTOP]])
        test(`the form comes before the money, and says what is wrong (${language})`, async () => {
            const { page, requests } = await visitor({ ...LANGUAGES[language], ...size });
            const zh = language === 'zh';
            const field = (en, cn) => page.getByRole('textbox', { name: zh ? cn : en, exact: true });
            const { item } = await saleMake({ startsInMs: -1_000, details: true });
            await page.goto(itemAddress(item));
            await page.click(liveButton);
            await page.waitForSelector('.details-form:visible');
            assert.equal(await page.locator('.order .pay').count(), 0);
            await good(page);
            await page.getByRole('button', { name: zh ? '保存并继续' : 'Save and go on' }).click();
            const name = field('Name', '姓名');
            assert.equal(await name.getAttribute('aria-invalid'), 'true');
            assert.ok(await name.evaluate((node) => node === document.activeElement));
            await page.getByText(zh ? '请填写此项。' : 'Please fill this in.').first().waitFor();
            await good(page);
            await name.fill('王小明');
            await field('Phone', '电话').fill('call me');
            await field('Address', '地址').fill('北京市海淀区 1 号');
            await page.keyboard.press('Tab');
            await page.getByRole('button', { name: zh ? '保存并继续' : 'Save and go on' }).click();
            await page.getByText(zh ? '电话只能包含' : 'Please use digits').waitFor();
            assert.equal(requests.filter(({ method }) => method === 'PUT').length, 0);
            await field('Phone', '电话').fill('138 0000 0000');
            await page.getByRole('button', { name: zh ? '保存并继续' : 'Save and go on' }).click();
            await page.getByText('王小明').waitFor();
            await page.waitForSelector('.order .pay');
            await good(page);
            await page.reload();
            await page.waitForSelector('.order .pay');
            assert.equal(await page.locator('.details-form:visible').count(), 0);
            const session = await page.evaluate(() =>
                JSON.parse(localStorage.getItem('stampede.session')).session);
            const kept = await fetch(
                `${base}/v1/orders/${await page.textContent(orderNumber)}/details`,
                { headers: { Authorization: `Bearer ${session}` } },
            );
            const { phone, address } = await kept.json();
            assert.deepEqual([phone, address], ['138 0000 0000', '北京市海淀区 1 号']);
            await atBank(page);
            await bankDo(page, zh ? '支付 ¥1,299.00' : 'Pay ¥1,299.00');
            await page.waitForSelector(badge('paid'));
        });

    test('a server that wants them after all brings the form', async () => {
        const { item } = await saleMake({ startsInMs: -1_000, details: true });
        const { page } = await visitor();
        await answerChange(page, '**/v1/items/*', (told) => ({ ...told, details_required: false }));
        await page.goto(itemAddress(item));
        await page.click(liveButton);
        await page.click('.order .pay');
        await page.waitForSelector('.details-form:visible');
        await good(page);
    });
});

describe('other providers', () => {
    const many = async (page, url) => {
        await answerChange(page, '**/v1/payments', (ways) => ({
            ...ways, providers: ['alipay', 'wechat', 'stripe', 'sandbox'],
        }));
        const payment = { provider: 'wechat', state: 'open', url };
        await page.route('**/v1/orders/*/pay', async (route) => {
            const address = route.request().url().replace(/\/pay$/, '');
            const { authorization } = route.request().headers();
            const order = await (await fetch(address, { headers: { authorization } })).json();
            return route.fulfill({ json: { ...order, payment } });
        });
    };

    for (const [language, names] of Object.entries({
        en: ['Alipay', 'WeChat Pay', 'Card (Stripe)', 'Sandbox'],
        zh: ['支付宝', '微信支付', '银行卡（Stripe）', '沙盒支付'],
    }))
        test(`each has its button, and a code is shown to be scanned (${language})`, async () => {
            const { page } = await visitor({ ...LANGUAGES[language], ...PHONE, colorScheme: 'dark' });
            await many(page, CODE);
            await page.goto(itemAddress(demoItem));
            await page.click(liveButton);
            await page.waitForSelector('.order .pay');
            assert.deepEqual(await page.locator('.order .pay').allTextContents(), names);
            await page.getByRole('button', { name: names[1] }).click();
            await page.waitForSelector('.pay-code svg path');
            assert.equal(await page.getAttribute('.code-link', 'href'), CODE);
            assert.equal(page.url(), itemAddress(demoItem));
            await good(page);
        });

    test('an address that would run something is refused', async () => {
        const { page, errors } = await visitor();
        await many(page, 'javascript:document.title="run"');
        await page.goto(itemAddress(demoItem));
        await page.click(liveButton);
        await page.getByRole('button', { name: 'Alipay' }).click();
        await page.locator('.order').getByRole('status').getByText('This payment could not begin.').waitFor();
        assert.equal(page.url(), itemAddress(demoItem));
        assert.notEqual(await page.title(), 'run');
        assert.deepEqual(errors, []);
    });

    test('a refusal is a sentence, and the button is there again', async () => {
        const { page } = await bought();
        await page.route('**/pay', (route) => refuse(route, 502, 'payment-refused'));
        await page.click('.order .pay');
        await page.locator('.order').getByRole('status').getByText('This payment could not begin.').waitFor();
        await page.waitForSelector('.pay[aria-disabled="false"]');
        await good(page);
    });
});

describe('the sandbox’s page', () => {
    test('a payment that nobody knows is said to be none', async () => {
        for (const [language, sentence] of [['en', 'There is no such payment.'], ['zh', '没有这笔支付。']]) {
            const { page } = await visitor({ ...LANGUAGES[language], ...PHONE });
            for (const query of ['?id=nothing', '', '?id=..%2F..%2Fv1%2Ftime']) {
                await page.goto(`${base}/sandbox/pay.html${query}`);
                await page.getByText(sentence).waitFor();
                assert.equal(await page.locator('.rehearse:visible, .back:visible').count(), 0);
            }
            await good(page);
        }
    });

    test('it goes back to pages only', async () => {
        const { page } = await bought();
        await answerChange(page, '**/sandbox/v1/pay/*', (payment) => ({
            ...payment, return_url: 'javascript:document.title="run"',
        }));
        await atBank(page);
        assert.equal(await page.locator('.back:visible').count(), 0);
        await page.getByRole('button', { name: 'Pay ¥999.00' }).click();
        await page.getByText('This is paid.').waitFor();
        assert.notEqual(await page.title(), 'run');
        await good(page);
    });

    test('its language can be switched, and it says what was paid already', async () => {
        const { page } = await bought(PHONE);
        await atBank(page);
        const address = page.url();
        await page.click('[data-language="zh-CN"]');
        assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
        await bankDo(page, '支付 ¥999.00');
        await page.goto(address);
        await page.getByText('已支付。').waitFor();
        await page.getByRole('link', { name: '返回商城' }).waitFor();
        await good(page);
    });

    test('its policy lets nothing run but the server’s own files', async () => {
        const response = await fetch(`${base}/sandbox/pay.html`);
        assert.match(
            response.headers.get('content-security-policy'),
            /^default-src 'self'; .*frame-ancestors 'none'$/,
        );
        assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
        assert.match(response.headers.get('content-type'), /^text\/html/);
    });
});

describe('items that are bought by paying', () => {
    async function payItem(sale = {}, options = {}) {
        const { item } = await saleMake({ startsInMs: -1_000, deduct: true, ...sale });
        const opened = await visitor(options);
        await opened.page.goto(itemAddress(item));
        await opened.page.getByRole('button', { name: 'Buy and pay' }).waitFor();
        return { ...opened, item };
    }

    /* Somebody without a browser takes a unit. */
    async function strangerPays(item) {
        const post = async (path, headers, body = {}) => {
            const response = await fetch(`${base}/v1${path}`, {
                method: 'POST',
                headers: { 'Content-Type': 'application/json', ...headers },
                body: JSON.stringify(body),
            });
            assert.ok(response.ok, `${path}: ${response.status}`);
            return response.json();
        };
        const { session } = await post('/session', {});
        const bearer = { Authorization: `Bearer ${session}` };
        const { pass } = await post(`/items/${item}/pass`, bearer);
        const wish = { ...bearer, 'Idempotency-Key': randomUUID(), 'Stampede-Pass': pass };
        const { intent } = await post(`/items/${item}/intent`, wish, { quantity: 1 });
        await post('/intents/pay', bearer, { intent, provider: 'sandbox' });
    }

    test('one click leads to the pay page, and from there to a paid order', async () => {
        const { page, requests, errors } = await payItem();
        await page.click(liveButton);
        await page.waitForURL(/\/sandbox\/pay\.html\?id=/);
        assert.equal(requests.filter(({ path }) => path.endsWith('/buy')).length, 0);
        const [intent] = requests.filter(({ path }) => path.endsWith('/intent'));
        assert.match(intent.headers['idempotency-key'], /^[0-9a-f]{32}$/);
        await bankDo(page, 'Pay ¥1,299.00');
        await page.waitForSelector(badge('paid'));
        assert.deepEqual(errors, []);
    });

    test('with several ways and details wanted, both are asked for first', async () => {
        const { page, requests } = await payItem({ details: true }, PHONE);
        await answerChange(page, '**/v1/payments', (ways) => ({
            ...ways, providers: ['alipay', 'sandbox'],
        }));
        await page.click(liveButton);
        await page.waitForSelector('.pay-choice .details-form:visible');
        await good(page);
        await page.getByRole('textbox', { name: 'Name' }).fill('Ann');
        await page.getByRole('textbox', { name: 'Phone' }).fill('12345');
        await page.getByRole('textbox', { name: 'Address' }).fill('1 Road');
        await page.getByRole('button', { name: 'Save and go on' }).click();
        await page.getByText('How do you want to pay?').waitFor();
        await good(page);
        assert.equal(requests.filter(({ path }) => path.endsWith('/intent')).length, 0);
        await page.getByRole('button', { name: 'Sandbox' }).click();
        await page.waitForURL(/\/sandbox\/pay\.html\?id=/);
        await bankDo(page, 'Pay ¥1,299.00');
        await page.waitForSelector(badge('paid'));
    });

    test('who comes too late was not charged', async () => {
        const { page, requests, item } = await payItem({ total: 1 });
        await page.route('**/intents/pay', async (route) => {
            await strangerPays(item);
            return route.continue();
        });
        await page.click(liveButton);
        await page.getByText('Sold out. You were not charged.').waitFor();
        await page.click('[data-language="zh-CN"]');
        await page.getByText('已售罄，未扣款。').waitFor();
        await good(page);
        assert.equal(requests.filter(({ path }) => path.endsWith('/intents/pay')).length, 1);
    });

    test('a lost answer is asked for again with the same key', async () => {
        const { page, requests } = await payItem();
        let lost = null;
        await page.route('**/v1/intents/pay', async (route) => {
            if (lost !== null)
                return route.continue();
            lost = await (await route.fetch()).json();
            return route.abort('connectionreset');
        });
        await page.click(liveButton);
        await page.waitForURL(/\/sandbox\/pay\.html\?id=/);
        assert.equal(page.url(), lost.payment.url);
        const keys = requests.filter(({ path }) => path.endsWith('/intent'))
            .map(({ headers }) => headers['idempotency-key']);
        assert.equal(keys.length, 2);
        assert.equal(new Set(keys).size, 1);
    });

    test('a payment that can’t be begun leaves an order that can be paid otherwise', async () => {
        const { page } = await payItem();
        await page.route('**/v1/intents/pay', async (route) => {
            await route.fetch();
            return refuse(route, 502, 'payment-refused');
        });
        await page.click(liveButton);
        await page.getByRole('alert').getByText('This payment could not begin.').waitFor();
        await atBank(page);
        await bankDo(page, 'Pay ¥1,299.00');
        await page.waitForSelector(badge('paid'));
    });
});
