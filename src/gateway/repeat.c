/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/repeat.c: a purchase that the door refuses, but whose user may have bought. The inventory
 * is asked for an old answer (RESERVE_REPEAT); if there is none, the refusal is told. */
#include "gateway/repeat.h"

#include "api/problems.h"
#include "base/metrics.h"
#include "gateway/answers.h"
#include "gateway/asks.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

/* By the problem that was not told: stampede_door_total counts the refusal, stampede_purchases_total the
 * answer that took its place. */
#define REPEAT_METRIC(problem, label) \
    [PROBLEM_##problem] = \
        METRIC_ROW(METRIC_COUNTER, "stampede_door_repeats_total", "answer=\"" label "\"", \
            "Refusals of the door in whose place an answer of the inventory was told.")
static struct metric replaced[PROBLEMS] = {
    REPEAT_METRIC(SOLD_OUT, "sold-out"),
    REPEAT_METRIC(TOO_POPULAR, "too-popular"),
    REPEAT_METRIC(TOO_FAST, "too-fast"),
    REPEAT_METRIC(ENDED, "ended"),
    REPEAT_METRIC(PAUSED, "paused"),
    REPEAT_METRIC(UNAVAILABLE, "unavailable"),
    REPEAT_METRIC(PASS_SPENT, "pass-spent"),
    REPEAT_METRIC(NOT_YOUR_TURN, "not-your-turn"),
    REPEAT_METRIC(LIMIT_REACHED, "limit-reached"),
};
METRIC_TABLE(replaced);

static void replaced_count(const struct edge_answer *refusal)
{
    if (replaced[refusal->kind].name != NULL)
        metric_add(&replaced[refusal->kind], 1);
}

static void repeat_answered(struct routes *routes, const struct ask *ask, const struct outcome *outcome)
{
    struct edge_answer told = ask->instead;
    answer_count(routes, outcome->item, outcome->answer);
    if (outcome->answer != ANSWER_NOTHING_TO_REPEAT) {
        replaced_count(&ask->instead);
        told = answer_from_outcome(outcome);
    }
    told.flags = ask->instead.flags;
    edge_complete(routes->edge, ask->to.token, &told);
}

bool repeat_put(struct routes *routes, uint64_t token, const struct command_reserve *wish,
    struct edge_answer *refusal)
{
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = wish->user,
            .key = wish->key,
            .item = wish->item,
            .quantity = wish->quantity,
            .channel = wish->channel,
            .flags = RESERVE_REPEAT } };
    struct ask *ask = ask_put(routes, &(struct reply_to){ .token = token }, &command, repeat_answered);
    if (ask == NULL) {
        answer_count(routes, wish->item, ANSWER_TOO_POPULAR);
        replaced_count(refusal);
        *refusal = (struct edge_answer){ .kind = PROBLEM_TOO_POPULAR, .flags = refusal->flags };
        return false;
    }
    ask->instead = *refusal;
    return true;
}

enum edge_verdict repeat_ask(struct routes *routes, uint64_t token, item_id item,
    const struct door_result *result, struct edge_reply *reply)
{
    const struct command_reserve wish = { .user = result->user,
        .key = result->key,
        .item = item,
        .quantity = result->quantity,
        .channel = result->channel };
    return repeat_put(routes, token, &wish, &reply->answer) ? EDGE_DEFERRED : EDGE_ANSWERED;
}
