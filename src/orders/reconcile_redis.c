/* SPDX-License-Identifier: Apache-2.0 */
/* The last phase, on many machines: does Redis have what the logs say? The inventory compares, one partition
 * after the other (contract/part_checks.h). What Redis has counts for nothing, so the repair is certain: a
 * worker loads the partition anew from its log. */
#include "contract/part_checks.h"
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
    reconcile->redis_reloads = question == PART_RELOAD;
}

/* The answer is there; true: the partition is done with. */
static bool answer_take(
    struct reconcile *reconcile, enum part_answer answer, const struct part_differences *found)
{
    reconcile->redis_asked = false;
    reconcile->report.skipped += answer == PART_NOT_KNOWN && !reconcile->redis_reloads;
    if (reconcile->redis_reloads && answer == PART_EQUAL)
        reloaded_take(reconcile);
    if (answer != PART_DIFFERS)
        return true;
    differences_take(reconcile, reconcile->parts[reconcile->redis_at].part, found);
    if (reconcile->report.repair)
        ask(reconcile, PART_RELOAD);
    return !reconcile->report.repair;
}

bool reconcile_redis_step(struct reconcile *reconcile)
{
    struct part_checks *checks = reconcile->config.checks;
    struct part_differences found;
    if (checks == NULL || reconcile->redis_at == reconcile->part_count)
        return false;
    if (!reconcile->redis_asked) {
        ask(reconcile, reconcile->report.recent ? PART_COMPARE_RECENT : PART_COMPARE);
        return true;
    }
    const enum part_answer answer = checks->ops->answer(checks, &found);
    if (answer != PART_WAIT && answer_take(reconcile, answer, &found))
        reconcile->redis_at++;
    return true;
}
