// SPDX-License-Identifier: Apache-2.0
/* The public ALTCHA widget on a page of another origin gets a pass from our server, in a real browser. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { base, browserLaunch, items, sessionOpen, sitePort } from './shop.mjs';

const widget = readFileSync(new URL('node_modules/altcha/dist/main/altcha.js', import.meta.url));
const PAGE = `<!doctype html><html lang="en"><title>A shop</title>
<script type="module" src="/altcha.js"></script>
<form><altcha-widget></altcha-widget></form></html>`;

let browser;
let site;

before(async () => {
    site = createServer((request, response) => {
        const script = request.url === '/altcha.js';
        response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
        response.end(script ? widget : PAGE);
    });
    await new Promise((resolve) => site.listen(sitePort, '127.0.0.1', resolve));
    browser = await browserLaunch();
});

after(async () => {
    await browser?.close();
    site.closeAllConnections();
    site.close();
});

test('the widget solves our challenge, and its payload gets one pass', async () => {
    const { session } = await sessionOpen();
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${sitePort}/`);
    const answers = await page.evaluate(
        async ({ base, item, session }) => {
            await customElements.whenDefined('altcha-widget');
            const node = document.querySelector('altcha-widget');
            const headers = { Authorization: `Bearer ${session}` };
            while (node.configure === undefined)
                await new Promise((resolve) => setTimeout(resolve, 10));
            node.configure({
                challenge: `${base}/v1/items/${item}/challenge?kind=pow`,
                fetch: (url, options) => fetch(url, { ...options, headers }),
            });
            const verified = new Promise((resolve, reject) => {
                node.addEventListener('verified', ({ detail }) => resolve(detail.payload));
                node.addEventListener('statechange', ({ detail }) => {
                    if (detail.state === 'error')
                        reject(new Error(JSON.stringify(detail)));
                });
            });
            node.verify();
            const solution = await verified;
            const ask = () =>
                fetch(`${base}/v1/items/${item}/pass`, {
                    method: 'POST',
                    headers: { ...headers, 'Content-Type': 'application/json' },
                    body: JSON.stringify({ solution }),
                });
            const first = await ask();
            return { status: first.status, pass: (await first.json()).pass, again: (await ask()).status };
        },
        { base, item: items.pow, session },
    );
    assert.deepEqual([answers.status, answers.again], [201, 409]);
    assert.equal(answers.pass.length, 48);
});
