/* SPDX-License-Identifier: Apache-2.0 */
/* A row that did not fit is looked at again. It is a finding when it stood still and did not fit twice,
 * each time with database and log at the position that the other one had at the look before. */
#include "contract/archive.h"
#include "orders/reconcile_parts.h"

#include "contract/order_state.h"

/* All of them may be looked at again: each side has what the other one had at the last look. */
enum status reconcile_round_is_due(struct reconcile *reconcile, bool *due)
{
    *due = false;
    if (reconcile->now_ms < reconcile->round_ms)
        return STATUS_OK;
    const enum status status = reconcile_seen_reached(reconcile, due);
    if (status != STATUS_OK || *due)
        return status;
    return reconcile->now_ms < reconcile->give_up_ms ? STATUS_OK : STATUS_AWAY;
}

static enum status question_read(struct reconcile *reconcile, const struct suspect *suspect,
    struct look_order *row, struct look_user *user, bool *has_row)
{
    struct order_store *store = reconcile->config.store;
    if (suspect->kind == QUESTION_MARK)
        return reconcile_ops(reconcile)->user(store, suspect->item, suspect->user, user);
    const enum status status = reconcile_ops(reconcile)->order(store, suspect->ticket, row);
    *has_row = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status reconcile_round_begin(struct reconcile *reconcile)
{
    reconcile_questions_begin(reconcile);
    for (uint32_t i = 0; i < reconcile->suspect_count && i < RECONCILE_SLICE; i++) {
        const struct suspect *suspect = &reconcile->suspects[i];
        struct question *question = reconcile_question(reconcile, suspect->kind);
        question->ticket = suspect->ticket;
        question->by_n = suspect->by_n;
        question->suspect = i;
        const enum status status =
            question_read(reconcile, suspect, &question->row, &question->user, &question->has_row);
        if (status != STATUS_OK)
            return status;
    }
    return reconcile_seen_mark(reconcile);
}

static const char *ticket_text(const struct outcome *outcome)
{
    if (outcome->answer == ANSWER_FORGOTTEN)
        return "returned and forgotten";
    return outcome->answer == ANSWER_FOUND
        ? ticket_state_name((enum ticket_state)(outcome->detail & 3))
        : "none";
}

static void suspect_tell(struct reconcile *reconcile, const struct question *question,
    enum finding_code code, uint8_t step)
{
    const struct outcome *outcome = &question->outcome;
    const struct order *order = &question->row.order;
    const bool row = question->has_row, known = outcome->answer == ANSWER_FOUND;
    struct finding seed = { .ticket = question->ticket,
        .step = step,
        .item = row ? order->item : outcome->item,
        .user = row ? order->user : outcome->user };
    if (row && known && order->item != outcome->item)
        seed.scope = outcome->item; /* the sums of both are in question */
    if (code == FINDING_MARK) {
        seed = (struct finding){ .item = question->user.item, .user = question->user.user };
        reconcile_finding(reconcile, &seed, code,
            "user %016llx: the inventory counts %u units of item %u, the orders add up to %llu",
            (unsigned long long)seed.user, outcome->quantity, seed.item,
            (unsigned long long)question->user.counted + question->user.dead);
        return;
    }
    reconcile_finding(reconcile, &seed, code,
        "number %llu, item %u: order %s, %u units at %llu; ticket %s, %u units at %llu",
        (unsigned long long)question->ticket, seed.item,
        row ? order_state_name((enum order_state)order->state) : "none", row ? order->quantity : 0,
        row ? (unsigned long long)order->unit_price : 0, ticket_text(outcome),
        known ? outcome->quantity : 0, known ? (unsigned long long)outcome->unit_price : 0);
}

static enum finding_code suspect_judge(const struct question *question, bool dead, uint8_t *step)
{
    *step = 0;
    if (question->kind == QUESTION_MARK)
        return question->outcome.answer != ANSWER_FOUND
                || reconcile_mark_fits(&question->user, question->outcome.quantity)
            ? FINDING_NONE
            : FINDING_MARK;
    if (!question->has_row && dead)
        return FINDING_NONE;
    return reconcile_judge_ticket(question->has_row ? &question->row : NULL, &question->outcome, step);
}

static bool question_stood_still(const struct question *before, const struct question *after)
{
    if (before->kind == QUESTION_MARK)
        return before->user.counted == after->user.counted
            && before->user.on_way == after->user.on_way && before->user.dead == after->user.dead;
    return before->has_row == after->has_row
        && (!before->has_row
            || (before->row.order.version == after->row.order.version
                && before->row.open == after->row.open && before->row.confirmed == after->row.confirmed));
}

static bool outcome_has_ticket(const struct outcome *outcome)
{
    return outcome->answer == ANSWER_FOUND || outcome->answer == ANSWER_FORGOTTEN;
}

/* Orders of archived sales are in their bundles; of a forgotten ticket nobody knows the sale any more. That
 * exactly these are gone is for `stampede verify` to say. */
static enum status archived_look(
    const struct reconcile *reconcile, const struct outcome *outcome, bool *archived)
{
    struct order_store *store = reconcile->config.store;
    if (*archived || store->ops->archive == NULL || !outcome_has_ticket(outcome))
        return STATUS_OK;
    return store->ops->archive->holds(
        store, outcome->answer == ANSWER_FOUND ? outcome->item : 0, archived);
}

/* The row before and after the question was out: only what stood still counts. */
static enum status suspect_look(struct reconcile *reconcile, struct question *question, bool *gone)
{
    struct suspect *suspect = &reconcile->suspects[question->suspect];
    const struct question before = *question;
    bool dead = false;
    uint8_t step;
    if (suspect->by_n && outcome_has_ticket(&question->outcome)) { /* next time by its whole number */
        suspect->by_n = false;
        suspect->ticket = question->outcome.ticket;
        return STATUS_OK;
    }
    enum status status =
        question_read(reconcile, suspect, &question->row, &question->user, &question->has_row);
    if (status == STATUS_OK && suspect->kind == QUESTION_TICKET && !question->has_row)
        status = reconcile_ops(reconcile)->dead(reconcile->config.store, suspect->ticket, &dead);
    if (status == STATUS_OK && suspect->kind == QUESTION_TICKET && !question->has_row)
        status = archived_look(reconcile, &question->outcome, &dead);
    if (status != STATUS_OK)
        return status;
    const bool still = question_stood_still(&before, question);
    const enum finding_code code = suspect_judge(question, dead, &step);
    *gone = code == FINDING_NONE;
    if (*gone || !still)
        return STATUS_OK;
    if (++suspect->strikes < STRIKES)
        return STATUS_OK;
    suspect_tell(reconcile, question, code, step);
    *gone = true;
    return STATUS_OK;
}

enum status reconcile_round_judge(struct reconcile *reconcile)
{
    uint32_t kept = 0;
    bool gone[RECONCILE_SUSPECTS_MAX] = { false };
    for (uint32_t i = 0; i < reconcile->question_count; i++) {
        struct question *question = &reconcile->questions[i];
        const enum status status = suspect_look(reconcile, question, &gone[question->suspect]);
        if (status != STATUS_OK)
            return status;
    }
    for (uint32_t i = 0; i < reconcile->suspect_count; i++) {
        if (!gone[i])
            reconcile->suspects[kept++] = reconcile->suspects[i];
    }
    reconcile->suspect_count = kept;
    reconcile->round_ms = reconcile->now_ms + RECONCILE_ROUND_MS;
    reconcile->give_up_ms = reconcile->now_ms + RECONCILE_ANSWER_MS;
    if (++reconcile->rounds == RECONCILE_ROUNDS_MAX) {
        reconcile->report.skipped += kept;
        reconcile->unsure += kept;
        reconcile->suspect_count = 0;
    }
    return STATUS_OK;
}
