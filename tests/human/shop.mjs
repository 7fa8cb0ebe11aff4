// SPDX-License-Identifier: Apache-2.0
/* What the tests of the human check need. tests/e2e/funnel/human_altcha_test.py starts the server and names it:
 * BASE_URL; ITEMS, JSON of { pow, image, slider }; SECRET, which signs challenges; SITE_PORT, whose
 * origin the server allows; DATA, its folder; SOLVING, the program that knows what only the server knows. */

import { execFileSync } from 'node:child_process';
import { chromium } from 'playwright-core';
import { browserFind } from '../e2e/kit/browser.mjs';

export const base = process.env.BASE_URL;
export const items = JSON.parse(process.env.ITEMS);
export const secret = process.env.SECRET;
export const sitePort = Number(process.env.SITE_PORT);

async function call(method, path, session, body) {
    const headers = { 'Content-Type': 'application/json' };
    if (session)
        headers.Authorization = `Bearer ${session}`;
    const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
}

export const sessionOpen = async () => (await call('POST', '/v1/session')).body;
export const challengeGet = async (session, item, kind = 'pow') =>
    (await call('GET', `/v1/items/${item}/challenge?kind=${kind}`, session)).body;
export const passPost = (session, item, solution) =>
    call('POST', `/v1/items/${item}/pass`, session, { solution });

/* Where the pieces of a slider belong. */
export const placesOf = (token) =>
    JSON.parse(execFileSync('python3', [process.env.SOLVING, process.env.DATA, token], { encoding: 'utf8' }));

export const payloadOf = (challenge, solution) => btoa(JSON.stringify({ challenge, solution }));

export function browserLaunch() {
    return chromium.launch({ executablePath: browserFind(), headless: true, args: ['--no-sandbox', '--disable-gpu'] });
}
