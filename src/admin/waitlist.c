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
    if (!job_query_u64(job, "after", INT64_MAX, &after) || !admin_item_read(admin, job, id, &item)
        || !job_ok(job, store->ops->waitlist->list(store, id, after, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "waitlist");
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = page_object(&page, rows[i].id);
        json_hex(row, "user", rows[i].user);
        json_u64(row, "quantity", rows[i].quantity);
        json_u64(row, "joined_ms", rows[i].joined_ms);
    }
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}
