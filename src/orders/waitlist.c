/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/waitlist.h"

#include "base/log.h"
#include "base/metrics.h"
#include "contract/waitlist_rules.h"

GAUGE(waitlist_waiting, "stampede_waitlist_waiting", "Users on a waitlist.");

void waitlist_start(struct waitlist *waitlist, const struct waitlist_config *config)
{
    *waitlist = (struct waitlist){ .config = *config };
}

void waitlist_look(struct waitlist *waitlist)
{
    waitlist->look_ms = 0;
}

/* Whether asking again soon makes sense. REPEATED: the offer is made already, its record is on its
 * way to the store. */
static bool answer_is_final(enum answer answer)
{
    return answer == ANSWER_ALREADY_BOUGHT || answer == ANSWER_LIMIT_REACHED
        || answer == ANSWER_OPEN_ORDER || answer == ANSWER_COOLING_DOWN || answer == ANSWER_NOT_ELIGIBLE
        || answer == ANSWER_REPEATED || answer == ANSWER_KEY_REUSED || answer == ANSWER_BAD_QUANTITY;
}

bool waitlist_answer(struct waitlist *waitlist, const struct inventory_answer *answer)
{
    struct order_store *store = waitlist->config.store;
    const uint64_t place = answer->tag & ~WAITLIST_TAG;
    if ((answer->tag & WAITLIST_TAG) == 0)
        return false;
    if (place == 0)
        return true; /* units have left a line, or the next look finds them again */
    for (uint32_t i = 0; i < waitlist->in_flight; i++) {
        if (waitlist->asked[i] != place)
            continue;
        waitlist->asked[i] = waitlist->asked[--waitlist->in_flight];
        break;
    }
    /* A store that is away keeps nothing: the place is asked for once more, and refused again. */
    if (answer_is_final((enum answer)answer->outcome.answer)
        && store->ops->waitlist->pass(store, place) != STATUS_OK)
        log_warn("orders", "waitlist entry %llu can't be skipped now", (unsigned long long)place);
    return true;
}

static bool offer_ask(struct waitlist *waitlist, const struct waitlist_place *place,
    channel_index channel, uint32_t window_ms, uint64_t now_ms)
{
    struct inventory_port *port = waitlist->config.port;
    if (waitlist->in_flight == WAITLIST_OFFERS_MAX)
        return false;
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return false; /* the queue is full: next turn */
    *request = (struct inventory_request){
        .tag = WAITLIST_TAG | place->id,
        .command = { .time_ms = now_ms,
            .type = COMMAND_RESERVE,
            .reserve = { .user = place->user,
                .key = waitlist_key(place->id),
                .item = place->item,
                .quantity = place->quantity,
                .channel = channel,
                .flags = RESERVE_AFTER_END | RESERVE_OFFER,
                .window_ms = window_ms != 0 ? window_ms : waitlist->config.window_ms } },
    };
    port->ops->commit(port);
    waitlist->asked[waitlist->in_flight++] = place->id;
    return true;
}

/* Nobody can have these units of the line. Not now: the next look finds them again. */
static void line_release(struct waitlist *waitlist, item_id item, uint32_t units, uint64_t now_ms)
{
    struct inventory_port *port = waitlist->config.port;
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return;
    *request = (struct inventory_request){
        .tag = WAITLIST_TAG,
        .command = { .time_ms = now_ms,
            .type = COMMAND_MOVE,
            .move = { .item = item, .from = CHANNEL_LINE, .to = WAITLIST_CHANNEL, .quantity = units } },
    };
    port->ops->commit(port);
    port->ops->flush(port);
}

/* As many of the line as these units of a channel are enough for, in order. */
static enum status units_offer(struct waitlist *waitlist, const struct waitlist_line *line,
    channel_index channel, uint32_t units, uint64_t now_ms)
{
    struct order_store *store = waitlist->config.store;
    const item_id item = line->item;
    uint32_t count = 0, left = units;
    if (units == 0)
        return STATUS_OK;
    const enum status status =
        store->ops->waitlist->next(store, item, units, waitlist->places, WAITLIST_OFFERS_MAX, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct waitlist_place *place = &waitlist->places[i];
        if (waitlist_take(&left, place->quantity)
            && !offer_ask(waitlist, place, channel, line->window_ms, now_ms))
            break;
    }
    if (status == STATUS_OK && count == 0 && channel != WAITLIST_CHANNEL)
        line_release(waitlist, item, units, now_ms);
    return status;
}

static enum status line_serve(struct waitlist *waitlist, const struct waitlist_line *line, uint64_t now_ms)
{
    struct board_update shown;
    if (!board_read(waitlist->config.board, line->item, &shown))
        return STATUS_OK; /* not preheated yet */
    const uint32_t *units = shown.counts.channel_free;
    if (waitlist->config.has_line && units[CHANNEL_LINE] > 0) /* the web channel's come after these */
        return units_offer(waitlist, line, CHANNEL_LINE, units[CHANNEL_LINE], now_ms);
    return units_offer(waitlist, line, WAITLIST_CHANNEL, units[WAITLIST_CHANNEL], now_ms);
}

/* Lines that nobody stands in any more. Whoever joins meanwhile finds the units in the web channel. */
static enum status lines_sweep(struct waitlist *waitlist, uint64_t now_ms)
{
    struct order_store *store = waitlist->config.store;
    enum status status = STATUS_OK;
    if (!waitlist->config.has_line || now_ms < waitlist->sweep_ms)
        return STATUS_OK;
    waitlist->sweep_ms = now_ms + WAITLIST_SWEEP_MS;
    for (item_id item = 1; item < waitlist->config.board->item_count && status == STATUS_OK; item++) {
        struct board_update shown;
        uint32_t count = 0;
        if (!board_read(waitlist->config.board, item, &shown)
            || shown.counts.channel_free[CHANNEL_LINE] == 0)
            continue;
        status = store->ops->waitlist->lines(store, item - 1, waitlist->lines, 1, &count);
        if (status == STATUS_OK && (count == 0 || waitlist->lines[0].item != item))
            line_release(waitlist, item, shown.counts.channel_free[CHANNEL_LINE], now_ms);
    }
    return status;
}

static enum status lines_serve(struct waitlist *waitlist, uint64_t now_ms)
{
    struct order_store *store = waitlist->config.store;
    uint32_t count = 0;
    enum status status = store->ops->waitlist->lines(
        store, waitlist->after, waitlist->lines, WAITLIST_LINES_MAX, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        waitlist->after = waitlist->lines[i].item;
        waitlist->waiting += waitlist->lines[i].waiting;
        status = line_serve(waitlist, &waitlist->lines[i], now_ms);
    }
    if (status == STATUS_OK && count < WAITLIST_LINES_MAX) {
        metric_set(&waitlist_waiting, waitlist->waiting);
        waitlist->after = 0;
        waitlist->waiting = 0;
    }
    return status;
}

enum status waitlist_turn(struct waitlist *waitlist, uint64_t now_ms)
{
    struct order_store *store = waitlist->config.store;
    enum status status = STATUS_OK;
    if (waitlist->in_flight > 0 || now_ms < waitlist->look_ms)
        return STATUS_OK;
    waitlist->look_ms = now_ms + WAITLIST_LOOK_MS;
    if (now_ms >= waitlist->again_ms) {
        waitlist->again_ms = now_ms + WAITLIST_AGAIN_MS;
        status = store->ops->waitlist->again(store);
    }
    if (status == STATUS_OK)
        status = lines_serve(waitlist, now_ms);
    if (status == STATUS_OK)
        status = lines_sweep(waitlist, now_ms);
    if (waitlist->in_flight > 0)
        waitlist->config.port->ops->flush(waitlist->config.port);
    return status;
}
