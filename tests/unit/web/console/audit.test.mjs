// SPDX-License-Identifier: Apache-2.0
/* web/console/audit.js: the whole trail is read, page by page, and each entry once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../page.mjs';

globalThis.Node = Object.getPrototypeOf(document.createElement('p').constructor);

const { auditOfAction } = await import('../../../../web/console/audit.js');

const PAGE = 100;
let total = 250;
const asked = [];
globalThis.fetch = async (address) => {
    const url = new URL(address, 'http://x');
    const after = url.searchParams.getAll('after');
    asked.push(url.search);
    assert.equal(after.length, 1, url.search); /* the server refuses a name that is given twice */
    const ids = Array.from({ length: Math.max(0, Math.min(PAGE, total - Number(after[0]))) }, (_, at) => Number(after[0]) + at + 1);
    const audit = ids.map((id) => ({ id, time_ms: id, actor: 'a', action: id % 2 ? 'x' : 'y', detail: 'd' }));
    return { ok: true, status: 200, json: async () => (ids.length === PAGE ? { audit, next: ids.at(-1) } : { audit }) };
};

test('a trail of several pages is read to its end, and later only what is new', async () => {
    assert.equal((await auditOfAction('x', 'y')).last, 250);
    assert.deepEqual(asked, ['?after=0', '?after=100', '?after=200']);
    total = 252;
    assert.equal((await auditOfAction('y')).last, 252);
    assert.deepEqual(asked.slice(3), ['?after=250']);
});
