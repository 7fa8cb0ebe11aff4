/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/repeat.c: a purchase that the door refuses, but whose user may have bought. The inventory
 * is asked for an old answer (RESERVE_REPEAT); if there is none, the refusal is told. */
#include "gateway/repeat.h"

#include "gateway/answers.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

static void repeat_answered(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    struct edge_answer told = ask->instead;
    answer_count(routes, outcome->item, outcome->answer);
    if (outcome->answer != ANSWER_NOTHING_TO_REPEAT)
        told = answer_from_outcome(outcome);
    told.flags = ask->instead.flags;
    edge_complete(routes->edge, ask->to.token, &told);
}

enum edge_verdict repeat_ask(struct routes *routes, uint64_t token, item_id item,
    const struct door_result *result, struct edge_reply *reply)
{
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = result->user,
            .key = result->key,
            .item = item,
            .quantity = result->quantity,
            .channel = result->channel,
            .flags = RESERVE_REPEAT } };
    struct ask *ask = ask_put(routes, &(struct reply_to){ .token = token }, &command, repeat_answered);
    if (ask == NULL) {
        answer_count(routes, item, ANSWER_TOO_POPULAR);
        reply->answer =
            (struct edge_answer){ .kind = PROBLEM_TOO_POPULAR, .flags = reply->answer.flags };
        return EDGE_ANSWERED;
    }
    ask->instead = reply->answer;
    return EDGE_DEFERRED;
}
