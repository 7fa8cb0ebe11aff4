/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_archive.c: a sale that was archived does not use up the tables for ever.
 *
 * All that its tickets could be asked about is in its bundle (docs/archive.md). A ticket goes with its
 * key, and with its units: these leave `sold` or `written_off` and `given` of the item at once, so that the
 * counts add up after every command. The counter of its user goes down as well, and goes when it is 0. What
 * is left of the counters afterwards (users who gave everything back, eligible users) is the second table;
 * places in the waiting room are the third.
 *
 * Like RECLAIM a command looks at a bounded number of rows and is logged. The sale and its items stay. */
#include "inventory/engine_apply.h"

static bool of_sale(const struct engine *engine, const struct ticket_row *ticket, sale_id sale)
{
    return ticket->used && engine->items[ticket->item].sale == sale;
}

static void counter_lower(
    struct engine *engine, uint32_t scope, const struct ticket_row *ticket, ticket_number number)
{
    struct buyer_row *row = buyers_find(&engine->buyers, scope, ticket->user);
    if (row == NULL)
        return;
    if (ticket->state != TICKET_RETURNED) {
        invariant(row->used >= ticket->quantity);
        row->used = (row->used - ticket->quantity) & ((1u << BUYER_USED_BITS) - 1);
    }
    if (row->last == number)
        row->last = 0;
    if (row->used == 0)
        buyers_forget(&engine->buyers, row);
}

static void ticket_archive(struct engine *engine, struct ticket_row *ticket)
{
    struct engine_item *item = &engine->items[ticket->item];
    const ticket_number number = tickets_number(&engine->tickets, ticket);
    const uint32_t units = ticket->state == TICKET_RETURNED ? 0 : ticket->quantity;
    counter_lower(engine, buyers_scope_item(ticket->item), ticket, number);
    if (engine_sale_counts_users(&engine->sales[item->sale]))
        counter_lower(engine, buyers_scope_sale(item->sale), ticket, number);
    if (ticket->state == TICKET_SOLD)
        item->sold -= units;
    else
        item->written_off -= units;
    item->given -= units;
    tickets_forget(&engine->tickets, ticket);
    engine_item_recheck(item);
}

/* A counter of the sale that counts nothing. */
static bool counter_goes(const struct engine *engine, const struct buyer_row *row, sale_id sale)
{
    if (row->scope == 0)
        return false;
    if (row->scope == buyers_scope_eligible(sale))
        return true;
    if (row->used != 0)
        return false;
    return row->scope == buyers_scope_sale(sale)
        || (row->scope < engine->config.items_max && engine->items[row->scope].sale == sale);
}

/* How many rows of the range go; UINT32_MAX: a ticket is held. */
static uint32_t rows_find(const struct engine *engine, const struct command_archive *asked, uint64_t end)
{
    uint32_t found = 0;
    for (uint64_t i = asked->from; i < end; i++) {
        if (asked->table == ARCHIVE_BUYERS) {
            found += counter_goes(engine, &engine->buyers.rows[i], asked->sale);
            continue;
        }
        const struct ticket_row *ticket = &engine->tickets.rows[i];
        if (!of_sale(engine, ticket, asked->sale))
            continue;
        if (ticket->state == TICKET_HELD)
            return UINT32_MAX;
        found++;
    }
    return found;
}

static void rows_forget(struct engine *engine, const struct command_archive *asked, uint64_t end)
{
    for (uint64_t i = asked->from; i < end; i++) {
        if (asked->table == ARCHIVE_TICKETS && of_sale(engine, &engine->tickets.rows[i], asked->sale))
            ticket_archive(engine, &engine->tickets.rows[i]);
        if (asked->table == ARCHIVE_BUYERS && counter_goes(engine, &engine->buyers.rows[i], asked->sale)) {
            engine->buyers.rows[i].used = 0; /* of an eligible user it says that there is one */
            buyers_forget(&engine->buyers, &engine->buyers.rows[i]);
        }
    }
}

/* Places go from the last to the first, so that the numbers of those that are left have no gap. `from` counts
 * rows from the beginning of the table, and those below it are still to be looked at; 0: all. */
static void places_archive(struct engine *engine, const struct command_archive *asked,
    bool may_change, struct outcome *outcome)
{
    struct places *places = &engine->places;
    struct engine_sale *sale = &engine->sales[asked->sale];
    const uint64_t used = places->count - places->begin;
    const uint64_t top = asked->from == 0 || asked->from > used ? used : asked->from;
    const uint64_t low = top > asked->rows ? top - asked->rows : 0;
    uint32_t found = 0;
    for (uint64_t i = low; i < top; i++)
        found += places_at(places, places->begin + i)->sale == asked->sale;
    if (found > 0 && !engine_may(may_change, outcome))
        return;
    outcome->number = (uint32_t)low;
    outcome->answer = ANSWER_UNCHANGED;
    if (found == 0)
        return;
    for (uint64_t i = top; i-- > low;)
        if (places_at(places, places->begin + i)->sale == asked->sale)
            places_forget(places, places->begin + i);
    sale->arrived -= found;
    sale->drawn = sale->drawn < sale->arrived ? sale->drawn : sale->arrived;
    sale->head = sale->head < sale->arrived ? sale->head : sale->arrived;
    const uint64_t trimmed = places_trim(places);
    outcome->number = low > trimmed ? (uint32_t)(low - trimmed) : 0;
    outcome->applied = (int32_t)found;
    engine_done(outcome);
}

ENGINE_APPLY(engine_apply_archive)
{
    const struct command_archive *asked = &command->archive;
    const struct engine_sale *sale = engine_sale_asked(engine, asked->sale, outcome);
    if (sale == NULL)
        return;
    if (asked->rows == 0 || asked->rows > RECLAIM_ROWS_MAX || asked->table >= ARCHIVE_TABLES
        || command->time_ms < sale->end_ms) {
        engine_conflict(outcome, CONFLICT_BAD_WINDOW);
        return;
    }
    if (asked->table == ARCHIVE_PLACES) {
        places_archive(engine, asked, may_change, outcome);
        return;
    }
    const uint64_t rows_end =
        asked->table == ARCHIVE_TICKETS ? engine->tickets.rows_end : engine->buyers.rows_end;
    const uint64_t wanted = (uint64_t)asked->from + asked->rows;
    const uint64_t end = wanted < rows_end ? wanted : rows_end;
    const uint32_t found = rows_find(engine, asked, end);
    if (found == UINT32_MAX) {
        engine_conflict(outcome, CONFLICT_BAD_MOVE);
        return;
    }
    if (found > 0 && !engine_may(may_change, outcome))
        return;
    outcome->number = wanted < rows_end ? (uint32_t)wanted : 0;
    if (found == 0) {
        outcome->answer = ANSWER_UNCHANGED;
        return;
    }
    rows_forget(engine, asked, end);
    outcome->applied = (int32_t)found;
    engine_done(outcome);
}

ENGINE_APPLY(engine_apply_skip)
{
    struct tickets *tickets = &engine->tickets;
    const uint64_t to = command->skip.to;
    if (to <= tickets->last) {
        outcome->answer = ANSWER_UNCHANGED;
        return;
    }
    if (to > TICKET_NUMBER_MAX || to - tickets->last > SKIP_NUMBERS_MAX) {
        engine_conflict(outcome, CONFLICT_FULL);
        return;
    }
    if (!engine_may(may_change, outcome))
        return;
    outcome->applied = (int32_t)(to - tickets->last);
    tickets->last = to;
    engine_done(outcome);
}
