// SPDX-License-Identifier: Apache-2.0
/* Lighthouse on a throttled phone (its default: a slow 4G line, a processor four times slower): the scores of each address, the best of RUNS,
 * since a busy machine only makes them worse. One line of JSON for each. Usage: node measure.mjs ADDRESS… */

import { launch } from 'chrome-launcher';
import lighthouse from 'lighthouse';
import { browserFind } from '../../e2e/kit/browser.mjs';

const RUNS = 3;
const CATEGORIES = ['performance', 'accessibility', 'best-practices'];
const FIGURES = { fcp_ms: 'first-contentful-paint', lcp_ms: 'largest-contentful-paint', tbt_ms: 'total-blocking-time', cls: 'cumulative-layout-shift' };
const GOOD = 100;

async function scores(port, address) {
    const { lhr } = await lighthouse(address, { port, onlyCategories: CATEGORIES, output: 'json', logLevel: 'error' });
    if (lhr.runtimeError)
        throw new Error(`${address}: ${lhr.runtimeError.message}`);
    const told = Object.fromEntries(CATEGORIES.map((name) => [name, Math.round(100 * lhr.categories[name].score)]));
    for (const [name, audit] of Object.entries(FIGURES))
        told[name] = Math.round(1000 * lhr.audits[audit].numericValue) / 1000;
    return told;
}

const chrome = await launch({ chromePath: browserFind(), chromeFlags: ['--headless', '--no-sandbox', '--disable-gpu'] });
try {
    for (const address of process.argv.slice(2)) {
        let best = null;
        for (let run = 0; run < RUNS && !(best?.performance === GOOD); run++) {
            const told = await scores(chrome.port, address);
            if (best === null || told.performance > best.performance)
                best = told;
        }
        console.log(JSON.stringify({ address, ...best }));
    }
} finally {
    chrome.kill();
}
