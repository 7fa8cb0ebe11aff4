/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/intents.c: items whose units are taken on payment. A purchase of them that the door lets through is
 * answered with an intent: a signed promise of nothing that starts a payment. */
#include "gateway/intents.h"

#include "funnel/intent.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

bool intent_path(struct span path, item_id *item)
{
    static const struct span prefix = SPAN("/v1/items/"), suffix = SPAN("/intent");
    if (!span_starts_with(path, prefix) || !span_ends_with(path, suffix)
        || path.size < prefix.size + suffix.size)
        return false;
    return span_to_u32(span_of(path.data + prefix.size, path.size - prefix.size - suffix.size), item)
        == STATUS_OK;
}

/* A promise of nothing: the unit is taken when payment starts. */
static enum edge_verdict intent_give(
    struct exchange *exchange, const struct door_result *result, item_id item)
{
    struct routes *routes = exchange->routes;
    char text[INTENT_CHARS], bytes[256];
    struct text body = text_in(bytes, sizeof bytes);
    const struct intent intent = { .user = result->user,
        .item = item,
        .quantity = result->quantity,
        .channel = result->channel,
        .expires_s = (uint32_t)(edge_now_ms(routes->edge) / 1000) + INTENT_LIFE_S,
        .nonce = result->key != 0 ? result->key : random_next(&routes->random) };
    intent_issue(&routes->keys, &intent, text);
    text_literal(&body, "{\"intent\":\"");
    text_add(&body, span_of(text, sizeof text));
    text_format(&body, "\",\"item\":%u,\"quantity\":%u,\"expires_ms\":%llu}", item, intent.quantity,
        (unsigned long long)intent.expires_s * 1000);
    return reply_json(exchange, 201, &body, false);
}

enum edge_verdict purchase_on_payment(
    struct exchange *exchange, const struct door_result *result, item_id item, bool asked)
{
    if (asked && result->deduct_on_payment)
        return intent_give(exchange, result, item);
    door_give_back(&exchange->routes->door, result);
    if (asked)
        return reply_problem(exchange, PROBLEM_CONFLICT,
            "Units of this item are reserved on purchase: POST /v1/items/{item}/buy.");
    exchange->reply->answer =
        (struct edge_answer){ .kind = PROBLEM_PAY_FIRST, .flags = exchange_flags(exchange) };
    return EDGE_ANSWERED;
}
