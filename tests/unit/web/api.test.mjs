// SPDX-License-Identifier: Apache-2.0
/* web/api.js: what is asked for, and what an answer that is none becomes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problem, server } from './page.mjs';

const api = await import('../../../web/api.js');
const refusal = async (asking) => asking.then(() => assert.fail('no refusal'), (error) => error);

test('a refusal has the type of its problem, its status and its body', async () => {
    server(() => problem(409, 'sold-out', { free: 2 }));
    const { type, status, retryAfterMs, body } = await refusal(api.timeGet());
    assert.deepEqual([type, status, retryAfterMs, body.free], ['sold-out', 409, 0, 2]);
});

test('what no server of ours has said is told by its status', async () => {
    for (const [status, type] of [[429, 'too-popular'], [502, 'unavailable'], [500, 'unavailable'], [404, 'refused']]) {
        server(() => [status, '<html>a proxy</html>']);
        assert.equal((await refusal(api.timeGet())).type, type, status);
    }
    server(() => [403, { type: 'https://elsewhere.example/problems/' }]);
    assert.equal((await refusal(api.timeGet())).type, 'refused');
});

test('no answer is a refusal of its own', async () => {
    server(() => null);
    const { type, status } = await refusal(api.timeGet());
    assert.deepEqual([type, status], ['network', 0]);
    server(() => [200, 'not JSON']);
    assert.equal((await refusal(api.timeGet())).type, 'network');
});

test('Retry-After is seconds, or a date measured against the date of the answer', async () => {
    const date = 'Mon, 16 Nov 2026 10:00:00 GMT';
    for (const [headers, ms] of [
        [{ 'Retry-After': '7' }, 7_000],
        [{ 'Retry-After': 'Mon, 16 Nov 2026 10:01:30 GMT', Date: date }, 90_000],
        [{ 'Retry-After': 'Mon, 16 Nov 2026 09:00:00 GMT', Date: date }, 0],
        [{ 'Retry-After': 'soon' }, 0],
        [{}, 0],
    ]) {
        server(() => problem(503, 'too-popular', {}, headers));
        assert.equal((await refusal(api.timeGet())).retryAfterMs, ms, JSON.stringify(headers));
    }
});

test('whoever takes too long is cut off', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    globalThis.fetch = (_, { signal }) => new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const asking = refusal(api.timeGet());
    context.mock.timers.tick(8_000);
    assert.equal((await asking).type, 'network');
});

test('a purchase carries session, pass and key, and no cookie', async () => {
    const asked = server(() => [202, { ticket: 't' }]);
    await api.buyPost('the-session', 'the-pass', 7, 'the-key', 3);
    const [{ method, path, headers, body }] = asked;
    assert.deepEqual([method, path, body], ['POST', '/v1/items/7/buy', { quantity: 3, channel: 'web' }]);
    assert.deepEqual([headers.Authorization, headers['Stampede-Pass'], headers['Idempotency-Key']],
        ['Bearer the-session', 'the-pass', 'the-key']);
    await api.intentPost('s', 'p', 7, 'k', 1);
    assert.equal(asked[1].path, '/v1/items/7/intent');
});

test('a sale of many items is read to its last page', async () => {
    const pages = { '/v1/sales/5': { items: [1, 2], next: 2 }, '/v1/sales/5?after=2': { items: [3], next: 3 }, '/v1/sales/5?after=3': { items: [4] } };
    server((_, path) => [200, pages[path]]);
    const { items, item_count: count } = await api.saleWhole(5);
    assert.deepEqual([items, count], [[1, 2, 3, 4], 4]);
});

test('a session is shown for reading only where it sees other units', async () => {
    const asked = server(() => [200, {}]);
    api.readAs({ channel: 'web', session: 's' });
    await api.itemGet(1);
    api.readAs({ channel: 'live', session: 's' });
    await api.itemGet(1);
    api.readAs(null);
    await api.itemGet(1);
    assert.deepEqual(asked.map(({ headers }) => headers.Authorization), [undefined, 'Bearer s', undefined]);
});

test('past sales are asked for by page', async () => {
    const asked = server(() => [200, { sales: [] }]);
    await api.salesGet();
    await api.salesGet({ ended: true });
    await api.salesGet({ ended: true, after: 12 });
    assert.deepEqual(asked.map(({ path }) => path), ['/v1/sales', '/v1/sales?ended=1', '/v1/sales?ended=1&after=12']);
});
