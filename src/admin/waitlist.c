/* SPDX-License-Identifier: Apache-2.0 */
/* admin/waitlist.c: who waits for an item, in the order of the line. */
#include "admin/admin.h"

enum { PAGE_ROWS = 100 };

void admin_item_waitlist(struct desk *desk, struct job *job, uint32_t id)
{
    struct order_store *store = desk->config.store;
    struct waitlist_place rows[PAGE_ROWS];
    struct item item;
    struct text body = job_body(job);
    uint64_t after = 0;
    uint32_t count = 0;
    if (!job_query_u64(job, "after", INT64_MAX, &after))
        return;
    enum status status = store->ops->item_get(store, id, &item);
    if (status == STATUS_NOT_FOUND) {
        job_reply_problem(job, PROBLEM_UNKNOWN_ITEM, NULL, SPAN_NONE);
        return;
    }
    if (status == STATUS_OK)
        status = store->ops->waitlist->list(store, id, after, rows, PAGE_ROWS, &count);
    if (status != STATUS_OK) {
        job_reply_status(job, status);
        return;
    }
    text_literal(&body, "{\"waitlist\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_format(
            &body, "%s{\"id\":%llu,\"user\":\"", i == 0 ? "" : ",", (unsigned long long)rows[i].id);
        text_hex64(&body, rows[i].user);
        text_format(&body, "\",\"quantity\":%u,\"joined_ms\":%llu}", rows[i].quantity,
            (unsigned long long)rows[i].joined_ms);
    }
    text_literal(&body, "]");
    if (count == PAGE_ROWS)
        text_format(&body, ",\"next\":%llu", (unsigned long long)rows[count - 1].id);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}
