/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the database, from one moment of it, and the inventory's counts where both rest. */
#include "orders/reconcile_parts.h"
#include "policy/limit_rules.h"

#include <string.h>

static void counter_missing(struct reconcile *reconcile, const struct look_user *user, uint64_t scope)
{
    const struct finding seed = { .item = user->item, .user = user->user, .scope = scope };
    reconcile_finding(reconcile, &seed, FINDING_COUNTER,
        "user %016llx has %llu units of item %u and no counter in scope %llu",
        (unsigned long long)user->user, (unsigned long long)user->counted, user->item,
        (unsigned long long)scope);
}

/* A use is removed when its period is over; its order stays. */
static void uses_compare(struct reconcile *reconcile, const struct look_user *user)
{
    const struct item_limits *limits = &reconcile->item.item.limits;
    const struct finding seed = { .item = user->item, .user = user->user };
    const bool missing = limits->period_limit > 0 && user->unused_ms > 0
        && limit_until_ms(limits, user->unused_ms) > reconcile->now_ms;
    if (missing || user->stale_uses > 0)
        reconcile_finding(reconcile, &seed, FINDING_LIMIT_USE,
            "user %016llx, item %u: what counts against the limit over a period is not what the "
            "orders say",
            (unsigned long long)user->user, user->item);
}

enum status reconcile_users_read(struct reconcile *reconcile)
{
    const struct look_item *item = &reconcile->item;
    uint32_t count = 0;
    reconcile_questions_begin(reconcile);
    const enum status status = reconcile_ops(reconcile)->users(reconcile->config.store, item->item.id,
        reconcile->item_first, reconcile->sum.user, reconcile->rows.users, RECONCILE_SLICE, &count);
    reconcile->item_first = false;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_user *user = &reconcile->rows.users[i];
        reconcile->sum.user = user->user;
        reconcile->sum.live += user->live;
        for (uint32_t state = 0; state < ORDER_STATES; state++)
            reconcile->sum.state_orders[state] += user->state_orders[state];
        for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
            reconcile->sum.channel_live[channel] += user->channel_live[channel];
        if (user->counted > 0 && item->item.limit_per_user > 1 && !user->item_counter)
            counter_missing(reconcile, user, item->item.id);
        if (user->counted > 0 && item->sale_limit > 0 && !user->sale_counter)
            counter_missing(reconcile, user, COUNTER_OF_SALE + item->item.sale);
        uses_compare(reconcile, user);
        struct question *question = reconcile_question(reconcile, QUESTION_MARK);
        question->user = *user;
    }
    reconcile->rows_end = count < RECONCILE_SLICE;
    return status;
}

enum status reconcile_marks_judge(struct reconcile *reconcile)
{
    for (uint32_t i = 0; i < reconcile->question_count; i++) {
        struct question *question = &reconcile->questions[i];
        const struct look_user *user = &question->user;
        reconcile->report.users++;
        if (question->outcome.answer != ANSWER_FOUND
            || reconcile_mark_fits(user, question->outcome.quantity))
            continue;
        const struct suspect suspect = { .kind = QUESTION_MARK, .item = user->item, .user = user->user };
        const enum status status = reconcile_ops(reconcile)->user(
            reconcile->config.store, suspect.item, suspect.user, &question->user);
        if (status != STATUS_OK)
            return status;
        if (!reconcile_mark_fits(&question->user, question->outcome.quantity))
            reconcile_suspect(reconcile, &suspect);
    }
    return STATUS_OK;
}

enum status reconcile_item_next(struct reconcile *reconcile, bool *there)
{
    uint32_t count = 0;
    const enum status status = reconcile_ops(reconcile)->items(
        reconcile->config.store, LOOK_MOMENT, reconcile->item.item.id, &reconcile->item, 1, &count);
    *there = count == 1;
    reconcile->item_first = true;
    reconcile->sum = (struct look_user){ .item = reconcile->item.item.id };
    return status;
}

/* The database has everything that the log has, nothing is under way, and the item is as it was at
 * the moment of the sums: then all of it must agree. */
static enum status item_rests(
    struct reconcile *reconcile, struct board_update *view, struct look_item *now, bool *rests)
{
    struct order_store *store = reconcile->config.store;
    struct stock_event event;
    uint32_t events = 0, count = 0;
    struct position position = { 0 };
    const uint64_t before = reconcile_log_end(reconcile);
    *rests = false;
    enum status status = reconcile_store_position(reconcile, &position);
    if (status == STATUS_OK)
        status = store->ops->stock_events(store, 0, &event, 1, &events);
    if (status == STATUS_OK)
        status = reconcile_ops(reconcile)->items(
            store, LOOK_NOW, reconcile->item.item.id - 1, now, 1, &count);
    if (status != STATUS_OK || position.seq != before || events > 0 || count != 1
        || now->item.id != reconcile->item.item.id || now->item.version != reconcile->item.item.version)
        return status;
    const bool known = board_read(reconcile->config.board, now->item.id, view);
    if (!known)
        view->item = 0;
    status = reconcile_store_position(reconcile, &position); /* others write, too */
    *rests = reconcile_log_end(reconcile) == before && position.seq == before;
    return status;
}

static enum status sale_compare(struct reconcile *reconcile, const struct board_update *view)
{
    struct order_store *store = reconcile->config.store;
    struct sale sale;
    const enum status status = store->ops->sale_get(store, view->sale, &sale);
    if (status != STATUS_OK || reconcile->sale_told == view->sale)
        return status;
    if (sale.start_ms == view->start_ms && sale.end_ms == view->end_ms && sale.gate == view->gate)
        return status;
    const struct finding seed = { .sale = view->sale,
        .start_ms = view->start_ms,
        .end_ms = view->end_ms,
        .gate = (uint8_t)view->gate };
    reconcile_finding(reconcile, &seed, FINDING_SALE,
        "sale %u: start %llu end %llu gate %u in the database, %llu %llu %u in the inventory",
        view->sale, (unsigned long long)sale.start_ms, (unsigned long long)sale.end_ms, sale.gate,
        (unsigned long long)view->start_ms, (unsigned long long)view->end_ms, (unsigned)view->gate);
    reconcile->sale_told = view->sale;
    return status;
}

static void item_compare(
    struct reconcile *reconcile, const struct look_item *now, const struct board_update *view)
{
    const struct item_counts *counts = &view->counts;
    const enum finding_code code = now->dead_other > 0
        ? FINDING_NONE
        : reconcile_judge_item(now, &reconcile->sum, !reconcile->report.recent, counts);
    const struct finding seed = { .item = now->item.id, .sale = now->item.sale, .counts = *counts };
    if (code == FINDING_COUNTS)
        reconcile_finding(reconcile, &seed,
            code, "item %u: %llu units in live orders, %u in dead letters; held %u, sold %u in the inventory",
            now->item.id, (unsigned long long)reconcile->sum.live, now->dead_units, counts->held,
            counts->sold);
    else if (code == FINDING_UNITS)
        reconcile_finding(reconcile, &seed, code,
            "item %u: total %u, locked %u, safety %u in the database; the inventory was given %u "
            "and "
            "has %u as safety, or a channel differs",
            now->item.id, now->item.total, now->item.locked, now->item.safety, counts->given,
            counts->safety);
}

static void sums_compare(struct reconcile *reconcile)
{
    const struct look_item *item = &reconcile->item;
    const struct look_user *sum = &reconcile->sum;
    if (item->live != sum->live
        || memcmp(item->state_orders, sum->state_orders, sizeof sum->state_orders) != 0)
        reconcile_finding(reconcile, &(struct finding){ .item = item->item.id }, FINDING_SUMS,
            "item %u: the kept sums say %llu units in live orders, the orders add up to %llu, or "
            "orders of a state differ",
            item->item.id, (unsigned long long)item->live, (unsigned long long)sum->live);
}

/* False in *done: it may rest soon. */
enum status reconcile_item_finish(struct reconcile *reconcile, bool *done)
{
    const struct look_item *item = &reconcile->item;
    struct board_update view = { 0 };
    struct look_item now;
    bool rests = false;
    enum status status = item_rests(reconcile, &view, &now, &rests);
    *done = true;
    if (status != STATUS_OK)
        return status;
    if (!rests && reconcile->rest_waits < RECONCILE_REST_WAITS_MAX) {
        reconcile->rest_waits++;
        *done = false;
        return STATUS_OK;
    }
    reconcile->report.items++;
    if (item->item.sold != item->sold_before + reconcile->sum.live)
        reconcile_finding(reconcile, &(struct finding){ .item = item->item.id }, FINDING_SOLD,
            "item %u: sold is %u; earlier sales and live orders add up to %llu", item->item.id,
            item->item.sold, (unsigned long long)item->sold_before + reconcile->sum.live);
    if (!reconcile->report.recent)
        sums_compare(reconcile);
    if (!rests) {
        reconcile->report.skipped++;
        reconcile->unrested[item->item.id / 64] |= (uint64_t)1 << item->item.id % 64;
    } else if (view.item != 0) {
        item_compare(reconcile, &now, &view);
        status = sale_compare(reconcile, &view);
    }
    return status;
}

/* ---- counters and money ---- */

void reconcile_counter_check(struct reconcile *reconcile, const struct look_counter *row)
{
    reconcile->report.counters++;
    if (row->used == row->counted)
        return;
    const struct finding seed = { .scope = row->scope,
        .user = row->user,
        .item = row->scope < COUNTER_OF_SALE ? (item_id)row->scope : 0 };
    reconcile_finding(reconcile, &seed, FINDING_COUNTER,
        "user %016llx: counter of scope %llu says %llu, the orders add up to %llu",
        (unsigned long long)row->user, (unsigned long long)row->scope,
        (unsigned long long)row->used, (unsigned long long)row->counted);
}

enum status reconcile_counters_read(struct reconcile *reconcile)
{
    uint32_t count = 0;
    const enum status status =
        reconcile_ops(reconcile)->counters(reconcile->config.store, reconcile->counter_first,
            &reconcile->counter, reconcile->rows.counters, RECONCILE_SLICE, &count);
    reconcile->counter_first = false;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        reconcile->counter = reconcile->rows.counters[i];
        reconcile_counter_check(reconcile, &reconcile->counter);
    }
    reconcile->rows_end = count < RECONCILE_SLICE;
    return status;
}

static bool money_has_findings(const struct reconcile *reconcile)
{
    for (uint32_t i = 0; i < reconcile->report.count; i++) {
        const uint8_t code = reconcile->report.findings[i].code;
        if (code >= FINDING_PAID_WITHOUT_PAYMENT && code < FINDING_MONEY_TOTAL)
            return true;
    }
    return false;
}

enum status reconcile_money_read(struct reconcile *reconcile)
{
    static const char *const texts[] = {
        [FINDING_PAYMENT_WITHOUT_ORDER] = "says that it paid an order which is not paid",
        [FINDING_MONEY_UNUSED] = "is captured and must be refunded, but no refund was requested",
        [FINDING_PAYMENT_LIVE] = "is still open, but its order is closed",
        [FINDING_REFUND_STUCK] = "must be refunded, but the provider refuses",
        [FINDING_UNANSWERED] =
            "was closed without an answer of its provider and may have been paid",
    };
    static_assert(sizeof texts / sizeof *texts == FINDING_UNANSWERED + 1, "the last code of money()");
    struct order_store *store = reconcile->config.store;
    const bool recent = reconcile->report.recent;
    const bool waiting = recent && reconcile->payment == reconcile->clean.payment;
    const uint64_t to = reconcile->payment + RECONCILE_SLICE;
    uint32_t count = 0, more = 0;
    enum status status = reconcile_ops(reconcile)->money(
        store, reconcile->payment, to, reconcile->rows.money, RECONCILE_SLICE, &count);
    if (status == STATUS_OK && waiting)
        status = reconcile_ops(reconcile)->money_waits(store, reconcile->payment,
            reconcile->rows.money + count, RECONCILE_SLICE - count, &more);
    count += more;
    if (status == STATUS_OK && !recent)
        status = reconcile_ops(reconcile)->money_sums(
            store, reconcile->payment, to, &reconcile->captured, &reconcile->accounted);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_money *row = &reconcile->rows.money[i];
        const struct finding seed = { .payment = row->payment, .ticket = row->ticket };
        reconcile_finding(reconcile, &seed, (enum finding_code)row->code, "payment %llu (%llu) %s",
            (unsigned long long)row->payment, (unsigned long long)row->amount, texts[row->code]);
    }
    reconcile->payment = to;
    reconcile->rows_end = to >= reconcile->payment_last;
    if (status == STATUS_OK && reconcile->rows_end) {
        reconcile->report.payments = reconcile->payment_last;
        if (!recent && reconcile->captured != reconcile->accounted && !money_has_findings(reconcile))
            reconcile_finding(reconcile, &(struct finding){ 0 }, FINDING_MONEY_TOTAL,
                "%llu captured; refunds, late money and paid orders add up to %llu",
                (unsigned long long)reconcile->captured, (unsigned long long)reconcile->accounted);
    }
    return status;
}
