/* SPDX-License-Identifier: Apache-2.0 */
/* A backup of the database is put back beside the present log: all that came since is lost but for
 * what the log and the providers know. Only the SQLite store; from rest to rest. What the order side
 * was told about its own moves since the backup, and what neither log nor provider knows, is gone
 * with it. */
#include "contract/restore.h"
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>

enum { CATCH_UP_ROUNDS = 20000, SEARCH_NUMBERS = SEQUENCES_MAX, JOIN_AGAIN = 8 };

static struct {
    struct store_sequence rows[SEARCH_NUMBERS];
    uint32_t count;
} lost;

static void must(enum status status, const char *what)
{
    if (status != STATUS_OK)
        violation("restore", "%s: %s", what, status_name(status));
}

void world_backup(struct world *world)
{
    if (world->store_kind != WORLD_STORE_SQLITE || world->backup_there || !world_chance(world, 2))
        return;
    sim_vfs_keep();
    world->backup_there = true;
    trace_step("backup", world->model.lsn, world->payment_count, world->place_count);
}

/* ---- what `stampede restore` does ---- */

static void log_read(struct world *world)
{
    world->store->ops->restore->recover(world->store, true);
    for (uint32_t rounds = 0; world->writer_progress.position.seq != world->model.lsn; rounds++) {
        const enum status status =
            order_writer_turn(world->writer, world->now_ms, &world->writer_progress);
        if (status != STATUS_OK || rounds == CATCH_UP_ROUNDS)
            violation("restore", "orders stay at %" PRIu64 " of %" PRIu64 ": %s",
                world->writer_progress.position.seq, world->model.lsn,
                world->writer_progress.trouble == NULL ? "" : world->writer_progress.trouble);
        world->now_ms += 20;
    }
    world->store->ops->restore->recover(world->store, false);
}

bool world_payer_lost(const struct world *world, ticket_number ticket)
{
    struct payment payment;
    struct order order;
    return world->store->ops->order_by_ticket(world->store, ticket, &order) == STATUS_OK
        && order.state == ORDER_PAID
        && world->store->ops->payment->of_paid(world->store, ticket, &payment) == STATUS_NOT_FOUND;
}

/* What was told of a move is true if the log knows it. */
static void moves_forget(struct world *world)
{
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket++) {
        struct order order;
        world->moved[ticket] = ORDER_NONE;
        if (world->store->ops->order_by_ticket(world->store, ticket, &order) == STATUS_OK
            && order.state != ORDER_PENDING && order.reason != REASON_REJECTED
            && !world_payer_lost(world, ticket))
            world->moved[ticket] = order.state;
    }
}

/* Late money that is found again will be linked to it. */
bool world_late_waits(const struct world *world, ticket_number ticket)
{
    for (uint32_t i = 0; i < world->payment_count; i++) {
        const struct sim_payment *row = &world->payments[i];
        char reference[REFERENCE_BYTES_MAX + 1];
        struct payment payment;
        snprintf(reference, sizeof reference, "p%u", i);
        if (row->key != 0 && world->model.key_ticket[key_index(row->key)] == ticket
            && world->store->ops->payment->by_reference(world->store, reference, &payment) == STATUS_OK
            && payment.use == USE_LATE)
            return true;
    }
    return false;
}

/* What neither a provider nor late money explains, the shop was paid, and tells again. */
static void shop_tells_again(struct world *world)
{
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket++) {
        const struct model_ticket *row = &world->model.tickets[ticket];
        struct order after;
        uint8_t answer = MOVE_ANSWERS;
        if (!world_order_is_ours(world, ticket) || !world_payer_lost(world, ticket)
            || world_late_waits(world, ticket))
            continue;
        struct order_move move = { .ticket = ticket,
            .event = ORDER_EVENT_PAY,
            .now_ms = world->now_ms,
            .amount = row->price * row->quantity,
            .currency = "CNY" };
        snprintf(move.reference, sizeof move.reference, "again-%" PRIu64, ticket);
        must(world->store->ops->orders_move(world->store, &move, 1, &after, &answer), "the shop pays");
        if (answer != MOVE_DONE || after.state != ORDER_PAID)
            violation("restore", "ticket %" PRIu64 " does not take its payment: %u", ticket, answer);
        world_look(world, ticket);
    }
}

void world_restore(struct world *world)
{
    if (!world->backup_there || !world_chance(world, 70))
        return;
    must(world->store->ops->restore->sequences(world->store, lost.rows, SEARCH_NUMBERS, &lost.count),
        "numbers");
    trace_step("RESTORE", world->model.lsn, world->payment_count, world->place_count);
    world_close(world);
    sim_vfs_put_back();
    world->backup_there = false;
    world_open(world);
    for (uint32_t i = 0; i < lost.count; i++)
        must(world->store->ops->restore->raise(world->store, &lost.rows[i]), "a number");
    presale_restored(world);
    log_read(world);
    moves_forget(world);
    world_payments_search(world, false);
    shop_tells_again(world);
    world_payments_search(world, true); /* last: an order takes the first one as its own */
    for (uint32_t i = 0; i < JOIN_AGAIN; i++)
        world_wait(world); /* whose place is lost joins again */
    world_rest(world);
}
