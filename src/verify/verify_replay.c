/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_replay.c: one record after the other, each one looked at from all sides.
 *
 * DESIGN
 * The record is applied by the same function that recovery uses; what is checked here on top is
 * cheap and touches only the item in hand, so that a whole journal takes about as long as hashing
 * it. The slow check of everything runs when there are four times as many records as at the last
 * one, and at the end. Snapshots and store are compared at the very position they name: before the
 * first record after it is applied. */
#include "base/clock.h"
#include "contract/record.h"
#include "contract/ticket_number.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROGRESS_EVERY_RECORDS = 1 << 16 };
#define PROGRESS_EVERY_NS UINT64_C(1000000000)

static uint32_t item_free(const struct engine_item *item)
{
    uint32_t free = 0;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        free += item->free[channel];
    return free;
}

static void conservation_check(struct verify *verify, item_id id, lsn_t lsn)
{
    const struct engine_item *item = &verify->log->engine->items[id];
    uint64_t units = (uint64_t)item->safety + item->held + item->sold + item->written_off;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        units += item->free[channel];
    verify->checks[CHECK_CONSERVATION].looked++;
    if (units != item->given)
        verify_fail(verify, CHECK_CONSERVATION, "item %u at %s: %u given, %" PRIu64 " accounted for",
            id, verify_place(verify, lsn).text, item->given, units);
    else if ((uint64_t)item->held + item->sold > item->given)
        verify_fail(verify, CHECK_CONSERVATION, "item %u at %s: oversold", id,
            verify_place(verify, lsn).text);
}

static void window_check(struct verify *verify, lsn_t lsn)
{
    const struct command *command = &verify->replay->command;
    const struct engine_item *item = &verify->log->engine->items[command->reserve.item];
    const struct engine_sale *sale = &verify->log->engine->sales[item->sale];
    if ((command->reserve.flags & RESERVE_AFTER_END) != 0)
        return;
    verify->checks[CHECK_WINDOW].looked++;
    const char *wrong = sale->ended || command->time_ms >= sale->end_ms ? "after the end"
        : !sale->opened && command->time_ms < sale->start_ms            ? "before the start"
        : sale->paused                                                  ? "during a pause"
                                                                        : NULL;
    if (wrong != NULL)
        verify_fail(verify, CHECK_WINDOW, "%s: item %u was won %s of sale %u",
            verify_place(verify, lsn).text, command->reserve.item, wrong, item->sale);
}

static void win_count(struct verify *verify, item_id id, uint64_t time_ms)
{
    struct verify_item *item = &verify->items[id];
    const uint64_t second = time_ms / 1000;
    item->second_wins = item->second == second ? item->second_wins + 1 : 1;
    item->batch_wins = item->batch == verify->recovery.batches ? item->batch_wins + 1 : 1;
    item->second = second;
    item->batch = verify->recovery.batches;
    item->tickets++;
}

static void numbers_check(struct verify *verify, uint32_t wins, lsn_t lsn)
{
    const ticket_number first = verify->replay->outcome.ticket;
    struct verify_log *log = verify->log;
    verify->checks[CHECK_NUMBERS].looked += wins;
    verify->tickets += wins;
    log->tickets += wins;
    if (first + wins != log->tickets + 1 || log->engine->tickets.last != log->tickets)
        verify_fail(verify, CHECK_NUMBERS, "%s: ticket %" PRIu64 " where %" PRIu64 " comes next",
            verify_place(verify, lsn).text, first, log->tickets - wins + 1);
}

/* Numbers that a restore from a backup has left out. */
static void skip_note(struct verify *verify, lsn_t lsn)
{
    struct verify_log *log = verify->log;
    log->tickets += (uint64_t)verify->replay->outcome.applied;
    if (log->engine->tickets.last != log->tickets || log->tickets >= log->marks_end)
        verify_fail(verify, CHECK_NUMBERS, "%s: %d numbers of tickets are left out, up to %" PRIu64,
            verify_place(verify, lsn).text, verify->replay->outcome.applied, log->tickets);
}

static void gone_note(struct verify *verify, item_id id, lsn_t lsn)
{
    struct verify_item *item = &verify->items[id];
    if (item_free(&verify->log->engine->items[id]) > 0) {
        item->gone_lsn = 0;
    } else if (item->gone_lsn == 0) {
        item->gone_lsn = lsn;
        item->gone_ms = verify->replay->command.time_ms;
        item->gone_tickets = item->tickets;
    }
}

static void event_limits(const struct verify *verify, struct verify_event *event)
{
    const struct engine_item *item = &verify->log->engine->items[event->item];
    const struct buyer_row *row =
        buyers_find(&verify->log->engine->buyers, buyers_scope_item(event->item), verify->user);
    event->item_limit = item->limit_per_user;
    event->sale = item->sale;
    event->sale_limit = verify->log->engine->sales[item->sale].limit_per_user;
    event->used_after = row == NULL ? 0 : row->used;
}

static void event_keep(struct verify *verify, struct verify_event *event, lsn_t lsn)
{
    event->lsn = lsn;
    event->log = verify->log;
    event->time_ms = verify->replay->command.time_ms;
    event->type = (enum command_type)verify->replay->command.type;
    if (event->item != 0)
        event_limits(verify, event);
    verify->event_total++;
    if (verify->event_count < VERIFY_EVENTS_MAX)
        verify->events[verify->event_count++] = *event;
}

static void event_won(struct verify *verify, lsn_t lsn, ticket_number ticket, item_id id,
    uint32_t quantity, channel_index channel)
{
    const struct verify_item *history = &verify->items[id];
    const uint32_t free_after = verify->log->engine->items[id].free[channel];
    struct verify_event event = {
        .item = id,
        .ticket = ticket,
        .won = true,
        .quantity = quantity,
        .channel = channel,
        .free_before = free_after + quantity,
        .free_after = free_after,
        .unit_price = verify->replay->outcome.unit_price,
        .pay_by_ms = verify->replay->outcome.pay_by_ms,
        .wins_before = history->tickets - 1,
        .second_ahead = history->second_wins - 1,
        .batch_ahead = history->batch_wins - 1,
    };
    event_keep(verify, &event, lsn);
}

static void event_settled(struct verify *verify, lsn_t lsn)
{
    const struct command_settle *settle = &verify->replay->command.settle;
    const struct outcome *outcome = &verify->replay->outcome;
    const bool pool = settle->step == SETTLE_RETURN && settle->to < CHANNELS_MAX;
    uint32_t waited = 0;
    for (uint32_t i = 0; i < settle->waiter_count; i++)
        waited += (outcome->detail & 1u << i) != 0 ? settle->waiters[i].quantity : 0;
    const uint32_t now = pool ? verify->log->engine->items[outcome->item].free[settle->to] : 0;
    struct verify_event event = {
        .item = outcome->item,
        .ticket = settle->ticket,
        .step = (enum settle_step)settle->step,
        .quantity = outcome->quantity,
        .channel = settle->to,
        .free_before = pool ? now + waited - outcome->quantity : 0,
        .free_after = pool ? now : 0,
    };
    event_keep(verify, &event, lsn);
}

static void user_note(struct verify *verify, lsn_t lsn)
{
    const struct command *command = &verify->replay->command;
    const struct outcome *outcome = &verify->replay->outcome;
    if (command->type == COMMAND_RESERVE && command->reserve.user == verify->user)
        event_won(verify, lsn, outcome->ticket, command->reserve.item, command->reserve.quantity,
            command->reserve.channel);
    if (command->type == COMMAND_SETTLE && outcome->user == verify->user)
        event_settled(verify, lsn);
    for (uint32_t i = 0; command->type == COMMAND_SETTLE && i < command->settle.waiter_count; i++) {
        const struct waiter *waiter = &command->settle.waiters[i];
        const ticket_number ticket = outcome_waiter_ticket(outcome, i);
        if (ticket != 0 && waiter->user == verify->user)
            event_won(verify, lsn, ticket, outcome->item, waiter->quantity, command->settle.to);
    }
    for (uint32_t i = 0; command->type == COMMAND_USERS && i < command->users.count; i++) {
        struct verify_event event = { .sale = command->users.sale };
        if (command->users.users[i] == verify->user)
            event_keep(verify, &event, lsn);
    }
}

uint32_t verify_counts_take(
    const struct verify *verify, const struct verify_log *log, struct verify_counts *counts)
{
    uint32_t count = 0;
    for (item_id id = 1; id < verify->config.items_max; id++) {
        struct verify_units sum;
        if ((verify->options->item != 0 && verify->options->item != id)
            || !verify_item_sum(verify, id, &sum) || (log != NULL && log->engine->items[id].sale == 0))
            continue;
        if (log != NULL)
            engine_item_counts(log->engine, id, &sum.counts);
        counts[count].item = id;
        counts[count].tickets = verify->items[id].tickets;
        counts[count++].counts = sum.counts;
    }
    return count;
}

/* What one log had then goes to what others of the sale had. */
static void counts_merge(struct verify_counts *all, uint32_t *total, const struct verify_counts *counts)
{
    for (uint32_t i = 0; i < *total; i++)
        if (all[i].item == counts->item) {
            all[i].tickets = counts->tickets;
            item_counts_add(&all[i].counts, &counts->counts);
            return;
        }
    all[(*total)++] = *counts;
}

static void moment_take(struct verify *verify, lsn_t lsn)
{
    struct verify_counts *fresh = calloc(ITEMS_LIMIT, sizeof *fresh);
    invariant(fresh != NULL);
    verify->log->at_taken = true;
    verify->log->at_lsn = lsn;
    const uint32_t count = verify_counts_take(verify, verify->log, fresh);
    for (uint32_t i = 0; i < count; i++)
        counts_merge(verify->at_counts, &verify->at_count, &fresh[i]);
    free(fresh);
}

/* What stands beside the folder's log must be looked at before the record after `before` changes anything. */
static void position_look(struct verify *verify, lsn_t before)
{
    while (verify->snapshot_next < verify->snapshot_count
        && verify->snapshots[verify->snapshot_next].lsn <= before) {
        const struct verify_snapshot *snapshot = &verify->snapshots[verify->snapshot_next++];
        if (snapshot->lsn == before)
            verify_snapshot_compare(verify, snapshot);
    }
    if (verify->store != NULL && !verify->store_compared && verify->log->state.seq == before)
        verify_store_compare(verify);
}

static void moment_look(struct verify *verify, const struct journal_record *record, uint64_t batch_time_ms)
{
    struct command command;
    struct outcome outcome;
    /* A batch has the time of its last record or a later one. */
    if (verify->log->at_taken || batch_time_ms <= verify->options->at_ms)
        return;
    if (record_decode(record->type, record->payload, &command, &outcome) == STATUS_OK
        && command.time_ms > verify->options->at_ms)
        moment_take(verify, record->lsn - 1);
}

static void dead_look(struct verify *verify, lsn_t lsn)
{
    struct verify_log *log = verify->log;
    struct ticket_parts parts;
    for (; log->dead_next < verify->dead_count; log->dead_next++) {
        const struct dead_letter *letter = &verify->dead[log->dead_next];
        if (letter->at.part != log->state.part || letter->at.seq > lsn)
            return;
        if (ticket_number_split(letter->ticket, &parts) && parts.n < log->marks_end)
            log->marks[parts.n] |= MARK_DEAD;
        if (letter->at.seq == lsn)
            for (uint32_t i = 0;
                 i < outcome_wins(&verify->replay->command, &verify->replay->outcome); i++)
                log->marks[verify->replay->outcome.ticket + i] |= MARK_DEAD;
    }
}

static void progress_tell(struct verify *verify)
{
    const uint64_t now_ns = clock_monotonic_ns();
    if (now_ns - verify->progress_ns < PROGRESS_EVERY_NS || !isatty(STDERR_FILENO))
        return;
    verify->progress_ns = now_ns;
    if (verify->source.partitions)
        fprintf(stderr, "\rverify: %" PRIu64 " records, partition %u ", verify->recovery.records,
            verify->log->state.part);
    else
        fprintf(stderr, "\rverify: %" PRIu64 " records, %" PRIu64 " of at most %" PRIu64 " MB ",
            verify->recovery.records, verify->recovery.bytes >> 20, verify->segment_bytes >> 20);
    fflush(stderr);
}

static void state_check(struct verify *verify, lsn_t lsn)
{
    const char *wrong = engine_check(verify->log->engine);
    verify->checks[CHECK_STATE].looked++;
    if (wrong != NULL)
        verify_fail(verify, CHECK_STATE, "%s: %s", verify_place(verify, lsn).text, wrong);
}

/* An item is in the logs of one sale only. */
static void item_note(struct verify *verify, item_id id, lsn_t lsn)
{
    struct verify_item *item = &verify->items[id];
    if (item->log != NULL && part_sale(item->log->state.part) != part_sale(verify->log->state.part))
        verify_fail(verify, CHECK_STATE, "%s: item %u is in partition %u, too",
            verify_place(verify, lsn).text, id, item->log->state.part);
    item->log = verify->log;
}

static void record_look(struct verify *verify, lsn_t lsn)
{
    const struct command *command = &verify->replay->command;
    const struct outcome *outcome = &verify->replay->outcome;
    const item_id item = engine_command_item(command, outcome);
    const uint32_t wins = outcome_wins(command, outcome);
    if (wins > 0)
        numbers_check(verify, wins, lsn);
    if (command->type == COMMAND_SKIP)
        skip_note(verify, lsn);
    for (uint32_t i = 0; i < wins; i++)
        win_count(verify, item, command->time_ms);
    if (command->type == COMMAND_RESERVE)
        window_check(verify, lsn);
    verify_transfer_note(verify);
    if (item != 0) {
        item_note(verify, item, lsn);
        conservation_check(verify, item, lsn);
        if (verify->log->state.shards <= 1) /* of several shards, none knows when the last one sold out */
            gone_note(verify, item, lsn);
    }
    if (verify->user != 0)
        user_note(verify, lsn);
}

enum status verify_record(void *context, const struct journal_record *record, uint64_t batch_time_ms)
{
    struct verify *verify = context;
    const lsn_t lsn = record->lsn;
    if (!verify->source.partitions)
        position_look(verify, lsn - 1);
    if (verify->options->at_wanted)
        moment_look(verify, record, batch_time_ms);
    const enum status status = replay_record(verify->replay, record, batch_time_ms);
    if (status != STATUS_OK) {
        verify_fail(verify, CHECK_OUTCOMES, "%s%s", verify_log_name(verify).text, verify->replay->what);
        return status;
    }
    if (verify->first_ms == 0)
        verify->first_ms = verify->replay->command.time_ms;
    verify->last_ms = verify->replay->command.time_ms;
    verify->checks[CHECK_OUTCOMES].looked++;
    record_look(verify, lsn);
    dead_look(verify, lsn);
    if (verify->recovery.records >= verify->full_check_at) {
        verify->full_check_at *= 4;
        state_check(verify, lsn);
    }
    if (verify->recovery.records % PROGRESS_EVERY_RECORDS == 0)
        progress_tell(verify);
    return STATUS_OK;
}

void verify_records_end(struct verify *verify)
{
    const lsn_t end = verify->recovery.end.lsn;
    position_look(verify, end);
    for (; verify->snapshot_next < verify->snapshot_count; verify->snapshot_next++) {
        const struct verify_snapshot *snapshot = &verify->snapshots[verify->snapshot_next];
        if (!verify->running)
            verify_fail(verify, CHECK_SNAPSHOTS,
                "%s is of a later position than the end of the log, %" PRIu64, snapshot->name, end);
    }
    verify_log_end(verify, end);
}

void verify_log_end(struct verify *verify, lsn_t end)
{
    if (verify->options->at_wanted && !verify->log->at_taken)
        moment_take(verify, end);
    state_check(verify, end);
    if (verify->progress_ns != 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%60s\r", "");
}
