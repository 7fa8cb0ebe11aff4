/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_reclaim.c: returned tickets do not use up the table for ever.
 *
 * A returned ticket holds no units. Its row is the memory of its key (I8: the same key hears the same
 * outcome until its sale is archived) and of "each step once". When its sale has been over for long enough
 * (`before_ms` of the command tells) both are of no use any more: the row goes, and with it the counter of a
 * user who has nothing left of the item or of the sale. Whoever asks for the ticket later hears that it was
 * returned and is forgotten.
 *
 * A command looks at a bounded number of rows, so that no turn becomes long, and it is logged: what is
 * forgotten does not depend on settings, and a replay comes to the same. */
#include "inventory/engine_apply.h"

static bool may_forget(const struct engine *engine, const struct ticket_row *ticket, uint64_t before_ms)
{
    if (!ticket->used)
        return false;
    const bool returned = ticket->state == TICKET_RETURNED;
    const struct engine_sale *sale = &engine->sales[engine->items[ticket->item].sale];
    const bool over = sale->end_ms <= before_ms;
    return returned && over && ticket->pay_by_ms <= before_ms;
}

static void counter_forget(struct engine *engine, uint32_t scope, user_id user)
{
    struct buyer_row *row = buyers_find(&engine->buyers, scope, user);
    if (row != NULL && row->used == 0)
        buyers_forget(&engine->buyers, row);
}

static void ticket_forget(struct engine *engine, struct ticket_row *ticket)
{
    const user_id user = ticket->user;
    const item_id item = ticket->item;
    tickets_forget(&engine->tickets, ticket);
    counter_forget(engine, buyers_scope_item(item), user);
    counter_forget(engine, buyers_scope_sale(engine->items[item].sale), user);
}

ENGINE_APPLY(engine_apply_reclaim)
{
    const struct command_reclaim *asked = &command->reclaim;
    struct tickets *tickets = &engine->tickets;
    if (asked->before_ms > command->time_ms || asked->rows == 0 || asked->rows > RECLAIM_ROWS_MAX) {
        engine_conflict(outcome, CONFLICT_BAD_WINDOW);
        return;
    }
    const uint64_t wanted = (uint64_t)asked->from + asked->rows;
    const uint64_t end = wanted < tickets->rows_end ? wanted : tickets->rows_end;
    uint32_t found = 0;
    for (uint64_t i = asked->from; i < end; i++)
        found += may_forget(engine, &tickets->rows[i], asked->before_ms);
    if (found > 0 && !engine_may(may_change, outcome))
        return;
    outcome->number = wanted < tickets->rows_end ? (uint32_t)wanted : 0;
    if (found == 0) {
        outcome->answer = ANSWER_UNCHANGED;
        return;
    }
    for (uint64_t i = asked->from; i < end; i++)
        if (may_forget(engine, &tickets->rows[i], asked->before_ms))
            ticket_forget(engine, &tickets->rows[i]);
    outcome->applied = (int32_t)found;
    engine_done(outcome);
}
