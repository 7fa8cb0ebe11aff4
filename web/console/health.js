// SPDX-License-Identifier: Apache-2.0
/* How the parts of the server are, from one answer of /admin/v1/live. Nothing here touches the page. */

const LAG_MANY = 1000;
const STOPPED = [null, 'disk', 'lag', 'full', 'failed', 'follower'];

const graded = (bad, warn) => (bad ? 'bad' : warn ? 'warn' : 'good');

/* Each: [key of its words, "good" | "warn" | "bad", values]. */
export function healthOf({ metrics, alarms }) {
    const value = (name) => metrics[name] ?? 0;
    const stopped = STOPPED[value('stampede_wins_stopped')];
    const up = (name) => alarms.some((alarm) => alarm.name === name && alarm.up);
    const open = Math.max(0, value('stampede_edge_connections_accepted_total') - value('stampede_edge_connections_closed_total'));
    return [
        ['inventory', graded(stopped, false), { position: value('stampede_journal_durable_position') }],
        ['database', graded(value('stampede_store_away') > 0 || value('stampede_ready') === 0, false), {}],
        ['orders', graded(false, value('stampede_order_lag') > LAG_MANY || value('stampede_dead_letters_open') > 0), { lag: value('stampede_order_lag'), letters: value('stampede_dead_letters_open') }],
        ['edges', 'good', { open, push: value('stampede_push_sockets') }],
        ['payments', graded(up('refund-stuck') || up('payment-unknown'), up('test-mode')), { events: value('stampede_stock_events_open') }],
        ['webhooks', graded(up('webhook-failed'), false), { open: value('stampede_webhooks_open') }],
        ['reconcile', graded(false, value('stampede_reconcile_findings') > 0), { found: value('stampede_reconcile_findings') }],
    ];
}
