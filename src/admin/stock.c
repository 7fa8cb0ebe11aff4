/* SPDX-License-Identifier: Apache-2.0 */
/* admin/stock.c: what an administrator does to a sale that the inventory knows: preheat,
 * gates, units. */
#include "admin/admin.h"
#include "api/catalog.h"
#include "api/json_fields.h"
#include "api/refusals.h"
#include "contract/inventory.h"
#include "funnel/door.h"

#include <stdio.h>
#include <string.h>

enum { READ_ROWS = 32 };

static void counts_json(const struct admin *admin, item_id item, struct text *out)
{
    struct board_update view;
    if (!board_read(admin->lent->inventory->board, item, &view)) {
        text_literal(out, "null");
        return;
    }
    const struct item_counts *counts = &view.counts;
    text_literal(out, "{");
    counts_members(counts, out);
    admin_channels_member(admin, counts->channel_free, out);
    text_literal(out, "}");
}

static void preheat_json(const struct item *item, enum preheat_result result,
    const struct outcome *outcome, struct text *out)
{
    static const char *const names[] = { "preheated", "unchanged", "refused", "unavailable", "unknown" };
    text_format(out, "{\"item\":%u,\"result\":\"%s\",\"sellable\":%lld", item->id, names[result],
        (long long)item->total - item->locked - item->sold);
    if (result == PREHEAT_REFUSED)
        text_format(out, ",\"detail\":\"%s\"", refusal_conflict_text(outcome->detail));
    text_literal(out, "}");
}

/* Preheats all items of the sale into `out`; answers the worst that happened. */
static enum preheat_result sale_preheat(
    struct admin *admin, const struct sale *sale, struct text *out, enum status *status)
{
    struct item items[READ_ROWS];
    uint32_t count = READ_ROWS;
    enum preheat_result worst = PREHEAT_DONE;
    const char *comma = "";
    text_literal(out, "\"items\":[");
    for (item_id after = 0; count == READ_ROWS;) {
        *status = admin->store->ops->items(admin->store, sale->id, after, items, READ_ROWS, &count);
        if (*status != STATUS_OK)
            return PREHEAT_AWAY;
        for (uint32_t i = 0; i < count; i++) {
            struct outcome outcome = { 0 };
            const enum preheat_result result =
                item_preheat(admin->store, admin->errands, sale, &items[i], &outcome);
            text_string(out, comma);
            preheat_json(&items[i], result, &outcome, out);
            comma = ",";
            after = items[i].id;
            if (result > worst)
                worst = result;
        }
    }
    text_literal(out, "]");
    return worst;
}

/* Where nothing is known of an item, nothing is told of the others: the request is to be repeated. */
static void preheat_reply(struct job *job, enum preheat_result worst, const struct text *body)
{
    if (worst == PREHEAT_UNKNOWN)
        job_reply_status(job, STATUS_UNKNOWN);
    else
        job_reply_json(job,
            worst == PREHEAT_REFUSED    ? 409
                : worst == PREHEAT_AWAY ? 503
                                        : 200,
            body);
}

void admin_sale_preheat(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    struct text body = job_body(job);
    enum status status = STATUS_OK;
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    text_format(&body, "{\"sale\":%u,", id);
    const enum preheat_result worst = sale_preheat(admin, &sale, &body, &status);
    text_literal(&body, "}");
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else
        preheat_reply(job, worst, &body);
}

/* False: answered. */
static bool sale_has_items(struct admin *admin, struct job *job, sale_id id)
{
    struct item item;
    uint32_t count = 0;
    const enum status status = admin->store->ops->items(admin->store, id, 0, &item, 1, &count);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (count == 0)
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The sale has no items: add one (POST /admin/v1/items) before you publish it.", SPAN_NONE);
    return status == STATUS_OK && count > 0;
}

void admin_sale_publish(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    struct text body = job_body(job);
    enum status status = STATUS_OK;
    if (!admin_sale_read(admin, job, id, &sale) || !admin_sale_in_use(job, &sale))
        return;
    if (!sale_has_items(admin, job, id))
        return;
    text_format(&body, "{\"sale\":%u,", id);
    const enum preheat_result worst = sale_preheat(admin, &sale, &body, &status);
    if (status == STATUS_OK && worst <= PREHEAT_UNCHANGED && !sale.published) {
        sale.published = true;
        status = admin->store->ops->sale_update(admin->store, &sale);
        if (status == STATUS_OK)
            admin_audit_write(admin, job, "sale.publish", "sale %u", id);
        worker_sale_changed(admin->worker, id);
        worker_report_look(admin->worker); /* its start may have passed: purchases count from now on */
    }
    text_format(&body, ",\"published\":%s}", sale.published ? "true" : "false");
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else
        preheat_reply(job, worst, &body);
}

void admin_item_preheat(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    struct sale sale;
    struct outcome outcome = { 0 };
    struct text body = job_body(job);
    if (!admin_item_read(admin, job, id, &item) || !admin_sale_read(admin, job, item.sale, &sale))
        return;
    const enum preheat_result result =
        item_preheat(admin->store, admin->errands, &sale, &item, &outcome);
    preheat_json(&item, result, &outcome, &body);
    preheat_reply(job, result, &body);
}

/* What the inventory does not know but the store does is not preheated yet. True: answered. */
static bool unknown_refuse(struct admin *admin, struct job *job, const struct command *command,
    const struct outcome *outcome)
{
    struct order_store *store = admin->store;
    struct sale sale;
    struct item item;
    char detail[160];
    if (outcome->answer == ANSWER_UNKNOWN_SALE && command->type == COMMAND_GATE
        && store->ops->sale_get(store, command->gate.sale, &sale) == STATUS_OK)
        snprintf(detail, sizeof detail,
            "The sale is not preheated: the inventory does not know it yet. "
            "Add items and publish it first (or preheat it).");
    else if (outcome->answer == ANSWER_UNKNOWN_ITEM
        && store->ops->item_get(store,
               command->type == COMMAND_ADJUST ? command->adjust.item : command->move.item, &item)
            == STATUS_OK)
        snprintf(detail, sizeof detail,
            "The item is not preheated: the inventory does not know it yet. Preheat it first.");
    else
        return false;
    job_reply_problem(job, PROBLEM_CONFLICT, detail, SPAN_NONE);
    return true;
}

bool admin_asked(struct admin *admin, struct job *job, const struct command *command,
    enum status status, const struct outcome *outcome)
{
    if (status == STATUS_UNKNOWN) {
        job_reply_status(job, status);
        return false;
    }
    if (status != STATUS_OK) {
        job_reply_problem(
            job, PROBLEM_UNAVAILABLE, "The inventory is overloaded. Try again shortly.", SPAN_NONE);
        return false;
    }
    if (outcome->answer != ANSWER_DONE && outcome->answer != ANSWER_UNCHANGED) {
        if (!unknown_refuse(admin, job, command, outcome))
            job_reply_refused(job, outcome);
        return false;
    }
    return true;
}

bool admin_ask(struct admin *admin, struct job *job, const struct command *command, struct outcome *outcome)
{
    const enum status status = worker_ask(admin->worker, command, outcome);
    return admin_asked(admin, job, command, status, outcome);
}

static void gate_move(struct admin *admin, struct job *job, sale_id id, enum gate_move move)
{
    struct sale sale;
    struct outcome outcome = { 0 };
    struct text body = job_body(job);
    if (!admin_sale_read(admin, job, id, &sale) || !admin_sale_in_use(job, &sale))
        return;
    const struct command command = { .type = COMMAND_GATE,
        .gate = { .sale = id, .move = (uint8_t)move } };
    if (!admin_ask(admin, job, &command, &outcome))
        return;
    if (move == GATE_MOVE_OPEN && outcome.changed)
        worker_report_opened(admin->worker, &sale);
    worker_sale_changed(admin->worker, id);
    text_format(&body, "{\"sale\":%u,\"changed\":%s}", id,
        outcome.changed || outcome.repeated ? "true" : "false");
    job_reply_json(job, 200, &body);
}

void admin_sale_open(struct admin *admin, struct job *job, uint32_t id)
{
    gate_move(admin, job, id, GATE_MOVE_OPEN);
}

void admin_sale_pause(struct admin *admin, struct job *job, uint32_t id)
{
    gate_move(admin, job, id, GATE_MOVE_PAUSE);
}

void admin_sale_resume(struct admin *admin, struct job *job, uint32_t id)
{
    gate_move(admin, job, id, GATE_MOVE_RESUME);
}

void admin_sale_end(struct admin *admin, struct job *job, uint32_t id)
{
    worker_report_look(admin->worker); /* what came until now is the sale's own */
    gate_move(admin, job, id, GATE_MOVE_END);
}

void admin_sale_reopen(struct admin *admin, struct job *job, uint32_t id)
{
    struct sale sale;
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    if (sale.archived)
        job_reply_problem(job, PROBLEM_CONFLICT, "The sale is archived. Unarchive it first.", SPAN_NONE);
    else
        gate_move(admin, job, id, GATE_MOVE_REOPEN);
}

static bool channel_read(
    const struct admin *admin, struct job *job, const char *name, channel_index *channel)
{
    if (strcmp(name, "safety") == 0) {
        *channel = CHANNEL_SAFETY;
        return true;
    }
    if (door_channel_find(admin->lent->channels, span_from_string(name), channel))
        return true;
    job_reply_problem(job, PROBLEM_BAD_CHANNEL, NULL, SPAN_NONE);
    return false;
}

static void applied_reply(struct admin *admin, struct job *job, item_id id, const struct outcome *outcome)
{
    struct text body = job_body(job);
    text_format(&body, "{\"item\":%u,\"applied\":%d,\"counts\":", id, outcome->applied);
    counts_json(admin, id, &body);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}

void admin_item_adjust(struct admin *admin, struct job *job, uint32_t id)
{
    char name[CHANNEL_NAME_MAX + 1] = "web";
    struct command command = { .type = COMMAND_ADJUST, .adjust = { .item = id } };
    struct outcome outcome = { 0 };
    const struct field fields[] = {
        { "delta", FIELD_I32, &command.adjust.delta, -UNITS_MAX, UNITS_MAX, true, NULL },
        { "channel", FIELD_TEXT, name, 1, CHANNEL_NAME_MAX, false, NULL },
    };
    struct item item;
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields)
        || !channel_read(admin, job, name, &command.adjust.channel))
        return;
    if (command.adjust.delta > 0
        && admin->store->ops->item_get(admin->store, id, &item) == STATUS_OK && item.pooled) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The item took its units from the product's stock when it was preheated; it can't get "
            "more. Units can be removed: they go back to the product.",
            SPAN_NONE);
        return;
    }
    if (!admin_ask(admin, job, &command, &outcome))
        return;
    applied_reply(admin, job, id, &outcome);
}

void admin_item_move(struct admin *admin, struct job *job, uint32_t id)
{
    char from[CHANNEL_NAME_MAX + 1], to[CHANNEL_NAME_MAX + 1];
    struct command command = { .type = COMMAND_MOVE, .move = { .item = id } };
    struct outcome outcome = { 0 };
    const struct field fields[] = {
        { "from", FIELD_TEXT, from, 1, CHANNEL_NAME_MAX, true, NULL },
        { "to", FIELD_TEXT, to, 1, CHANNEL_NAME_MAX, true, NULL },
        { "quantity", FIELD_U32, &command.move.quantity, 1, UNITS_MAX, true, NULL },
    };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields)
        || !channel_read(admin, job, from, &command.move.from)
        || !channel_read(admin, job, to, &command.move.to) || !admin_ask(admin, job, &command, &outcome))
        return;
    applied_reply(admin, job, id, &outcome);
}

void admin_item_counts(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    uint64_t orders = 0, units = 0;
    struct text body = job_body(job);
    struct order_store *store = admin->store;
    if (!admin_item_read(admin, job, id, &item)
        || !job_ok(job, store->ops->order_totals(store, id, &orders, &units)))
        return;
    text_format(&body,
        "{\"item\":%u,\"total\":%u,\"locked\":%u,\"taken\":%u,\"preheated\":%s,\"orders\":%llu,"
        "\"units_ordered\":%llu,"
        "\"counts\":",
        id, item.total, item.locked, item.sold, item.preheated ? "true" : "false",
        (unsigned long long)orders, (unsigned long long)units);
    counts_json(admin, id, &body);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}
