/* SPDX-License-Identifier: Apache-2.0 */
/* api/admin_endpoints.h: every endpoint of the admin API, once. The server dispatches by this list
 * (admin/admin.c); tests compare it with the verbs of `stampede admin` (tests/unit/cli) and with
 * docs/openapi.json (tests/e2e/api). */
#ifndef STAMPEDE_API_ADMIN_ENDPOINTS_H
#define STAMPEDE_API_ADMIN_ENDPOINTS_H

/* Method; least role; effect; path after /admin/v1, a pattern with the query it takes (path_pattern.h); its
 * handler is admin_…. Effects:
 * READS     the database, on a thread that only reads (worker/store_readers.h)
 * COUNTS    the same, after the worker has written what it counted
 * LOOKS     what the worker has in memory; a piece of a picture counts as that, too: harmless to repeat
 * COMMANDS  the inventory only: goes on while the database is away
 * WRITES    the database, perhaps the inventory too */
#define ADMIN_ENDPOINT_LIST(X) \
    X(GET, VIEWER, READS, "/products?after", products_list) \
    X(POST, ADMIN, WRITES, "/products", product_create) \
    X(GET, VIEWER, READS, "/products/#", product_show) \
    X(PATCH, ADMIN, WRITES, "/products/#", product_change) \
    X(GET, VIEWER, LOOKS, "/media", media_list) \
    X(POST, ADMIN, LOOKS, "/media?upload at bytes", media_add) \
    X(GET, VIEWER, LOOKS, "/media/uploads/#", media_upload) \
    X(POST, ADMIN, WRITES, "/media/remove", media_remove) \
    X(GET, VIEWER, READS, "/sales?after archived", sales_list) \
    X(POST, ADMIN, WRITES, "/sales", sale_create) \
    X(GET, VIEWER, READS, "/sales/#", sale_show) \
    X(PATCH, ADMIN, WRITES, "/sales/#", sale_change) \
    X(GET, VIEWER, COUNTS, "/sales/#/report", sale_report) \
    X(POST, OPERATOR, COMMANDS, "/sales/#/preheat", sale_preheat) \
    X(POST, ADMIN, WRITES, "/sales/#/publish", sale_publish) \
    X(POST, ADMIN, WRITES, "/sales/#/unpublish", sale_unpublish) \
    X(POST, ADMIN, WRITES, "/sales/#/archive", sale_archive) \
    X(POST, ADMIN, WRITES, "/sales/#/unarchive", sale_unarchive) \
    X(GET, VIEWER, READS, "/sales/#/bundle", sale_bundle_show) \
    X(POST, ADMIN, WRITES, "/sales/#/bundle", sale_bundle) \
    X(GET, VIEWER, READS, "/archive", archive_show) \
    X(POST, ADMIN, WRITES, "/archive", archive_due) \
    X(POST, ADMIN, WRITES, "/customers/erase", customer_erase) \
    X(POST, ADMIN, WRITES, "/sales/#/clone", sale_clone) \
    X(POST, OPERATOR, COMMANDS, "/sales/#/open", sale_open) \
    X(POST, OPERATOR, COMMANDS, "/sales/#/pause", sale_pause) \
    X(POST, OPERATOR, COMMANDS, "/sales/#/resume", sale_resume) \
    X(POST, OPERATOR, COMMANDS, "/sales/#/end", sale_end) \
    X(POST, ADMIN, COMMANDS, "/sales/#/reopen", sale_reopen) \
    X(POST, OPERATOR, WRITES, "/sales/#/beacon", sale_beacon) \
    X(POST, OPERATOR, WRITES, "/sales/#/message", sale_message) \
    X(GET, VIEWER, READS, "/sales/#/users?after", sale_users_list) \
    X(POST, ADMIN, WRITES, "/sales/#/users", sale_users) \
    X(POST, ADMIN, WRITES, "/sales/#/users/remove", sale_users_remove) \
    X(GET, VIEWER, READS, "/timetables", timetables_list) \
    X(POST, ADMIN, WRITES, "/timetables", timetable_create) \
    X(GET, VIEWER, READS, "/timetables/#", timetable_show) \
    X(PATCH, ADMIN, WRITES, "/timetables/#", timetable_change) \
    X(POST, OPERATOR, WRITES, "/timetables/#/days", timetable_day) \
    X(GET, VIEWER, READS, "/items?sale after", items_list) \
    X(POST, ADMIN, WRITES, "/items", item_create) \
    X(GET, VIEWER, READS, "/items/#", item_show) \
    X(PATCH, ADMIN, WRITES, "/items/#", item_change) \
    X(DELETE, ADMIN, WRITES, "/items/#", item_remove) \
    X(POST, OPERATOR, COMMANDS, "/items/#/preheat", item_preheat) \
    X(POST, OPERATOR, COMMANDS, "/items/#/adjust", item_adjust) \
    X(POST, OPERATOR, COMMANDS, "/items/#/move", item_move) \
    X(GET, VIEWER, READS, "/items/#/counts", item_counts) \
    X(GET, VIEWER, READS, "/items/#/allocation", item_allocation) \
    X(POST, OPERATOR, WRITES, "/items/#/allocation", item_allocate) \
    X(GET, VIEWER, READS, "/items/#/safety", item_safety) \
    X(POST, OPERATOR, WRITES, "/items/#/safety", item_safety_use) \
    X(GET, VIEWER, READS, "/channels", channels_list) \
    X(POST, OPERATOR, WRITES, "/channels/figures", channel_figures_set) \
    X(GET, VIEWER, READS, "/channels/reports?item channel missing after", channel_reports) \
    X(GET, VIEWER, READS, "/items/#/waitlist?after", item_waitlist) \
    X(PUT, ADMIN, WRITES, "/items/#/sold-out", item_sold_out) \
    X(GET, VIEWER, READS, "/items/#/presale?after", item_presale) \
    X(POST, OPERATOR, COMMANDS, "/items/#/presale/arrive", item_arrive) \
    X(GET, VIEWER, READS, "/purchases?after csv", purchases) \
    X(GET, VIEWER, READS, "/orders?sale item state from_ms to_ms user subject before limit", orders_list) \
    X(GET, OPERATOR, READS, \
        "/orders/export?sale item state from_ms to_ms user subject before limit", orders_export) \
    X(POST, OPERATOR, WRITES, "/shipments", orders_ship) \
    X(GET, VIEWER, READS, "/orders/@", order_show) \
    X(POST, OPERATOR, WRITES, "/orders/@/paid", order_paid) \
    X(POST, OPERATOR, WRITES, "/orders/@/cancel", order_cancel) \
    X(POST, ADMIN, WRITES, "/orders/@/refund", order_refund) \
    X(POST, ADMIN, WRITES, "/orders/@/refund-part", order_refund_part) \
    X(POST, OPERATOR, WRITES, "/orders/@/ship", order_ship) \
    X(POST, OPERATOR, WRITES, "/orders/@/deliver", order_deliver) \
    X(POST, OPERATOR, WRITES, "/orders/@/notes", order_note) \
    X(GET, VIEWER, READS, "/orders/@/payments", order_payments) \
    X(GET, OPERATOR, READS, "/orders/@/details", order_details) \
    X(GET, VIEWER, READS, "/cases?state after", cases_list) \
    X(POST, OPERATOR, WRITES, "/cases", case_create) \
    X(GET, VIEWER, READS, "/cases/costs", cases_costs) \
    X(GET, VIEWER, READS, "/cases/#", case_show) \
    X(GET, OPERATOR, READS, "/cases/#/notes?after", case_notes) \
    X(POST, OPERATOR, WRITES, "/cases/#/notes", case_note) \
    X(POST, OPERATOR, WRITES, "/cases/#/orders", case_orders) \
    X(POST, OPERATOR, WRITES, "/cases/#/assign", case_assign) \
    X(POST, ADMIN, WRITES, "/cases/#/apply", case_apply) \
    X(POST, OPERATOR, WRITES, "/cases/#/close", case_close) \
    X(GET, VIEWER, READS, "/refunds?open after", refunds) \
    X(GET, VIEWER, READS, "/payments/totals", money_totals) \
    X(POST, OPERATOR, WRITES, "/statements", statement_import) \
    X(GET, VIEWER, READS, "/statements/missing?provider of from_ms to_ms after", statement_missing) \
    X(GET, VIEWER, LOOKS, "/sandbox", sandbox) \
    X(PATCH, ADMIN, WRITES, "/sandbox", sandbox_change) \
    X(GET, VIEWER, READS, "/dead-letters?state after", dead_letters) \
    X(GET, VIEWER, READS, "/dead-letters/#", dead_letter_show) \
    X(POST, OPERATOR, WRITES, "/dead-letters/#/retry", dead_letter_retry) \
    X(POST, OPERATOR, WRITES, "/dead-letters/#/return", dead_letter_return) \
    X(POST, OPERATOR, WRITES, "/dead-letters/#/dismiss", dead_letter_dismiss) \
    X(GET, VIEWER, LOOKS, "/alarms", alarms) \
    X(GET, VIEWER, READS, "/members", members) \
    X(GET, VIEWER, READS, "/partitions?after", partitions) \
    X(GET, VIEWER, LOOKS, "/live", live) \
    X(GET, VIEWER, LOOKS, "/live/history?step_s after", live_history) \
    X(GET, VIEWER, LOOKS, "/reconcile", reconcile_show) \
    X(POST, OPERATOR, WRITES, "/reconcile", reconcile_run) \
    X(GET, VIEWER, READS, "/audit?after", audit) \
    X(GET, ADMIN, LOOKS, "/settings", settings) \
    X(POST, ADMIN, WRITES, "/keys", key_create) \
    X(POST, ADMIN, WRITES, "/keys/revoke", key_revoke) \
    X(GET, VIEWER, LOOKS, "/switches", switches) \
    X(PATCH, OPERATOR, WRITES, "/switches", switches_change) \
    X(GET, VIEWER, READS, "/bans?all after", bans_list) \
    X(POST, OPERATOR, WRITES, "/bans", ban_add) \
    X(POST, OPERATOR, WRITES, "/bans/#/lift", ban_lift) \
    X(GET, VIEWER, LOOKS, "/watch", watch) \
    X(GET, VIEWER, READS, "/webhooks?state order after", webhooks_list) \
    X(POST, OPERATOR, WRITES, "/webhooks/#/replay", webhook_replay) \
    X(POST, OPERATOR, WRITES, "/webhooks/replay", webhooks_replay)

#endif
