/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the story: troubles are over, everything has drained, and all accounts must agree. */
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include "inventory/engine.h"
#include "journal/segment.h"

#include <inttypes.h>

enum {
    REST_ROUNDS_MAX = 4000,
    SWEEP_BATCH = 6,
    SWEEP_UNITS = 12,
    REST_CALM_ROUNDS = 3,
    SWEEP_DRAW_MS = 300
};

static void round_run(struct world *world, bool whole)
{
    struct inventory_port *pump = world->ports[PUMP_PORT];
    for (uint32_t i = 0; i < CLIENT_PORTS; i++)
        world->ports[i]->ops->flush(world->ports[i]);
    pump->ops->flush(pump);
    world_turn(world);
    if (embedded_write(world->embedded))
        world_follow(world);
    if (embedded_failed(world->embedded))
        violation("journal", "failed at rest");
    enum status status = embedded_housekeep(world->embedded);
    if (status != STATUS_OK)
        violation("I15 replay", "no snapshot or segment could be made at rest: %s", status_name(status));
    world_turn(world);
    for (uint32_t i = 0; i < CLIENT_PORTS; i++)
        client_collect(world, i);
    if (!whole)
        return;
    status = order_writer_turn(world->writer, world->now_ms, &world->writer_progress);
    if (status == STATUS_CORRUPT)
        violation("orders", "the order writer stopped: %s", world->writer_progress.trouble);
    status = stock_pump_turn(world->pump, world->now_ms, &world->pump_progress);
    if (status != STATUS_OK || world->pump_progress.refused > 0)
        violation("I10 every unit returned once", "the pump does not come through: %s",
            status_name(status));
    presale_follow(world);
    waitlist_look(&world->waitlist);
    world_serve(world);
    rooms_run(world, UINT32_MAX);
    const uint32_t wait_ms = world->writer_progress.wait_ms;
    world->now_ms += wait_ms < 20 ? 20 : wait_ms > 1000 ? 1000 : wait_ms;
}

static bool at_rest(const struct world *world)
{
    return embedded_idle(world->embedded) && world->model.open_count == 0
        && world->writer_progress.position.seq == world->model.lsn && world->pump_progress.open == 0
        && world->waitlist.in_flight == 0;
}

static void rest_run(struct world *world)
{
    for (uint32_t rounds = 0, calm = 0; calm < REST_CALM_ROUNDS; rounds++) {
        round_run(world, true);
        calm = at_rest(world) ? calm + 1 : 0; /* the pump looks into the store only now and then */
        if (rounds == REST_ROUNDS_MAX)
            violation("I17 every request is answered",
                "no rest: idle %d, open %u, orders at %" PRIu64 " of %" PRIu64 ", stock events %u",
                embedded_idle(world->embedded), world->model.open_count,
                world->writer_progress.position.seq, world->model.lsn, world->pump_progress.open);
    }
}

void world_rest(struct world *world)
{
    world->disk.full = false;
    sim_vfs_full(false);
    world->sim_store.away = world->sim_queue.late = world->sim_queue.away = false;
    embedded_wins_until(world->embedded, UINT64_MAX);
    rest_run(world);
    /* A refusal that was overtaken by what would have changed it passes a place over: such are looked
     * at again after WAITLIST_AGAIN_MS, which is part of coming to rest. */
    world->waitlist.again_ms = world->waitlist.look_ms = 0;
    rest_run(world);
    if (sim_disk_has(&world->disk, SEGMENT_PACKED_NAME))
        violation("journal", "a half-packed segment is left at rest");
    trace_step("rest", world->model.lsn, world->model.ticket_count, world->now_ms - 1000000);
}

/* ---- accounts ---- */

static uint8_t state_expected(const struct model_ticket *ticket, uint8_t found)
{
    switch ((enum ticket_state)ticket->state) {
    case TICKET_HELD:
        return ORDER_PENDING;
    case TICKET_SOLD:
        return ORDER_PAID;
    case TICKET_WRITTEN_OFF:
        return ORDER_REFUNDED;
    case TICKET_RETURNED:
        break;
    }
    return found == ORDER_REFUNDED ? ORDER_REFUNDED : ORDER_CLOSED;
}

static void check_order(const struct world *world, ticket_number number, uint32_t *dead, uint32_t *rejects)
{
    const struct model_ticket *ticket = &world->model.tickets[number];
    const enum sim_verdict verdict =
        sim_store_verdict(&world->sim_store, &world->model.log[ticket->lsn]);
    const bool by_waiter = world->model.log[ticket->lsn].command.type == COMMAND_SETTLE;
    struct order order;
    const enum status status = world->store->ops->order_by_ticket(world->store, number, &order);
    if (status == STATUS_NOT_FOUND && verdict == SIM_REFUSE_UNKNOWN) {
        ++*dead;
        return;
    }
    if (status != STATUS_OK)
        violation("I5 every win is an order", "ticket %" PRIu64 " has none (%s)", number,
            status_name(status));
    if (order.user != ticket->user || order.item != ticket->item
        || order.quantity != ticket->quantity || order.channel != ticket->channel
        || order.pay_by_ms < ticket->pay_by_ms || order.created_ms != ticket->time_ms)
        violation("I5 every win is an order", "the order of ticket %" PRIu64 " is another one", number);
    if (order.pay_by_ms > ticket->pay_by_ms && !world_payment_started(world, number))
        violation("I11 time to pay", "ticket %" PRIu64 " has more without a payment", number);
    if (order.pay_by_ms > ticket->pay_by_ms + EXTEND_MAX_MS)
        violation("I11 time to pay", "ticket %" PRIu64 " has got more than once", number);
    if (order.unit_price != ticket->price || order.amount != ticket->price * ticket->quantity)
        violation("price: the flash price is charged",
            "ticket %" PRIu64 ": %" PRIu64 " instead of %" PRIu64, number, order.unit_price,
            ticket->price);
    const bool rejected = order.state == ORDER_CLOSED && order.reason == REASON_REJECTED;
    const bool by_limit = verdict == SIM_REFUSE_LIMIT && !by_waiter;
    if (rejected ? !by_limit && !presale_rejects(world, number) : by_limit)
        violation("I5 every win is an order", "ticket %" PRIu64 " %s", number,
            rejected ? "was rejected without a reason" : "should have been rejected");
    *rejects += rejected;
    world_check_moved(world, &order);
    if (order.state != state_expected(ticket, order.state))
        violation("I5 every win is an order", "ticket %" PRIu64 " is in state %u, its order in %u",
            number, ticket->state, order.state);
}

static void check_item(const struct world *world, item_id id, uint64_t *orders)
{
    const struct model_item *model = &world->model.items[id];
    uint64_t live = 0, expected_live = 0, count = 0, units = 0;
    struct item item;
    if (model->sale == 0)
        return;
    for (ticket_number number = 1; number <= world->model.ticket_count; number++) {
        const struct model_ticket *ticket = &world->model.tickets[number];
        const bool dead = sim_store_verdict(&world->sim_store, &world->model.log[ticket->lsn])
            == SIM_REFUSE_UNKNOWN;
        if (ticket->item == id && !dead && (ticket->state == TICKET_HELD || ticket->state == TICKET_SOLD))
            expected_live += ticket->quantity;
    }
    enum status status = world->store->ops->item_get(world->store, id, &item);
    if (status == STATUS_OK)
        status = world->store->ops->live_units(world->store, id, &live);
    if (status == STATUS_OK)
        status = world->store->ops->order_totals(world->store, id, &count, &units);
    if (status != STATUS_OK)
        violation("store", "item %u can't be read: %s", id, status_name(status));
    *orders += count;
    if (live != expected_live || item.sold - model->sold_before != expected_live)
        violation("I16 the database is the log's fold",
            "item %u: %" PRIu64 " units live, %u sold, the log says %" PRIu64, id, live,
            item.sold - model->sold_before, expected_live);
    if (item.flash_price != model->price)
        violation("price: the flash price is charged", "item %u", id);
}

/* Order rows = tickets: as many as there are, none twice. */
/* Every act of an administrator that is in the log has one row, and no other has. */
static void check_audit(struct world *world)
{
    uint64_t entries = 0, first_bad = 0, acts = 0;
    if (world->store_kind == WORLD_STORE_MODEL)
        return; /* it keeps no audit */
    for (lsn_t lsn = 1; lsn <= world->model.lsn; lsn++) {
        const struct command *command = &world->model.log[lsn].command;
        acts += command_has_origin(command->type) && command->origin.actor[0] != 0;
    }
    const enum status status = world->store->ops->audit_verify(world->store, &entries, &first_bad);
    if (status != STATUS_OK || first_bad != 0 || entries != acts)
        violation("I19 audit", "%" PRIu64 " acts are in the log, %" PRIu64 " in the audit chain",
            acts, entries);
}

void world_check_rest(struct world *world)
{
    uint32_t dead = 0, rejected = 0, letters = 0;
    uint64_t orders = 0;
    static struct dead_letter letter_rows[SIM_NUMBERS];
    world_check_state(world, "at rest", true);
    world_check_lines(world);
    for (ticket_number number = 1; number <= world->model.ticket_count; number++)
        check_order(world, number, &dead, &rejected);
    for (item_id id = 1; id <= world->item_count; id++)
        check_item(world, id, &orders);
    if (orders + dead + rejected != world->model.ticket_count)
        violation("I5 every win is an order",
            "%u tickets, but %" PRIu64 " orders, %u rejected, %u dead letters",
            world->model.ticket_count, orders, rejected, dead);
    const enum status status =
        world->store->ops->dead_letters(world->store, 0, DEAD_ANY, letter_rows, SIM_NUMBERS, &letters);
    if (status != STATUS_OK || letters != dead)
        violation("I5 every win is an order",
            "%u dead letters, expected %u; the last: record %" PRIu64 ": %s", letters, dead,
            letters == 0 ? 0 : letter_rows[letters - 1].at.seq,
            letters == 0 ? "" : letter_rows[letters - 1].reason);
    world_check_money(world);
    world_check_presale(world);
    world_check_units(world);
    check_audit(world);
}

/* ---- the last buyers ---- */

static void ask_until(struct world *world, const struct command *command)
{
    for (uint32_t tries = 0; tries < 8 && !client_ask(world, 0, command); tries++)
        round_run(world, false);
    round_run(world, false);
}

static bool sale_sells(struct world *world, sale_id id)
{
    const struct model_sale *sale = &world->model.sales[id];
    struct command command = { .type = COMMAND_GATE, .gate = { .sale = id, .move = GATE_MOVE_RESUME } };
    if (!sale->defined || sale->ended || sale->items == 0 || world->engine_ms + 5000 >= sale->end_ms)
        return false;
    if (sale->paused)
        ask_until(world, &command);
    command.gate.move = GATE_MOVE_OPEN;
    if (world->engine_ms < sale->start_ms && !sale->opened)
        ask_until(world, &command);
    for (uint32_t first = BUYERS; sale->eligible_only && first < SIM_USERS; first += USERS_PER_COMMAND) {
        struct command users = { .type = COMMAND_USERS, .users = { .sale = id } };
        for (uint32_t i = first; i < SIM_USERS && i < first + USERS_PER_COMMAND; i++)
            users.users.users[users.users.count++] = world->users[i];
        ask_until(world, &users);
    }
    return true;
}

static bool has_open_order(const struct world *world, uint32_t who, sale_id sale)
{
    for (ticket_number number = 1; number <= world->model.ticket_count; number++) {
        const struct model_ticket *ticket = &world->model.tickets[number];
        if (user_index(ticket->user) == who && ticket->state == TICKET_HELD
            && world->model.items[ticket->item].sale == sale)
            return true;
    }
    return false;
}

/* Everybody takes what they may of the channel until it is empty or nobody may any more. */
static void sweep_channel(struct world *world, item_id id, channel_index channel)
{
    const struct model_item *item = &world->model.items[id];
    const struct model_sale *sale = &world->model.sales[item->sale];
    uint32_t asked = 0, units = 0; /* since the last round */
    for (uint32_t who = BUYERS; who < SIM_USERS && item->free[channel] > units; who++) {
        const uint32_t own = item->limit == 0 ? SWEEP_UNITS : item->limit - world->model.used[who][id];
        const uint32_t whole =
            sale->limit == 0 ? SWEEP_UNITS : sale->limit - world->model.used_sale[who][item->sale];
        uint32_t quantity = own < whole ? own : whole;
        if (quantity > item->free[channel] - units)
            quantity = item->free[channel] - units;
        const struct command command = { .type = COMMAND_RESERVE,
            .reserve = {
                .user = world->users[who], .item = id, .quantity = quantity, .channel = channel } };
        if (sale->one_open_order && has_open_order(world, who, item->sale))
            continue;
        if (quantity == 0 || !client_ask(world, who % CLIENT_PORTS, &command))
            continue;
        units += quantity;
        if (++asked == SWEEP_BATCH) {
            round_run(world, false);
            round_run(world, false);
            asked = units = 0;
        }
    }
    for (uint32_t i = 0; i < 3; i++)
        round_run(world, false);
}

static bool someone_may(const struct world *world, item_id id)
{
    const struct model_item *item = &world->model.items[id];
    const uint32_t sale_limit = world->model.sales[item->sale].limit;
    const bool all = !world->model.sales[item->sale].eligible_only;
    for (uint32_t who = BUYERS; who < SIM_USERS; who++)
        if ((all || model_invited(&world->model, who, item->sale))
            && (item->limit == 0 ? world->model.used[who][id] == 0 : world->model.used[who][id] < item->limit)
            && (sale_limit == 0 || world->model.used_sale[who][item->sale] < sale_limit)
            && (!world->model.sales[item->sale].one_open_order || !has_open_order(world, who, item->sale)))
            return true;
    return false;
}

void world_sweep(struct world *world)
{
    const struct model *model = &world->model;
    if (model->request_count + SIM_REQUESTS / 4 > SIM_REQUESTS)
        return;
    for (sale_id sale = 1; sale <= world->sale_count; sale++) {
        if (!sale_sells(world, sale))
            continue;
        for (item_id id = 1; id <= world->item_count; id++) {
            for (channel_index channel = 0;
                 channel < world->channel_count && model->items[id].sale == sale; channel++) {
                world->now_ms = SWEEP_DRAW_MS /* draws are over */
                    + (world->now_ms > world->engine_ms ? world->now_ms : world->engine_ms);
                sweep_channel(world, id, channel);
                const bool full = model_tickets_kept(model) == model->tickets_max
                    || model->buyers_max - model->buyers < 2
                    || model->request_count + 64 > SIM_REQUESTS;
                if (model->items[id].free[channel] > 0 && !full && someone_may(world, id))
                    violation("I3 never undersell", "item %u: %u units are left and eager buyers too",
                        id, model->items[id].free[channel]);
            }
        }
    }
}
