/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/admin.h"

#include "api/catalog.h"
#include "api/path_pattern.h"
#include "api/query.h"

#include <stdio.h>
#include <string.h>

enum admin_effect {
    READS,
    COMMANDS, /* the inventory only: goes on while the database is away */
    WRITES,   /* the database, perhaps the inventory too */
};
struct admin_route {
    enum http_method method;
    enum admin_role role;
    enum admin_effect effect;
    const char *path; /* after /admin/v1; a pattern with the query it takes (path_pattern.h) */
    admin_handler handler;
};

static const struct admin_route routes[] = {
    { HTTP_GET, ADMIN_VIEWER, READS, "/products?after", admin_products_list },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/products", admin_product_create },
    { HTTP_GET, ADMIN_VIEWER, READS, "/products/#", admin_product_show },
    { HTTP_PATCH, ADMIN_ADMIN, WRITES, "/products/#", admin_product_change },
    { HTTP_GET, ADMIN_VIEWER, READS, "/media", admin_media_list },
    /* A piece is in memory only, and harmless to repeat: nothing of it is for the database. */
    { HTTP_POST, ADMIN_ADMIN, READS, "/media?upload at bytes", admin_media_add },
    { HTTP_GET, ADMIN_VIEWER, READS, "/media/uploads/#", admin_media_upload },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/media/remove", admin_media_remove },
    { HTTP_GET, ADMIN_VIEWER, READS, "/sales?after archived", admin_sales_list },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales", admin_sale_create },
    { HTTP_GET, ADMIN_VIEWER, READS, "/sales/#", admin_sale_show },
    { HTTP_PATCH, ADMIN_ADMIN, WRITES, "/sales/#", admin_sale_change },
    { HTTP_GET, ADMIN_VIEWER, READS, "/sales/#/report", admin_sale_report },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/sales/#/preheat", admin_sale_preheat },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/publish", admin_sale_publish },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/unpublish", admin_sale_unpublish },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/archive", admin_sale_archive },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/unarchive", admin_sale_unarchive },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/clone", admin_sale_clone },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/sales/#/open", admin_sale_open },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/sales/#/pause", admin_sale_pause },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/sales/#/resume", admin_sale_resume },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/sales/#/end", admin_sale_end },
    { HTTP_POST, ADMIN_ADMIN, COMMANDS, "/sales/#/reopen", admin_sale_reopen },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/sales/#/beacon", admin_sale_beacon },
    { HTTP_GET, ADMIN_VIEWER, READS, "/sales/#/users?after", admin_sale_users_list },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/users", admin_sale_users },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/sales/#/users/remove", admin_sale_users_remove },
    { HTTP_GET, ADMIN_VIEWER, READS, "/items?sale after", admin_items_list },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/items", admin_item_create },
    { HTTP_GET, ADMIN_VIEWER, READS, "/items/#", admin_item_show },
    { HTTP_PATCH, ADMIN_ADMIN, WRITES, "/items/#", admin_item_change },
    { HTTP_DELETE, ADMIN_ADMIN, WRITES, "/items/#", admin_item_remove },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/items/#/preheat", admin_item_preheat },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/items/#/adjust", admin_item_adjust },
    { HTTP_POST, ADMIN_OPERATOR, COMMANDS, "/items/#/move", admin_item_move },
    { HTTP_GET, ADMIN_VIEWER, READS, "/items/#/counts", admin_item_counts },
    { HTTP_GET, ADMIN_VIEWER, READS, "/items/#/waitlist?after", admin_item_waitlist },
    { HTTP_GET, ADMIN_VIEWER, READS,
        "/orders?sale item state from_ms to_ms user subject before limit", admin_orders_list },
    { HTTP_GET, ADMIN_VIEWER, READS, "/orders/@", admin_order_show },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/orders/@/paid", admin_order_paid },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/orders/@/cancel", admin_order_cancel },
    { HTTP_POST, ADMIN_ADMIN, WRITES, "/orders/@/refund", admin_order_refund },
    { HTTP_GET, ADMIN_VIEWER, READS, "/orders/@/payments", admin_order_payments },
    { HTTP_GET, ADMIN_OPERATOR, READS, "/orders/@/details", admin_order_details },
    { HTTP_GET, ADMIN_VIEWER, READS, "/refunds?open after", admin_refunds },
    { HTTP_GET, ADMIN_VIEWER, READS, "/payments/totals", admin_money_totals },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/statements", admin_statement_import },
    { HTTP_GET, ADMIN_VIEWER, READS, "/statements/missing?provider of from_ms to_ms after",
        admin_statement_missing },
    { HTTP_GET, ADMIN_VIEWER, READS, "/sandbox", admin_sandbox },
    { HTTP_PATCH, ADMIN_ADMIN, WRITES, "/sandbox", admin_sandbox_change },
    { HTTP_GET, ADMIN_VIEWER, READS, "/dead-letters?state after", admin_dead_letters },
    { HTTP_GET, ADMIN_VIEWER, READS, "/dead-letters/#", admin_dead_letter_show },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/dead-letters/#/retry", admin_dead_letter_retry },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/dead-letters/#/return", admin_dead_letter_return },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/dead-letters/#/dismiss", admin_dead_letter_dismiss },
    { HTTP_GET, ADMIN_VIEWER, READS, "/alarms", admin_alarms },
    { HTTP_GET, ADMIN_VIEWER, READS, "/reconcile", admin_reconcile_show },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/reconcile", admin_reconcile_run },
    { HTTP_GET, ADMIN_VIEWER, READS, "/audit?after", admin_audit },
    { HTTP_GET, ADMIN_VIEWER, READS, "/switches", admin_switches },
    { HTTP_PATCH, ADMIN_OPERATOR, WRITES, "/switches", admin_switches_change },
    { HTTP_GET, ADMIN_VIEWER, READS, "/bans?all after", admin_bans_list },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/bans", admin_ban_add },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/bans/#/lift", admin_ban_lift },
    { HTTP_GET, ADMIN_VIEWER, READS, "/watch", admin_watch },
    { HTTP_GET, ADMIN_VIEWER, READS, "/webhooks?state after", admin_webhooks_list },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/webhooks/#/replay", admin_webhook_replay },
    { HTTP_POST, ADMIN_OPERATOR, WRITES, "/webhooks/replay", admin_webhooks_replay },
};

/* Tells the methods that the path has. */
static void method_refuse(struct job *job)
{
    static const char *const names[] = {
        [HTTP_GET] = "GET, HEAD, ",
        [HTTP_POST] = "POST, ",
        [HTTP_PUT] = "PUT, ",
        [HTTP_PATCH] = "PATCH, ",
        [HTTP_DELETE] = "DELETE, ",
    };
    char bytes[80];
    struct text allow = text_in(bytes, sizeof bytes - 1);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        uint32_t id;
        uint64_t order;
        if (path_pattern_matches(routes[i].path, job->path, &id, &order))
            text_string(&allow, names[routes[i].method]);
    }
    text_literal(&allow, "OPTIONS");
    invariant(!allow.overflow);
    bytes[allow.size] = '\0';
    job_reply_method(job, bytes);
}

void admin_job(struct desk *desk, struct job *job)
{
    char error[QUERY_ERROR];
    bool path_known = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        uint32_t id;
        uint64_t order;
        if (!path_pattern_matches(routes[i].path, job->path, &id, &order))
            continue;
        path_known = true;
        const bool same = routes[i].method == job->method
            || (routes[i].method == HTTP_GET && job->method == HTTP_HEAD);
        if (!same)
            continue;
        if (job->role < routes[i].role) {
            job_reply_problem(job, PROBLEM_ADMIN_ROLE, NULL, SPAN_NONE);
            return;
        }
        if (!query_check(job->query, path_pattern_query(routes[i].path), error)) {
            job_reply_problem(job, PROBLEM_BAD_QUERY, error, SPAN_NONE);
            return;
        }
        job->ticket = order == 0 ? 0 : funnel_order_number(desk->config.keys, order);
        if (routes[i].effect == READS)
            routes[i].handler(desk, job, id);
        else
            admin_change_run(desk, job, routes[i].handler, id, routes[i].effect == WRITES);
        return;
    }
    if (path_known)
        method_refuse(job);
    else
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
}

const char *admin_sale_gate(const struct desk *desk, const struct sale *sale)
{
    return catalog_sale_state(
        handover_get(desk->config.catalog), desk->config.inventory->board, sale, desk->now_ms);
}

bool admin_sale_read(struct desk *desk, struct job *job, sale_id id, struct sale *sale)
{
    const enum status status = desk->config.store->ops->sale_get(desk->config.store, id, sale);
    if (status == STATUS_NOT_FOUND)
        job_reply_problem(job, PROBLEM_UNKNOWN_SALE, NULL, SPAN_NONE);
    else if (status != STATUS_OK)
        job_reply_status(job, status);
    return status == STATUS_OK;
}
