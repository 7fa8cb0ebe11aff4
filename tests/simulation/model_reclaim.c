/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of reclaiming: a returned ticket is forgotten when its sale and its time to pay were over by a
 * given moment. New tickets take such rows first; numbers go on. */
#include "tests/simulation/model.h"

static bool forgettable(const struct model *model, uint32_t row, uint64_t before_ms)
{
    const struct model_ticket *ticket = &model->tickets[model->row_ticket[row]];
    return model->row_ticket[row] != 0 && ticket->state == TICKET_RETURNED && ticket->pay_by_ms <= before_ms
        && model->sales[model->items[ticket->item].sale].end_ms <= before_ms;
}

void model_expect_reclaim(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_reclaim *asked = &command->reclaim;
    if (asked->before_ms > command->time_ms || asked->rows < 1 || asked->rows > RECLAIM_ROWS_MAX) {
        out->answer = ANSWER_CONFLICT;
        out->detail = CONFLICT_BAD_WINDOW;
        return;
    }
    for (uint32_t row = 0; row < model->rows_end; row++)
        if (row >= asked->from && row - asked->from < asked->rows)
            out->applied += forgettable(model, row, asked->before_ms);
    if ((uint64_t)asked->from + asked->rows < model->rows_end)
        out->number = asked->from + asked->rows;
    out->changed = out->applied > 0;
    out->answer = out->changed ? ANSWER_DONE : ANSWER_UNCHANGED;
}

/* Whoever has nothing left is counted no more. */
static void counters_forget(struct model *model, uint32_t who, item_id item)
{
    const sale_id sale = model->items[item].sale;
    if (model->used[who][item] == 0 && model->row_item[who][item]) {
        model->row_item[who][item] = false;
        model->buyers--;
        model->last[who][item] = 0;
        model->let_go[who][item] = 0;
        model->cool_until_ms[who][item] = 0;
    }
    if (model->used_sale[who][sale] == 0 && model->row_sale[who][sale]) {
        model->row_sale[who][sale] = false;
        model->buyers--;
    }
}

void model_fold_reclaim(struct model *model, const struct queue_record *record)
{
    const struct command_reclaim *asked = &record->command.reclaim;
    for (uint32_t row = asked->from; row < model->rows_end && row - asked->from < asked->rows; row++) {
        if (!forgettable(model, row, asked->before_ms))
            continue;
        struct model_ticket *ticket = &model->tickets[model->row_ticket[row]];
        ticket->forgotten = true;
        if (ticket->key != 0)
            model->key_ticket[key_index(ticket->key)] = 0;
        counters_forget(model, user_index(ticket->user), ticket->item);
        model->row_ticket[row] = 0;
        model->free_rows[model->free_count++] = (uint16_t)row;
    }
}

void model_row_take(struct model *model, ticket_number number)
{
    const uint32_t row =
        model->free_count > 0 ? model->free_rows[--model->free_count] : model->rows_end++;
    model->row_ticket[row] = (uint16_t)number;
}

/* The engine may have forgotten the ticket of this key by a RECLAIM that is not durable yet. */
static bool may_be_forgotten(const struct model *model, const struct command *command)
{
    const uint64_t key = command->type == COMMAND_RESERVE ? command->reserve.key : 0;
    const ticket_number ticket = key == 0 ? 0 : model->key_ticket[key_index(key)];
    if (ticket == 0 || model->tickets[ticket].state != TICKET_RETURNED)
        return false;
    for (uint32_t i = 0; i < model->open_count; i++)
        if (model->requests[model->open[i]].command.type == COMMAND_RECLAIM)
            return true;
    return false;
}

uint32_t model_possible(const struct model *model, const struct command *command)
{
    struct command plain = *command;
    struct outcome outcome;
    model_expect(model, command, &outcome);
    uint32_t possible = 1u << outcome.answer;
    if (!may_be_forgotten(model, command))
        return possible;
    plain.reserve.key = 0;
    model_expect(model, &plain, &outcome);
    return possible | 1u << outcome.answer;
}
