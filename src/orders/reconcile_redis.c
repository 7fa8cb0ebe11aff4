/* SPDX-License-Identifier: Apache-2.0 */
/* The last phase, on many machines: does Redis have what the logs say? The inventory compares, one partition
 * after the other (contract/part_checks.h). What Redis has counts for nothing, so the repair is certain: a
 * worker loads the partition anew from its log. If the whole run has found nothing, partitions whose sales
 * are over are put to rest. */
#include "orders/reconcile_parts.h"

static void differences_take(
    struct reconcile *reconcile, uint32_t part, const struct part_differences *found)
{
    const struct finding seed = { .sale = part_sale(part) };
    reconcile->redis_first = reconcile->report.count;
    reconcile->redis_found = found->found;
    for (uint32_t i = 0; i < found->count; i++)
        reconcile_finding(reconcile, &seed, FINDING_REDIS, "%s", found->texts[i]);
    reconcile->report.found += found->found - found->count;
}

static void reloaded_take(struct reconcile *reconcile)
{
    struct reconcile_report *report = &reconcile->report;
    report->repaired += reconcile->redis_found;
    for (uint32_t i = reconcile->redis_first; i < report->count; i++) {
        report->findings[i].repaired = true;
        if (reconcile->config.repaired != NULL)
            reconcile->config.repaired(reconcile->config.context, &report->findings[i]);
    }
}

static void ask(struct reconcile *reconcile, enum part_question question)
{
    struct part_checks *checks = reconcile->config.checks;
    checks->ops->ask(checks, reconcile->parts[reconcile->redis_at].part, question);
    reconcile->redis_asked = true;
    reconcile->redis_question = question;
}

/* The answer is there; true: the partition is done with. */
static bool answer_take(
    struct reconcile *reconcile, enum part_answer answer, const struct part_differences *found)
{
    struct reconcile_part *part = &reconcile->parts[reconcile->redis_at];
    const enum part_question question = reconcile->redis_question;
    reconcile->redis_asked = false;
    part->is_over = answer == PART_OVER;
    if (answer == PART_NOT_KNOWN && question <= PART_COMPARE_RECENT)
        reconcile->report.skipped++;
    if (answer == PART_EQUAL && question == PART_RELOAD)
        reloaded_take(reconcile);
    if (answer != PART_DIFFERS)
        return true;
    differences_take(reconcile, part->part, found);
    if (reconcile->report.repair)
        ask(reconcile, PART_RELOAD);
    return !reconcile->report.repair;
}

/* What is asked of the partition in hand. False: nothing. */
static bool question_of(const struct reconcile *reconcile, enum part_question *question)
{
    *question = reconcile->redis_rests ? PART_REST
        : reconcile->report.recent     ? PART_COMPARE_RECENT
                                       : PART_COMPARE;
    return !reconcile->redis_rests || reconcile->parts[reconcile->redis_at].is_over;
}

bool reconcile_redis_step(struct reconcile *reconcile)
{
    struct part_checks *checks = reconcile->config.checks;
    struct part_differences found;
    enum part_question question;
    if (checks == NULL)
        return false;
    if (reconcile->redis_asked) {
        const enum part_answer answer = checks->ops->answer(checks, &found);
        if (answer != PART_WAIT && answer_take(reconcile, answer, &found))
            reconcile->redis_at++;
        return true;
    }
    while (reconcile->redis_at < reconcile->part_count && !question_of(reconcile, &question))
        reconcile->redis_at++;
    if (reconcile->redis_at < reconcile->part_count) {
        ask(reconcile, question);
        return true;
    }
    const bool goes_on = !reconcile->redis_rests && reconcile->report.found == 0;
    reconcile->redis_rests = true;
    reconcile->redis_at = 0;
    return goes_on;
}
