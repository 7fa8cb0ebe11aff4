#include "inventory/embedded.h"

#include "base/log.h"
#include "base/planted.h"
#include "base/ring.h"
#include "contract/record.h"
#include "inventory/replay.h"
#include "inventory/snapshot.h"

#include <stdio.h>
#include <stdlib.h>

enum { DRAIN_PER_PORT = 256 }; /* requests taken from one port before the next has its turn */

struct embedded_port_state {
    struct inventory_port port; /* first: a port is this */
    struct embedded *embedded;
    struct ring requests; /* client → host */
    struct ring answers;  /* host → client */
    struct wake *client;
    uint32_t in_flight; /* client only: committed and not collected; keeps the answer ring from overflowing */
    uint32_t in_flight_max;
    uint32_t taken; /* client only: collected, their slots not given back yet; they count as in flight */
    bool answered; /* host only: has answers to show at the end of the turn */
};

/* An answer that waits until its log position is durable. */
struct parked {
    lsn_t lsn;
    uint32_t port;
    struct inventory_answer answer;
};

struct embedded {
    struct embedded_config config;
    struct arena arena;
    struct engine engine;
    struct journal *journal;
    struct board board;
    struct wake *host;
    struct wake sync;
    struct thread_owner owner;

    struct embedded_port_state *ports;
    struct parked *parked; /* a ring, first come first out */
    uint64_t parked_head, parked_tail, parked_mask;

    /* Items changed since the last seal, and their views as of that seal: published when the batch is durable. */
    item_id *dirty;
    uint32_t dirty_count;
    bool *is_dirty;
    struct board_update *sealed;
    uint32_t sealed_count;

    lsn_t *item_lsn; /* last change of the item */
    lsn_t *sale_lsn;
    lsn_t durable;
    uint64_t tickets_sealed, tickets_durable;
    uint64_t last_time_ms;
    uint64_t time_floor_ms;
    uint64_t segments_seen; /* housekeeper only */
    _Atomic uint32_t held;  /* enum wins_stopped, asked for from outside */
};

static void dirty_add(struct embedded *embedded, item_id item)
{
    if (embedded->is_dirty[item])
        return;
    embedded->is_dirty[item] = true;
    embedded->dirty[embedded->dirty_count++] = item;
}

/* A change of a whole sale shows on every item of it. */
static void dirty_add_sale(struct embedded *embedded, sale_id sale, lsn_t lsn)
{
    embedded->sale_lsn[sale] = lsn;
    for (item_id item = 1; item < embedded->config.engine.items_max; item++)
        if (embedded->engine.items[item].sale == sale)
            dirty_add(embedded, item);
}

static void board_show(struct embedded *embedded, const struct board_update *update)
{
    if (planted(FLAG_STAYS)) {
        struct board_update old;
        if (board_read(&embedded->board, update->item, &old) && old.counts.channel_free[0] == 0 &&
            update->counts.channel_free[0] > 0)
            return;
    }
    board_publish(&embedded->board, update);
}

static void board_fill(struct embedded *embedded)
{
    for (item_id item = 1; item < embedded->config.engine.items_max; item++) {
        struct board_update view;
        if (engine_item_view(&embedded->engine, item, &view))
            board_publish(&embedded->board, &view);
    }
    for (ticket_number number = 1; number <= embedded->engine.tickets.count; number++) {
        const struct ticket_row *ticket = tickets_get(&embedded->engine.tickets, number);
        board_add_buyer(&embedded->board, ticket->item, ticket->user);
    }
}

/* A slot of the answer ring is free for the host only when it was given back: then the request is over. */
static void answers_done(struct embedded_port_state *state)
{
    ring_release(&state->answers);
    state->in_flight -= state->taken;
    state->taken = 0;
}

static struct inventory_request *port_reserve(struct inventory_port *port)
{
    struct embedded_port_state *state = (struct embedded_port_state *)port;
    if (state->in_flight == state->in_flight_max)
        answers_done(state);
    return state->in_flight == state->in_flight_max ? NULL : ring_reserve(&state->requests);
}

static void port_commit(struct inventory_port *port)
{
    struct embedded_port_state *state = (struct embedded_port_state *)port;
    ring_commit(&state->requests);
    state->in_flight++;
}

static void port_flush(struct inventory_port *port)
{
    struct embedded_port_state *state = (struct embedded_port_state *)port;
    struct wake *host = state->embedded->host;
    if (ring_publish(&state->requests) && host != NULL && host != state->client)
        wake_signal(host);
}

static const struct inventory_answer *port_collect(struct inventory_port *port)
{
    struct embedded_port_state *state = (struct embedded_port_state *)port;
    const struct inventory_answer *answer = ring_peek(&state->answers);
    if (answer == NULL) {
        answers_done(state);
        return NULL;
    }
    ring_pop(&state->answers);
    state->taken++;
    return answer;
}

static const struct inventory_port_ops port_ops = {
    .reserve = port_reserve,
    .commit = port_commit,
    .flush = port_flush,
    .collect = port_collect,
};

static void answer_give(struct embedded *embedded, uint32_t port, const struct inventory_answer *answer)
{
    struct embedded_port_state *state = &embedded->ports[port];
    struct inventory_answer *slot = ring_reserve(&state->answers);
    invariant(slot != NULL); /* in_flight keeps it so */
    *slot = *answer;
    ring_commit(&state->answers);
    state->answered = true;
}

static void answer_park(struct embedded *embedded, lsn_t lsn, uint32_t port, const struct inventory_answer *answer)
{
    invariant(embedded->parked_tail - embedded->parked_head <= embedded->parked_mask);
    embedded->parked[embedded->parked_tail++ & embedded->parked_mask] =
        (struct parked){ .lsn = lsn, .port = port, .answer = *answer };
}

/* The position that this answer saw. What tells nothing of the log leaves at once. */
static lsn_t answer_position(
    const struct embedded *embedded, const struct command *command, const struct outcome *outcome)
{
    if (outcome->answer == ANSWER_IN_PROGRESS || outcome->answer == ANSWER_UNAVAILABLE)
        return 0;
    if (outcome->answer == ANSWER_KEY_REUSED)
        return journal_appended(embedded->journal); /* perhaps for another item, in another sale */
    const item_id item = engine_command_item(command, outcome);
    if (item == 0 || item >= embedded->config.engine.items_max)
        return command->type < COMMAND_LOGGED_COUNT ? journal_appended(embedded->journal) : 0;
    const lsn_t item_lsn = embedded->item_lsn[item];
    const lsn_t sale_lsn = embedded->sale_lsn[embedded->engine.items[item].sale];
    return item_lsn > sale_lsn ? item_lsn : sale_lsn;
}

static lsn_t change_log(struct embedded *embedded, const struct command *command, const struct outcome *outcome)
{
    uint8_t bytes[RECORD_BYTES_MAX];
    const uint32_t size = record_encode(command, outcome, bytes);
    const lsn_t lsn = journal_append(embedded->journal, command->type, bytes, size);
    const item_id item = engine_command_item(command, outcome);
    if (item != 0) {
        const sale_id sale = embedded->engine.items[item].sale;
        embedded->item_lsn[item] = lsn;
        if (embedded->engine.sales[sale].limit_per_user != 0)
            embedded->sale_lsn[sale] = lsn; /* what a user has of one item decides about the others */
        dirty_add(embedded, item);
    }
    if (command->type == COMMAND_SALE)
        dirty_add_sale(embedded, command->sale.sale, lsn);
    else if (command->type == COMMAND_GATE)
        dirty_add_sale(embedded, command->gate.sale, lsn);
    else if (command->type == COMMAND_USERS)
        embedded->sale_lsn[command->users.sale] = lsn; /* decides, but does not show on the board */
    /* Early is fine: the filter may only say "perhaps" too often, never too seldom. */
    if (outcome->ticket != 0) {
        const struct ticket_row *ticket = tickets_get(&embedded->engine.tickets, outcome->ticket);
        board_add_buyer(&embedded->board, ticket->item, ticket->user);
    }
    return lsn;
}

static void request_handle(
    struct embedded *embedded, uint32_t port, const struct inventory_request *request, bool may_log)
{
    struct command command = request->command;
    struct inventory_answer answer = { .tag = request->tag };
    command.time_ms = embedded->last_time_ms;
    bool may_change = may_log;
    if (command.type == COMMAND_RESERVE) {
        command.reserve.pending_from = embedded->tickets_durable + 1;
        may_change = may_log && atomic_load_explicit(&embedded->held, memory_order_relaxed) == WINS_RUNNING;
    }
    engine_apply(&embedded->engine, &command, may_change, &answer.outcome);
    lsn_t lsn = answer.outcome.changed ? change_log(embedded, &command, &answer.outcome)
                                       : answer_position(embedded, &command, &answer.outcome);
    if (command.type == COMMAND_RESERVE) { /* for whoever puts it into words; the log has it in the command */
        answer.outcome.item = command.reserve.item;
        answer.outcome.quantity = command.reserve.quantity;
    }
    if (planted(TOLD_BEFORE_DURABLE))
        lsn = 0;
    if (lsn > embedded->durable)
        answer_park(embedded, lsn, port, &answer);
    else
        answer_give(embedded, port, &answer);
}

static void batch_became_durable(struct embedded *embedded)
{
    const lsn_t durable = journal_durable(embedded->journal);
    if (durable == embedded->durable)
        return;
    embedded->durable = durable;
    embedded->tickets_durable = embedded->tickets_sealed;
    atomic_store_explicit(&embedded->board.durable_lsn, durable, memory_order_relaxed);
    for (uint32_t i = 0; i < embedded->sealed_count; i++)
        board_show(embedded, &embedded->sealed[i]);
    embedded->sealed_count = 0;
    while (embedded->parked_head != embedded->parked_tail) {
        const struct parked *parked = &embedded->parked[embedded->parked_head & embedded->parked_mask];
        if (parked->lsn > durable)
            break;
        answer_give(embedded, parked->port, &parked->answer);
        embedded->parked_head++;
    }
}

static void batch_seal(struct embedded *embedded)
{
    if (journal_writing(embedded->journal))
        return;
    batch_became_durable(embedded); /* the sync thread may have finished one since the turn began */
    if (!journal_seal(embedded->journal, embedded->last_time_ms))
        return;
    invariant(embedded->sealed_count == 0);
    for (uint32_t i = 0; i < embedded->dirty_count; i++) {
        const item_id item = embedded->dirty[i];
        embedded->is_dirty[item] = false;
        if (engine_item_view(&embedded->engine, item, &embedded->sealed[embedded->sealed_count]))
            embedded->sealed_count++;
    }
    embedded->dirty_count = 0;
    embedded->tickets_sealed = embedded->engine.tickets.count;
    wake_signal(&embedded->sync);
}

/* Whether a change can be logged now. Without a segment to write to, wins stop but answers go on; a buffer that is only
 * full for the moment makes the requests wait in their ring. */
enum logging { LOGGING, LOGGING_LATER, LOGGING_NOT };

static enum logging logging_now(struct embedded *embedded)
{
    if (__builtin_expect(journal_room(embedded->journal) > 0, 1))
        return LOGGING;
    const bool full_for_now =
        journal_writing(embedded->journal) || journal_appended(embedded->journal) > embedded->durable;
    return full_for_now ? LOGGING_LATER : LOGGING_NOT;
}

static void wins_stopped_show(struct embedded *embedded, bool no_disk)
{
    uint32_t stopped = atomic_load_explicit(&embedded->held, memory_order_relaxed);
    if (stopped == WINS_RUNNING && no_disk)
        stopped = WINS_NO_DISK;
    if (stopped == WINS_RUNNING && tickets_full(&embedded->engine.tickets))
        stopped = WINS_FULL;
    if (atomic_load_explicit(&embedded->board.wins_stopped, memory_order_relaxed) != stopped)
        atomic_store_explicit(&embedded->board.wins_stopped, stopped, memory_order_relaxed);
}

/* Takes up to DRAIN_PER_PORT requests of one port. True: it had that many. */
static bool port_drain(struct embedded *embedded, uint32_t port, enum logging *logging)
{
    struct ring *requests = &embedded->ports[port].requests;
    uint32_t taken = 0;
    for (; taken < DRAIN_PER_PORT; taken++) {
        const struct inventory_request *request = ring_peek(requests);
        if (request == NULL)
            break;
        *logging = logging_now(embedded);
        if (*logging == LOGGING_LATER)
            break;
        request_handle(embedded, port, request, *logging == LOGGING);
        ring_pop(requests);
    }
    ring_release(requests);
    return taken == DRAIN_PER_PORT;
}

static void answers_show(struct embedded *embedded)
{
    for (uint32_t port = 0; port < embedded->config.ports; port++) {
        struct embedded_port_state *state = &embedded->ports[port];
        if (!state->answered)
            continue;
        state->answered = false;
        if (ring_publish(&state->answers) && state->client != NULL && state->client != embedded->host)
            wake_signal(state->client);
    }
}

bool embedded_turn(struct embedded *embedded, uint64_t now_ms)
{
    thread_owner_check(embedded->owner);
    if (journal_failed(embedded->journal)) {
        atomic_store_explicit(&embedded->board.wins_stopped, WINS_FAILED, memory_order_relaxed);
        return false; /* no further answer: the program stops */
    }
    if (now_ms > embedded->last_time_ms)
        embedded->last_time_ms = now_ms;
    batch_became_durable(embedded);
    enum logging logging = LOGGING;
    bool more = false;
    for (uint32_t port = 0; port < embedded->config.ports; port++)
        more |= port_drain(embedded, port, &logging);
    wins_stopped_show(embedded, journal_room(embedded->journal) == 0 && logging_now(embedded) == LOGGING_NOT);
    batch_seal(embedded);
    answers_show(embedded);
    return more && logging != LOGGING_LATER;
}

bool embedded_idle(const struct embedded *embedded)
{
    for (uint32_t port = 0; port < embedded->config.ports; port++)
        if (ring_used(&embedded->ports[port].requests) > 0)
            return false;
    return embedded->parked_head == embedded->parked_tail && !journal_writing(embedded->journal) &&
        journal_appended(embedded->journal) == journal_durable(embedded->journal);
}

bool embedded_write(struct embedded *embedded)
{
    if (journal_failed(embedded->journal) || !journal_writing(embedded->journal))
        return false;
    const enum status status = journal_write(embedded->journal);
    if (status != STATUS_OK)
        log_error("inventory", "the journal can't be written (%s): no further answers, stopping",
            status_name(status));
    if (embedded->host != NULL)
        wake_signal(embedded->host);
    return true;
}

enum status embedded_snapshot_now(struct embedded *embedded)
{
    struct journal_position end;
    if (journal_failed(embedded->journal))
        return STATUS_IO;
    invariant(embedded_idle(embedded));
    journal_end(embedded->journal, &end);
    if (end.lsn == 0)
        return STATUS_OK; /* nothing to keep */
    return snapshot_write(
        embedded->config.journal.disk, &embedded->engine, embedded->config.journal.data_id, &end);
}

static enum status snapshot_build(struct embedded *embedded, uint64_t until)
{
    struct engine engine;
    struct journal_recovery recovery;
    struct journal_position from;
    enum status status = engine_open(&engine, &embedded->config.engine);
    if (status != STATUS_OK)
        return status;
    struct replay replay = { .engine = &engine };
    struct disk *disk = embedded->config.journal.disk;
    const uint64_t data_id = embedded->config.journal.data_id;
    status = snapshot_load_latest(disk, &engine, &embedded->config.engine, data_id, &from);
    if (status == STATUS_OK && from.lsn < until) {
        status = journal_scan_until(
            &embedded->config.journal, &from, until, replay_record, &replay, &recovery);
        if (status == STATUS_OK)
            status = snapshot_write(disk, &engine, data_id, &recovery.end);
    }
    if (status != STATUS_OK)
        log_error("inventory", "no snapshot could be made (%s%s%s); replay after a crash takes longer",
            status_name(status), replay.what[0] != 0 ? ": " : "", replay.what);
    engine_close(&engine);
    return status;
}

enum status embedded_housekeep(struct embedded *embedded)
{
    enum status status = STATUS_OK;
    if (journal_failed(embedded->journal))
        return STATUS_IO;
    if (journal_wants_segment(embedded->journal)) {
        status = journal_prepare(embedded->journal);
        if (status == STATUS_FULL)
            log_error("inventory", "the disk is full: no room for another journal segment");
        if (status == STATUS_OK && embedded->host != NULL)
            wake_signal(embedded->host); /* wins may go on */
    }
    const uint64_t begun = journal_segments_begun(embedded->journal);
    if (status == STATUS_OK && begun != embedded->segments_seen) {
        embedded->segments_seen = begun;
        const uint64_t start = journal_segment_start(embedded->journal);
        if (start > 1)
            status = snapshot_build(embedded, start - 1);
    }
    return status;
}

static size_t arena_bytes(const struct embedded_config *config)
{
    const size_t slots = config->ring_slots;
    return config->ports *
        (sizeof(struct embedded_port_state) + 256 +
            slots * (sizeof(struct inventory_request) + sizeof(struct inventory_answer))) +
        2 * (config->ports * slots + 1) * sizeof(struct parked) +
        config->engine.items_max *
        (sizeof(item_id) + sizeof(bool) + sizeof(struct board_update) + sizeof(lsn_t)) +
        config->engine.sales_max * sizeof(lsn_t) +
        board_bytes(config->engine.items_max, config->engine.tickets_max) + 16384;
}

static void tables_create(struct embedded *embedded)
{
    const struct embedded_config *config = &embedded->config;
    struct arena *arena = &embedded->arena;
    embedded->ports = arena_take(arena, config->ports, sizeof *embedded->ports);
    for (uint32_t i = 0; i < config->ports; i++) {
        struct embedded_port_state *state = &embedded->ports[i];
        state->port.ops = &port_ops;
        state->embedded = embedded;
        state->in_flight_max = config->ring_slots;
        ring_create(&state->requests, arena, config->ring_slots, sizeof(struct inventory_request));
        ring_create(&state->answers, arena, config->ring_slots, sizeof(struct inventory_answer));
    }
    uint64_t parked = 1;
    while (parked < (uint64_t)config->ports * config->ring_slots)
        parked *= 2;
    embedded->parked = arena_take(arena, parked, sizeof *embedded->parked);
    embedded->parked_mask = parked - 1;
    embedded->dirty = arena_take(arena, config->engine.items_max, sizeof *embedded->dirty);
    embedded->is_dirty = arena_take(arena, config->engine.items_max, sizeof *embedded->is_dirty);
    embedded->sealed = arena_take(arena, config->engine.items_max, sizeof *embedded->sealed);
    embedded->item_lsn = arena_take(arena, config->engine.items_max, sizeof *embedded->item_lsn);
    embedded->sale_lsn = arena_take(arena, config->engine.sales_max, sizeof *embedded->sale_lsn);
    board_create(&embedded->board, arena, config->engine.items_max, config->engine.tickets_max);
    embedded->board.filter_key = config->filter_key;
}

static enum status state_recover(struct embedded *embedded, struct embedded_report *report)
{
    struct replay replay = { .engine = &embedded->engine };
    const struct embedded_config *config = &embedded->config;
    enum status status = snapshot_load_latest(config->journal.disk, &embedded->engine, &config->engine,
        config->journal.data_id, &report->snapshot);
    if (status != STATUS_OK) {
        snprintf(report->what, sizeof report->what, "snapshot: %s",
            status == STATUS_FULL           ? "holds more than tickets_max, items_max or sales_max allow"
                : status == STATUS_CONFLICT ? "belongs to another data folder"
                                            : status_name(status));
        return status;
    }
    replay.last_time_ms = 0;
    status = journal_open(&embedded->journal, &config->journal, &report->snapshot, replay_record, &replay,
        &report->replay);
    if (status != STATUS_OK) {
        const struct journal_damage *damage = &report->replay.damage;
        if (replay.what[0] != 0)
            snprintf(report->what, sizeof report->what, "journal: %s", replay.what);
        else
            snprintf(report->what, sizeof report->what, "journal %s at byte %llu: %s", damage->segment,
                (unsigned long long)damage->offset, damage->what[0] != 0 ? damage->what : status_name(status));
        return status;
    }
    const uint64_t last = replay.last_time_ms;
    embedded->time_floor_ms = last > report->replay.end.time_ms ? last : report->replay.end.time_ms;
    return STATUS_OK;
}

enum status embedded_open(
    struct embedded **out, const struct embedded_config *config, struct embedded_report *report)
{
    struct embedded *embedded = calloc(1, sizeof *embedded);
    enum status status = STATUS_FULL;
    *out = NULL;
    *report = (struct embedded_report){ 0 };
    if (embedded == NULL)
        return STATUS_FULL;
    embedded->config = *config;
    embedded->sync.fd = -1;
    if (arena_open(&embedded->arena, arena_bytes(config)) != STATUS_OK ||
        engine_open(&embedded->engine, &config->engine) != STATUS_OK)
        goto fail;
    tables_create(embedded);
    status = wake_open(&embedded->sync);
    if (status == STATUS_OK)
        status = state_recover(embedded, report);
    if (status != STATUS_OK)
        goto fail;
    embedded->durable = journal_durable(embedded->journal);
    embedded->tickets_sealed = embedded->tickets_durable = embedded->engine.tickets.count;
    embedded->last_time_ms = planted(CLOCK_BACKWARDS) ? 0 : embedded->time_floor_ms;
    embedded->segments_seen = journal_segments_begun(embedded->journal);
    atomic_store(&embedded->board.durable_lsn, embedded->durable);
    board_fill(embedded);
    *out = embedded;
    return STATUS_OK;
fail:
    embedded_close(embedded);
    return status;
}

void embedded_close(struct embedded *embedded)
{
    if (embedded == NULL)
        return;
    journal_close(embedded->journal);
    if (embedded->sync.fd >= 0)
        wake_close(&embedded->sync);
    engine_close(&embedded->engine);
    arena_close(&embedded->arena);
    free(embedded);
}

struct inventory_port *embedded_port(struct embedded *embedded, uint32_t index, struct wake *client)
{
    invariant(index < embedded->config.ports);
    embedded->ports[index].client = client;
    return &embedded->ports[index].port;
}

void embedded_host(struct embedded *embedded, struct wake *host)
{
    embedded->host = host;
}

struct wake *embedded_sync_wake(struct embedded *embedded)
{
    return &embedded->sync;
}

const struct board *embedded_board(const struct embedded *embedded)
{
    return &embedded->board;
}

const struct journal *embedded_journal(const struct embedded *embedded)
{
    return embedded->journal;
}

bool embedded_failed(const struct embedded *embedded)
{
    return journal_failed(embedded->journal);
}

void embedded_hold_wins(struct embedded *embedded, enum wins_stopped reason)
{
    atomic_store_explicit(&embedded->held, reason, memory_order_relaxed);
}

uint64_t embedded_time_floor(const struct embedded *embedded)
{
    return embedded->time_floor_ms;
}

const struct engine *embedded_engine(const struct embedded *embedded)
{
    return &embedded->engine;
}
