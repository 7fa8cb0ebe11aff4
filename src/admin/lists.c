/* SPDX-License-Identifier: Apache-2.0 */
/* admin/lists.c: orders and the audit trail for administrators. */
#include "admin/admin.h"
#include "api/query.h"
#include "contract/order_state.h"
#include "funnel/keys.h"
#include "worker/order_views.h"

#include <stdio.h>

enum { PAGE_ROWS = 100 };

/* ?user= takes the user id as the API shows it, ?subject= the shop's own name of the user. */
static bool query_user(struct admin *admin, struct job *job, user_id *user)
{
    const struct span id = query_value(job->query, "user"), name = query_value(job->query, "subject");
    char subject[SUBJECT_BYTES_MAX + 1];
    const char *wrong = NULL;
    if (id.data != NULL && name.data != NULL)
        wrong = "Send either user or subject, not both.";
    else if (id.data != NULL && (span_to_hex64(id, user) != STATUS_OK || *user == 0))
        wrong = "user must be 16 hex digits. To name a user as the shop does, use subject.";
    else if (name.data != NULL && !query_text(name, subject, SUBJECT_BYTES_MAX))
        wrong = "subject must be the shop's name of a user: 1 to 128 bytes.";
    else if (name.data != NULL)
        *user = funnel_user_id(admin->lent->keys, span_from_string(subject));
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_QUERY, wrong, SPAN_NONE);
    return wrong == NULL;
}

static bool query_state(struct job *job, uint8_t *state)
{
    const char *names[ORDER_STATES];
    uint32_t choice = ORDER_NONE;
    for (uint32_t i = 0; i < ORDER_STATES; i++)
        names[i] = order_state_name((enum order_state)i);
    const bool good = job_query_name(job, "state", names, ORDER_PENDING, ORDER_STATES, &choice);
    *state = (uint8_t)choice;
    return good;
}

/* A number of something: from 1, because 0 would ask for nothing. */
static bool query_number(struct job *job, const char *name, uint64_t most, uint64_t *value)
{
    if (!job_query_u64(job, name, most, value))
        return false;
    if (query_value(job->query, name).data == NULL || *value != 0)
        return true;
    char detail[64];
    snprintf(detail, sizeof detail, "%s must be a number, 1 or more.", name);
    job_reply_problem(job, PROBLEM_BAD_QUERY, detail, SPAN_NONE);
    return false;
}

bool admin_order_filter(struct admin *admin, struct job *job, struct order_filter *filter, uint64_t *limit)
{
    uint64_t item = 0, sale = 0;
    const bool good = query_number(job, "item", UINT32_MAX, &item)
        && query_number(job, "sale", UINT32_MAX, &sale)
        && query_number(job, "from_ms", INT64_MAX, &filter->from_ms)
        && query_number(job, "to_ms", INT64_MAX, &filter->to_ms)
        && query_number(job, "before", UINT64_MAX, &filter->before)
        && job_query_u64(job, "limit", PAGE_ROWS, limit) && query_state(job, &filter->state)
        && query_user(admin, job, &filter->user);
    filter->item = (item_id)item;
    filter->sale = (sale_id)sale;
    return good;
}

static enum status order_row_json(
    const struct admin *admin, const struct order *order, bool details, struct text *out)
{
    text_format(out, "{\"number\":%llu,\"user\":\"", (unsigned long long)order->ticket);
    text_hex64(out, order->user);
    text_literal(out, "\"");
    const enum status status = order_contact_json(admin->views, order, details, out);
    text_literal(out, ",\"view\":");
    order_json(admin->views, order, out);
    text_literal(out, "}");
    return status;
}

void admin_orders_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct order rows[PAGE_ROWS];
    struct order_filter filter = { 0 };
    uint64_t limit = PAGE_ROWS;
    ticket_number next = 0;
    uint32_t count = 0;
    (void)id;
    if (!admin_order_filter(admin, job, &filter, &limit))
        return;
    enum status status =
        admin->store->ops->orders_list(admin->store, &filter, rows, (uint32_t)limit, &count, &next);
    struct page page = page_begin(job, "orders");
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = order_row_json(admin, &rows[i], false, page_row(&page, rows[i].ticket));
    if (job_found(job, status, PROBLEM_BAD_QUERY, "before must be the number of an order."))
        page_end(job, &page, next);
}

void admin_order_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct order order;
    struct text body = job_body(job);
    (void)id;
    enum status status = admin->store->ops->order_by_ticket(admin->store, job->ticket, &order);
    if (status == STATUS_OK) /* names and addresses are for those who may act on them */
        status = order_row_json(admin, &order, job->role >= ADMIN_OPERATOR, &body);
    if (job_found(job, status, PROBLEM_UNKNOWN_ORDER, "This order does not exist."))
        job_reply_json(job, 200, &body);
}

void admin_audit(struct admin *admin, struct job *job, uint32_t id)
{
    struct audit_entry rows[PAGE_ROWS];
    uint64_t after = 0;
    uint32_t count = 0;
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after)
        || !job_ok(job, admin->store->ops->audit_list(admin->store, after, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "audit");
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = page_object(&page, rows[i].id);
        json_u64(row, "time_ms", rows[i].time_ms);
        json_text(row, "actor", rows[i].actor);
        json_text(row, "action", rows[i].action);
        json_text(row, "detail", rows[i].detail);
    }
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}
