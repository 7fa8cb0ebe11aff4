/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/intents.c: items whose units are taken on payment. A purchase of them that the door lets through is
 * answered with an intent: a signed promise of nothing that starts a payment. */
#include "gateway/intents.h"

#include "contract/command.h"
#include "funnel/intent.h"
#include "gateway/answers.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/repeat.h"
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

enum { INTENT_BODY_BYTES = 256 };
static void intent_write(const struct routes *routes, const struct intent *intent, struct text *body)
{
    char text[INTENT_CHARS];
    intent_issue(&routes->keys, intent, text);
    text_literal(body, "{\"intent\":\"");
    text_add(body, span_of(text, sizeof text));
    text_format(body, "\",\"item\":%u,\"quantity\":%u,\"expires_ms\":%llu}", intent->item,
        intent->quantity, (unsigned long long)intent->expires_s * 1000);
}

/* What the door of all gateways says; an old purchase of the user does not matter here: the payment asks. */
static void intent_asked(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    char bytes[INTENT_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    const uint8_t answer = outcome->answer;
    if (answer == ANSWER_PASS_SPENT || answer == ANSWER_TOO_FAST || answer == ANSWER_UNAVAILABLE
        || answer == ANSWER_TOO_POPULAR) {
        struct edge_answer told = answer_from_outcome(outcome);
        answer_count(routes, ask->intent.item, answer);
        told.flags = ask->instead.flags;
        edge_complete(routes->edge, ask->to.token, &told);
        return;
    }
    intent_write(routes, &ask->intent, &body);
    complete_json(routes, &ask->to, 201, &body);
}

/* Nothing is bought: the purchase only carries the questions. */
static enum edge_verdict intent_ask(
    struct exchange *exchange, const struct intent *intent, const struct purchase_door *questions)
{
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = intent->user,
            .item = intent->item,
            .quantity = intent->quantity,
            .channel = intent->channel,
            .flags = RESERVE_REPEAT,
            .asks_door = true,
            .door = *questions } };
    struct ask *ask = ask_send(exchange, &command, intent_asked);
    if (ask == NULL)
        return EDGE_REPLIED;
    ask->intent = *intent;
    ask->instead.flags = exchange_flags(exchange);
    return EDGE_DEFERRED;
}

/* A promise of nothing: the unit is taken when payment starts. */
static enum edge_verdict intent_give(
    struct exchange *exchange, const struct door_result *result, item_id item)
{
    struct routes *routes = exchange->routes;
    char bytes[INTENT_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    struct purchase_door questions;
    const struct intent intent = { .user = result->user,
        .item = item,
        .quantity = result->quantity,
        .channel = result->channel,
        .expires_s = (uint32_t)(edge_now_ms(routes->edge) / 1000) + INTENT_LIFE_S,
        .nonce = result->key != 0 ? result->key : random_next(&routes->random) };
    if (routes->door.shared && door_asks(&routes->door, result, &questions))
        return intent_ask(exchange, &intent, &questions);
    intent_write(routes, &intent, &body);
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
