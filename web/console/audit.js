// SPDX-License-Identifier: Apache-2.0
/* Keeps the audit entries that the page has read. Entries are in order and never change, so the page asks for each once. */

import { readAll } from './api.js';
import { moment } from './format.js';
import { say } from './i18n.js';
import { listPanel, table } from './parts.js';
import { actTold, detailTold, told } from './server_words.js';

const KEPT_MAX = 5000;
const SHOWN_MAX = 12;
let rows = [];
let last = 0;

async function auditRead() {
    rows = rows.concat(await readAll('/audit', 'audit', { most: KEPT_MAX, first: last })).slice(-KEPT_MAX);
    last = rows.at(-1)?.id ?? last;
    return rows;
}

function trailPanel(found) {
    const list = table(say('audit.title'), [say('audit.time'), say('audit.actor'), say('audit.action'), say('audit.detail')],
        found.slice(-SHOWN_MAX).reverse().map(({ time_ms: time, actor, action, detail }) => [moment(time, true), told(actor), actTold(action), detailTold(action, detail)]), say('audit.none'));
    list.className += ' trail';
    return listPanel(say('audit.title'), 'audit', list);
}

/* Entries whose detail speaks of this thing, newest first: "sale 3", "item 7", "order 00ab…". */
export async function auditPanel(things) {
    const words = things.map((thing) => new RegExp(`(^|\\W)${thing}(\\W|$)`));
    return trailPanel((await auditRead()).filter(({ detail }) => words.some((word) => word.test(detail))));
}

/* Entries of these actions, newest first, and the number of the last one. */
export async function auditOfAction(...wanted) {
    const found = (await auditRead()).filter(({ action }) => wanted.includes(action));
    return { node: trailPanel(found), last: found.at(-1)?.id ?? 0 };
}
