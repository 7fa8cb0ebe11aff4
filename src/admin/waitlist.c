/* SPDX-License-Identifier: Apache-2.0 */
/* admin/waitlist.c: who waits for an item, in the order of the line. */
#include "contract/waitlist.h"
#include "admin/admin.h"

enum { PAGE_ROWS = 100 };

void admin_item_waitlist(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    struct waitlist_place rows[PAGE_ROWS];
    struct item item;
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
    if (!job_ok(job, status))
        return;
    struct text page = page_begin(job, "waitlist");
    for (uint32_t i = 0; i < count; i++) {
        json_object_begin(&page, NULL);
        json_u64(&page, "id", rows[i].id);
        json_hex(&page, "user", rows[i].user);
        json_u64(&page, "quantity", rows[i].quantity);
        json_u64(&page, "joined_ms", rows[i].joined_ms);
        json_object_end(&page);
    }
    page_end(job, &page, count == PAGE_ROWS, count == 0 ? 0 : rows[count - 1].id);
}
