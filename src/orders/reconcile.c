/* SPDX-License-Identifier: Apache-2.0 */
/* A run is a row of phases; each turn does one slice of the present one. Questions to the inventory
 * go out in bulk and come back in any order; a slice is judged when all of its answers are there. */
#include "orders/reconcile.h"

#include "base/log.h"
#include "base/metrics.h"
#include "orders/reconcile_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

GAUGE(findings_left, "stampede_reconcile_findings",
    "Findings of the last reconciliation that were not repaired.");
GAUGE(run_seconds, "stampede_reconcile_seconds", "Duration of the last reconciliation, rounded up.");

size_t reconcile_bytes(void)
{
    return sizeof(struct reconcile) + 64;
}

struct reconcile *reconcile_create(struct arena *arena, const struct reconcile_config *config)
{
    struct reconcile *reconcile = arena_take(arena, 1, sizeof *reconcile);
    reconcile->config = *config;
    return reconcile;
}

/* ---- findings ---- */

void reconcile_finding(struct reconcile *reconcile, const struct finding *seed,
    enum finding_code code, const char *format, ...)
{
    static struct finding beyond; /* counted, not kept */
    struct reconcile_report *report = &reconcile->report;
    struct finding *finding =
        report->count < RECONCILE_FINDINGS_MAX ? &report->findings[report->count++] : &beyond;
    va_list arguments;
    report->found++;
    *finding = *seed;
    finding->code = (uint8_t)code;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

void reconcile_suspect(struct reconcile *reconcile, const struct suspect *suspect)
{
    if (reconcile->suspect_count == RECONCILE_SUSPECTS_MAX) {
        reconcile->report.skipped++;
        reconcile->unsure++;
        return;
    }
    reconcile->suspects[reconcile->suspect_count++] = *suspect;
}

/* ---- questions ---- */

void reconcile_questions_begin(struct reconcile *reconcile)
{
    reconcile->question_count = reconcile->sent = reconcile->answered = 0;
    reconcile->give_up_ms = reconcile->now_ms + RECONCILE_ANSWER_MS;
}

static void questions_send(struct reconcile *reconcile)
{
    struct inventory_port *port = reconcile->config.port;
    const uint32_t before = reconcile->sent;
    while (reconcile->sent < reconcile->question_count) {
        const struct question *question = &reconcile->questions[reconcile->sent];
        struct inventory_request *request = port->ops->reserve(port);
        if (request == NULL)
            break; /* full: next turn */
        const bool ticket = question->kind == QUESTION_TICKET;
        *request = (struct inventory_request){ .tag = reconcile->run << 16 | reconcile->sent,
            .command = { .time_ms = reconcile->now_ms,
                .type = ticket ? COMMAND_ASK_TICKET : COMMAND_ASK_MINE,
                .ask = { .ticket = question->ticket,
                    .any_epoch = question->by_n,
                    .item = question->user.item,
                    .user = question->user.user } } };
        port->ops->commit(port);
        reconcile->sent++;
    }
    if (reconcile->sent > before)
        port->ops->flush(port);
}

static void questions_collect(struct reconcile *reconcile)
{
    struct inventory_port *port = reconcile->config.port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        const uint64_t index = answer->tag & 0xffff;
        if (answer->tag >> 16 != reconcile->run || index >= reconcile->question_count)
            continue; /* of a run that was given up */
        struct question *question = &reconcile->questions[index];
        invariant(!question->answered);
        question->outcome = answer->outcome;
        question->answered = true;
        reconcile->answered++;
    }
}

struct question *reconcile_question(struct reconcile *reconcile, enum question_kind kind)
{
    invariant(reconcile->question_count < RECONCILE_SLICE);
    struct question *question = &reconcile->questions[reconcile->question_count++];
    *question = (struct question){ .kind = kind };
    return question;
}

/* ---- the end ---- */

/* `finding` would be there because `other` is. */
static bool finding_follows_from(const struct finding *finding, const struct finding *other)
{
    const bool of_inventory = finding->code >= FINDING_MARK && finding->code <= FINDING_UNITS;
    const bool unsettled = other->code == FINDING_EVENT_MISSING || other->code == FINDING_EVENT_EARLY;
    if (!finding_is_of_ticket((enum finding_code)other->code) && !(unsettled && of_inventory))
        return false;
    if (finding->code == FINDING_SUMS || finding->code == FINDING_LIMIT_USE)
        return finding->item == other->item || finding->item == other->scope;
    if (finding->code == FINDING_REDIS)
        return false;
    if (finding->code >= FINDING_PAID_WITHOUT_PAYMENT)
        return finding->ticket == other->ticket || finding->code == FINDING_MONEY_TOTAL;
    return finding->code >= FINDING_SOLD && finding->code <= FINDING_UNITS
        && (finding->item == 0 || finding->scope >= COUNTER_OF_SALE || finding->item == other->item
            || finding->item == other->scope);
}

static bool finding_follows(const struct reconcile *reconcile, const struct finding *finding)
{
    for (uint32_t i = 0; i < reconcile->report.count; i++) {
        if (finding_follows_from(finding, &reconcile->report.findings[i]))
            return true;
    }
    return false;
}

/* First the tickets, then the sums: a sum that is wrong because a ticket is would be repaired to
 * what is wrong. */
static void findings_that_follow_drop(struct reconcile *reconcile)
{
    struct reconcile_report *report = &reconcile->report;
    bool drop[RECONCILE_FINDINGS_MAX];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < report->count; i++)
        drop[i] = finding_follows(reconcile, &report->findings[i]);
    for (uint32_t i = 0; i < report->count; i++) {
        if (!drop[i])
            report->findings[kept++] = report->findings[i];
    }
    report->found -= report->count - kept;
    report->count = kept;
}

static void findings_repair(struct reconcile *reconcile)
{
    struct reconcile_report *report = &reconcile->report;
    for (uint32_t i = 0; i < report->count; i++) {
        struct finding *finding = &report->findings[i];
        if (!finding_repairable((enum finding_code)finding->code) || finding->code == FINDING_REDIS)
            continue; /* that was done when it was found */
        const enum status status =
            reconcile_ops(reconcile)->repair(reconcile->config.store, finding, reconcile->now_ms);
        if (status != STATUS_OK) {
            log_warn("reconcile", "%s can't be repaired: %s (%s)",
                finding_name((enum finding_code)finding->code), finding->text, status_name(status));
            continue;
        }
        finding->repaired = true;
        report->repaired++;
        if (reconcile->config.repaired != NULL)
            reconcile->config.repaired(reconcile->config.context, finding);
    }
}

static void run_end(struct reconcile *reconcile, const char *trouble)
{
    struct reconcile_report *report = &reconcile->report;
    reconcile_ops(reconcile)->moment_end(reconcile->config.store);
    if (trouble == NULL)
        findings_that_follow_drop(reconcile);
    if (trouble == NULL && report->repair)
        findings_repair(reconcile);
    report->state = trouble == NULL ? RECONCILE_DONE : RECONCILE_FAILED;
    report->trouble = trouble;
    report->ended_ms = reconcile->now_ms;
    reconcile_clean_take(reconcile);
    reconcile->phase = PHASE_IDLE;
    reconcile->question_count = 0;
    metric_set(&run_seconds, (report->ended_ms - report->started_ms + 999) / 1000);
    if (trouble == NULL)
        metric_set(&findings_left, report->found - report->repaired);
}

/* ---- the run ---- */

static enum status phase_enter(struct reconcile *reconcile, enum phase phase)
{
    enum status status = STATUS_OK;
    bool there = false;
    reconcile->phase = phase;
    reconcile_questions_begin(reconcile);
    if (phase == PHASE_MONEY && reconcile->report.recent)
        status = reconcile_ops(reconcile)->moment_begin(reconcile->config.store);
    if (phase == PHASE_ITEMS) {
        status = reconcile_ops(reconcile)->moment_begin(reconcile->config.store);
        if (status == STATUS_OK)
            status = reconcile_item_next(reconcile, &there);
        return status == STATUS_OK && !there ? phase_enter(reconcile, PHASE_COUNTERS) : status;
    }
    if (phase == PHASE_COUNTERS)
        reconcile->counter_first = true;
    if (phase == PHASE_MONEY && status == STATUS_OK)
        status = reconcile_ops(reconcile)->money_last(
            reconcile->config.store, &reconcile->payment_last, &reconcile->reached.payment);
    if (phase == PHASE_RECHECK) {
        reconcile_ops(reconcile)->moment_end(reconcile->config.store);
        status = reconcile_seen_mark(reconcile);
    }
    return status;
}

static enum status items_step(struct reconcile *reconcile)
{
    bool done = true, there = true;
    if (reconcile->item_first || !reconcile->rows_end)
        return reconcile_users_read(reconcile);
    enum status status = reconcile_item_finish(reconcile, &done);
    if (status != STATUS_OK || !done)
        return status;
    status = reconcile_item_next(reconcile, &there);
    reconcile->rows_end = false;
    return status == STATUS_OK && !there ? phase_enter(reconcile, PHASE_COUNTERS) : status;
}

/* Orders in slices: their tickets are asked for; in a recent run then their users. */
static enum status orders_step(struct reconcile *reconcile, bool asked, enum phase next,
    enum status (*read)(struct reconcile *))
{
    enum status status = STATUS_OK;
    const bool users = reconcile->users_asked;
    if (asked)
        status = users ? reconcile_marks_judge(reconcile) : reconcile_tickets_judge(reconcile);
    reconcile->users_asked = asked && !users && reconcile->report.recent;
    if (status == STATUS_OK && reconcile->users_asked)
        return reconcile_users_ask(reconcile);
    if (status == STATUS_OK && reconcile->rows_end) {
        reconcile->rows_end = false;
        return phase_enter(reconcile, next);
    }
    return status == STATUS_OK ? read(reconcile) : status;
}

static enum status changed_step(struct reconcile *reconcile)
{
    bool done = true, there = true;
    enum status status = STATUS_OK;
    if (reconcile->item.item.id != 0)
        status = reconcile_item_finish(reconcile, &done);
    if (status != STATUS_OK || !done)
        return status;
    status = reconcile_changed_next(reconcile, &there);
    return status == STATUS_OK && !there ? phase_enter(reconcile, PHASE_MONEY) : status;
}

static enum status recheck_step(struct reconcile *reconcile)
{
    bool due = false;
    if (reconcile->suspect_count == 0) {
        reconcile->phase = PHASE_REDIS;
        return STATUS_OK;
    }
    const enum status status = reconcile_round_is_due(reconcile, &due);
    return status == STATUS_OK && due ? reconcile_round_begin(reconcile) : status;
}

/* All answers are there, or none were asked for. */
static enum status phase_step(struct reconcile *reconcile)
{
    enum status status = STATUS_OK;
    const bool asked = reconcile->question_count > 0;
    switch (reconcile->phase) {
    case PHASE_TICKETS:
        return orders_step(reconcile, asked, reconcile->report.recent ? PHASE_MOVED : PHASE_ITEMS,
            reconcile_tickets_read);
    case PHASE_MOVED:
        return orders_step(reconcile, asked, PHASE_CHANGED, reconcile_moved_read);
    case PHASE_CHANGED:
        return changed_step(reconcile);
    case PHASE_ITEMS:
        status = asked ? reconcile_marks_judge(reconcile) : STATUS_OK;
        reconcile_questions_begin(reconcile);
        return status == STATUS_OK ? items_step(reconcile) : status;
    case PHASE_COUNTERS:
        status = reconcile_counters_read(reconcile);
        return status == STATUS_OK && reconcile->rows_end ? phase_enter(reconcile, PHASE_MONEY) : status;
    case PHASE_MONEY:
        status = reconcile_money_read(reconcile);
        return status == STATUS_OK && reconcile->rows_end ? phase_enter(reconcile, PHASE_RECHECK)
                                                          : status;
    case PHASE_RECHECK:
        if (asked) {
            status = reconcile_round_judge(reconcile);
            reconcile->question_count = 0;
        }
        return status == STATUS_OK ? recheck_step(reconcile) : status;
    case PHASE_REDIS:
        if (!reconcile_redis_step(reconcile))
            reconcile->phase = PHASE_END;
        return STATUS_OK;
    case PHASE_IDLE:
    case PHASE_END:
        break;
    }
    return STATUS_OK;
}

bool reconcile_turn(struct reconcile *reconcile, uint64_t now_ms)
{
    if (reconcile->phase == PHASE_IDLE)
        return false;
    reconcile->now_ms = now_ms;
    questions_collect(reconcile);
    questions_send(reconcile);
    if (reconcile->answered < reconcile->question_count) {
        if (now_ms > reconcile->give_up_ms)
            run_end(reconcile, "the inventory does not answer");
        return reconcile->phase != PHASE_IDLE;
    }
    const enum status status = phase_step(reconcile);
    if (status != STATUS_OK)
        run_end(reconcile, "the database can't be read now");
    else if (reconcile->phase == PHASE_END)
        run_end(reconcile, NULL);
    else
        questions_send(reconcile);
    return reconcile->phase != PHASE_IDLE;
}

bool reconcile_begin(struct reconcile *reconcile, uint64_t now_ms, bool repair, bool recent)
{
    if (reconcile->phase != PHASE_IDLE || reconcile_ops(reconcile) == NULL)
        return false;
    reconcile->report = (struct reconcile_report){ .state = RECONCILE_RUNNING,
        .repair = repair,
        .recent = recent && !repair && reconcile->clean.known,
        .started_ms = now_ms };
    if (reconcile_store_position(reconcile, &reconcile->report.position) != STATUS_OK)
        reconcile->report.position = (struct position){ reconcile->config.part, 0 };
    reconcile->run++;
    reconcile->now_ms = now_ms;
    reconcile->phase = PHASE_TICKETS;
    reconcile->last_ticket = 0;
    reconcile->parts_known = reconcile->parts_too_many = false;
    reconcile->part_at = 0;
    reconcile->rows_end = false;
    reconcile->item = (struct look_item){ 0 };
    reconcile->suspect_count = reconcile->rounds = reconcile->rest_waits = 0;
    reconcile->round_ms = 0;
    reconcile->redis_at = 0;
    reconcile->redis_asked = reconcile->redis_rests = false;
    reconcile->sale_told = 0;
    reconcile->payment = reconcile->captured = reconcile->accounted = 0;
    reconcile_recent_begin(reconcile);
    reconcile_questions_begin(reconcile);
    return true;
}

const struct reconcile_report *reconcile_report(const struct reconcile *reconcile)
{
    return &reconcile->report;
}

bool reconcile_running(const struct reconcile *reconcile)
{
    return reconcile->phase != PHASE_IDLE;
}
