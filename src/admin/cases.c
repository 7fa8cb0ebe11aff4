/* SPDX-License-Identifier: Apache-2.0 */
/* admin/cases.c: cases of units that were sold twice: their list, their page, who works on them, what was
 * said to customers, what they cost. What is done for an order is in admin/remedies.c. */
#include "admin/cases.h"

#include "admin/admin.h"
#include "api/catalog.h"
#include "api/query.h"
#include "contract/fulfilment.h"
#include "contract/order_state.h"
#include "contract/remedy.h"
#include "funnel/keys.h"
#include "policy/remedy.h"
#include "worker/remedies.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_ROWS = 100, COSTS_MAX = 64 };

static const char *const state_names[] = { "", "open", "closed" };
static_assert(sizeof state_names / sizeof *state_names == CASE_STATES, "a name for each");
static const char *const mail_names[] = { "none", "waiting", "sent", "failed", "sending" };
static_assert(sizeof mail_names / sizeof *mail_names == MAIL_STATES, "a name for each");

static const struct remedy_store_ops *remedy_ops(const struct admin *admin)
{
    return admin->store->ops->remedy;
}

static uint64_t order_id(const struct admin *admin, ticket_number ticket)
{
    return funnel_order_id(admin->lent->keys, ticket);
}

static void case_members(const struct remedy_case *remedy, struct text *out)
{
    json_u64(out, "item", remedy->item);
    json_text(out, "channel", remedy->channel);
    json_text(out, "reference", remedy->reference);
    json_u64(out, "missing", remedy->missing);
    json_text(out, "reason", remedy->reason);
    json_text(out, "state", state_names[remedy->state]);
    json_text(out, "assignee", remedy->assignee);
    json_text(out, "opened_by", remedy->opened_by);
    json_u64(out, "orders", remedy->orders);
    json_u64(out, "undecided", remedy->undecided);
    json_u64(out, "created_ms", remedy->created_ms);
    json_u64(out, "closed_ms", remedy->closed_ms);
    json_text(out, "outcome", remedy->outcome);
}

bool admin_case_read(struct admin *admin, struct job *job, uint32_t id, struct remedy_case *remedy)
{
    return job_found(job, remedy_ops(admin)->get(admin->store, id, remedy), PROBLEM_NOT_FOUND,
        "This case does not exist.");
}

bool admin_case_is_open(struct job *job, const struct remedy_case *remedy)
{
    if (remedy->state != CASE_OPEN)
        job_reply_problem(job, PROBLEM_CONFLICT, "This case is closed.", SPAN_NONE);
    return remedy->state == CASE_OPEN;
}

void admin_case_reply(struct admin *admin, struct job *job, int status, uint64_t id)
{
    struct remedy_case remedy;
    struct text body = job_body(job);
    if (!job_ok(job, remedy_ops(admin)->get(admin->store, id, &remedy)))
        return;
    json_object_begin(&body, NULL);
    json_u64(&body, "id", remedy.id);
    case_members(&remedy, &body);
    json_object_end(&body);
    job_reply_json(job, status, &body);
}

enum status admin_case_note_write(struct admin *admin, const struct job *job, uint64_t id,
    ticket_number ticket, const char *way, const char *text)
{
    struct remedy_note note = { .case_id = id, .ticket = ticket, .time_ms = admin->now_ms };
    snprintf(note.actor, sizeof note.actor, "%s", job->actor);
    snprintf(note.way, sizeof note.way, "%s", way);
    snprintf(note.text, sizeof note.text, "%s", text);
    return remedy_ops(admin)->note_add(admin->store, &note);
}

void admin_cases_list(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case rows[PAGE_ROWS];
    uint64_t after = 0;
    uint32_t state = CASE_ANY, count = 0;
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after)
        || !job_query_name(job, "state", state_names, CASE_OPEN, CASE_STATES, &state)
        || !job_ok(job,
            remedy_ops(admin)->list(admin->store, (enum case_state)state, after, rows, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "cases");
    for (uint32_t i = 0; i < count; i++)
        case_members(&rows[i], page_object(&page, rows[i].id));
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

/* NULL: fine. */
static const char *case_wrong(const struct remedy_case *remedy)
{
    if (!admin_line_is_good(remedy->channel, CHANNEL_NAME_MAX))
        return "channel must be one line of visible characters.";
    if (!admin_line_is_good(remedy->reference, CASE_REFERENCE_MAX))
        return "reference must be one line of visible characters.";
    if (remedy->assignee[0] != '\0' && !admin_line_is_good(remedy->assignee, NAME_BYTES_MAX))
        return "assignee must be one line of visible characters.";
    return admin_line_is_good(remedy->reason, CASE_TEXT_MAX)
        ? NULL
        : "reason must be one line of visible characters.";
}

void admin_case_create(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy = { .state = CASE_OPEN };
    struct item item;
    bool fresh = false;
    const struct field fields[] = {
        { "item", FIELD_U32, &remedy.item, 1, UINT32_MAX, true, NULL },
        { "channel", FIELD_TEXT, remedy.channel, 1, CHANNEL_NAME_MAX, true, NULL },
        { "reference", FIELD_TEXT, remedy.reference, 1, CASE_REFERENCE_MAX, true, NULL },
        { "missing", FIELD_U32, &remedy.missing, 1, 1000000, true, NULL },
        { "reason", FIELD_TEXT, remedy.reason, 1, CASE_TEXT_MAX, true, NULL },
        { "assignee", FIELD_TEXT, remedy.assignee, 0, NAME_BYTES_MAX, false, NULL },
    };
    (void)id;
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    const char *wrong = case_wrong(&remedy);
    if (wrong != NULL) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
        return;
    }
    snprintf(remedy.opened_by, sizeof remedy.opened_by, "%s", job->actor);
    if (!admin_item_read(admin, job, remedy.item, &item)
        || !job_ok(job, remedies_open(admin->store, &remedy, admin->now_ms, &fresh)))
        return;
    admin_case_reply(admin, job, fresh ? 201 : 200, remedy.id);
    if (fresh)
        admin_audit_write(admin, job, "case.open",
            "case %llu: item %u, channel %s, %u units, %u orders", (unsigned long long)remedy.id,
            remedy.item, remedy.channel, remedy.missing, remedy.orders);
}

/* ---- the page of a case ---- */

static enum status order_facts(
    struct admin *admin, ticket_number ticket, struct order *order, struct remedy_facts *facts)
{
    struct shipment shipment;
    enum status status = admin->store->ops->order_by_ticket(admin->store, ticket, order);
    if (status != STATUS_OK)
        return status;
    status = admin->store->ops->fulfil->get(admin->store, ticket, &shipment);
    *facts = (struct remedy_facts){ .order_state = order->state, .shipped = status == STATUS_OK };
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status admin_case_facts(
    struct admin *admin, ticket_number ticket, struct order *order, struct remedy_facts *facts)
{
    return order_facts(admin, ticket, order, facts);
}

static enum status case_order_json(struct admin *admin, const struct remedy_order *row, struct text *out)
{
    enum remedy proposals[REMEDIES];
    struct remedy_facts facts;
    struct order order;
    const enum status status = order_facts(admin, row->ticket, &order, &facts);
    if (status != STATUS_OK)
        return status;
    json_object_begin(out, NULL);
    json_hex(out, "order", order_id(admin, row->ticket));
    json_text(out, "state", order_state_name((enum order_state)order.state));
    json_bool(out, "shipped", facts.shipped);
    json_u64(out, "quantity", order.quantity);
    json_u64(out, "amount", order.amount);
    json_u64(out, "created_ms", order.created_ms);
    if (row->remedy == REMEDY_NONE) {
        const uint32_t count = remedy_proposals(&facts, proposals);
        json_list_begin(out, "proposed");
        for (uint32_t i = 0; i < count; i++)
            text_format(out, "%s\"%s\"", i == 0 ? "" : ",", remedy_name(proposals[i]));
        json_list_end(out);
    } else {
        json_object_begin(out, "done");
        remedy_members(row, out);
        json_u64(out, "refund", row->refund);
        json_u64(out, "loss", row->loss);
        json_text(out, "by", row->done_by);
        json_text(out, "note", row->note);
        json_object_end(out);
    }
    json_object_end(out);
    return STATUS_OK;
}

static void costs_member(const struct remedy_cost *costs, uint32_t count, struct text *out)
{
    json_list_begin(out, "costs");
    for (uint32_t i = 0; i < count; i++) {
        if (costs[i].currency[0] == '\0')
            continue; /* dismissed: they cost nothing */
        json_object_begin(out, NULL);
        json_u64(out, "orders", costs[i].orders);
        currency_members(costs[i].currency, out); /* it begins with a comma */
        json_u64(out, "refunds", money_shown(costs[i].refunds));
        json_u64(out, "coupons", money_shown(costs[i].coupons));
        json_u64(out, "losses", money_shown(costs[i].losses));
        json_object_end(out);
    }
    json_list_end(out);
}

/* The units of each pool of the item: some might be moved from there. */
static enum status pools_member(struct admin *admin, item_id id, struct text *out)
{
    struct item item;
    const enum status status = admin->store->ops->item_get(admin->store, id, &item);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    json_u64(out, "safety", item.safety);
    admin_channels_member(admin, item.channel_units, out);
    return STATUS_OK;
}

void admin_case_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy;
    struct remedy_order orders[CASE_ORDERS_MAX];
    struct remedy_cost costs[COSTS_MAX];
    struct mail_row mails[CASE_ORDERS_MAX];
    uint32_t order_count = 0, cost_count = 0, mail_count = 0;
    if (!admin_case_read(admin, job, id, &remedy))
        return;
    enum status status =
        remedy_ops(admin)->orders(admin->store, id, orders, CASE_ORDERS_MAX, &order_count);
    if (status == STATUS_OK)
        status = remedy_ops(admin)->costs(admin->store, id, costs, COSTS_MAX, &cost_count);
    if (status == STATUS_OK)
        status = remedy_ops(admin)->mails(admin->store, id, mails, CASE_ORDERS_MAX, &mail_count);
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "id", remedy.id);
    case_members(&remedy, &body);
    json_object_begin(&body, "pools");
    if (status == STATUS_OK)
        status = pools_member(admin, remedy.item, &body);
    json_object_end(&body);
    json_list_begin(&body, "rows");
    for (uint32_t i = 0; i < order_count && status == STATUS_OK; i++)
        status = case_order_json(admin, &orders[i], &body);
    json_list_end(&body);
    json_list_begin(&body, "mails");
    for (uint32_t i = 0; i < mail_count; i++) {
        json_object_begin(&body, NULL);
        json_hex(&body, "order", order_id(admin, mails[i].ticket));
        json_text(&body, "state", mail_names[mails[i].state]);
        json_u64(&body, "tries", mails[i].tries);
        json_u64(&body, "sent_ms", mails[i].sent_ms);
        json_text(&body, "error", mails[i].error);
        json_object_end(&body);
    }
    json_list_end(&body);
    costs_member(costs, cost_count, &body);
    json_object_end(&body);
    if (job_ok(job, status))
        job_reply_json(job, 200, &body);
}

void admin_case_notes(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy;
    struct remedy_note notes[PAGE_ROWS];
    uint64_t after = 0;
    uint32_t count = 0;
    if (!job_query_u64(job, "after", INT64_MAX, &after) || !admin_case_read(admin, job, id, &remedy)
        || !job_ok(job, remedy_ops(admin)->notes(admin->store, id, after, notes, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "notes");
    for (uint32_t i = 0; i < count; i++) {
        struct text *row = page_object(&page, notes[i].id);
        if (notes[i].ticket != 0)
            json_hex(row, "order", order_id(admin, notes[i].ticket));
        json_u64(row, "time_ms", notes[i].time_ms);
        json_text(row, "actor", notes[i].actor);
        json_text(row, "way", notes[i].way);
        json_text(row, "text", notes[i].text);
    }
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}

void admin_cases_costs(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_cost costs[COSTS_MAX];
    uint32_t count = 0;
    (void)id;
    if (!job_ok(job, remedy_ops(admin)->costs(admin->store, 0, costs, COSTS_MAX, &count)))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    costs_member(costs, count, &body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}
