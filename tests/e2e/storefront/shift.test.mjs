// SPDX-License-Identifier: Apache-2.0
/* The page of an item as the server sends it, and the same page once the script has taken it over: nothing that is in sight moves. Every
 * answer waits until the page has been painted without it, so that each step between the two is seen, on a fast machine too. */

import assert from 'node:assert/strict';
import { base, browserForTests, saleMake, shot, test } from './shop.mjs';

const visitor = browserForTests();
const SIZES = { phone: { width: 390, height: 664 }, wide: { width: 1440, height: 900 } };
const LANGUAGES = { en: 'en-US', zh: 'zh-CN' };
const MOVED_MAX = 0.01; /* words of the line at the top change their width with the language */
const APART_MAX_PX = 1;
const PARTS = ['.gallery', '.gallery img', '.details', '.eyebrow', 'h1', '.prices', '.dock', '.buy'];

/* Runs in the page before anything else. Its patience with slow answers (TAKE_OVER_MS of item_view.js) has no end here: a busy machine
 * would use it up. */
function shiftsWatch() {
    const later = window.setTimeout.bind(window);
    window.setTimeout = (act, ms, ...rest) => (ms === 5_000 ? 0 : later(act, ms, ...rest));
    window.shifts = [];
    new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries())
            window.shifts.push({ value, of: sources.map(({ node }) => node?.className || node?.nodeName) });
    }).observe({ type: 'layout-shift', buffered: true });
}

/* Two frames: what the page has to show now has been painted. */
const painted = (page) => page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
}));

const placesOf = (page) => page.evaluate((parts) => Object.fromEntries(parts.map((part) => {
    const { x, y, width, height } = document.querySelector(`main ${part}`)?.getBoundingClientRect() ?? {};
    return [part, { x, y, width, height }];
})), PARTS);

/* Where the parts are before the script runs and after, and what moved between. */
async function takenOver(look, item, name) {
    const { page } = await visitor(look);
    let go;
    const script = new Promise((resolve) => { go = resolve; });
    if (process.env.SHOTS) {
        const { page: plain } = await visitor({ ...look, javaScriptEnabled: false });
        await plain.goto(`${base}/items/${item}/`);
        await shot(plain, `${name}-sent`);
    }
    await page.addInitScript(shiftsWatch);
    await page.route(/\/app-\w+\.js$/, async (route) => {
        await script;
        await route.continue();
    });
    await page.route('**/v1/**', async (route) => {
        await painted(page);
        await route.continue();
    });
    await page.goto(`${base}/items/${item}/`, { waitUntil: 'commit' });
    await page.locator('main h1').waitFor();
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0
        && [...document.images].every((image) => image.complete));
    await painted(page);
    const sent = await placesOf(page);
    go();
    await page.locator('.item[data-phase]:not([data-phase="unknown"])').waitFor();
    await page.waitForLoadState('networkidle');
    await painted(page);
    await shot(page, `${name}-live`);
    return { sent, live: await placesOf(page), shifts: await page.evaluate(() => window.shifts) };
}

function stillCheck({ sent, live, shifts }) {
    const moved = shifts.reduce((sum, { value }) => sum + value, 0);
    assert.ok(moved <= MOVED_MAX, `moved by ${moved}: ${JSON.stringify(shifts)}`);
    for (const part of ['.gallery', '.gallery img', 'h1', '.dock', '.buy'])
        assert.ok(sent[part].width > 0, `the page is sent without ${part}`);
    for (const part of PARTS)
        for (const side of part === '.details' ? ['x', 'y', 'width'] : ['x', 'y', 'width', 'height'])
            assert.ok(Math.abs(live[part][side] - sent[part][side]) <= APART_MAX_PX,
                `${part}: ${JSON.stringify(sent[part])} as sent, ${JSON.stringify(live[part])} with the script`);
}

async function soldOutMake(picture) {
    const gone = await saleMake({ startsInMs: -1_000, total: 1, picture });
    const { session } = await (await fetch(`${base}/v1/session`, { method: 'POST' })).json();
    const headers = { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json', 'Idempotency-Key': 'the-only-one' };
    const ask = async (path, more = {}, body = '{}') =>
        (await fetch(`${base}/v1/items/${gone.item}/${path}`, { method: 'POST', headers: { ...headers, ...more }, body })).json();
    const { pass } = await ask('pass');
    await ask('buy', { 'Stampede-Pass': pass }, '{"quantity":1}');
    return gone;
}

const PHASES = {
    before: (picture) => saleMake({ startsInMs: 3_600_000, details: true, picture }),
    open: (picture) => saleMake({ startsInMs: -1_000, picture }),
    several: (picture) => saleMake({ startsInMs: -1_000, limit: 3, picture }),
    soldOut: soldOutMake,
};

for (const [language, locale] of Object.entries(LANGUAGES))
    for (const [size, viewport] of Object.entries(SIZES))
        for (const [phase, make] of Object.entries(PHASES))
            for (const picture of [true, false]) {
                const name = `${phase}-${language}-${size}-${picture ? 'picture' : 'bare'}`;
                test(`nothing moves when the script takes the page over, ${name}`, async () => {
                    const { item } = await make(picture);
                    stillCheck(await takenOver({ locale, viewport }, item, name));
                });
            }

test('an answer that does not come does not keep the page from being taken over', async () => {
    const { item } = await PHASES.before(true);
    const { page } = await visitor({ viewport: SIZES.phone });
    await page.route('**/v1/shop', () => {}); /* no answer */
    await page.goto(`${base}/items/${item}/`);
    await page.locator('.item[data-phase="before"] button.buy').waitFor();
    assert.equal(await page.locator('[data-inside]').count(), 0);
});

test('the page as it was sent tells of trouble at its button, and goes on when it is over', async () => {
    const { item } = await PHASES.open(true);
    const { page } = await visitor({ viewport: SIZES.phone });
    await page.route('**/v1/items/*', (route) => route.abort());
    await page.goto(`${base}/items/${item}/`);
    await page.locator('[data-inside] .dock-lines:not(:empty)').getByText('No answer from the shop').waitFor();
    await page.unroute('**/v1/items/*');
    await page.locator('.item[data-phase="open"] button.buy').waitFor();
    assert.equal(await page.locator('[data-inside]').count(), 0);
});
