/* SPDX-License-Identifier: Apache-2.0 */
/* admin/safety.c: the safety stock of an item: how many units the shop's finished sales suggest
 * (policy/safety_stock.h), and units that leave it for good, with a reason. It is raised and released by
 * moves (stock.c). */
#include "admin/admin.h"
#include "config/config.h"
#include "contract/board.h"
#include "contract/channels.h"
#include "contract/inventory.h"
#include "policy/safety_stock.h"

#include <string.h>

enum {
    HISTORY_ENOUGH = 100,
    REASON_BYTES = 8
}; /* units of a product that say something of it alone */

static const char *const reasons[] = { "",
#define SAFETY_REASON(reason, name) name,
    SAFETY_REASON_LIST(SAFETY_REASON)
#undef SAFETY_REASON
};
static_assert(sizeof reasons / sizeof *reasons == SAFETY_REASONS, "a name for each");

/* *of: whose history it is. */
static enum status history_read(
    struct admin *admin, const struct item *item, struct safety_history *history, const char **of)
{
    struct order_store *store = admin->store;
    const struct channel_store_ops *ops = store->ops->channels;
    *of = "product";
    enum status status = ops->safety_history(store, item->product, admin->now_ms, history);
    if (status != STATUS_OK || history->sold >= HISTORY_ENOUGH)
        return status;
    *of = "shop";
    status = ops->safety_history(store, 0, admin->now_ms, history);
    if (history->sold == 0)
        *of = "none";
    return status;
}

/* What is kept back now, and what could be sold if nothing was. */
static void safety_now(
    const struct admin *admin, const struct item *item, uint32_t *safety, uint32_t *units)
{
    struct board_update view;
    if (board_read(admin->lent->inventory->board, item->id, &view)) {
        *safety = view.counts.safety;
        *units = view.counts.given - view.counts.written_off;
        return;
    }
    *safety = item->safety;
    *units = item->total - item->locked - item->sold;
}

void admin_item_safety(struct admin *admin, struct job *job, uint32_t id)
{
    const struct config *config = admin->lent->config;
    const struct safety_bounds bounds = { (uint32_t)config->safety_least, (uint32_t)config->safety_most };
    struct item item;
    struct safety_history history;
    const char *of;
    uint32_t safety, units;
    if (!admin_item_read(admin, job, id, &item)
        || !job_ok(job, history_read(admin, &item, &history, &of)))
        return;
    safety_now(admin, &item, &safety, &units);
    const struct safety_suggestion suggestion = safety_stock_suggest(&history, &bounds, units);
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", id);
    json_u64(&body, "safety", safety);
    json_u64(&body, "units", units);
    json_u64(&body, "suggested", suggestion.units);
    json_u64(&body, "base", suggestion.base);
    json_u64(&body, "rate", suggestion.rate);
    json_u64(&body, "least", bounds.least);
    json_u64(&body, "most", bounds.most);
    json_object_begin(&body, "history");
    json_text(&body, "of", of);
    json_u64(&body, "sold", history.sold);
    json_u64(&body, "returned", history.returned);
    json_u64(&body, "exchanged", history.exchanged);
    json_u64(&body, "damaged", history.damaged);
    json_u64(&body, "lost", history.lost);
    json_u64(&body, "other", history.other);
    json_object_end(&body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

/* False: answered. */
static bool use_read(struct job *job, struct safety_use *use)
{
    char reason[REASON_BYTES + 1];
    const struct field fields[] = {
        { "quantity", FIELD_U32, &use->units, 1, UNITS_MAX, true, NULL },
        { "reason", FIELD_TEXT, reason, 1, REASON_BYTES, true, NULL },
        { "note", FIELD_TEXT, use->note, 0, SAFETY_NOTE_MAX, false, NULL },
    };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return false;
    while (use->reason < SAFETY_REASONS && strcmp(reasons[use->reason], reason) != 0)
        use->reason++;
    if (use->reason < SAFETY_REASONS
        && (use->note[0] == 0 || admin_line_is_good(use->note, SAFETY_NOTE_MAX)))
        return true;
    job_reply_problem(job, PROBLEM_BAD_VALUE,
        use->reason == SAFETY_REASONS
            ? "reason must be exchange, damage, loss or other."
            : "note must be one line of visible characters, without spaces around it.",
        SPAN_NONE);
    return false;
}

/* The units leave the item: they are in the hands of a customer, or good for nothing. */
void admin_item_safety_use(struct admin *admin, struct job *job, uint32_t id)
{
    struct safety_use use = { .item = id, .reason = SAFETY_NONE, .time_ms = admin->now_ms };
    struct item item;
    struct board_update view;
    struct outcome outcome = { 0 };
    if (!admin_item_read(admin, job, id, &item) || !use_read(job, &use))
        return;
    struct command command = { .type = COMMAND_ADJUST,
        .adjust = { .item = id, .channel = CHANNEL_SAFETY, .delta = -(int32_t)use.units, .gone = true } };
    if (board_read(admin->lent->inventory->board, id, &view) && view.counts.safety < use.units) {
        job_reply_problem(job, PROBLEM_CONFLICT,
            "The safety stock has fewer units than that. Move some into it first.", SPAN_NONE);
        return;
    }
    if (!admin_ask(admin, job, &command, &outcome))
        return;
    const uint32_t left = (uint32_t)-outcome.applied;
    if (left == 0) {
        job_reply_problem(job, PROBLEM_CONFLICT, "The safety stock is empty.", SPAN_NONE);
        return;
    }
    use.units = left;
    memcpy(use.by, job->actor, sizeof use.by);
    if (!job_ok(job, admin->store->ops->channels->safety_use_put(admin->store, &use)))
        return;
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", id);
    json_u64(&body, "used", left);
    json_text(&body, "reason", reasons[use.reason]);
    if (board_read(admin->lent->inventory->board, id, &view))
        json_u64(&body, "safety", view.counts.safety);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
    const char *reason = reasons[use.reason];
    if (use.note[0] == 0)
        admin_audit_write(admin, job, "safety.use", "item %u: %u units, %s", id, left, reason);
    else
        admin_audit_write(
            admin, job, "safety.use", "item %u: %u units, %s: %s", id, left, reason, use.note);
}
