/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/anomaly_notes.h: what an edge notes about requests that look automated, and refusals of banned
 * users and addresses. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ANOMALY_NOTES_H
#define STAMPEDE_GATEWAY_ANOMALY_NOTES_H

#include "edge/http.h"
#include "funnel/anomaly/watch.h"
#include "funnel/door.h"

struct exchange;
struct routes;

extern const uint8_t watched_reasons[DOOR_REASONS]; /* enum watch_signal */
/* Out of line, and by value: what the door found stays in registers. */
__attribute__((noinline)) void routes_watch_door(struct routes *routes,
    const struct address *client, enum door_reason reason, user_id user, item_id item);
/* After the door's answer. Most answers say nothing about the sender. */
static inline void routes_watch(struct routes *routes, const struct http_request *request,
    const struct door_result *result, item_id item)
{
    if (watched_reasons[result->reason] != WATCH_NOTHING)
        routes_watch_door(routes, request->client, result->reason, result->user, item);
}
void routes_watch_too_fast(struct exchange *exchange); /* the address */
void routes_watch_failed(struct exchange *exchange);   /* a bad session, token or challenge */
void routes_watch_failed_of(struct routes *routes, const struct address *client);
/* A pass is given. */
void routes_watch_seen(struct routes *routes, const struct address *client, user_id user);
/* True after writing the refusal to the exchange. */
bool routes_banned(struct exchange *exchange, user_id user);
bool routes_address_banned(struct exchange *exchange);

#endif
