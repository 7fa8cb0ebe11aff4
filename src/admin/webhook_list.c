/* SPDX-License-Identifier: Apache-2.0 */
/* admin/webhook_list.c: what the shop was told, and telling it again. */
#include "admin/admin.h"
#include "api/query.h"
#include "contract/outbox.h"
#include "funnel/keys.h"
#include "worker/webhooks.h"

enum { PAGE_ROWS = 100 };

static const char *const state_names[] = { "", "waiting", "delivered", "failed" };
static_assert(sizeof state_names / sizeof *state_names == OUTBOX_STATES, "a name for each");

static void event_members(const struct admin *admin, const struct outbox_event *event, struct text *out)
{
    char id[WEBHOOK_ID_MAX];
    const char *name = "order.none";
    (void)!webhook_event_name(admin->store, event, &name); /* it has a name all the same */
    webhook_event_id(admin->lent->keys, event->ticket, event->version, id);
    json_text(out, "event", id);
    json_text(out, "type", name);
    json_hex(out, "order", funnel_order_id(admin->lent->keys, event->ticket));
    json_u64(out, "version", event->version);
    json_u64(out, "time_ms", event->time_ms);
    json_text(out, "state", state_names[event->state < OUTBOX_STATES ? event->state : OUTBOX_ANY]);
    json_u64(out, "tries", event->tries);
    json_u64(out, "next_ms", event->next_ms);
    json_i64(out, "http_status", event->http_status);
    json_text(out, "error", event->error);
    json_u64(out, "tried_ms", event->tried_ms);
}

/* ?order=: the id of an order. 0: all. */
static bool query_order(const struct admin *admin, struct job *job, ticket_number *ticket)
{
    const struct span text = query_value(job->query, "order");
    uint64_t id = 0;
    *ticket = 0;
    if (text.data == NULL)
        return true;
    if (text.size == 16 && span_to_hex64(text, &id) == STATUS_OK && id != 0)
        *ticket = funnel_order_number(admin->lent->keys, id);
    if (*ticket == 0)
        job_reply_problem(
            job, PROBLEM_BAD_QUERY, "order must be the id of an order: 16 hex digits.", SPAN_NONE);
    return *ticket != 0;
}

void admin_webhooks_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct outbox_event rows[PAGE_ROWS];
    struct order_store *store = admin->store;
    uint64_t after = 0;
    uint32_t state = OUTBOX_ANY, count = 0;
    ticket_number ticket;
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after)
        || !job_query_name(job, "state", state_names, OUTBOX_WAITING, OUTBOX_STATES, &state)
        || !query_order(admin, job, &ticket)
        || !job_ok(job, store->ops->outbox->list(store, state, ticket, after, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "webhooks");
    for (uint32_t i = 0; i < count; i++)
        event_members(admin, &rows[i], page_object(&page, rows[i].id));
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

/* Without an endpoint a replay would wait for nobody. */
static bool webhooks_are_on(const struct admin *admin, struct job *job)
{
    if (!worker_webhooks_are_on(admin->worker))
        job_reply_problem(
            job, PROBLEM_CONFLICT, "webhook.url is not set: there is no receiver.", SPAN_NONE);
    return worker_webhooks_are_on(admin->worker);
}

static void replayed_reply(struct admin *admin, struct job *job, uint32_t count)
{
    struct text body = job_body(job);
    worker_webhooks_look(admin->worker);
    text_format(&body, "{\"replayed\":%u}", count);
    job_reply_json(job, 200, &body);
}

void admin_webhook_replay(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    if (!webhooks_are_on(admin, job))
        return;
    const enum status status = store->ops->outbox->replay(store, id, admin->now_ms);
    if (!job_ok(job, status))
        return;
    replayed_reply(admin, job, 1);
    admin_audit_write(admin, job, "webhook.replay", "message %u", id);
}

void admin_webhooks_replay(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    uint64_t from_ms = 0;
    uint32_t count = 0;
    const struct field fields[] = { { "from_ms", FIELD_U64, &from_ms, 0, INT64_MAX, true, NULL } };
    (void)id;
    if (!job_fields_read(job, fields, 1) || !webhooks_are_on(admin, job))
        return;
    const enum status status = store->ops->outbox->replay_from(store, from_ms, admin->now_ms, &count);
    if (!job_ok(job, status))
        return;
    replayed_reply(admin, job, count);
    admin_audit_write(admin, job, "webhook.replay", "%u messages from %llu on", count,
        (unsigned long long)from_ms);
}
