/* A run is a row of phases; each turn does one slice of the present one. Questions to the inventory
 * go out in bulk and come back in any order; a slice is judged when all of its answers are there. */
#include "orders/reconcile.h"

#include "base/log.h"
#include "base/metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum phase {
    PHASE_IDLE,
    PHASE_TICKETS,
    PHASE_ITEMS,
    PHASE_COUNTERS,
    PHASE_MONEY,
    PHASE_RECHECK,
    PHASE_END,
};
enum question_kind { QUESTION_TICKET, QUESTION_MARK };
enum { STRIKES = 2 };

struct question {
    enum question_kind kind;
    bool answered, has_row;
    struct look_order row;
    struct look_user user;
    ticket_number ticket;
    struct outcome outcome;
    uint32_t suspect; /* PHASE_RECHECK */
};
struct suspect {
    enum question_kind kind;
    uint32_t strikes;
    ticket_number ticket;
    item_id item;
    user_id user;
    lsn_t seen; /* the log's end when it was looked at last */
};

struct reconcile {
    struct reconcile_config config;
    struct reconcile_report report;
    enum phase phase;
    uint64_t run, now_ms;
    uint64_t give_up_ms; /* answers, positions */
    struct question questions[RECONCILE_SLICE];
    uint32_t question_count, sent, answered;
    struct suspect suspects[RECONCILE_SUSPECTS_MAX];
    uint32_t suspect_count, rounds;
    uint64_t round_ms;
    /* where the walks are */
    ticket_number last_ticket;
    bool rows_end;
    struct look_item item;
    bool item_first;
    struct look_user sum; /* of the item */
    uint32_t rest_waits;
    sale_id sale_told;
    bool counter_first;
    struct look_counter counter;
    uint64_t payment, payment_last, captured, accounted;
    union {
        struct look_order orders[RECONCILE_SLICE];
        struct look_user users[RECONCILE_SLICE];
        struct look_counter counters[RECONCILE_SLICE];
        struct look_money money[RECONCILE_SLICE];
    } rows;
};

static struct metric findings_left = { .name = "stampede_reconcile_findings",
    .help = "What the last reconciliation found and did not mend.",
    .kind = METRIC_GAUGE };
static struct metric run_seconds = { .name = "stampede_reconcile_seconds",
    .help = "How long the last reconciliation took, rounded up.",
    .kind = METRIC_GAUGE };

size_t reconcile_bytes(void)
{
    return sizeof(struct reconcile) + 64;
}

struct reconcile *reconcile_create(struct arena *arena, const struct reconcile_config *config)
{
    struct reconcile *reconcile = arena_take(arena, 1, sizeof *reconcile);
    reconcile->config = *config;
    metrics_register(&findings_left);
    metrics_register(&run_seconds);
    return reconcile;
}

static const struct reconcile_store_ops *ops(const struct reconcile *reconcile)
{
    return reconcile->config.store->ops->reconcile;
}

static lsn_t log_end(const struct reconcile *reconcile)
{
    return atomic_load_explicit(&reconcile->config.board->durable_lsn, memory_order_relaxed);
}

static enum status store_position(const struct reconcile *reconcile, lsn_t *position)
{
    uint64_t data_id;
    return reconcile->config.store->ops->identity(reconcile->config.store, &data_id, position);
}

/* ---- findings ---- */

static struct finding *finding_add(struct reconcile *reconcile, const struct finding *seed,
    enum finding_code code, const char *format, ...) __attribute__((format(printf, 4, 5)));
static struct finding *finding_add(struct reconcile *reconcile, const struct finding *seed,
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
    return finding;
}

static void suspect_add(struct reconcile *reconcile, const struct suspect *suspect)
{
    if (reconcile->suspect_count == RECONCILE_SUSPECTS_MAX) {
        reconcile->report.skipped++;
        return;
    }
    struct suspect *kept = &reconcile->suspects[reconcile->suspect_count++];
    *kept = *suspect;
    kept->seen = log_end(reconcile);
}

/* ---- questions ---- */

static void questions_begin(struct reconcile *reconcile)
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

static struct question *question_add(struct reconcile *reconcile, enum question_kind kind)
{
    invariant(reconcile->question_count < RECONCILE_SLICE);
    struct question *question = &reconcile->questions[reconcile->question_count++];
    *question = (struct question){ .kind = kind };
    return question;
}

/* ---- tickets ---- */

static enum status gap_look(struct reconcile *reconcile, ticket_number from, ticket_number to)
{
    for (ticket_number ticket = from; ticket < to && ticket < from + RECONCILE_GAP_MAX; ticket++) {
        bool dead = false;
        const enum status status = ops(reconcile)->dead(reconcile->config.store, ticket, &dead);
        if (status != STATUS_OK)
            return status;
        if (!dead)
            suspect_add(reconcile, &(struct suspect){ .kind = QUESTION_TICKET, .ticket = ticket });
    }
    return STATUS_OK;
}

static enum status tickets_read(struct reconcile *reconcile)
{
    uint32_t count = 0;
    questions_begin(reconcile);
    enum status status = ops(reconcile)->orders(reconcile->config.store, reconcile->last_ticket,
        reconcile->rows.orders, RECONCILE_SLICE, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_order *row = &reconcile->rows.orders[i];
        struct question *question = question_add(reconcile, QUESTION_TICKET);
        question->ticket = row->order.ticket;
        question->row = *row;
        question->has_row = true;
        status = gap_look(reconcile, reconcile->last_ticket + 1, row->order.ticket);
        reconcile->last_ticket = row->order.ticket;
    }
    reconcile->rows_end = count < RECONCILE_SLICE;
    if (status == STATUS_OK && reconcile->rows_end)
        status =
            gap_look(reconcile, reconcile->last_ticket + 1, reconcile->last_ticket + RECONCILE_GAP_MAX);
    return status;
}

/* What one row of the database tells by itself. */
static void order_judge_alone(struct reconcile *reconcile, const struct look_order *row)
{
    const struct order *order = &row->order;
    const struct finding seed = { .ticket = order->ticket, .item = order->item, .user = order->user };
    const unsigned long long number = order->ticket;
    if (!reconcile_slot_fits(row))
        finding_add(reconcile, &seed, FINDING_SLOT, "order number %llu: slot is %lld, item %u allows %u",
            number, (long long)row->slot, order->item, row->limit_per_user);
    if (order->state == ORDER_PAID && row->payments_paid == 0)
        finding_add(reconcile, &seed, FINDING_PAID_WITHOUT_PAYMENT,
            "order number %llu is paid, and no payment paid it", number);
    if (order->state == ORDER_REFUNDED && row->provider_paid && !row->refund_there)
        finding_add(reconcile, &seed, FINDING_REFUND_MISSING,
            "order number %llu is refunded, and no refund was asked for", number);
}

static enum status tickets_judge(struct reconcile *reconcile)
{
    for (uint32_t i = 0; i < reconcile->question_count; i++) {
        struct question *question = &reconcile->questions[i];
        uint8_t step;
        reconcile->report.orders++;
        order_judge_alone(reconcile, &question->row);
        if (reconcile_judge_ticket(&question->row, &question->outcome, &step) == FINDING_NONE)
            continue;
        enum status status =
            ops(reconcile)->order(reconcile->config.store, question->ticket, &question->row);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
        if (status == STATUS_NOT_FOUND
            || reconcile_judge_ticket(&question->row, &question->outcome, &step) != FINDING_NONE)
            suspect_add(reconcile,
                &(struct suspect){ .kind = QUESTION_TICKET, .ticket = question->ticket });
    }
    return STATUS_OK;
}

/* ---- items and users ---- */

static void counter_missing(struct reconcile *reconcile, const struct look_user *user, uint64_t scope)
{
    const struct finding seed = { .item = user->item, .user = user->user, .scope = scope };
    finding_add(reconcile, &seed, FINDING_COUNTER,
        "user %016llx has %llu units of item %u and no counter in scope %llu",
        (unsigned long long)user->user, (unsigned long long)user->counted, user->item,
        (unsigned long long)scope);
}

static enum status users_read(struct reconcile *reconcile)
{
    const struct look_item *item = &reconcile->item;
    uint32_t count = 0;
    questions_begin(reconcile);
    const enum status status = ops(reconcile)->users(reconcile->config.store, item->item.id,
        reconcile->item_first, reconcile->sum.user, reconcile->rows.users, RECONCILE_SLICE, &count);
    reconcile->item_first = false;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_user *user = &reconcile->rows.users[i];
        reconcile->sum.user = user->user;
        reconcile->sum.live += user->live;
        for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
            reconcile->sum.channel_live[channel] += user->channel_live[channel];
        if (user->counted > 0 && item->item.limit_per_user > 1 && !user->item_counter)
            counter_missing(reconcile, user, item->item.id);
        if (user->counted > 0 && item->sale_limit > 0 && !user->sale_counter)
            counter_missing(reconcile, user, COUNTER_OF_SALE + item->item.sale);
        struct question *question = question_add(reconcile, QUESTION_MARK);
        question->user = *user;
    }
    reconcile->rows_end = count < RECONCILE_SLICE;
    return status;
}

static enum status marks_judge(struct reconcile *reconcile)
{
    for (uint32_t i = 0; i < reconcile->question_count; i++) {
        struct question *question = &reconcile->questions[i];
        const struct look_user *user = &question->user;
        reconcile->report.users++;
        if (question->outcome.answer != ANSWER_FOUND
            || reconcile_mark_fits(user, question->outcome.quantity))
            continue;
        const struct suspect suspect = {
            .kind = QUESTION_MARK, .item = user->item, .user = user->user
        };
        const enum status status =
            ops(reconcile)->user(reconcile->config.store, suspect.item, suspect.user, &question->user);
        if (status != STATUS_OK)
            return status;
        if (!reconcile_mark_fits(&question->user, question->outcome.quantity))
            suspect_add(reconcile, &suspect);
    }
    return STATUS_OK;
}

static enum status item_next(struct reconcile *reconcile, bool *there)
{
    uint32_t count = 0;
    const enum status status = ops(reconcile)->items(reconcile->config.store, LOOK_MOMENT,
        reconcile->item.item.id, &reconcile->item, 1, &count);
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
    lsn_t position = 0;
    const lsn_t before = log_end(reconcile);
    *rests = false;
    enum status status = store_position(reconcile, &position);
    if (status == STATUS_OK)
        status = store->ops->stock_events(store, &event, 1, &events);
    if (status == STATUS_OK)
        status = ops(reconcile)->items(store, LOOK_NOW, reconcile->item.item.id - 1, now, 1, &count);
    if (status != STATUS_OK || position != before || events > 0 || count != 1
        || now->item.id != reconcile->item.item.id || now->item.version != reconcile->item.item.version)
        return status;
    const bool known = board_read(reconcile->config.board, now->item.id, view);
    if (!known)
        view->item = 0;
    *rests = log_end(reconcile) == before;
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
    finding_add(reconcile, &seed, FINDING_SALE,
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
        : reconcile_judge_item(now, &reconcile->sum, counts);
    const struct finding seed = { .item = now->item.id, .sale = now->item.sale, .counts = *counts };
    if (code == FINDING_COUNTS)
        finding_add(reconcile, &seed, code,
            "item %u: %llu units in live orders, %u in dead letters; the inventory has %u held, %u sold",
            now->item.id, (unsigned long long)reconcile->sum.live, now->dead_units, counts->held,
            counts->sold);
    else if (code == FINDING_UNITS)
        finding_add(reconcile, &seed, code,
            "item %u: total %u, locked %u, safety %u in the database; the inventory was given %u and "
            "has %u as safety, or a channel differs",
            now->item.id, now->item.total, now->item.locked, now->item.safety, counts->given,
            counts->safety);
}

/* False in *done: it may rest soon. */
static enum status item_finish(struct reconcile *reconcile, bool *done)
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
        finding_add(reconcile, &(struct finding){ .item = item->item.id }, FINDING_SOLD,
            "item %u: sold is %u; what was sold before and live orders make %llu", item->item.id,
            item->item.sold, (unsigned long long)(item->sold_before + reconcile->sum.live));
    if (!rests)
        reconcile->report.skipped++;
    else if (view.item != 0) {
        item_compare(reconcile, &now, &view);
        status = sale_compare(reconcile, &view);
    }
    return status;
}

/* ---- counters and money ---- */

static enum status counters_read(struct reconcile *reconcile)
{
    uint32_t count = 0;
    const enum status status = ops(reconcile)->counters(reconcile->config.store,
        reconcile->counter_first, &reconcile->counter, reconcile->rows.counters, RECONCILE_SLICE, &count);
    reconcile->counter_first = false;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_counter *row = &reconcile->rows.counters[i];
        reconcile->counter = *row;
        reconcile->report.counters++;
        if (row->used == row->counted)
            continue;
        const struct finding seed = { .scope = row->scope,
            .user = row->user,
            .item = row->scope < COUNTER_OF_SALE ? (item_id)row->scope : 0 };
        finding_add(reconcile, &seed, FINDING_COUNTER,
            "user %016llx: counter of scope %llu says %llu, the orders make %llu",
            (unsigned long long)row->user, (unsigned long long)row->scope,
            (unsigned long long)row->used, (unsigned long long)row->counted);
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

static enum status money_read(struct reconcile *reconcile)
{
    static const char *const texts[FINDINGS] = {
        [FINDING_PAYMENT_WITHOUT_ORDER] = "says that it paid an order which is not paid",
        [FINDING_MONEY_UNUSED] = "is captured, to be given back, and no refund was asked for",
        [FINDING_PAYMENT_LIVE] = "is still open, and its order is over",
        [FINDING_REFUND_STUCK] = "is to be given back, and the provider refuses",
    };
    struct order_store *store = reconcile->config.store;
    const uint64_t to = reconcile->payment + RECONCILE_SLICE;
    uint32_t count = 0;
    enum status status = ops(reconcile)->money(
        store, reconcile->payment, to, reconcile->rows.money, RECONCILE_SLICE, &count);
    if (status == STATUS_OK)
        status = ops(reconcile)->money_sums(
            store, reconcile->payment, to, &reconcile->captured, &reconcile->accounted);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_money *row = &reconcile->rows.money[i];
        const struct finding seed = { .payment = row->payment, .ticket = row->ticket };
        finding_add(reconcile, &seed, (enum finding_code)row->code, "payment %llu (%llu) %s",
            (unsigned long long)row->payment, (unsigned long long)row->amount, texts[row->code]);
    }
    reconcile->payment = to;
    reconcile->rows_end = to >= reconcile->payment_last;
    if (status == STATUS_OK && reconcile->rows_end) {
        reconcile->report.payments = reconcile->payment_last;
        if (reconcile->captured != reconcile->accounted && !money_has_findings(reconcile))
            finding_add(reconcile, &(struct finding){ 0 }, FINDING_MONEY_TOTAL,
                "%llu captured; refunds, late money and paid orders make %llu",
                (unsigned long long)reconcile->captured, (unsigned long long)reconcile->accounted);
    }
    return status;
}

/* ---- suspects ---- */

/* All of them may be looked at again: the database has what the log had at the last look. */
static enum status round_is_due(struct reconcile *reconcile, bool *due)
{
    lsn_t position = 0;
    *due = false;
    if (reconcile->now_ms < reconcile->round_ms)
        return STATUS_OK;
    const enum status status = store_position(reconcile, &position);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 0; i < reconcile->suspect_count; i++) {
        if (position < reconcile->suspects[i].seen)
            return reconcile->now_ms < reconcile->give_up_ms ? STATUS_OK : STATUS_AWAY;
    }
    *due = true;
    return STATUS_OK;
}

static enum status question_read(struct reconcile *reconcile, const struct suspect *suspect,
    struct look_order *row, struct look_user *user, bool *has_row)
{
    struct order_store *store = reconcile->config.store;
    if (suspect->kind == QUESTION_MARK)
        return ops(reconcile)->user(store, suspect->item, suspect->user, user);
    const enum status status = ops(reconcile)->order(store, suspect->ticket, row);
    *has_row = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status round_begin(struct reconcile *reconcile)
{
    questions_begin(reconcile);
    for (uint32_t i = 0; i < reconcile->suspect_count && i < RECONCILE_SLICE; i++) {
        struct suspect *suspect = &reconcile->suspects[i];
        struct question *question = question_add(reconcile, suspect->kind);
        question->ticket = suspect->ticket;
        question->suspect = i;
        const enum status status = question_read(
            reconcile, suspect, &question->row, &question->user, &question->has_row);
        if (status != STATUS_OK)
            return status;
        suspect->seen = log_end(reconcile);
    }
    return STATUS_OK;
}

static void suspect_tell(
    struct reconcile *reconcile, const struct question *question, enum finding_code code, uint8_t step)
{
    static const char *const states[] = { "held", "sold", "returned", "written off" };
    static const char *const orders[ORDER_STATES] = { "none", "pending", "paid", "closed", "refunded" };
    const struct outcome *outcome = &question->outcome;
    const struct order *order = &question->row.order;
    const bool row = question->has_row, known = outcome->answer == ANSWER_FOUND;
    struct finding seed = { .ticket = question->ticket,
        .step = step,
        .item = row ? order->item : outcome->item,
        .user = row ? order->user : outcome->user };
    if (code == FINDING_MARK) {
        seed = (struct finding){ .item = question->user.item, .user = question->user.user };
        finding_add(reconcile, &seed, code,
            "user %016llx: the inventory counts %u units of item %u, the orders make %llu",
            (unsigned long long)seed.user, outcome->quantity, seed.item,
            (unsigned long long)(question->user.counted + question->user.dead));
        return;
    }
    finding_add(reconcile, &seed, code,
        "number %llu, item %u: order %s, %u units at %llu; ticket %s, %u units at %llu",
        (unsigned long long)question->ticket, seed.item, row ? orders[order->state] : "none",
        row ? order->quantity : 0, row ? (unsigned long long)order->unit_price : 0,
        known ? states[outcome->detail & 3] : "none", known ? outcome->quantity : 0,
        known ? (unsigned long long)outcome->unit_price : 0);
    if (row && known && order->item != outcome->item) /* its sums are in question too */
        reconcile->report.findings[reconcile->report.count - 1].scope = outcome->item;
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
        return before->user.counted == after->user.counted && before->user.on_way == after->user.on_way
            && before->user.dead == after->user.dead;
    return before->has_row == after->has_row
        && (!before->has_row
            || (before->row.order.version == after->row.order.version
                && before->row.open == after->row.open && before->row.confirmed == after->row.confirmed));
}

/* The row before and after the question was out: only what stood still counts. */
static enum status suspect_look(struct reconcile *reconcile, struct question *question, bool *gone)
{
    struct suspect *suspect = &reconcile->suspects[question->suspect];
    const struct question before = *question;
    bool dead = false;
    uint8_t step;
    enum status status =
        question_read(reconcile, suspect, &question->row, &question->user, &question->has_row);
    if (status == STATUS_OK && suspect->kind == QUESTION_TICKET && !question->has_row)
        status = ops(reconcile)->dead(reconcile->config.store, suspect->ticket, &dead);
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

static enum status round_judge(struct reconcile *reconcile)
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
        reconcile->suspect_count = 0;
    }
    return STATUS_OK;
}

/* ---- the end ---- */

/* `finding` would be there because `other` is. */
static bool finding_follows_from(const struct finding *finding, const struct finding *other)
{
    const bool of_inventory = finding->code >= FINDING_MARK && finding->code <= FINDING_UNITS;
    const bool unsettled = other->code == FINDING_EVENT_MISSING || other->code == FINDING_EVENT_EARLY;
    if (!finding_is_of_ticket((enum finding_code)other->code) && !(unsettled && of_inventory))
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

/* First the tickets, then the sums: a sum that is wrong because a ticket is would be mended to what
 * is wrong. */
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
        if (!finding_repairable((enum finding_code)finding->code))
            continue;
        const enum status status =
            ops(reconcile)->repair(reconcile->config.store, finding, reconcile->now_ms);
        if (status != STATUS_OK) {
            log_warn("reconcile", "%s can't be mended: %s (%s)",
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
    ops(reconcile)->moment_end(reconcile->config.store);
    if (trouble == NULL)
        findings_that_follow_drop(reconcile);
    if (trouble == NULL && report->repair)
        findings_repair(reconcile);
    report->state = trouble == NULL ? RECONCILE_DONE : RECONCILE_FAILED;
    report->trouble = trouble;
    report->ended_ms = reconcile->now_ms;
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
    questions_begin(reconcile);
    if (phase == PHASE_ITEMS) {
        status = ops(reconcile)->moment_begin(reconcile->config.store);
        if (status == STATUS_OK)
            status = item_next(reconcile, &there);
        return status == STATUS_OK && !there ? phase_enter(reconcile, PHASE_COUNTERS) : status;
    }
    if (phase == PHASE_COUNTERS)
        reconcile->counter_first = true;
    if (phase == PHASE_MONEY)
        status = ops(reconcile)->money_last(reconcile->config.store, &reconcile->payment_last);
    if (phase == PHASE_RECHECK)
        ops(reconcile)->moment_end(reconcile->config.store);
    return status;
}

static enum status items_step(struct reconcile *reconcile)
{
    bool done = true, there = true;
    if (reconcile->item_first || !reconcile->rows_end)
        return users_read(reconcile);
    enum status status = item_finish(reconcile, &done);
    if (status != STATUS_OK || !done)
        return status;
    status = item_next(reconcile, &there);
    reconcile->rows_end = false;
    return status == STATUS_OK && !there ? phase_enter(reconcile, PHASE_COUNTERS) : status;
}

static enum status recheck_step(struct reconcile *reconcile)
{
    bool due = false;
    if (reconcile->suspect_count == 0) {
        reconcile->phase = PHASE_END;
        return STATUS_OK;
    }
    const enum status status = round_is_due(reconcile, &due);
    return status == STATUS_OK && due ? round_begin(reconcile) : status;
}

/* All answers are there, or none were asked for. */
static enum status phase_step(struct reconcile *reconcile)
{
    enum status status = STATUS_OK;
    const bool asked = reconcile->question_count > 0;
    switch (reconcile->phase) {
    case PHASE_TICKETS:
        status = asked ? tickets_judge(reconcile) : STATUS_OK;
        if (status == STATUS_OK && reconcile->rows_end)
            return phase_enter(reconcile, PHASE_ITEMS);
        return status == STATUS_OK ? tickets_read(reconcile) : status;
    case PHASE_ITEMS:
        status = asked ? marks_judge(reconcile) : STATUS_OK;
        questions_begin(reconcile);
        return status == STATUS_OK ? items_step(reconcile) : status;
    case PHASE_COUNTERS:
        status = counters_read(reconcile);
        return status == STATUS_OK && reconcile->rows_end ? phase_enter(reconcile, PHASE_MONEY) : status;
    case PHASE_MONEY:
        status = money_read(reconcile);
        return status == STATUS_OK && reconcile->rows_end ? phase_enter(reconcile, PHASE_RECHECK) : status;
    case PHASE_RECHECK:
        if (asked) {
            status = round_judge(reconcile);
            reconcile->question_count = 0;
        }
        return status == STATUS_OK ? recheck_step(reconcile) : status;
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

bool reconcile_begin(struct reconcile *reconcile, uint64_t now_ms, bool repair)
{
    if (reconcile->phase != PHASE_IDLE || ops(reconcile) == NULL)
        return false;
    reconcile->report = (struct reconcile_report){
        .state = RECONCILE_RUNNING, .repair = repair, .started_ms = now_ms
    };
    if (store_position(reconcile, &reconcile->report.position) != STATUS_OK)
        reconcile->report.position = 0;
    reconcile->run++;
    reconcile->now_ms = now_ms;
    reconcile->phase = PHASE_TICKETS;
    reconcile->last_ticket = 0;
    reconcile->rows_end = false;
    reconcile->item = (struct look_item){ 0 };
    reconcile->suspect_count = reconcile->rounds = reconcile->rest_waits = 0;
    reconcile->round_ms = 0;
    reconcile->sale_told = 0;
    reconcile->payment = reconcile->captured = reconcile->accounted = 0;
    questions_begin(reconcile);
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
