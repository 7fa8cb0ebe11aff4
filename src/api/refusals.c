/* SPDX-License-Identifier: Apache-2.0 */
#include "api/refusals.h"

#include "base/clock.h"

#define FROM_ANSWER(answer, label, problem) [ANSWER_##answer] = PROBLEM_##problem,
static const uint8_t from_answer[ANSWERS] = { ANSWER_LIST(FROM_ANSWER) };

enum problem refusal_problem(enum answer answer)
{
    return from_answer[answer];
}

void refusal_again_members(uint64_t again_ms, struct text *out)
{
    text_literal(out, ",\"again_ms\":");
    text_u64(out, again_ms);
}

uint64_t refusal_retry_s(uint64_t again_ms)
{
    const uint64_t now_ms = clock_now_ms();
    return again_ms > now_ms ? (again_ms - now_ms + 999) / 1000 : 1;
}

static const char *const conflict_texts[] = {
    [CONFLICT_NONE] = "refused",
    [CONFLICT_OTHER_TOTAL] =
        "the item is preheated with another total: use adjust to add or remove units",
    [CONFLICT_BAD_SPLIT] = "channels and safety stock do not add up to total - locked - sold",
    [CONFLICT_ALREADY_OPEN] = "the sale has started: its start can't be moved",
    [CONFLICT_ENDED] = "the sale has ended",
    [CONFLICT_BAD_WINDOW] = "end_ms must be after start_ms",
    [CONFLICT_NOT_PREHEATED] = "no item of the sale is preheated",
    [CONFLICT_BAD_MOVE] = "not possible from the present state",
    [CONFLICT_FULL] = "a table is full (data.items_max, data.sales_max or data.tickets_max)",
    [CONFLICT_OTHER_LIMIT] =
        "a sale with preheated items keeps its limit (it may be raised) and its one_open_order",
    [CONFLICT_OTHER_TERMS] = "the item is preheated with another price, limit or time to pay",
    [CONFLICT_HAS_BUYERS] = "units were already sold: price and limit can't be changed any more",
};
static_assert(sizeof conflict_texts / sizeof *conflict_texts == CONFLICTS, "each conflict has a text");

const char *refusal_conflict_text(uint8_t conflict)
{
    return conflict_texts[conflict < CONFLICTS ? conflict : CONFLICT_NONE];
}

#define ANSWER_NAME(answer, label, problem) [ANSWER_##answer] = (label),
static const char *const answer_names[ANSWERS] = { ANSWER_LIST(ANSWER_NAME) };

const char *refusal_answer_name(enum answer answer)
{
    invariant((unsigned)answer < ANSWERS);
    return answer_names[answer];
}
