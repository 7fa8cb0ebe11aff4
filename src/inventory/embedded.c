/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/embedded.c: the turns: requests in, decisions, batches, answers out. */
#include "inventory/embedded.h"

#include "base/log.h"
#include "contract/record.h"
#include "inventory/embedded_parts.h"

enum {
    DRAIN_PER_PORT = 256, /* requests taken from one port before the next has its turn */
    LOOK_AHEAD = 4,       /* requests whose rows are on their way from memory */
    GATHER_WHEN = 2,      /* records of a batch that make the next one wait */
    GATHER_ENOUGH = 64,   /* … until it has so many and a turn brings no more */
    GATHER_MOST = 256,    /* … or so many */
    GATHER_TURNS = 8,     /* … or has waited so often */
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

static void dirty_add_room(struct embedded *embedded, sale_id sale)
{
    if (embedded->room_is_dirty[sale])
        return;
    embedded->room_is_dirty[sale] = true;
    embedded->room_dirty[embedded->room_dirty_count++] = sale;
}

/* The position that this answer saw. What tells nothing of the log leaves at once. */
static lsn_t answer_position(
    const struct embedded *embedded, const struct command *command, const struct outcome *outcome)
{
    if (outcome->answer == ANSWER_IN_PROGRESS || outcome->answer == ANSWER_UNAVAILABLE)
        return 0;
    /* Perhaps it saw another item, another sale, or a sale that the item is not part of yet. */
    if (outcome->answer == ANSWER_KEY_REUSED || outcome->answer == ANSWER_FORGOTTEN
        || command->type == COMMAND_ASK_SALE || command_has_origin(command->type))
        return journal_appended(embedded->journal);
    const item_id item = engine_command_item(command, outcome);
    if (item == 0 || item >= embedded->config.engine.items_max)
        return command->type < COMMAND_LOGGED_COUNT ? journal_appended(embedded->journal) : 0;
    const lsn_t item_lsn = embedded->item_lsn[item];
    const lsn_t sale_lsn = embedded->sale_lsn[embedded->engine.items[item].sale];
    return item_lsn > sale_lsn ? item_lsn : sale_lsn;
}

/* Keys of these sales may be forgotten: answers about them wait for the record. */
static void sales_note_reclaim(struct embedded *embedded, uint64_t before_ms, lsn_t lsn)
{
    for (sale_id sale = 1; sale < embedded->config.engine.sales_max; sale++)
        if (embedded->engine.sales[sale].defined && embedded->engine.sales[sale].end_ms <= before_ms)
            embedded->sale_lsn[sale] = lsn;
}

static void item_note(struct embedded *embedded, item_id item, lsn_t lsn)
{
    const sale_id sale = embedded->engine.items[item].sale;
    embedded->item_lsn[item] = lsn;
    if (engine_sale_counts_users(&embedded->engine.sales[sale]))
        embedded->sale_lsn[sale] = lsn; /* what a user has of one item decides about the others */
    dirty_add(embedded, item);
}

/* What a change other than a purchase shows on, and who has bought by it. */
static __attribute__((noinline)) void change_note(struct embedded *embedded,
    const struct command *command, const struct outcome *outcome, lsn_t lsn)
{
    const item_id item = engine_command_item(command, outcome);
    if (item != 0)
        item_note(embedded, item, lsn);
    if (command->type == COMMAND_SALE)
        dirty_add_sale(embedded, command->sale.sale, lsn);
    else if (command->type == COMMAND_GATE)
        dirty_add_sale(embedded, command->gate.sale, lsn);
    else if (command->type == COMMAND_USERS)
        embedded->sale_lsn[command->users.sale] = lsn; /* decides, but does not show on the board */
    else if (command->type == COMMAND_RECLAIM)
        sales_note_reclaim(embedded, command->reclaim.before_ms, lsn);
    else if (command->type == COMMAND_ARCHIVE)
        dirty_add_sale(embedded, command->archive.sale, lsn);
    const sale_id room = command_room(command);
    if (room != 0)
        dirty_add_room(embedded, room);
    /* Early is fine: the filter may only say "perhaps" too often, never too seldom. */
    const uint32_t wins = outcome_wins(command, outcome);
    for (uint32_t i = 0; i < wins; i++) {
        const struct ticket_row *ticket = tickets_get(&embedded->engine.tickets, outcome->ticket + i);
        board_add_buyer(&embedded->board, ticket->item, ticket->user);
    }
}

static lsn_t change_log(
    struct embedded *embedded, const struct command *command, const struct outcome *outcome)
{
    uint8_t *payload = journal_payload(embedded->journal, RECORD_BYTES_MAX);
    const uint32_t bytes = record_encode(command, outcome, payload);
    const lsn_t lsn = journal_append(embedded->journal, command->type, bytes);
    if (__builtin_expect(command->type == COMMAND_RESERVE, 1)) { /* only a win changes anything */
        item_note(embedded, command->reserve.item, lsn);
        board_add_buyer(&embedded->board, command->reserve.item, command->reserve.user);
    } else {
        change_note(embedded, command, outcome, lsn);
    }
    return lsn;
}

/* A told number becomes the engine's own; 0: nobody has such a ticket. */
static __attribute__((noinline)) void numbers_in(
    const struct ticket_ranges *imported, struct command *command)
{
    if (command->type == COMMAND_SETTLE)
        command->settle.ticket = ticket_ranges_inside(imported, command->settle.ticket);
    else if (command->type == COMMAND_ASK_TICKET)
        command->ask.ticket = ticket_ranges_inside(imported, command->ask.ticket);
}

/* And back. What a partition told as being decided and never kept is void. */
static __attribute__((noinline)) void numbers_out(
    const struct ticket_ranges *imported, ticket_number asked, struct outcome *outcome)
{
    outcome->ticket = ticket_ranges_outside(imported, outcome->ticket);
    if (outcome->answer != ANSWER_UNKNOWN_TICKET || !ticket_ranges_knows_part(imported, asked))
        return;
    outcome->answer = ANSWER_VOID;
    outcome->ticket = asked;
}

/* The answer is made where it is parked, if it must wait. */
static void request_handle(
    struct embedded *embedded, uint32_t port, struct inventory_request *request, bool may_log)
{
    struct command *command = &request->command; /* the slot is ours until it is released */
    struct parked *parked = &embedded->parked[embedded->parked_tail & embedded->parked_mask];
    struct outcome *outcome = &parked->answer.outcome;
    invariant(embedded->parked_tail - embedded->parked_head <= embedded->parked_mask);
    parked->answer.tag = request->tag;
    parked->port = port;
    parked->flow = flow_of(command);
    command->time_ms = embedded->last_time_ms;
    const struct ticket_ranges *imported = embedded->config.imported;
    const ticket_number asked = command->type == COMMAND_ASK_TICKET ? command->ask.ticket : 0;
    if (__builtin_expect(imported != NULL, 0))
        numbers_in(imported, command);
    bool may_change = may_log;
    if (command->type == COMMAND_RESERVE) {
        command->reserve.pending_from = embedded->tickets_durable + 1;
        may_change = may_log && !embedded->wins_late
            && !atomic_load_explicit(&embedded->follower_away, memory_order_relaxed);
    }
    engine_apply(&embedded->engine, command, may_change, outcome);
    const lsn_t lsn = outcome->changed ? change_log(embedded, command, outcome)
                                       : answer_position(embedded, command, outcome);
    if (command->type == COMMAND_RESERVE) { /* for whoever puts it into words */
        outcome->item = command->reserve.item;
        outcome->quantity = command->reserve.quantity;
    }
    if (__builtin_expect(imported != NULL, 0))
        numbers_out(imported, asked, outcome);
    outcome->lsn = lsn;
    if (lsn > embedded->durable)
        embedded->parked_tail++;
    else
        ports_answer(&embedded->ports, port, &parked->flow, &parked->answer);
}

/* The rows first: whoever sees a room's numbers finds their places. */
static void rooms_show(struct embedded *embedded)
{
    atomic_store_explicit(&embedded->board.places_durable, embedded->places_sealed, memory_order_release);
    atomic_store_explicit(
        &embedded->board.places_freed, embedded->engine.places.begin, memory_order_relaxed);
    for (uint32_t i = 0; i < embedded->room_sealed_count; i++)
        board_publish_room(&embedded->board, &embedded->room_sealed[i]);
    embedded->room_sealed_count = 0;
}

static void rooms_seal(struct embedded *embedded)
{
    for (uint32_t i = 0; i < embedded->room_dirty_count; i++) {
        const sale_id sale = embedded->room_dirty[i];
        embedded->room_is_dirty[sale] = false;
        embedded->room_sealed[embedded->room_sealed_count++] = engine_room_view(&embedded->engine, sale);
    }
    embedded->room_dirty_count = 0;
    embedded->places_sealed = embedded->engine.places.count;
}

static void batch_became_durable(struct embedded *embedded)
{
    const lsn_t durable = journal_durable(embedded->journal);
    if (durable == embedded->durable)
        return;
    embedded->durable = durable;
    embedded->tickets_durable = embedded->tickets_sealed;
    atomic_store_explicit(&embedded->board.durable_lsn, durable, memory_order_relaxed);
    while (embedded->parked_head != embedded->parked_tail) {
        const struct parked *parked = &embedded->parked[embedded->parked_head & embedded->parked_mask];
        if (parked->answer.outcome.lsn > durable)
            break;
        ports_answer(&embedded->ports, parked->port, &parked->flow, &parked->answer);
        embedded->parked_head++;
    }
    /* After the answers, which count as decided (board.h), and before anybody can read them: their
     * rings are published at the end of the turn. */
    for (uint32_t i = 0; i < embedded->sealed_count; i++) {
        board_publish(&embedded->board, &embedded->sealed[i]);
        board_note_sold_out(&embedded->board, &embedded->sealed[i], embedded->last_time_ms);
    }
    embedded->sealed_count = 0;
    rooms_show(embedded);
}

void embedded_show_tables(struct embedded *embedded)
{
    const struct engine *engine = &embedded->engine;
    const uint64_t buyers = engine->buyers.capacity - buyers_room(&engine->buyers);
    const uint64_t percent = buyers * 100 / engine->buyers.capacity;
    atomic_store_explicit(&embedded->board.tickets, tickets_used(&engine->tickets), memory_order_relaxed);
    atomic_store_explicit(&embedded->board.buyers_percent, (uint32_t)percent, memory_order_relaxed);
}

/* A sync takes as long for many records as for a few. While many purchases come (the last batch had some
 * of them), a batch waits for a few turns until it is worth one; turns that bring nothing take a moment. */
static bool batch_waits(struct embedded *embedded)
{
    const uint32_t records = (uint32_t)(journal_appended(embedded->journal) - embedded->durable);
    const bool more = records < GATHER_ENOUGH || (records > embedded->gathered && records < GATHER_MOST);
    if (embedded->sealed_records >= GATHER_WHEN && more && ++embedded->gather_turns < GATHER_TURNS) {
        embedded->gathered = records;
        return true;
    }
    embedded->gather_turns = embedded->gathered = 0;
    embedded->sealed_records = records;
    return false;
}

/* True: it waits for more. */
static bool batch_seal(struct embedded *embedded)
{
    if (journal_writing(embedded->journal))
        return false;
    batch_became_durable(embedded); /* the sync thread may have finished one since the turn began */
    if (journal_appended(embedded->journal) == embedded->durable)
        return false;
    if (batch_waits(embedded))
        return true;
    if (!journal_seal(embedded->journal, embedded->last_time_ms))
        return false;
    invariant(embedded->sealed_count == 0);
    for (uint32_t i = 0; i < embedded->dirty_count; i++) {
        const item_id item = embedded->dirty[i];
        embedded->is_dirty[item] = false;
        if (engine_item_view(&embedded->engine, item, &embedded->sealed[embedded->sealed_count]))
            embedded->sealed_count++;
    }
    embedded->dirty_count = 0;
    rooms_seal(embedded);
    embedded->tickets_sealed = embedded->engine.tickets.last;
    embedded_show_tables(embedded);
    wake_signal(&embedded->sync);
    return false;
}

/* Whether a change can be logged now. Without a segment to write to, wins stop but answers go on. A buffer
 * that is only full for the moment makes the requests wait in their ring, and so does a segment that is being
 * prepared. */
enum logging { LOGGING, LOGGING_LATER, LOGGING_NOT };

static enum logging logging_now(const struct embedded *embedded, uint32_t room)
{
    if (__builtin_expect(room > 0, 1))
        return LOGGING;
    const bool full_for_now = journal_writing(embedded->journal)
        || journal_appended(embedded->journal) > embedded->durable;
    const bool prepared_soon = !atomic_load(&embedded->no_segment)
        && (embedded->no_room_ms == 0 || embedded->last_time_ms - embedded->no_room_ms < WINS_WAIT_MS);
    return full_for_now || prepared_soon ? LOGGING_LATER : LOGGING_NOT;
}

static void wins_stopped_show(struct embedded *embedded)
{
    const uint32_t room = journal_room(embedded->journal);
    const bool no_disk = logging_now(embedded, room) == LOGGING_NOT;
    if (room > 0)
        embedded->no_room_ms = 0;
    else if (embedded->no_room_ms == 0)
        embedded->no_room_ms = embedded->last_time_ms;
    const bool away = atomic_load_explicit(&embedded->follower_away, memory_order_relaxed);
    uint32_t stopped = away   ? WINS_NO_FOLLOWER
        : embedded->wins_late ? WINS_ORDERS_LAG
                              : WINS_RUNNING;
    if (stopped == WINS_RUNNING && no_disk)
        stopped = WINS_NO_DISK;
    if (stopped == WINS_RUNNING && engine_full(&embedded->engine))
        stopped = WINS_FULL;
    if (atomic_load_explicit(&embedded->board.wins_stopped, memory_order_relaxed) != stopped)
        atomic_store_explicit(&embedded->board.wins_stopped, stopped, memory_order_relaxed);
}

/* Looks whether the log has got to where wins may go. */
static void wins_look(struct embedded *embedded)
{
    const bool full = journal_appended(embedded->journal)
        >= atomic_load_explicit(&embedded->wins_until, memory_order_relaxed);
    if (__builtin_expect(!full && embedded->wins_full_ms == 0, 1))
        return;
    atomic_store_explicit(&embedded->purchase_waits, false, memory_order_relaxed);
    if (embedded->wins_full_ms == 0 || !full)
        embedded->wins_full_ms = full ? embedded->last_time_ms : 0;
    embedded->wins_late = full && embedded->last_time_ms - embedded->wins_full_ms >= WINS_WAIT_MS;
    embedded->wins_wait = full && !embedded->wins_late;
}

/* A purchase stays in its port. True: wins_until was moved on meanwhile, and nobody wakes us for that. */
static bool purchase_waits(struct embedded *embedded)
{
    atomic_store(&embedded->purchase_waits, true);
    return journal_appended(embedded->journal) < atomic_load(&embedded->wins_until);
}

/* Where orders move on so slowly that a purchase would wait for long in its port, it is refused like those of
 * wins_late. Whoever stood there when the wait began has waited for so long, or longer. */
static bool port_is_late(struct embedded *embedded, uint32_t port)
{
    const struct ring *requests = &embedded->ports.list[port].requests;
    struct port_wait *wait = &embedded->port_waits[port];
    if (ring_popped(requests) >= wait->until)
        *wait = (struct port_wait){ ring_seen(requests), embedded->last_time_ms };
    return embedded->last_time_ms - wait->since_ms >= WINS_WAIT_MS;
}

/* The rows that a purchase will need, some requests before its turn: no cache holds them. */
static void purchase_expect(const struct embedded *embedded, const struct inventory_request *request)
{
    if (request == NULL || request->command.type != COMMAND_RESERVE)
        return;
    const struct command_reserve *asked = &request->command.reserve;
    buyers_expect(&embedded->engine.buyers, buyers_scope_item(asked->item), asked->user);
    if (asked->key != 0)
        tickets_expect_key(&embedded->engine.tickets, asked->key);
    board_expect_buyer(&embedded->board, asked->item, asked->user);
}

/* Takes up to DRAIN_PER_PORT requests of one port. True: there may be more. `room`: records of this turn that
 * fit for certain; 0: ask. */
static bool port_drain(struct embedded *embedded, uint32_t port, enum logging *logging, uint32_t *room)
{
    struct ring *requests = &embedded->ports.list[port].requests;
    uint32_t taken = 0;
    bool more = false;
    for (; taken < DRAIN_PER_PORT; taken++) {
        struct inventory_request *request = ring_peek(requests);
        if (request == NULL)
            break;
        purchase_expect(embedded, ring_peek_ahead(requests, LOOK_AHEAD));
        if (*room == 0) {
            *room = journal_room(embedded->journal);
            *logging = logging_now(embedded, *room);
        }
        if (*logging == LOGGING_LATER)
            break;
        bool may_log = *room > 0;
        if (__builtin_expect(embedded->wins_wait, 0) && request->command.type == COMMAND_RESERVE) {
            may_log = false;
            if (!port_is_late(embedded, port)) {
                more = purchase_waits(embedded);
                break;
            }
        }
        request_handle(embedded, port, request, may_log);
        *room -= *room > 0;
        ring_pop(requests);
    }
    ring_release(requests);
    return more || taken == DRAIN_PER_PORT;
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
    wins_look(embedded);
    enum logging logging = LOGGING;
    uint32_t room = 0;
    bool more = false;
    for (uint32_t port = 0; port < embedded->config.ports; port++)
        more |= port_drain(embedded, port, &logging, &room);
    wins_stopped_show(embedded);
    const bool waits = batch_seal(embedded);
    ports_show(&embedded->ports);
    return waits || (more && logging != LOGGING_LATER);
}

bool embedded_idle(const struct embedded *embedded)
{
    return ports_idle(&embedded->ports) && embedded->parked_head == embedded->parked_tail
        && !journal_writing(embedded->journal)
        && journal_appended(embedded->journal) == journal_durable(embedded->journal);
}

bool embedded_write(struct embedded *embedded)
{
    if (journal_failed(embedded->journal) || !journal_writing(embedded->journal))
        return false;
    const enum status status = journal_write(embedded->journal);
    if (status != STATUS_OK)
        log_error("inventory", "the journal can't be written (%s): no further answers, stopping",
            status_name(status));
    if (embedded->ports.host != NULL)
        wake_signal(embedded->ports.host);
    return true;
}
