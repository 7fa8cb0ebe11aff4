// SPDX-License-Identifier: Apache-2.0
/* The waiting room in a real browser: entering, the draw, the line, one's turn. SHOTS names a folder for
 * pictures of what was seen. */

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
    admin,
    base,
    beyondOf,
    browserForTests,
    itemAddress,
    liveButton,
    orderNumber,
    saleMake,
    seriousIn,
    shot,
    test,
} from './shop.mjs';

const PHONE = { viewport: { width: 390, height: 664 } };
const CROWD = 237;

const visitor = browserForTests();

/* Somebody without a browser enters. */
async function strangerEnter(sale) {
    const { session } = await (await fetch(`${base}/v1/session`, { method: 'POST' })).json();
    const response = await fetch(`${base}/v1/sales/${sale}/room`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${session}` },
    });
    assert.equal(response.status, 202);
}

async function clean(page) {
    assert.deepEqual(await seriousIn(page), []);
    assert.ok((await beyondOf(page)) <= 0);
}

describe('the waiting room', { concurrency: 3 }, () => {
    test('who enters sees the draw coming, the line, and then buys', async () => {
        const { sale, item } = await saleMake({ startsInMs: 600_000, total: 1, room: true });
        const { page, errors } = await visitor();
        await page.goto(itemAddress(item));
        await page.getByText('Join in time: places are drawn by lot').waitFor();
        await clean(page);
        await shot(page, 'room-offer', true);
        await page.getByRole('button', { name: 'Join the queue' }).click();
        await page.getByText(/(people|person) in the room/).waitFor();
        await page.reload();
        await page.getByText(/(people|person) in the room/).waitFor();
        assert.equal(await page.textContent('.room-number'), '1');
        for (const gone of ['.buy', '.stock', '.prices'])
            assert.equal(await page.isVisible(gone), false, gone);
        await page.getByRole('button', { name: 'Tell me when it is my turn' }).click();
        await page.getByRole('button', { name: 'You will be told by sound' }).waitFor();
        await clean(page);
        await shot(page, 'room-early', true);
        await admin(`/sales/${sale}/preheat`);
        await admin(`/sales/${sale}/open`);
        await page.getByText('It is your turn: buy now.').waitFor();
        assert.match(await page.title(), /^Your turn! · /);
        await page.getByText('We’ll wait this long for you').waitFor();
        const left = () => page.locator('.room-number').textContent();
        const first = await left();
        assert.match(first, /^(1:00|0:[0-5]\d)$/);
        await page.waitForFunction((before) => document.querySelector('.room-number').textContent !== before, first);
        await page.getByText('Why this is fair').click();
        await page.getByRole('button', { name: 'Check the draw in this browser' }).click();
        await page.getByText('The draw is right. You drew place 1 of 1.').waitFor();
        await clean(page);
        await shot(page, 'room-turn', true);
        await page.click(liveButton);
        await page.waitForSelector(orderNumber);
        assert.equal(await page.locator('.room-box').isVisible(), false);
        assert.deepEqual(errors, []);
    });

    test('the operator writes to those who wait, and they read it without loading the page again', async () => {
        const { sale, item } = await saleMake({ startsInMs: 600_000, total: 1, room: true });
        const { page, errors } = await visitor({ ...PHONE, locale: 'zh-CN' });
        await page.goto(itemAddress(item));
        await page.locator(liveButton).click();
        await page.locator('.item[data-view="room"]').waitFor();
        assert.equal(await page.isVisible('.room-message'), false);
        const text = '推迟十分钟，您的位置保留。 <b>Ten minutes later</b>';
        await admin(`/sales/${sale}/message`, { message: text });
        await page.getByText(text).waitFor();
        assert.equal(await page.locator('.room-message b').count(), 0);
        await clean(page);
        await shot(page, 'room-message', true);
        await admin(`/sales/${sale}/message`, { message: '' });
        await page.locator('.room-message').waitFor({ state: 'hidden' });
        assert.deepEqual(errors, []);
    });

    test('a draw that waits for its beacon says so, in both languages, and goes on with it', async () => {
        const { sale, item } = await saleMake({ startsInMs: 600_000, total: 2, room: true, beacon: 'index of the day' });
        const english = await visitor();
        const chinese = await visitor({ ...PHONE, locale: 'zh-CN' });
        await english.page.goto(itemAddress(item));
        await chinese.page.goto(itemAddress(item));
        await english.page.getByRole('button', { name: 'Join the queue' }).click();
        await chinese.page.getByRole('button', { name: '进入排队' }).click();
        await english.page.getByText('in the room').waitFor();
        await chinese.page.getByText('人在等候室').waitFor();
        await admin(`/sales/${sale}/preheat`);
        await admin(`/sales/${sale}/open`);
        await english.page.getByText('The draw waits for the announced public number').waitFor();
        await chinese.page.getByText('抽签正在等待事先公布的公共随机数').waitFor();
        await clean(english.page);
        await clean(chinese.page);
        await shot(chinese.page, 'room-beacon', true);
        await admin(`/sales/${sale}/beacon`, { value: '42' });
        await english.page.getByText('It is your turn: buy now.').waitFor();
        await chinese.page.getByText('轮到您了').first().waitFor();
        await english.page.getByText('Why this is fair').click();
        await english.page.getByRole('button', { name: 'Check the draw in this browser' }).click();
        await english.page.getByText(/^The draw is right\. You drew place [12] of 2\.$/).waitFor();
        assert.deepEqual([...english.errors, ...chinese.errors], []);
    });

    test('a long line says how many are ahead and how the odds are, in both languages', async () => {
        const { sale, item } = await saleMake({ startsInMs: 600_000, total: 1, room: true });
        const desktop = await visitor();
        await desktop.page.goto(itemAddress(item));
        await admin(`/sales/${sale}/preheat`);
        await admin(`/sales/${sale}/open`);
        await admin('/switches', { bypass_address_limit: true }, 'PATCH'); /* the crowd has one address */
        for (let i = 0; i < CROWD; i++)
            await strangerEnter(sale);
        await admin('/switches', { bypass_address_limit: false }, 'PATCH');
        await desktop.page.reload();
        await desktop.page.getByText('Join the queue to get your turn.').waitFor();
        await desktop.page.getByRole('button', { name: 'Join the queue' }).click();
        await desktop.page.getByText('ahead of you', { exact: true }).waitFor();
        assert.match(await desktop.page.title(), /^\(\d+\) In line · /);
        await desktop.page.getByText('it will probably be sold out before your turn').waitFor();
        await clean(desktop.page);
        await shot(desktop.page, 'room-line-desktop', true);
        const ahead = async (page) => Number(/\d+/.exec(await page.textContent('.room-number'))[0]);
        const before = await ahead(desktop.page);
        await desktop.page.reload();
        await desktop.page.getByText('ahead of you', { exact: true }).waitFor();
        assert.ok((await ahead(desktop.page)) <= before);
        const phone = await visitor({ ...PHONE, locale: 'zh-CN' });
        await phone.page.goto(itemAddress(item));
        await phone.page.getByRole('button', { name: '进入排队' }).click();
        await phone.page.getByText('人在您前面').waitFor();
        const box = await phone.page.locator('.room-number').boundingBox();
        assert.ok(box.y + box.height < PHONE.viewport.height && box.height >= 60, JSON.stringify(box));
        await phone.page.getByText('轮到您之前很可能已经售罄').waitFor();
        await clean(phone.page);
        await shot(phone.page, 'room-line-phone', true);
        assert.deepEqual([...desktop.errors, ...phone.errors], []);
    });
});
