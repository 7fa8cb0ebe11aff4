/* SPDX-License-Identifier: Apache-2.0 */
/* worker/waitlist_requests.c: places in line: joined, shown and left by users. The inventory says
 * who may join: nobody waits for what they can buy, or may not have. */
#include "api/catalog.h"
#include "api/handover.h"
#include "api/job_reply.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "contract/waitlist.h"
#include "funnel/keys.h"
#include "worker/errands.h"
#include "worker/period_limits.h"
#include "worker/public_requests.h"
#include "worker/returns.h"
#include "worker/worker_parts.h"

static const char *const state_names[] = { "none", "waiting", "offered", "left", "bought", "expired" };
static_assert(sizeof state_names / sizeof *state_names == PLACE_STATES, "a name for each");

static const struct waitlist_store_ops *line(const struct worker *worker)
{
    return worker->config.store->ops->waitlist;
}

static void place_reply(
    struct worker *worker, struct job *job, int status, const struct waitlist_place *place)
{
    struct text body = job_body(job);
    text_format(&body, "{\"item\":%u,\"state\":\"%s\",\"position\":", place->item,
        state_names[place->state]);
    if (place->position == 0)
        text_literal(&body, "null");
    else
        text_u64(&body, place->position);
    text_format(&body, ",\"quantity\":%u,\"joined_ms\":%llu", place->quantity,
        (unsigned long long)place->joined_ms);
    if (place->ticket != 0) {
        text_literal(&body, ",\"ticket\":\"");
        text_hex64(&body, funnel_ticket_id(worker->config.keys, place->ticket));
        text_literal(&body, "\",\"order\":\"");
        text_hex64(&body, funnel_order_id(worker->config.keys, place->ticket));
        text_literal(&body, "\"");
    }
    text_literal(&body, "}");
    job_reply_json(job, status, &body);
}

/* There is such an item for the public, and lines are kept; else the job is answered. */
static bool item_check(const struct worker *worker, struct job *job, item_id id, struct board_update *view)
{
    const struct catalog *catalog = handover_get(worker->config.catalog);
    if (!worker->config.config->waitlist_enabled) {
        job_reply_problem(job, PROBLEM_NOT_FOUND, "This shop has no waitlist.", SPAN_NONE);
        return false;
    }
    if (catalog != NULL && catalog_item_find(catalog, id) != NULL
        && board_read(worker->config.inventory->board, id, view))
        return true;
    job_reply_problem(job, PROBLEM_UNKNOWN_ITEM, NULL, SPAN_NONE);
    return false;
}

/* {"quantity":2}, or nothing for one. Not with the funnel's reader: a second caller would take it
 * out of the door, where every refused purchase pays for the call. */
static bool quantity_read(struct job *job, uint32_t *quantity)
{
    const struct field fields[] = {
        { "quantity", FIELD_U32, quantity, 1, QUANTITY_MAX, false, NULL },
    };
    *quantity = 1;
    return job->body.size == 0 || job_fields_read(job, fields, 1);
}

/* It spares most a wait for nothing. */
static bool period_check(struct worker *worker, struct job *job, item_id id, uint32_t quantity)
{
    bool over = false;
    if (!job_ok(job,
            period_limit_look(worker->config.store, id, job->user, quantity, worker->now_ms, &over)))
        return false;
    if (over)
        period_limit_reply(job);
    return !over;
}

bool public_line_check(struct worker *worker, struct job *job, item_id id,
    const struct board_update *view, uint32_t quantity, const char *buy_instead)
{
    const struct command command = { .type = COMMAND_ASK_MINE,
        .time_ms = worker->now_ms,
        .ask = { .user = job->user, .item = id } };
    struct outcome mine = { 0 };
    char bytes[40];
    struct text more = text_in(bytes, sizeof bytes);
    if (view->gate == GATE_ENDED || worker->now_ms >= view->end_ms) {
        job_reply_problem(job, PROBLEM_ENDED, NULL, SPAN_NONE);
        return false;
    }
    if (view->counts.channel_free[WAITLIST_CHANNEL] >= quantity) {
        job_reply_problem(job, PROBLEM_NOT_SOLD_OUT, buy_instead, SPAN_NONE);
        return false;
    }
    if (errands_ask(worker->errands, &command, &mine) != STATUS_OK) {
        job_reply_problem(job, PROBLEM_UNAVAILABLE, "The inventory does not answer.", SPAN_NONE);
        return false;
    }
    if (mine.again_ms != 0) { /* who let it go a short while ago can't have it yet, by no way */
        job_reply_until(job, PROBLEM_COOLING_DOWN, mine.again_ms);
        return false;
    }
    if (view->limit_per_user == 0 || (uint64_t)mine.quantity + quantity <= view->limit_per_user)
        return period_check(worker, job, id, quantity);
    if (mine.ticket != 0) {
        text_literal(&more, ",\"ticket\":\"");
        text_hex64(&more, funnel_ticket_id(worker->config.keys, mine.ticket));
        text_literal(&more, "\"");
    }
    job_reply_problem(job,
        mine.quantity > 0 && view->limit_per_user == 1 ? PROBLEM_ALREADY_BOUGHT : PROBLEM_LIMIT_REACHED,
        NULL, text_span(&more));
    return false;
}

void public_waitlist_join(struct worker *worker, struct job *job, uint32_t id)
{
    struct order_store *store = worker->config.store;
    struct waitlist_place place = { .item = id, .user = job->user, .joined_ms = worker->now_ms }, old;
    struct board_update view;
    uint8_t answer = JOIN_FULL;
    if (!item_check(worker, job, id, &view) || !quantity_read(job, &place.quantity))
        return;
    enum status status = line(worker)->place(store, id, job->user, &old);
    if (status == STATUS_OK && old.state == PLACE_WAITING) {
        place_reply(worker, job, 200, &old);
        return;
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        job_reply_status(job, status);
        return;
    }
    struct item item;
    if (!job_ok(job, store->ops->item_get(store, id, &item)))
        return;
    if (item.offer.kind == SOLD_OUT_PRESALE) { /* its cap and its deposit count */
        job_reply_problem(job, PROBLEM_CONFLICT,
            "This item takes bookings: POST /v1/items/{item}/presale.", SPAN_NONE);
        return;
    }
    if (!public_line_check(worker, job, id, &view, place.quantity, NULL))
        return;
    status = line(worker)->join(
        store, &place, (uint32_t)worker->config.config->waitlist_max_per_item, &answer);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (answer == JOIN_FULL)
        job_reply_problem(job, PROBLEM_WAITLIST_FULL, NULL, SPAN_NONE);
    else
        place_reply(worker, job, answer == JOIN_DONE ? 201 : 200, &place);
    returns_look_line(worker->returns); /* units may have come back in between */
}

static bool place_read(struct worker *worker, struct job *job, item_id id, struct waitlist_place *place)
{
    struct board_update view;
    if (!item_check(worker, job, id, &view))
        return false;
    const enum status status = line(worker)->place(worker->config.store, id, job->user, place);
    if (status == STATUS_NOT_FOUND)
        job_reply_problem(job, PROBLEM_NOT_WAITING, NULL, SPAN_NONE);
    else if (status != STATUS_OK)
        job_reply_status(job, status);
    return status == STATUS_OK;
}

void public_waitlist_show(struct worker *worker, struct job *job, uint32_t id)
{
    struct waitlist_place place;
    if (place_read(worker, job, id, &place))
        place_reply(worker, job, 200, &place);
}

void public_waitlist_leave(struct worker *worker, struct job *job, uint32_t id)
{
    struct waitlist_place place;
    bool left = false;
    if (!place_read(worker, job, id, &place))
        return;
    const enum status status = line(worker)->leave(worker->config.store, id, job->user, &left);
    if (!job_ok(job, status))
        return;
    if (!place_read(worker, job, id, &place))
        return;
    if (place.state == PLACE_LEFT)
        place_reply(worker, job, 200, &place);
    else if (place.state == PLACE_OFFERED)
        job_reply_problem(job, PROBLEM_CONFLICT,
            "You already have an offer: cancel its order instead.", SPAN_NONE);
    else
        job_reply_problem(job, PROBLEM_NOT_WAITING, NULL, SPAN_NONE);
}
