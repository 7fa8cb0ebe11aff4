/* SPDX-License-Identifier: Apache-2.0 */
/* The model's memory: what was asked, what the log says, what was told. The rules are in
 * model.c. */
#include "tests/simulation/model.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- asked ---- */

/* Adds the answers that this moment allows. Time may have been anything since the request came. */
static void consider(const struct model *model, struct model_request *request, uint64_t now_ms)
{
    struct command command = request->command;
    uint64_t moments[6] = { request->issued_ms, now_ms, now_ms, now_ms, now_ms, now_ms };
    if (command.type >= COMMAND_LOGGED_COUNT)
        return;
    request->considered_at = model->lsn;
    request->considered_ms = now_ms;
    for (uint32_t i = 1; i < SIM_SALES; i++)
        if (model->sales[i].start_ms > request->issued_ms && model->sales[i].start_ms < now_ms)
            moments[2] = model->sales[i].start_ms;
    model_moments_of_user(model, &command, request->issued_ms, now_ms, moments + 3);
    for (uint32_t i = 0; i < 6; i++) {
        if (i > 0 && moments[i] == moments[i - 1])
            continue;
        command.time_ms = moments[i];
        request->possible |= model_possible(model, &command);
    }
}

uint64_t model_asked(struct model *model, uint32_t port, const struct command *command,
    lsn_t appended, lsn_t durable, uint64_t now_ms)
{
    if (model->request_count == SIM_REQUESTS || model->open_count == SIM_OPEN)
        violation("harness", "the model's tables are too small");
    const uint32_t index = model->request_count++;
    struct model_request *request = &model->requests[index];
    *request = (struct model_request){ .command = *command,
        .port = port,
        .issued_at = appended,
        .durable_at = durable,
        .issued_ms = now_ms,
        .open = true };
    model->open[model->open_count++] = index;
    if (model->lsn >= appended)
        consider(model, request, now_ms);
    return index + 1;
}

static void open_remove(struct model *model, uint32_t index)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->open_count; i++)
        if (model->open[i] != index)
            model->open[kept++] = model->open[i];
    model->open_count = kept;
    model->requests[index].open = false;
}

void model_forget_open(struct model *model)
{
    for (uint32_t i = 0; i < model->open_count; i++)
        model->requests[model->open[i]].open = false;
    model->open_count = 0;
    memset(model->last_logged, 0, sizeof model->last_logged);
}

/* ---- the log ---- */

static const char *broken_rule(const struct outcome *expected, const struct outcome *found)
{
    if (expected->repeated)
        return "I8 one key, one outcome";
    switch ((enum answer)expected->answer) {
    case ANSWER_SOLD_OUT:
        return "I2 never oversell";
    case ANSWER_ALREADY_BOUGHT:
    case ANSWER_LIMIT_REACHED:
    case ANSWER_OPEN_ORDER:
        return "I4 limits per user";
    case ANSWER_NOT_STARTED:
    case ANSWER_ENDED:
    case ANSWER_PAUSED:
    case ANSWER_NOT_ELIGIBLE:
        return "I11 wins only in the window";
    case ANSWER_REPEATED:
    case ANSWER_KEY_REUSED:
        return "I8 one key, one outcome";
    case ANSWER_UNCHANGED:
        return "I10 every step once";
    case ANSWER_COOLING_DOWN:
    case ANSWER_NOT_YOUR_MOMENT:
        return "returns: who let go waits, the rest is drawn";
    case ANSWER_NOTHING_TO_REPEAT:
        return "I8 an old answer is no new win";
    case ANSWER_BAD_QUANTITY:
    case ANSWER_BAD_CHANNEL:
    case ANSWER_UNKNOWN_ITEM:
        return "I7 recovered is what was asked";
    case ANSWER_NONE:
    case ANSWER_WON:
    case ANSWER_UNUSED_4:
    case ANSWER_IN_PROGRESS:
    case ANSWER_TOO_POPULAR:
    case ANSWER_UNAVAILABLE:
    case ANSWER_DONE:
    case ANSWER_CONFLICT:
    case ANSWER_UNKNOWN_SALE:
    case ANSWER_UNKNOWN_TICKET:
    case ANSWER_FOUND:
    case ANSWER_FORGOTTEN:
    case ANSWER_DECIDING:
    case ANSWER_PASS_SPENT:
    case ANSWER_TOO_FAST:
    case ANSWER_VOID:
    case ANSWERS:
        break;
    }
    if (expected->answer == ANSWER_DONE && expected->detail != found->detail)
        return "I12 the line is served in order, within the limits";
    if (expected->ticket != found->ticket)
        return "I13 ticket numbers are never reused";
    if (expected->unit_price != found->unit_price)
        return "price: the flash price is charged";
    return "I1 conservation";
}

/* Of equal wishes the first that is not behind its port's last one: the earlier ones were
 * refused. */
static void match_request(struct model *model, const struct queue_record *record)
{
    bool overtook = false;
    for (uint32_t i = 0; i < model->open_count; i++) {
        const uint32_t index = model->open[i];
        struct model_request *request = &model->requests[index];
        if (request->in_log || !model_same_wish(&request->command, &record->command))
            continue;
        if (record->command.type == COMMAND_RESERVE) {
            overtook = index + 1 <= model->last_logged[request->port];
            if (overtook)
                continue;
            model->last_logged[request->port] = index + 1;
        }
        request->in_log = true;
        return;
    }
    if (overtook)
        violation("I12 first come first served",
            "record %" PRIu64 " overtook an earlier one of its port", record->at.seq);
    violation("I7 recovered is what was asked", "nobody asked for record %" PRIu64 " (type %u)",
        record->at.seq, record->command.type);
}

static void row_add(struct model *model, bool *row)
{
    model->buyers += !*row;
    *row = true;
}

static void fold_ticket(struct model *model, const struct model_ticket *ticket)
{
    struct model_item *item = &model->items[ticket->item];
    const uint32_t who = user_index(ticket->user);
    const uint32_t number = ++model->ticket_count;
    if (number > SIM_NUMBERS)
        violation("harness", "the model's tables are too small");
    model->tickets[number] = *ticket;
    model->tickets[number].before = model->newest[who];
    model->newest[who] = number;
    model_row_take(model, number);
    item->free[ticket->channel] -= ticket->quantity;
    item->held += ticket->quantity;
    model->used[who][ticket->item] += ticket->quantity;
    model->last[who][ticket->item] = number;
    row_add(model, &model->row_item[who][ticket->item]);
    if (model->sales[item->sale].limit != 0 || model->sales[item->sale].one_open_order) {
        model->used_sale[who][item->sale] += ticket->quantity;
        row_add(model, &model->row_sale[who][item->sale]);
    }
    if (ticket->key != 0)
        model->key_ticket[key_index(ticket->key)] = (uint16_t)number;
}

static void fold_reserve(struct model *model, const struct queue_record *record)
{
    const struct command_reserve *asked = &record->command.reserve;
    const struct model_ticket ticket = { .user = asked->user,
        .key = asked->key,
        .price = model->items[asked->item].price,
        .pay_by_ms = record->outcome.pay_by_ms,
        .time_ms = record->command.time_ms,
        .item = asked->item,
        .quantity = asked->quantity,
        .channel = asked->channel,
        .lsn = record->at.seq };
    fold_ticket(model, &ticket);
}

void model_fold_settle(struct model *model, const struct queue_record *record)
{
    const struct command_settle *asked = &record->command.settle;
    struct model_ticket *ticket = &model->tickets[asked->ticket];
    struct model_item *item = &model->items[ticket->item];
    const uint32_t who = user_index(ticket->user), units = ticket->quantity;
    *(ticket->state == TICKET_HELD ? &item->held : &item->sold) -= units;
    if (asked->step == SETTLE_SOLD) {
        item->sold += units;
        ticket->state = TICKET_SOLD;
    } else if (asked->step == SETTLE_WRITE_OFF) {
        item->written_off += units;
        ticket->state = TICKET_WRITTEN_OFF;
    } else {
        *(asked->to == CHANNEL_SAFETY ? &item->safety : &item->free[asked->to]) += units;
        model_fold_let_go(model, record);
        ticket->state = TICKET_RETURNED;
        model->used[who][ticket->item] -= units;
        if (model->sales[item->sale].limit != 0 || model->sales[item->sale].one_open_order)
            model->used_sale[who][item->sale] -= units;
    }
}

void model_fold_waiter(struct model *model, const struct queue_record *record, uint32_t index)
{
    const struct command_settle *asked = &record->command.settle;
    const item_id item = model->tickets[asked->ticket].item;
    const struct model_ticket offered = { .user = asked->waiters[index].user,
        .key = asked->waiters[index].key,
        .price = model->items[item].price,
        .pay_by_ms = record->outcome.pay_by_ms,
        .time_ms = record->command.time_ms,
        .item = item,
        .quantity = asked->waiters[index].quantity,
        .channel = asked->to,
        .lsn = record->at.seq };
    fold_ticket(model, &offered);
}

static void fold_settle(struct model *model, const struct queue_record *record)
{
    const struct command_settle *asked = &record->command.settle;
    const bool to_pool = asked->step == SETTLE_RETURN && asked->to != CHANNEL_SAFETY;
    const bool was_empty = to_pool && model->items[record->outcome.item].free[asked->to] == 0;
    model_fold_settle(model, record);
    for (uint32_t i = 0; i < record->command.settle.waiter_count; i++)
        if (outcome_waiter_ticket(&record->outcome, i) != 0)
            model_fold_waiter(model, record, i);
    model_fold_draw(model, record, was_empty);
}

static void fold_preheat(struct model *model, const struct command_preheat *asked)
{
    struct model_item *item = &model->items[asked->item];
    if (asked->change) {
        item->price = asked->unit_price;
        item->limit = asked->limit_per_user;
        item->pay_window_ms = asked->pay_window_ms;
        return;
    }
    *item = (struct model_item){ .sale = asked->sale,
        .limit = asked->limit_per_user,
        .pay_window_ms = asked->pay_window_ms,
        .total = asked->total,
        .locked = asked->locked,
        .sold_before = asked->sold_before,
        .price = asked->unit_price,
        .given = asked->total - asked->locked - asked->sold_before,
        .safety = asked->safety };
    memcpy(item->free, asked->channel_units, sizeof item->free);
    model->sales[asked->sale].items++;
}

static void fold_setup(struct model *model, const struct command *command)
{
    if (command->type == COMMAND_SALE) {
        struct model_sale *sale = &model->sales[command->sale.sale];
        sale->defined = true;
        sale->start_ms = command->sale.start_ms;
        sale->end_ms = command->sale.end_ms;
        sale->limit = command->sale.limit_per_user;
        sale->eligible_only = command->sale.eligible_only;
        sale->one_open_order = command->sale.one_open_order;
        sale->cooldown_s = command->sale.cooldown_s;
        sale->return_draw_ms = command->sale.return_draw_ms;
        model_fold_terms(sale, command);
    } else if (command->type == COMMAND_GATE) {
        struct model_sale *sale = &model->sales[command->gate.sale];
        sale->opened |= command->gate.move == GATE_MOVE_OPEN;
        if (command->gate.move == GATE_MOVE_OPEN && sale->start_draw_ms != 0)
            sale->opened_ms = command->time_ms;
        if (command->gate.move == GATE_MOVE_END || command->gate.move == GATE_MOVE_REOPEN)
            sale->ended = command->gate.move == GATE_MOVE_END;
        if (command->gate.move != GATE_MOVE_OPEN && command->gate.move != GATE_MOVE_END)
            sale->paused = command->gate.move == GATE_MOVE_PAUSE;
    } else if (command->type == COMMAND_USERS) {
        for (uint32_t i = 0; i < command->users.count; i++) {
            const uint32_t who = user_index(command->users.users[i]);
            if (!command->users.remove)
                row_add(model, &model->eligible[who][command->users.sale]);
            model->struck[who][command->users.sale] = command->users.remove;
        }
    } else {
        fold_preheat(model, &command->preheat);
    }
}

static void fold_stock(struct model *model, const struct queue_record *record)
{
    const struct command *command = &record->command;
    const int32_t units = record->outcome.applied;
    const bool moves = command->type == COMMAND_MOVE;
    struct model_item *item = &model->items[moves ? command->move.item : command->adjust.item];
    const channel_index from = moves ? command->move.from : command->adjust.channel;
    uint32_t *first = from == CHANNEL_SAFETY ? &item->safety : &item->free[from];
    if (moves) {
        const channel_index to = command->move.to;
        *first -= (uint32_t)units;
        *(to == CHANNEL_SAFETY ? &item->safety : &item->free[to]) += (uint32_t)units;
    } else {
        *first += (uint32_t)units;
        item->given += (uint32_t)units;
        item->total += (uint32_t)units;
    }
}

static void check_conservation(const struct model *model, item_id id)
{
    const struct model_item *item = &model->items[id];
    uint64_t units = (uint64_t)item->safety + item->held + item->sold + item->written_off;
    for (uint32_t i = 0; i < CHANNELS_MAX; i++)
        units += item->free[i];
    if (units != item->given)
        violation("I1 conservation", "item %u after record %" PRIu64 ": given %u, found %" PRIu64,
            id, model->lsn, item->given, units);
}

static item_id touched(const struct queue_record *record)
{
    switch ((enum command_type)record->command.type) {
    case COMMAND_PREHEAT:
        return record->command.preheat.item;
    case COMMAND_ADJUST:
        return record->command.adjust.item;
    case COMMAND_MOVE:
        return record->command.move.item;
    case COMMAND_RESERVE:
        return record->command.reserve.item;
    case COMMAND_SETTLE:
        return record->outcome.item;
    case COMMAND_NONE:
    case COMMAND_SALE:
    case COMMAND_GATE:
    case COMMAND_USERS:
    case COMMAND_ARRIVE:
    case COMMAND_ADMIT:
    case COMMAND_RECLAIM:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_TICKET:
    case COMMAND_ASK_COUNTS:
    case COMMAND_ASK_SALE:
    case COMMAND_ASK_SPEND: /* of many machines only, as these: */
    case COMMAND_GIVE:
    case COMMAND_TAKE:
    case COMMAND_ARCHIVE:
    case COMMAND_SKIP:
        break;
    }
    return 0;
}

static void fold(struct model *model, const struct queue_record *record)
{
    const uint8_t type = record->command.type;
    if (type == COMMAND_RESERVE)
        fold_reserve(model, record);
    else if (type == COMMAND_SETTLE)
        fold_settle(model, record);
    else if (type == COMMAND_ADJUST || type == COMMAND_MOVE)
        fold_stock(model, record);
    else if (type == COMMAND_ARRIVE || type == COMMAND_ADMIT)
        model_fold_room(model, record);
    else if (type == COMMAND_RECLAIM)
        model_fold_reclaim(model, record);
    else
        fold_setup(model, &record->command);
    model->lsn = record->at.seq;
    model->time_ms = record->command.time_ms;
    const item_id item = touched(record);
    if (item != 0) {
        model->items[item].changed_at = record->at.seq;
        check_conservation(model, item);
    }
}

static void consider_all(struct model *model, uint64_t now_ms)
{
    for (uint32_t i = 0; i < model->open_count; i++) {
        struct model_request *request = &model->requests[model->open[i]];
        const bool same = request->considered_at == model->lsn && request->considered_ms == now_ms;
        if (model->lsn >= request->issued_at && !same)
            consider(model, request, now_ms);
    }
}

void model_record(struct model *model, const struct queue_record *record, uint64_t now_ms)
{
    struct outcome expected;
    if (record->at.seq != model->lsn + 1 || record->at.seq > SIM_LOG)
        violation("I6 durable before told", "record %" PRIu64 " follows %" PRIu64, record->at.seq,
            model->lsn);
    if (record->command.time_ms < model->time_ms)
        violation("I11 time in the log", "record %" PRIu64 " goes back from %" PRIu64 " to %" PRIu64,
            record->at.seq, model->time_ms, record->command.time_ms);
    model_expect(model, &record->command, &expected);
    if (!model_same_outcome(&expected, &record->outcome))
        violation(record->command.type == COMMAND_RECLAIM ? "I8 nothing is forgotten too early"
                                                          : broken_rule(&expected, &record->outcome),
            "record %" PRIu64 " type %u: answer %u ticket %" PRIu64
            " applied %d, the rules say %u, %" PRIu64 ", %d",
            record->at.seq, record->command.type, record->outcome.answer, record->outcome.ticket,
            record->outcome.applied, expected.answer, expected.ticket, expected.applied);
    match_request(model, record);
    model->log[record->at.seq] = *record;
    consider_all(model, record->command.time_ms); /* the moment before */
    fold(model, record);
    consider_all(model, now_ms);
}

void model_record_again(const struct model *model, const struct queue_record *record)
{
    const struct queue_record *known = &model->log[record->at.seq];
    if (record->at.seq > model->lsn || record->at.seq != known->at.seq
        || record->command.time_ms != known->command.time_ms
        || !model_same_wish(&record->command, &known->command)
        || !model_same_outcome(&record->outcome, &known->outcome))
        violation("I6 told is recovered", "record %" PRIu64 " changed", record->at.seq);
}

/* ---- told ---- */

/* What was told has to be in the log; two equal wishes may have changed places. */
static void told_change(
    struct model *model, struct model_request *request, const struct inventory_answer *answer)
{
    for (uint32_t i = 0; i < model->open_count && !request->in_log; i++) {
        struct model_request *twin = &model->requests[model->open[i]];
        if (twin->in_log && model_same_wish(&twin->command, &request->command)) {
            twin->in_log = false;
            request->in_log = true;
        }
    }
    if (!request->in_log)
        violation("I6 durable before told",
            "request %" PRIu64 " (type %u) was told %u, the log does not have it", answer->tag,
            request->command.type, answer->outcome.answer);
    if (request->command.type != COMMAND_RESERVE)
        return;
    if (answer->outcome.ticket == 0 || answer->outcome.ticket > model->ticket_count)
        violation("I6 durable before told", "ticket %" PRIu64 " is not in the log",
            answer->outcome.ticket);
    struct model_ticket *ticket = &model->tickets[answer->outcome.ticket];
    if (ticket->user != request->command.reserve.user
        || ticket->item != request->command.reserve.item || ticket->told)
        violation("I13 ticket numbers are never reused", "ticket %" PRIu64 " is somebody else's",
            answer->outcome.ticket);
    if (answer->outcome.unit_price != ticket->price)
        violation("price: the flash price is charged", "ticket %" PRIu64, answer->outcome.ticket);
    ticket->told = true;
}

/* A refusal is not in the log: the record that was taken for this request is that of an equal
 * one. */
static void told_refusal(
    struct model *model, struct model_request *request, const struct inventory_answer *answer)
{
    for (uint32_t i = 0; i < model->open_count && request->in_log; i++) {
        struct model_request *twin = &model->requests[model->open[i]];
        if (twin != request && !twin->in_log && model_same_wish(&twin->command, &request->command)) {
            twin->in_log = true;
            request->in_log = false;
        }
    }
    if (request->in_log)
        violation("I6 told is recovered", "request %" PRIu64 " (type %u) was told %u, but the log has it",
            answer->tag, request->command.type, answer->outcome.answer);
}

static bool waits_in(const struct command_settle *settle, user_id user)
{
    for (uint32_t i = 0; i < settle->waiter_count; i++)
        if (settle->waiters[i].user == user)
            return true;
    return false;
}

/* Another purchase of this user and item must have been on its way. */
static void told_in_progress(const struct model *model, const struct model_request *request)
{
    const struct command_reserve *asked = &request->command.reserve;
    const uint32_t last = model->last[user_index(asked->user)][asked->item];
    if (last != 0 && model->tickets[last].lsn > request->durable_at)
        return;
    for (uint32_t i = 0; i < model->open_count; i++) {
        const struct model_request *other = &model->requests[model->open[i]];
        const struct command *command = &other->command;
        if (other != request
            && ((command->type == COMMAND_RESERVE && command->reserve.user == asked->user
                    && command->reserve.item == asked->item)
                || (command->type == COMMAND_SETTLE && waits_in(&command->settle, asked->user))))
            return;
    }
    violation("I3 never undersell", "user %" PRIu64 " was told \"in progress\", but nothing was",
        asked->user);
}

static void told_ticket(
    const struct model *model, const struct model_request *request, const struct outcome *told)
{
    const struct command_reserve *asked = &request->command.reserve;
    if (told->ticket == 0)
        return;
    if (told->ticket > model->ticket_count)
        violation("I6 durable before told",
            "ticket %" PRIu64 " was shown, the log does not have it", told->ticket);
    const struct model_ticket *ticket = &model->tickets[told->ticket];
    const bool by_key = told->answer == ANSWER_REPEATED;
    if (ticket->user != asked->user || (ticket->item != asked->item && told->answer != ANSWER_OPEN_ORDER)
        || (by_key && ticket->key != asked->key) || (by_key && told->unit_price != ticket->price))
        violation("I8 one key, one outcome", "ticket %" PRIu64 " is not what this request bought",
            told->ticket);
}

static void told_question(
    const struct model *model, const struct model_request *request, const struct outcome *told)
{
    const struct command_ask *asked = &request->command.ask;
    const uint8_t type = request->command.type;
    const bool known = asked->item < SIM_ITEMS && model->items[asked->item].sale != 0;
    if (type == COMMAND_ASK_TICKET) {
        if (told->answer == ANSWER_FOUND
            && (asked->ticket > model->ticket_count || model->tickets[asked->ticket].user != told->user))
            violation("I6 durable before told", "ticket %" PRIu64 " was shown too early or wrong",
                asked->ticket);
        if (told->answer == ANSWER_FORGOTTEN
            && (asked->ticket > model->ticket_count || !model->tickets[asked->ticket].forgotten))
            violation("I8 nothing is forgotten too early", "ticket %" PRIu64, asked->ticket);
        return;
    }
    if (told->answer != ANSWER_FOUND || !known || request->issued_at != request->durable_at
        || model->items[asked->item].changed_at > request->durable_at)
        return; /* it was changing */
    uint32_t free_units = 0;
    for (uint32_t i = 0; i < CHANNELS_MAX; i++)
        free_units += model->items[asked->item].free[i];
    if (type == COMMAND_ASK_COUNTS ? told->free != free_units
                                   : told->quantity != model->used[user_index(asked->user)][asked->item])
        violation("I1 conservation",
            "item %u: a question was answered with other units than there are", asked->item);
}

void model_told(struct model *model, uint32_t port, const struct inventory_answer *answer, uint64_t now_ms)
{
    const struct outcome *told = &answer->outcome;
    if (answer->tag == 0 || answer->tag > model->request_count)
        violation("I17 every request is answered once", "an answer with tag %" PRIu64, answer->tag);
    struct model_request *request = &model->requests[answer->tag - 1];
    if (request->answered || !request->open || request->port != port)
        violation("I17 every request is answered once", "request %" PRIu64 " is answered again",
            answer->tag);
    model->told_hash = (model->told_hash ^ answer->tag ^ (uint64_t)told->answer << 32)
        * UINT64_C(0x9e3779b97f4a7c15);
    if (model->lsn >= request->durable_at)
        consider(model, request, now_ms);
    if (!told->changed)
        told_refusal(model, request, answer);
    if (request->command.type >= COMMAND_LOGGED_COUNT)
        told_question(model, request, told);
    else if (told->answer == ANSWER_IN_PROGRESS)
        told_in_progress(model, request);
    else if (told->changed)
        told_change(model, request, answer);
    else if (told->answer != ANSWER_UNAVAILABLE && (request->possible & 1u << told->answer) == 0)
        violation(told->answer == ANSWER_SOLD_OUT ? "I3 never undersell" : "I8 answers follow the rules",
            "request %" PRIu64
            " (type %u) was told %u, which was never so while it waited (possible %x)",
            answer->tag, request->command.type, told->answer, request->possible);
    else if (request->command.type == COMMAND_RESERVE)
        told_ticket(model, request, told);
    if (request->command.type == COMMAND_ARRIVE)
        model_told_place(model, request, told);
    model_told_key(model, request, told);
    request->answered = true;
    open_remove(model, (uint32_t)answer->tag - 1);
}
