// SPDX-License-Identifier: Apache-2.0
/* The front page: every sale that is not over, with its countdown and its items, in one request a
 * round; those that are over come on request (past_sales.js). */

import { saleWhole, salesGet } from './api.js';
import { element, textSet } from './dom.js';
import { onLanguage, say } from './i18n.js';
import { createPastSales } from './past_sales.js';
import { nextTickMs, phaseOf, statusIntervalMs } from './phase.js';
import { createPoll } from './poll.js';
import { createKeyed } from './keyed.js';
import { createSale, salePhase } from './sale_part.js';
import { createTimetable } from './timetable.js';

const LIST_SLOWER = 2; /* the list is asked for less often than the page of one item */

export function mountSales(root, { clock, titleSet }) {
    const heading = element('h1', { tabIndex: -1 });
    const lead = element('p', { class: 'lead' });
    const notice = element('p', { class: 'notice', role: 'status' });
    const list = element('div', { class: 'sales' });
    const times = createTimetable(saleGo);
    const more = element('button', { type: 'button', class: 'plain more', hidden: true });
    const past = createPastSales(clock);
    const wholes = new Set(); /* sales of which all items are shown */
    const salesPaint = createKeyed(list, (id) => createSale(() => wholeShow(id), id));
    let sales = null;
    let pages = 1; /* so many are shown */
    let next; /* whether there are more */
    let troubled = false;
    let timer = 0;

    const poll = createPoll(statusAsk, () => {
        const now = clock.now();
        const waits = sales.flatMap((sale) =>
            sale.items.map((item) => statusIntervalMs(phaseOf(item, now), item, now)));
        const soonest = Math.min(60_000, ...waits);
        return soonest * LIST_SLOWER;
    });

    /* By a button of the timetable. */
    function saleGo(id) {
        const title = [...list.children].find((node) => node.dataset.sale === String(id))?.querySelector('h2');
        title?.scrollIntoView({ block: 'start' });
        title?.focus({ preventScroll: true });
    }

    /* What is shown: one page, unless the reader asked for more. */
    async function listAsk() {
        const listed = [];
        for (let page = 0; page < pages && (page === 0 || next !== undefined); page++) {
            const answer = await salesGet({ after: page === 0 ? undefined : next });
            listed.push(...answer.sales);
            past.countSet(answer.ended_count);
            ({ next } = answer);
        }
        return Promise.all(listed.map((sale) => (wholes.has(sale.id) ? saleWhole(sale.id) : sale)));
    }

    /* A sale that ends under the reader's eyes stays, though the list does not have it any more. */
    function justEnded(listed) {
        const there = new Set(listed.map(({ id }) => id));
        const now = clock.now();
        return (sales ?? []).filter((sale) => !there.has(sale.id) && now >= sale.end_ms);
    }

    async function wholeShow(id) {
        wholes.add(id);
        await statusAsk().catch(() => {}); /* what went wrong is shown, and tried again */
    }

    more.addEventListener('click', async () => {
        const first = list.childElementCount;
        pages++;
        await statusAsk().catch(() => {});
        list.children[first]?.querySelector('h2').focus(); /* the button may be gone by now */
    });

    async function statusAsk() {
        try {
            const listed = await listAsk();
            sales = [...listed, ...justEnded(listed)];
            troubled = false;
        } catch (refusal) {
            troubled = true;
            paint();
            throw refusal;
        }
        tick();
    }

    function noticeWords() {
        if (troubled)
            return say('sales.trouble');
        if (sales === null)
            return say('sales.loading');
        return sales.length === 0 ? say('sales.none') : '';
    }

    /* Running sales first, then the next ones, then those that are over. */
    function salesInOrder(now) {
        const ranks = { open: 0, paused: 0, before: 1, ended: 2 };
        const rank = (sale) => ranks[salePhase(sale, now)] ?? 1;
        return [...sales].sort((a, b) => rank(a) - rank(b) || a.start_ms - b.start_ms);
    }

    function paint() {
        textSet(heading, say('sales.title'));
        textSet(lead, say('sales.lead'));
        textSet(notice, noticeWords());
        notice.hidden = notice.textContent === '';
        titleSet('');
        const now = clock.now();
        textSet(more, say('sales.more'));
        more.hidden = next === undefined;
        past.paint();
        times.paint(sales ?? [], now);
        if (sales !== null)
            salesPaint(salesInOrder(now), (part, sale) => part.paint(sale, now));
    }

    function tick() {
        clearTimeout(timer);
        paint();
        const now = clock.now();
        const waits = (sales ?? []).map((sale) => nextTickMs(sale, now));
        if (!document.hidden)
            timer = setTimeout(tick, Math.min(1000, ...waits));
    }

    function visibilityChanged() {
        if (!document.hidden)
            tick();
    }

    document.addEventListener('visibilitychange', visibilityChanged);
    const languageEnd = onLanguage(paint);
    root.replaceChildren(element('div', { class: 'sales-page' }, heading, lead, times.node, notice, list, more, past.node));
    tick();
    poll.start();

    return {
        heading,
        stop() {
            clearTimeout(timer);
            poll.stop();
            languageEnd();
            document.removeEventListener('visibilitychange', visibilityChanged);
        },
    };
}
