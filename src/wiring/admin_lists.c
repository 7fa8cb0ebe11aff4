/* wiring/admin_lists.c: orders and the audit trail for administrators. */
#include "wiring/admin_api.h"

enum { PAGE_ROWS = 100 };

/* ?user= takes the user id as the API shows it: 16 hex digits. */
static bool query_user(struct job *job, user_id *user)
{
    struct span query = job->query, pair;
    while (span_take_until(&query, '&', &pair)) {
        if (!span_starts_with(pair, SPAN("user=")))
            continue;
        if (span_to_hex64(span_of(pair.data + 5, pair.size - 5), user) == STATUS_OK)
            return true;
        job_reply_problem(job, PROBLEM_BAD_QUERY, "user must be 16 hex digits.", SPAN_NONE);
        return false;
    }
    return true;
}

void admin_orders_list(struct desk *desk, struct job *job, uint32_t id)
{
    struct order rows[PAGE_ROWS];
    uint64_t item = 0, before = 0, limit = PAGE_ROWS;
    user_id user = 0;
    uint32_t count = 0;
    struct text body = job_body(job);
    (void)id;
    if (!admin_query_u64(job, "item", UINT32_MAX, &item)
        || !admin_query_u64(job, "before", UINT64_MAX, &before)
        || !admin_query_u64(job, "limit", PAGE_ROWS, &limit) || !query_user(job, &user))
        return;
    const enum status status = desk->config.store->ops->orders_list(
        desk->config.store, user, (item_id)item, before, rows, (uint32_t)limit, &count);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    text_literal(&body, "{\"orders\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_format(&body, "%s{\"number\":%llu,\"user\":\"", i == 0 ? "" : ",",
            (unsigned long long)rows[i].ticket);
        text_hex64(&body, rows[i].user);
        text_literal(&body, "\",\"view\":");
        desk_order_json(desk, &rows[i], &body);
        text_literal(&body, "}");
    }
    text_literal(&body, "]");
    if (count > 0 && count == limit)
        text_format(&body, ",\"next\":%llu", (unsigned long long)rows[count - 1].ticket);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}

void admin_audit(struct desk *desk, struct job *job, uint32_t id)
{
    struct audit_entry rows[PAGE_ROWS];
    uint64_t after = 0;
    uint32_t count = 0;
    struct text body = job_body(job);
    (void)id;
    if (!admin_query_u64(job, "after", INT64_MAX, &after))
        return;
    const enum status status =
        desk->config.store->ops->audit_list(desk->config.store, after, rows, PAGE_ROWS, &count);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    text_literal(&body, "{\"audit\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_format(&body, "%s{\"id\":%llu,\"time_ms\":%llu,\"actor\":", i == 0 ? "" : ",",
            (unsigned long long)rows[i].id, (unsigned long long)rows[i].time_ms);
        text_json(&body, span_from_string(rows[i].actor));
        text_literal(&body, ",\"action\":");
        text_json(&body, span_from_string(rows[i].action));
        text_literal(&body, ",\"detail\":");
        text_json(&body, span_from_string(rows[i].detail));
        text_literal(&body, "}");
    }
    text_literal(&body, "]");
    if (count == PAGE_ROWS)
        text_format(&body, ",\"next\":%llu", (unsigned long long)rows[count - 1].id);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}
