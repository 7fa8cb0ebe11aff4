/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_ask.c: questions that change nothing. */
#include "inventory/engine_apply.h"

ENGINE_APPLY(engine_ask_mine)
{
    (void)may_change;
    if (engine_item_asked(engine, command->ask.item, outcome) == NULL)
        return;
    const struct buyer_row *row =
        buyers_find(&engine->buyers, buyers_scope_item(command->ask.item), command->ask.user);
    outcome->answer = ANSWER_FOUND;
    outcome->item = command->ask.item;
    outcome->user = command->ask.user;
    outcome->quantity = row == NULL ? 0 : row->used;
    outcome->ticket = row == NULL || row->used == 0 ? 0 : row->last;
    const sale_id sale = engine->items[command->ask.item].sale;
    outcome->again_ms = engine_cooling_until_ms(engine, sale, row, command->time_ms);
}

ENGINE_APPLY(engine_ask_ticket)
{
    (void)may_change;
    const struct ticket_row *ticket = tickets_get(&engine->tickets, command->ask.ticket);
    if (ticket == NULL) {
        const bool forgotten = tickets_forgotten(&engine->tickets, command->ask.ticket);
        outcome->answer = forgotten ? ANSWER_FORGOTTEN : ANSWER_UNKNOWN_TICKET;
        outcome->ticket = forgotten ? command->ask.ticket : 0;
        return;
    }
    outcome->answer = ANSWER_FOUND;
    outcome->ticket = command->ask.ticket;
    outcome->item = ticket->item;
    outcome->user = ticket->user;
    outcome->quantity = ticket->quantity;
    outcome->unit_price = engine->items[ticket->item].unit_price;
    outcome->pay_by_ms = ticket->pay_by_ms;
    outcome->detail = ticket->state;
}

ENGINE_APPLY(engine_ask_counts)
{
    (void)may_change;
    const struct engine_item *item = engine_item_asked(engine, command->ask.item, outcome);
    if (item == NULL)
        return;
    outcome->answer = ANSWER_FOUND;
    outcome->item = command->ask.item;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        outcome->free += item->free[channel];
}

ENGINE_APPLY(engine_ask_sale)
{
    (void)may_change;
    const struct engine_sale *sale = engine_sale_asked(engine, command->ask.sale, outcome);
    if (sale == NULL)
        return;
    outcome->answer = ANSWER_FOUND;
    outcome->terms = (struct command_sale){ .sale = command->ask.sale,
        .limit_per_user = sale->limit_per_user,
        .start_ms = sale->start_ms,
        .end_ms = sale->end_ms,
        .eligible_only = sale->eligible_only,
        .one_open_order = sale->one_open_order,
        .cooldown_s = (uint16_t)sale->cooldown_s,
        .return_draw_ms = (uint16_t)sale->return_draw_ms,
        .start_draw_ms = (uint16_t)sale->start_draw_ms };
}
