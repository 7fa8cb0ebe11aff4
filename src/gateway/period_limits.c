/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. The database is asked first, then the inventory once: for the purchase, or, if that is refused,
 * for an old answer (repeat.h). So whoever repeats a purchase that was won hears the win, though it is what
 * reached the limit, and though this process may not have heard of it yet.
 * What can't be asked is not let through: a user who may be past the limit holds no unit while the database
 * is away. The order's transaction decides in the end, as for everybody. */
#include "gateway/period_limits.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "api/job.h"
#include "base/metrics.h"
#include "contract/inventory.h"
#include "gateway/answers.h"
#include "gateway/asks.h"
#include "gateway/jobs.h"
#include "gateway/repeat.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

enum question_end { QUESTION_WITHIN, QUESTION_OVER, QUESTION_AWAY, QUESTION_FULL, QUESTION_ENDS };

#define QUESTION_METRIC(end, label) \
    [end] = METRIC_ROW(METRIC_COUNTER, "stampede_limit_questions_total", "answer=\"" label "\"", \
        "Purchases for which the database was asked about a limit over a period.")
static struct metric questions[QUESTION_ENDS] = {
    QUESTION_METRIC(QUESTION_WITHIN, "within"),
    QUESTION_METRIC(QUESTION_OVER, "over"),
    QUESTION_METRIC(QUESTION_AWAY, "away"),
    QUESTION_METRIC(QUESTION_FULL, "full"),
};
METRIC_TABLE(questions);

static void pass_give_back(const struct routes *routes, uint64_t pass_mark)
{
    door_give_back(&routes->door, &(struct door_result){ .pass_mark = pass_mark });
}

bool period_limit_concerns(const struct routes *routes, item_id item, user_id user)
{
    const struct board *board = routes->door.board;
    return board_may_hold(board, board_limit_group(board, item), user);
}

enum edge_verdict period_limit_ask(struct routes *routes, uint64_t token, uint8_t flags,
    item_id item, const struct door_result *result, struct edge_reply *reply)
{
    const struct catalog *catalog = handover_get(routes->shared.catalog);
    const struct catalog_item *shown = catalog == NULL ? NULL : catalog_item_find(catalog, item);
    const struct job_wish wish = { .kind = JOB_LIMIT,
        .share = SHARE_LIMIT,
        .user = result->user,
        .to = { .token = token, .cors = flags & ANSWER_ORIGIN, .chinese = (flags & ANSWER_CHINESE) != 0 } };
    struct job *job = job_take(routes, &wish);
    if (job == NULL) {
        const bool mine = job_shares_user_full(&routes->jobs, SHARE_LIMIT, result->user);
        metric_add(&questions[QUESTION_FULL], 1);
        answer_count(routes, item, mine ? ANSWER_TOO_FAST : ANSWER_TOO_POPULAR);
        door_give_back(&routes->door, result);
        reply->answer = (struct edge_answer){ .kind = mine ? PROBLEM_TOO_FAST : PROBLEM_TOO_POPULAR,
            .flags = flags,
            .a = mine ? TOO_MANY_JOBS_WAIT_MS : 0 };
        return EDGE_ANSWERED;
    }
    job->wish = (struct command_reserve){ .user = result->user,
        .key = result->key,
        .item = item,
        .quantity = result->quantity,
        .channel = result->channel };
    job->wish.asks_door = routes->door.shared && door_asks(&routes->door, result, &job->wish.door);
    job->pass_mark = result->pass_mark;
    job->limit_group = board_limit_group(routes->door.board, item);
    if (shown != NULL) { /* else it has just left: no limit is known, and the inventory knows the rest */
        job->period_limit = shown->limits.period_limit;
        job->period_days = shown->limits.period_days;
    }
    job_hand_in(routes, job);
    return EDGE_DEFERRED;
}

/* False: the queue to the inventory is full. */
static bool purchase_put(struct routes *routes, const struct job *job, uint64_t tag)
{
    struct inventory_request *slot = routes->port->ops->reserve(routes->port);
    if (slot == NULL)
        return false;
    slot->tag = tag;
    slot->command.type = COMMAND_RESERVE;
    slot->command.reserve = job->wish;
    purchase_probe_begin(&routes->probe, tag);
    routes->port->ops->commit(routes->port);
    return true;
}

/* Unless the purchase was won before. */
static void refuse(
    struct routes *routes, const struct job *job, enum answer answer, struct edge_answer told)
{
    answer_count(routes, job->wish.item, answer);
    if (!repeat_put(routes, job->to.token, &job->wish, &told))
        edge_complete(routes->edge, job->to.token, &told);
}

void period_limit_answered(struct routes *routes, const struct job *job)
{
    const uint8_t flags = reply_flags(&job->to);
    const bool away = job->result == JOB_NOT_YET;
    metric_add(&questions[away ? QUESTION_AWAY : job->within ? QUESTION_WITHIN : QUESTION_OVER], 1);
    if (!edge_token_alive(routes->edge, job->to.token)) {
        pass_give_back(routes, job->pass_mark);
    } else if (away) {
        pass_give_back(routes, job->pass_mark);
        refuse(routes, job, ANSWER_UNAVAILABLE,
            (struct edge_answer){ .kind = PROBLEM_UNAVAILABLE, .flags = flags });
    } else if (!job->within) {
        refuse(routes, job, ANSWER_LIMIT_REACHED,
            (struct edge_answer){
                .kind = PROBLEM_LIMIT_REACHED, .flags = flags, .a = ANSWER_LIMIT_PERIOD });
    } else if (!purchase_put(routes, job, purchase_tag(job->to.token, flags))) {
        const struct edge_answer told = { .kind = PROBLEM_TOO_POPULAR, .flags = flags };
        pass_give_back(routes, job->pass_mark);
        answer_count(routes, job->wish.item, ANSWER_TOO_POPULAR);
        edge_complete(routes->edge, job->to.token, &told);
    }
}
