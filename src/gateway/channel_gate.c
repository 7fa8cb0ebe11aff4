/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/channel_gate.c: requests of sales channels. A key belongs to one channel, and the worker is told
 * which: no request names one. Each key has a rate of its own (channel_rates.h), and bounded places at the
 * worker (job_shares.h): a channel that asks too much finds itself refused, and nobody else. Wrong keys
 * are refused as those of operators are (admin_gate.c). */
#include "gateway/channel_gate.h"

#include "base/metrics.h"
#include "funnel/door.h"
#include "gateway/admin_gate.h"
#include "gateway/channel_rates.h"
#include "gateway/exchange.h"
#include "gateway/jobs.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

COUNTER(too_fast, "stampede_channel_too_fast_total",
    "Requests of channels that came faster than their key may ask.");

enum edge_verdict channel_request(struct exchange *exchange, struct span path)
{
    struct routes *routes = exchange->routes;
    const struct http_request *request = exchange->request;
    const struct admin_key *key = channel_key_shown(exchange);
    channel_index channel;
    if (key == NULL)
        return EDGE_REPLIED;
    const uint32_t place = (uint32_t)(key - routes->admin->keys);
    const uint32_t wait_ms =
        channel_rates_ask(routes->shared.channel_rates, place, edge_now_ms(routes->edge));
    if (wait_ms != 0) {
        metric_add(&too_fast, 1);
        return reply_too_fast(exchange, wait_ms);
    }
    if (!door_channel_find(routes->door.channels, span_from_string(key->right.channel), &channel))
        return reply_problem(exchange, PROBLEM_BAD_CHANNEL, NULL);
    if (request->body.size > 0 && !content_is_json(request->content_type))
        return reply_problem(exchange, PROBLEM_MEDIA_TYPE, NULL);
    return keyed_hand_in(exchange, path, key,
        &(struct keyed_place){ .share = SHARE_CHANNEL, .whose = 1 + place, .channel = channel });
}
