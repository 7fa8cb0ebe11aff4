/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/anomaly_notes.c: what an edge notes about those who look like machines (funnel/anomaly/watch.h).
 * How each answer of the door counts: DOOR_REASON_LIST in funnel/door.h. */
#include "gateway/anomaly_notes.h"

#include "contract/board.h"
#include "funnel/bans.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

#define WATCHED_AS(reason, label, problem, signal) [DOOR_##reason] = WATCH_##signal,
const uint8_t watched_reasons[DOOR_REASONS] = { DOOR_REASON_LIST(WATCHED_AS) };

static void note(
    struct routes *routes, const struct address *client, enum watch_signal signal, user_id user)
{
    const struct watch_event event = {
        .signal = signal, .now_ms = edge_now_ms(routes->edge), .client = *client, .user = user
    };
    if (routes->watch != NULL)
        watch_note(routes->watch, &event);
}

void routes_watch_door(struct routes *routes, const struct address *client, enum door_reason reason,
    user_id user, item_id item)
{
    if (reason != DOOR_GO) {
        note(routes, client, watched_reasons[reason], user);
        return;
    }
    const struct board_item *shown = &routes->door.board->items[item];
    if (routes->watch != NULL)
        watch_purchase(routes->watch, user, edge_now_ms(routes->edge),
            atomic_load_explicit(&shown->start_ms, memory_order_relaxed));
}

void routes_watch_failed(struct exchange *exchange)
{
    note(exchange->routes, exchange->request->client, WATCH_FAILED, 0);
}

void routes_watch_failed_of(struct routes *routes, const struct address *client)
{
    note(routes, client, WATCH_FAILED, 0);
}

void routes_watch_too_fast(struct exchange *exchange)
{
    note(exchange->routes, exchange->request->client, WATCH_TOO_FAST, 0);
}

void routes_watch_seen(struct routes *routes, const struct address *client, user_id user)
{
    note(routes, client, WATCH_SEEN, user);
}

bool routes_address_banned(struct exchange *exchange)
{
    if (!ban_set_address(exchange->routes->door.bans, exchange->request->client))
        return false;
    reply_problem(exchange, PROBLEM_BANNED, NULL);
    return true;
}

bool routes_banned(struct exchange *exchange, user_id user)
{
    const struct ban_set *bans = exchange->routes->door.bans;
    if (!ban_set_address(bans, exchange->request->client) && !ban_set_user(bans, user))
        return false;
    reply_problem(exchange, PROBLEM_BANNED, NULL);
    return true;
}
