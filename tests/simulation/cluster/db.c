/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/db.c: rows and what a batch of records does to them. db_ops.c has the operations
 * of the seam. */
#include "tests/simulation/cluster/db_parts.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct db db;

struct db_part *db_part(uint32_t part)
{
    for (uint32_t i = 0; i < db.part_count; i++)
        if (db.parts[i].state.part == part)
            return &db.parts[i];
    return NULL;
}

static void part_add(uint32_t part, uint32_t shards)
{
    if (db_part(part) != NULL)
        return;
    invariant(db.part_count < DB_PARTS);
    db.parts[db.part_count++] = (struct db_part){ .state = { .part = part, .shards = shards } };
}

void db_parts_make(uint32_t part)
{
    const sale_id sale = part_sale(part);
    const uint32_t shards = sale <= DB_SALES_MAX ? db.shards[sale] : 0;
    invariant(shards <= DB_SHARDS_MAX);
    if (shards == 0)
        part_add(part, 1);
    else if (db_part(part_of_sale(sale, 0)) == NULL)
        for (uint32_t shard = 0; shard < shards; shard++)
            part_add(part_of_sale(sale, shard), shards);
}

static struct db_order *order_find(ticket_number ticket)
{
    for (uint32_t i = 0; i < db.order_count; i++)
        if (db.orders[i].ticket == ticket)
            return &db.orders[i];
    return NULL;
}

const struct db_order *db_order(ticket_number ticket)
{
    return order_find(ticket);
}

bool db_operator_done(uint64_t key)
{
    for (uint32_t i = 0; i < db.operator_count; i++)
        if (db.operators[i].key == key)
            return true;
    return false;
}

static bool is_live(const struct db_order *order)
{
    return order->units == TICKET_HELD || order->units == TICKET_SOLD;
}

uint64_t db_units(item_id item, user_id user)
{
    uint64_t units = 0;
    for (uint32_t i = 0; i < db.order_count; i++) {
        const struct db_order *order = &db.orders[i];
        if (order->item != item || (user != 0 && order->user != user))
            continue;
        if (is_live(order) || (user == 0 && order->units == TICKET_WRITTEN_OFF))
            units += order->quantity;
    }
    return units;
}

uint32_t db_events_open(void)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < db.event_count; i++)
        open += !db.events[i].confirmed;
    return open;
}

/* ---- records ---- */

static void item_check(item_id item)
{
    const uint64_t units = db_units(item, 0);
    if (db.items[item].given < 0 || units > (uint64_t)db.items[item].given)
        violation("I2 never oversell", "item %u: %" PRIu64 " units of %" PRId64, item, units,
            db.items[item].given);
}

static void limits_check(const struct db_order *order)
{
    const struct db_item *item = &db.items[order->item];
    const struct db_part *part = db_part(part_of_sale(item->sale, 0));
    uint64_t of_sale = 0;
    for (item_id i = 1; i < DB_ITEMS_MAX; i++)
        if (db.items[i].sale == item->sale)
            of_sale += db_units(i, order->user);
    if ((item->limit != 0 && db_units(order->item, order->user) > item->limit)
        || (part->sale_limit != 0 && of_sale > part->sale_limit))
        violation("I4 limits per user", "user %" PRIx64 " has %" PRIu64 " units of item %u",
            order->user, db_units(order->item, order->user), order->item);
}

static void order_add(struct db_part *part, const struct db_order *order, uint32_t epoch)
{
    struct ticket_parts parts;
    if (order_find(order->ticket) != NULL)
        violation("I13 ticket numbers are never reused", "ticket %" PRIx64 " is kept twice",
            order->ticket);
    if (!ticket_number_split(order->ticket, &parts) || parts.part != part->state.part
        || parts.n != ++part->tickets || parts.epoch != epoch)
        violation("I13 ticket numbers", "ticket %" PRIx64 " is not the next one of epoch %u after %u",
            order->ticket, epoch, part->tickets - 1);
    for (uint32_t i = 0; i < db.order_count; i++)
        if (order->key != 0 && db.orders[i].key == order->key)
            violation("I8 one key, one outcome",
                "key %" PRIx64 " has won tickets %" PRIx64 " and %" PRIx64, order->key,
                db.orders[i].ticket, order->ticket);
    invariant(db.order_count < DB_ORDERS_MAX);
    db.orders[db.order_count++] = *order;
    item_check(order->item);
    limits_check(order);
    db.kept(&db.orders[db.order_count - 1]);
}

static void settle_apply(struct db_part *part, const struct queue_record *record, uint32_t epoch)
{
    static const enum ticket_state after[] = {
        [SETTLE_SOLD] = TICKET_SOLD,
        [SETTLE_RETURN] = TICKET_RETURNED,
        [SETTLE_WRITE_OFF] = TICKET_WRITTEN_OFF,
    };
    const struct command_settle *settle = &record->command.settle;
    struct db_order *order = order_find(settle->ticket);
    if (order == NULL)
        violation("I5 a win is an order", "a step of ticket %" PRIx64 ", which is no order",
            settle->ticket);
    order->units = after[settle->step];
    bool asked = false;
    for (uint32_t i = 0; i < db.event_count; i++) {
        struct db_event *event = &db.events[i];
        if (event->ticket != settle->ticket || event->step != settle->step)
            continue;
        if (event->confirmed)
            violation("I10 every step once", "step %u of ticket %" PRIx64 " is in the log twice",
                settle->step, settle->ticket);
        event->confirmed = asked = true;
    }
    if (!asked)
        violation("I7 kept is what was asked", "nobody asked for step %u of ticket %" PRIx64,
            settle->step, settle->ticket);
    for (uint32_t i = 0; i < settle->waiter_count; i++) {
        const ticket_number ticket = outcome_waiter_ticket(&record->outcome, i);
        const struct waiter *waiter = &settle->waiters[i];
        if (ticket != 0)
            order_add(part,
                &(struct db_order){ .ticket = ticket,
                    .user = waiter->user,
                    .key = waiter->key,
                    .item = order->item,
                    .quantity = waiter->quantity,
                    .state = ORDER_PENDING },
                epoch);
    }
}

/* Once in each shard. */
static void operator_note(const struct db_part *part, const struct command *command)
{
    if (!command_has_origin(command->type) || command->origin.key == 0)
        return;
    for (uint32_t i = 0; i < db.operator_count; i++)
        if (db.operators[i].key == command->origin.key && db.operators[i].part == part->state.part)
            violation("I8 one key, one outcome",
                "an operator's command with key %" PRIx64 " was done twice", command->origin.key);
    invariant(db.operator_count < DB_KEYS_MAX);
    db.operators[db.operator_count].key = command->origin.key;
    db.operators[db.operator_count++].part = part->state.part;
}

uint32_t db_transfers_open(void)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < db.part_count; i++)
        for (uint32_t to = 0; to < db.parts[i].state.shards; to++) {
            const uint32_t part = db.parts[i].state.part;
            const struct db_part *taker = db_part(part_of_sale(part_sale(part), to));
            invariant(taker != NULL);
            open += db.parts[i].gifts[to].number > taker->taken[part_shard(part)];
        }
    return open;
}

/* Units arrive once, as many as left, and not before that is kept. */
static void transfer_check(struct db_part *part, const struct queue_record *record)
{
    const struct command_transfer *transfer = &record->command.transfer;
    const uint32_t units = (uint32_t)record->outcome.applied;
    if (record->command.type == COMMAND_GIVE) {
        const struct db_part *taker =
            db_part(part_of_sale(part_sale(part->state.part), transfer->shard));
        if (taker == NULL
            || part->gifts[transfer->shard].number != taker->taken[part_shard(part->state.part)])
            violation("I1 conservation", "shard %u gives transfer %u before the one before was taken",
                part_shard(part->state.part), transfer->number);
        part->gifts[transfer->shard] = *transfer;
        part->gifts[transfer->shard].quantity = units;
        return;
    }
    const struct db_part *giver = db_part(part_of_sale(part_sale(part->state.part), transfer->shard));
    const struct command_transfer *gift =
        giver == NULL ? NULL : &giver->gifts[part_shard(part->state.part)];
    if (gift == NULL || gift->number != transfer->number || gift->item != transfer->item
        || gift->quantity != units || transfer->number != part->taken[transfer->shard] + 1)
        violation("I1 conservation", "%u units of item %u are taken by transfer %u, which is not given",
            units, transfer->item, transfer->number);
    part->taken[transfer->shard] = transfer->number;
}

void db_record_apply(struct db_part *part, const struct queue_record *record, uint32_t epoch)
{
    const struct command *command = &record->command;
    operator_note(part, command);
    switch (command->type) {
    case COMMAND_SALE:
        part->sale_limit = command->sale.limit_per_user;
        break;
    case COMMAND_PREHEAT:
        invariant(command->preheat.item < DB_ITEMS_MAX);
        db.items[command->preheat.item].sale = command->preheat.sale;
        db.items[command->preheat.item].limit = command->preheat.limit_per_user;
        db.items[command->preheat.item].given += command->preheat.total; /* each shard its share */
        db.items[command->preheat.item].open = true;
        break;
    case COMMAND_GIVE:
    case COMMAND_TAKE:
        transfer_check(part, record);
        break;
    case COMMAND_ADJUST:
        db.items[command->adjust.item].given += record->outcome.applied;
        item_check(command->adjust.item);
        break;
    case COMMAND_RESERVE:
        order_add(part,
            &(struct db_order){ .ticket = record->outcome.ticket,
                .user = command->reserve.user,
                .key = command->reserve.key,
                .item = command->reserve.item,
                .quantity = command->reserve.quantity,
                .state = ORDER_PENDING },
            epoch);
        break;
    case COMMAND_SETTLE:
        settle_apply(part, record, epoch);
        break;
    default: /* moves no unit of an order */
        break;
    }
}

/* ---- orders move ---- */

static void event_add(const struct db_order *order, enum settle_step step, channel_index to, bool let_go)
{
    invariant(db.event_count < DB_EVENTS_MAX);
    db.events[db.event_count++] =
        (struct db_event){ .ticket = order->ticket, .step = step, .to = to, .let_go = let_go };
}

bool db_order_move(uint32_t index, enum order_event event, bool to_safety)
{
    struct db_order *order = &db.orders[index];
    const channel_index to = to_safety ? CHANNEL_SAFETY : 0;
    if (event == ORDER_EVENT_PAY && order->state == ORDER_PENDING) {
        order->state = ORDER_PAID;
        event_add(order, SETTLE_SOLD, 0, false);
    } else if (event == ORDER_EVENT_CANCEL && order->state == ORDER_PENDING) {
        order->state = ORDER_CLOSED;
        event_add(order, SETTLE_RETURN, to, true);
    } else if (event == ORDER_EVENT_REFUND && order->state == ORDER_PAID) {
        order->state = ORDER_REFUNDED;
        event_add(order, to_safety ? SETTLE_WRITE_OFF : SETTLE_RETURN, 0, false);
    } else {
        return false;
    }
    return true;
}

void db_start(struct random *random)
{
    db = (struct db){ .random = random };
    for (sale_id sale = 1; sale <= DB_SALES_MAX; sale++)
        db.shards[sale] = 1;
}

void db_stop(void)
{
    db_late_forget();
    for (uint32_t i = 0; i < db.part_count; i++) {
        for (uint32_t n = 0; n < db.parts[i].entry_count; n++)
            free((void *)(uintptr_t)db.parts[i].entries[n].entry.bytes.data);
        free(db.parts[i].entries);
    }
    db.part_count = 0;
}
