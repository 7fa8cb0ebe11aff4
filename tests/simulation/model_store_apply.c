/* SPDX-License-Identifier: Apache-2.0 */
/* One batch is all or nothing by an undo log: before something changes, its bytes are noted; a
 * refusal puts them back in reverse. Arrays and maps get their room before a batch begins, so
 * nothing moves while pointers are noted. The rules are those of docs/store.md. */
#include "contract/waitlist_rules.h"
#include "tests/simulation/model_store_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint64_t scope_sale = (uint64_t)1 << 32;

/* ---- undo
 * -------------------------------------------------------------------------------------------------- */

void model_store_note(struct model_store *model, void *where, size_t bytes)
{
    if (model->undo_count == model->undo_room) {
        model->undo_room = model->undo_room == 0 ? 1024 : model->undo_room * 2;
        model->undo = realloc(model->undo, model->undo_room * sizeof model->undo[0]);
    }
    if (model->undo_bytes + bytes > model->undo_data_room) {
        model->undo_data_room = (model->undo_bytes + bytes) * 2;
        model->undo_data = realloc(model->undo_data, model->undo_data_room);
    }
    invariant(model->undo != NULL && model->undo_data != NULL);
    memcpy(model->undo_data + model->undo_bytes, where, bytes);
    model->undo[model->undo_count++] = (struct undo){ where, (uint32_t)bytes };
    model->undo_bytes += bytes;
}
#define NOTE(model, where) model_store_note((model), (where), sizeof *(where))

void model_store_undo_forget(struct model_store *model)
{
    model->undo_count = model->undo_bytes = 0;
}

void model_store_undo(struct model_store *model)
{
    while (model->undo_count > 0) {
        const struct undo *undo = &model->undo[--model->undo_count];
        model->undo_bytes -= undo->bytes;
        memcpy(undo->where, model->undo_data + model->undo_bytes, undo->bytes);
    }
}

void model_store_room(struct model_store *model, const struct queue_record *records, uint32_t count)
{
    uint64_t users = 0;
    for (uint32_t i = 0; i < count; i++)
        users += records[i].command.type == COMMAND_USERS ? USERS_PER_COMMAND : 0;
    MODEL_ROOM(model, orders, (1 + WAITERS_PER_RETURN) * count);
    MODEL_ROOM(model, events, (1 + WAITERS_PER_RETURN) * count);
    MODEL_ROOM(model, dead, count);
    MODEL_ROOM(model, refunds, count);
    map_reserve(&model->tickets, (1 + WAITERS_PER_RETURN) * count);
    map_reserve(&model->slots, (1 + WAITERS_PER_RETURN) * count);
    map_reserve(&model->counters, 2 * (1 + WAITERS_PER_RETURN) * count);
    map_reserve(&model->eligible, users);
}

static void map_set(struct model_store *model, struct model_map *map, uint64_t a, uint64_t b,
    uint64_t c, uint64_t value)
{
    struct map_entry *entry = map_at(map, a, b, c);
    NOTE(model, entry);
    if (!entry->used) {
        NOTE(model, &map->used);
        map->used++;
    }
    *entry = (struct map_entry){ .a = a, .b = b, .c = c, .value = value, .used = true };
}

/* ---- one batch
 * ------------------------------------------------------------------------------------------- */

static enum status refuse(struct model_store *model, enum refusal_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum status refuse(struct model_store *model, enum refusal_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    model->refusal->index = model->index;
    model->refusal->kind = kind;
    vsnprintf(model->refusal->text, sizeof model->refusal->text, format, arguments);
    va_end(arguments);
    return STATUS_REFUSED;
}

/* The item, ready to be changed; NULL: there is none. */
static struct model_item *item_change(struct model_store *model, item_id id)
{
    if (id == 0 || id > model->at.items)
        return NULL;
    struct model_item *row = &model->items[id - 1];
    NOTE(model, row);
    return row;
}

static void item_version(struct model_store *model, struct model_item *row)
{
    row->item.version += row->batch != model->batch;
    row->batch = model->batch;
}

static void item_allot(struct model_item *row, channel_index channel, int64_t units)
{
    uint32_t *place = channel < CHANNELS_MAX ? &row->item.channel_units[channel] : &row->item.safety;
    if (channel < CHANNELS_MAX || channel == CHANNEL_SAFETY)
        *place = (uint32_t)((int64_t)*place + units);
}

static enum status counter_take(
    struct model_store *model, uint64_t scope, user_id user, uint32_t quantity, uint32_t limit)
{
    uint64_t used = map_at(&model->counters, scope, user, 0)->value;
    if (used + quantity > limit)
        return refuse(model, REFUSAL_LIMIT, "%u more units would exceed the user's limit of %u",
            quantity, limit);
    map_set(model, &model->counters, scope, user, 0, used + quantity);
    return STATUS_OK;
}

static void counter_free(struct model_store *model, uint64_t scope, user_id user, uint32_t quantity)
{
    uint64_t used = map_at(&model->counters, scope, user, 0)->value;
    if (used >= quantity)
        map_set(model, &model->counters, scope, user, 0, used - quantity);
}

static uint64_t slot_of(const struct model_item *row, const struct order *order)
{
    return row->item.limit_per_user == 1 ? 0 : order->ticket;
}

void model_store_event(struct model_store *model, const struct order *order, enum settle_step step,
    channel_index destination)
{
    struct model_event *event = &model->events[model->at.events++];
    *event = (struct model_event){
        .event = { .id = model->at.events,
            .settle = { .ticket = order->ticket, .step = (uint8_t)step, .to = destination } }
    };
    if (waitlist_gets(step, destination))
        model_waitlist_pick(model, &event->event, order);
}

static enum status guards_take(struct model_store *model, struct model_item *row, const struct order *order)
{
    const uint32_t item_limit = row->item.limit_per_user;
    const uint32_t sale_limit = model->sales[row->item.sale - 1].logged_limit;
    const uint64_t slot = slot_of(row, order);
    enum status status = STATUS_OK;
    if (map_at(&model->slots, order->item, order->user, slot)->value != 0)
        return refuse(model, REFUSAL_UNIQUE, "item %u has a live order of this user", order->item);
    map_set(model, &model->slots, order->item, order->user, slot, order->ticket);
    if ((int64_t)row->item.total - row->item.locked - row->item.sold < order->quantity)
        return refuse(model, REFUSAL_STOCK, "item %u has not enough units left", order->item);
    row->item.sold += order->quantity;
    item_version(model, row);
    if (item_limit == 1 && order->quantity > 1)
        return refuse(model, REFUSAL_LIMIT, "%u units exceed the limit of 1", order->quantity);
    if (item_limit > 1)
        status = counter_take(model, order->item, order->user, order->quantity, item_limit);
    if (status == STATUS_OK && sale_limit > 0)
        status =
            counter_take(model, scope_sale + row->item.sale, order->user, order->quantity, sale_limit);
    return status;
}

static enum status order_write(struct model_store *model, struct order order, bool reject)
{
    struct model_item *row = item_change(model, order.item);
    if (row == NULL)
        return refuse(model, REFUSAL_UNKNOWN, "item %u is not in the database", order.item);
    const uint64_t there = map_at(&model->tickets, order.ticket, 0, 0)->value;
    if (there != 0) {
        const struct order *old = &model->orders[there - 1];
        if (old->item == order.item && old->user == order.user && old->quantity == order.quantity)
            return STATUS_OK;
        return refuse(model, REFUSAL_UNKNOWN, "ticket %llu is another order",
            (unsigned long long)order.ticket);
    }
    order.amount = order.unit_price * order.quantity;
    order.state = reject ? ORDER_CLOSED : ORDER_PENDING;
    order.reason = reject ? REASON_REJECTED : REASON_NONE;
    order.version = 1;
    if (order.quantity == 0)
        return refuse(model, REFUSAL_UNKNOWN, "an order of nothing");
    if (!reject) {
        enum status status = guards_take(model, row, &order);
        if (status != STATUS_OK)
            return status;
    } else {
        model_store_event(model, &order, SETTLE_RETURN, order.channel);
    }
    model->orders[model->at.orders++] = order;
    map_set(model, &model->tickets, order.ticket, 0, 0, model->at.orders);
    return STATUS_OK;
}

void model_store_end(struct model_store *model, struct order *order, enum order_state to,
    enum order_reason reason, enum settle_step step)
{
    struct model_item *row = item_change(model, order->item);
    invariant(row != NULL);
    NOTE(model, order);
    map_set(model, &model->slots, order->item, order->user, slot_of(row, order), 0);
    row->item.sold -= order->quantity;
    item_version(model, row);
    if (step == SETTLE_WRITE_OFF) {
        row->item.locked += order->quantity;
        row->written_off += order->quantity;
    } else {
        counter_free(model, order->item, order->user, order->quantity);
        counter_free(model, scope_sale + row->item.sale, order->user, order->quantity);
    }
    order->state = (uint8_t)to;
    order->reason = (uint8_t)reason;
    order->ending = REASON_NONE;
    order->version++;
}

/* What the step does to the order and its units. */
static enum status settle_order(struct model_store *model, const struct queue_record *record,
    struct order *order, struct model_item *row)
{
    const struct command_settle *settle = &record->command.settle;
    NOTE(model, order);
    if (settle->step == SETTLE_SOLD) {
        order->version += order->state == ORDER_PENDING;
        order->state = order->state == ORDER_PENDING ? ORDER_PAID : order->state;
        order->ending = REASON_NONE;
        return STATUS_OK;
    }
    if (settle->step == SETTLE_WRITE_OFF && order->state == ORDER_PENDING)
        return refuse(model, REFUSAL_UNKNOWN, "written off but never paid");
    item_allot(row, order->channel, -(int64_t)order->quantity);
    if (settle->step == SETTLE_RETURN)
        item_allot(row, settle->to, order->quantity);
    if (order->state != ORDER_PENDING && order->state != ORDER_PAID)
        return STATUS_OK;
    const bool expired = record->command.time_ms >= order->pay_by_ms;
    const bool paid = order->state == ORDER_PAID;
    const enum order_reason reason = expired ? REASON_EXPIRED : REASON_CANCELLED;
    model_store_end(model, order, paid ? ORDER_REFUNDED : ORDER_CLOSED, paid ? REASON_NONE : reason,
        (enum settle_step)settle->step);
    if (paid)
        model_refund_order(model, order->ticket, record->command.time_ms);
    return STATUS_OK;
}

static bool dead_has(const struct model_store *model, ticket_number ticket)
{
    for (uint32_t i = 0; i < model->at.dead; i++) {
        if (model->dead[i].letter.ticket == ticket)
            return true;
    }
    return false;
}

static void event_confirm(struct model_store *model, const struct command_settle *settle)
{
    for (uint32_t i = model->at.events_open; i < model->at.events; i++) {
        struct model_event *event = &model->events[i];
        const uint8_t step = event->event.settle.step;
        /* A unit that is back can't be sold any more: that event is over too. */
        if (event->event.settle.ticket == settle->ticket
            && (step == settle->step || step == SETTLE_SOLD)) {
            NOTE(model, event);
            event->confirmed = true;
        }
    }
    while (model->at.events_open < model->at.events && model->events[model->at.events_open].confirmed)
        model->at.events_open++;
}

static enum status apply_settle(struct model_store *model, const struct queue_record *record, bool reject)
{
    const struct command_settle *settle = &record->command.settle;
    const struct outcome *outcome = &record->outcome;
    if (settle->step >= SETTLE_STEPS)
        return refuse(model, REFUSAL_UNKNOWN, "%u is not a step of a ticket", settle->step);
    event_confirm(model, settle);
    model_waitlist_settled(model, record);
    const uint64_t there = map_at(&model->tickets, settle->ticket, 0, 0)->value;
    struct order *order = there == 0 ? NULL : &model->orders[there - 1];
    if (order == NULL && !dead_has(model, settle->ticket))
        return refuse(model, REFUSAL_UNKNOWN, "settled but has no order");
    const item_id item = order == NULL ? outcome->item : order->item;
    if (order != NULL) {
        enum status status = settle_order(model, record, order, item_change(model, item));
        if (status != STATUS_OK)
            return status;
    }
    for (uint32_t i = 0; i < settle->waiter_count && settle->step == SETTLE_RETURN; i++) {
        struct order waiter = {
            .ticket = outcome_waiter_ticket(outcome, i),
            .user = settle->waiters[i].user,
            .item = item,
            .quantity = settle->waiters[i].quantity,
            .channel = settle->to < CHANNELS_MAX ? settle->to : 0,
            .unit_price = outcome->unit_price,
            .created_ms = record->command.time_ms,
            .pay_by_ms = outcome->pay_by_ms,
        };
        const bool over = model_booking_is_over(model, settle->waiters[i].key);
        const enum status status =
            waiter.ticket == 0 ? STATUS_OK : order_write(model, waiter, reject || over);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status apply_reserve(struct model_store *model, const struct queue_record *record, bool reject)
{
    const struct command_reserve *reserve = &record->command.reserve;
    const struct order order = {
        .ticket = record->outcome.ticket,
        .user = reserve->user,
        .item = reserve->item,
        .quantity = reserve->quantity,
        .channel = reserve->channel,
        .unit_price = record->outcome.unit_price,
        .created_ms = record->command.time_ms,
        .pay_by_ms = record->outcome.pay_by_ms,
    };
    const bool offer = (reserve->flags & RESERVE_OFFER) != 0;
    const bool over = offer && model_booking_is_over(model, reserve->key);
    const enum status status = order_write(model, order, reject || over);
    if (status == STATUS_OK && offer) {
        if (!over)
            model_waitlist_offer(model, reserve->key, reserve->user, order.ticket);
        model_booking_deposit(model, reserve->key, reserve->user, order.ticket);
    }
    return status;
}

static enum status apply_sale(struct model_store *model, const struct command_sale *sale, lsn_t lsn)
{
    model_waitlist_terms(model);
    if (sale->sale == 0 || sale->sale > model->at.sales)
        return refuse(model, REFUSAL_UNKNOWN, "sale %u is not in the database", sale->sale);
    struct model_sale *row = &model->sales[sale->sale - 1];
    NOTE(model, row);
    row->logged_limit = sale->limit_per_user;
    if (row->sale.terms_lsn >= lsn)
        return STATUS_OK; /* the row is newer */
    row->sale.start_ms = sale->start_ms;
    row->sale.end_ms = sale->end_ms;
    row->sale.limit_per_user = sale->limit_per_user;
    row->sale.eligible_only = sale->eligible_only;
    row->sale.one_open_order = sale->one_open_order;
    row->sale.cooldown_s = sale->cooldown_s;
    row->sale.return_draw_ms = sale->return_draw_ms;
    row->sale.start_draw_ms = sale->start_draw_ms;
    row->sale.terms_lsn = lsn;
    return STATUS_OK;
}

static enum status apply_preheat(struct model_store *model, const struct command_preheat *preheat)
{
    model_waitlist_terms(model);
    struct model_item *row = item_change(model, preheat->item);
    if (row == NULL || row->item.sale != preheat->sale)
        return refuse(model, REFUSAL_UNKNOWN, "item %u is not in the database", preheat->item);
    struct item *item = &row->item;
    item->flash_price = preheat->unit_price;
    item->limit_per_user = preheat->limit_per_user;
    item->pay_window_ms = preheat->pay_window_ms;
    item_version(model, row);
    if (item->preheated)
        return STATUS_OK;
    if ((int64_t)preheat->total - preheat->locked - preheat->sold_before < 0)
        return refuse(model, REFUSAL_UNKNOWN, "less than nothing to sell");
    item->total = preheat->total;
    item->locked = preheat->locked;
    item->sold = row->sold_before = preheat->sold_before;
    item->safety = preheat->safety;
    memcpy(item->channel_units, preheat->channel_units, sizeof item->channel_units);
    item->preheated = true;
    return STATUS_OK;
}

static enum status apply_gate(struct model_store *model, const struct command_gate *gate)
{
    if (gate->sale == 0 || gate->sale > model->at.sales || gate->move >= GATE_MOVES)
        return refuse(model, REFUSAL_UNKNOWN, "no such sale or move");
    struct model_sale *row = &model->sales[gate->sale - 1];
    NOTE(model, row);
    const bool away = gate->move == GATE_MOVE_PAUSE || gate->move == GATE_MOVE_END;
    if (away && row->sale.gate != GATE_PAUSED)
        row->gate_before = row->sale.gate;
    if (gate->move == GATE_MOVE_OPEN)
        row->gate_before = GATE_OPENED;
    row->sale.gate = gate->move == GATE_MOVE_PAUSE ? GATE_PAUSED
        : gate->move == GATE_MOVE_END              ? GATE_ENDED
                                                   : row->gate_before;
    return STATUS_OK;
}

static enum status apply_units(struct model_store *model, const struct queue_record *record)
{
    const bool adjust = record->command.type == COMMAND_ADJUST;
    const int64_t applied = record->outcome.applied;
    const item_id id = adjust ? record->command.adjust.item : record->command.move.item;
    struct model_item *row = item_change(model, id);
    if (row == NULL)
        return refuse(model, REFUSAL_UNKNOWN, "item %u is not in the database", id);
    if (adjust) {
        if (row->item.total + applied - row->item.locked - row->item.sold < 0)
            return refuse(model, REFUSAL_STOCK, "item %u has fewer free units", id);
        row->item.total = (uint32_t)(row->item.total + applied);
        item_allot(row, record->command.adjust.channel, applied);
        if (applied < 0 && !record->command.adjust.gone)
            model_pool_return(model, &row->item, -applied);
    } else {
        item_allot(row, record->command.move.from, -applied);
        item_allot(row, record->command.move.to, applied);
    }
    item_version(model, row);
    return STATUS_OK;
}

static enum status apply_users(struct model_store *model, const struct command_users *users)
{
    model_waitlist_terms(model);
    if (users->sale == 0 || users->sale > model->at.sales)
        return refuse(model, REFUSAL_UNKNOWN, "sale %u is not in the database", users->sale);
    for (uint32_t i = 0; i < users->count && i < USERS_PER_COMMAND; i++)
        map_set(model, &model->eligible, users->sale, users->users[i], 0, !users->remove);
    return STATUS_OK;
}

enum status model_store_record(
    struct model_store *model, const struct queue_record *record, uint8_t disposition)
{
    const bool reject = disposition == DISPOSE_REJECT;
    if (disposition == DISPOSE_DEAD) {
        struct model_letter *kept = &model->dead[model->at.dead++];
        struct dead_letter *letter = &kept->letter;
        bool settle = record->command.type == COMMAND_SETTLE;
        *letter = (struct dead_letter){ .id = model->at.dead,
            .at = record->at,
            .ticket = settle ? record->command.settle.ticket : record->outcome.ticket,
            .type = record->command.type,
            .state = DEAD_OPEN,
            .time_ms = record->command.time_ms };
        kept->record = *record;
        snprintf(letter->reason, sizeof letter->reason, "%s", model->dead_reason);
        return STATUS_OK;
    }
    if (record->outcome.answer != ANSWER_WON && record->outcome.answer != ANSWER_DONE)
        return STATUS_OK;
    if (record->command.type == COMMAND_RESERVE)
        return apply_reserve(model, record, reject);
    if (record->command.type == COMMAND_SETTLE)
        return apply_settle(model, record, reject);
    if (reject)
        return refuse(model, REFUSAL_UNKNOWN, "only a ticket can be rejected");
    if (record->command.type == COMMAND_ARRIVE || record->command.type == COMMAND_ADMIT
        || record->command.type == COMMAND_RECLAIM)
        return STATUS_OK;
    if (record->command.type == COMMAND_ADJUST || record->command.type == COMMAND_MOVE)
        return apply_units(model, record);
    if (record->command.type == COMMAND_SALE)
        return apply_sale(model, &record->command.sale, record->at.seq);
    if (record->command.type == COMMAND_PREHEAT)
        return apply_preheat(model, &record->command.preheat);
    if (record->command.type == COMMAND_GATE)
        return apply_gate(model, &record->command.gate);
    if (record->command.type == COMMAND_USERS)
        return apply_users(model, &record->command.users);
    return refuse(model, REFUSAL_UNKNOWN, "records of type %u are unknown", record->command.type);
}

static enum status apply_all(struct model_store *model, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct position *at = &records[i].at;
        invariant(at->part < MODEL_PARTS);
        uint64_t *seq = &model->at.seqs[at->part];
        enum status status = STATUS_OK;
        model->index = i;
        if (at->part != records[0].at.part || at->seq > *seq + 1) {
            snprintf(model->refusal->text, sizeof model->refusal->text, "records are missing");
            return STATUS_CORRUPT;
        }
        if (at->seq > *seq) {
            status = model_store_record(model, &records[i], dispositions[i]);
            *seq = at->seq;
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static bool fault_now(struct model_store *model, enum model_fault fault)
{
    if (model->fault != fault || model->fault_times == 0)
        return false;
    model->fault_times--;
    return true;
}

enum status model_store_apply(struct order_store *store, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count, struct refusal *refusal)
{
    struct model_store *model = model_of(store);
    invariant(count <= ORDER_BATCH_MAX);
    snprintf(model->dead_reason, sizeof model->dead_reason, "%s",
        refusal->text[0] != '\0' ? refusal->text : "no reason given");
    *refusal = (struct refusal){ .index = UINT32_MAX };
    if (fault_now(model, MODEL_FAULT_AWAY)) {
        snprintf(refusal->text, sizeof refusal->text, "away");
        return STATUS_AWAY;
    }
    if (fault_now(model, MODEL_FAULT_REFUSED)) {
        refusal->kind = REFUSAL_UNKNOWN;
        snprintf(refusal->text, sizeof refusal->text, "refused");
        return STATUS_REFUSED;
    }
    model_store_undo_forget(model);
    model_store_room(model, records, count);
    model->refusal = refusal;
    model->batch++;
    NOTE(model, &model->at);
    enum status status = apply_all(model, records, dispositions, count);
    if (status != STATUS_OK)
        model_store_undo(model);
    else if (fault_now(model, MODEL_FAULT_ANSWER_LOST))
        return STATUS_AWAY;
    return status;
}
