/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/period_limits.h"

#include "api/job_reply.h"
#include "contract/command.h"
#include "contract/limit_uses.h"
#include "policy/limit_rules.h"

enum status period_limit_look(struct order_store *store, item_id id, user_id user,
    uint32_t quantity, uint64_t now_ms, bool *over)
{
    struct item item;
    uint64_t used = 0;
    *over = false;
    enum status status = store->ops->item_get(store, id, &item);
    const uint32_t most = status == STATUS_OK ? limit_most(&item.limits, LIMIT_PERIOD) : 0;
    if (most == 0)
        return status;
    status = store->ops->limits->used(store, limit_scope(&item.limits, item.product, LIMIT_PERIOD),
        &item.limits, user, now_ms, &used);
    *over = status == STATUS_OK && !limit_allows(used, quantity, most);
    return status;
}

enum status period_limit_apply(struct order_store *store, struct command_reserve *wish, uint64_t now_ms)
{
    bool over = false;
    const enum status status =
        period_limit_look(store, wish->item, wish->user, wish->quantity, now_ms, &over);
    if (over)
        wish->flags |= RESERVE_REPEAT;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* the inventory says what is wrong with it */
}

bool period_limit_refused(const struct command_reserve *wish, const struct outcome *outcome)
{
    return (wish->flags & RESERVE_REPEAT) != 0 && outcome->answer == ANSWER_NOTHING_TO_REPEAT;
}

void period_limit_reply(struct job *job)
{
    job_reply_problem(job, PROBLEM_LIMIT_REACHED, NULL, SPAN(",\"limit\":\"period\""));
}
