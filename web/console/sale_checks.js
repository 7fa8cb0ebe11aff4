// SPDX-License-Identifier: Apache-2.0
/* The checklist before a sale is published: what is missing, what is unusual. Nothing here touches the page. */

const MINUTE_MS = 60_000;

/* Each: [key of its words, "good" | "warn" | "bad", values]. `rows`: items with their products. */
export function saleChecks(sale, rows, { now, sandbox }) {
    const bare = rows.filter(({ product }) => product.images.length === 0).length;
    const dear = rows.filter(({ item, product }) => item.flash_price > product.list_price).length;
    const free = rows.filter(({ item }) => item.limit_per_user === 0).length;
    const cold = rows.filter(({ item }) => !item.preheated).length;
    const windows = rows.map(({ item }) => Math.round(item.pay_window_ms / MINUTE_MS));
    const units = rows.reduce((sum, { item }) => sum + item.total, 0);
    const checks = [
        rows.length === 0 ? ['items.none', 'bad', {}] : ['items', 'good', { count: rows.length, units }],
        dear > 0 ? ['dear', 'bad', { count: dear }] : ['prices', 'good', {}],
        bare > 0 ? ['pictures.none', 'warn', { count: bare }] : ['pictures', 'good', {}],
        sale.end_ms <= now ? ['past', 'bad', {}] : sale.start_ms <= now ? ['at-once', 'warn', {}] : ['start', 'good', {}],
        free > 0 && sale.limit_per_user === 0 ? ['limit.none', 'warn', { count: free }] : ['limit', 'good', {}],
        ['window', 'good', { minutes: [...new Set(windows)].join(', ') }],
        cold > 0 ? ['cold', 'warn', { count: cold }] : ['preheated', 'good', {}],
        sale.human_check === 'none' && !sale.waiting_room ? ['open', 'warn', {}] : ['guarded', 'good', {}],
    ];
    if (sandbox)
        checks.push(['sandbox', 'warn', {}]);
    return rows.length === 0 ? checks.filter(([key]) => ['items.none', 'past', 'at-once', 'start'].includes(key)) : checks;
}
