/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/remote_redis_test.c: what only the inventory over Redis does (inventory/redis/remote.h): it
 * tells what the database has kept, and nothing else. On a real Redis (tools/with-redis), with a keeper that
 * can be stopped. */
#include "base/clock.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "inventory/redis/opening.h"
#include "store/sqlite/sqlite.h"
#include "tests/seam/redis_kit.h"
#include "tests/seam/remote_kit.h"
#include "tests/support/halt.h"

#include <signal.h>
#include <sqlite3.h>
#include <string.h>

enum { UNITS = 3, SOON_MS = 60, SOME_TURNS = 50, ANNA = 11, BERT = 12, CLEO = 13 };

static const char *address;

/* ---- asking ---- */

static struct outcome buy(struct process *process, user_id user)
{
    const struct command command = kit_reserve(user, 1000 + user);
    return process_ask(process, &command);
}

/* Again and again while the partition is being opened: the same key makes that safe. */
static struct outcome buy_later(struct process *process, user_id user)
{
    struct outcome out = buy(process, user);
    for (const uint64_t since_ms = kit_now_ms();
         out.answer == ANSWER_UNAVAILABLE && kit_still(since_ms, "the partition is open");)
        out = buy(process, user);
    return out;
}

static struct outcome look_at(struct process *process, ticket_number ticket)
{
    const struct command command = { .type = COMMAND_ASK_TICKET, .ask = { .ticket = ticket } };
    return process_ask(process, &command);
}

static enum answer become(struct process *process, ticket_number ticket)
{
    return (enum answer)look_at(process, ticket).answer;
}

static struct outcome mine(struct process *process, user_id user)
{
    const struct command command = { .type = COMMAND_ASK_MINE, .ask = { .user = user, .item = 1 } };
    return process_ask(process, &command);
}

static struct outcome give_back(struct process *process, ticket_number ticket)
{
    const struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = ticket, .step = SETTLE_RETURN } };
    return process_ask(process, &command);
}

static uint32_t epoch_of(ticket_number ticket)
{
    struct ticket_parts parts;
    assert_true(ticket_number_split(ticket, &parts));
    assert_int_equal(parts.part, KIT_PART);
    return parts.epoch;
}

static int64_t orders(struct remote_kit *kit)
{
    return place_number(&kit->place, "SELECT count(*) FROM orders");
}

static struct board_update shown(struct process *process)
{
    struct board_update view;
    assert_true(board_read(remote_inventory(process->remote)->board, 1, &view));
    return view;
}

/* The last record that Redis has proposed. */
static uint64_t proposed_seq(struct remote_kit *kit)
{
    const struct opening opening = {
        .caller = kit->shop.caller, .keys = &kit->shop.keys, .timeout_ms = KIT_LONG_MS
    };
    struct partition_found found;
    assert_int_equal(partition_look(&opening, &found), REDIS_ANSWER_OK);
    return found.seq;
}

/* ---- fixtures ---- */

static int setup(void **state)
{
    return remote_kit_setup(state, address);
}

/* One process and a sale, and nobody confirms what is proposed from now on. */
static struct process *stopped_open(struct remote_kit *kit, uint32_t tell_ms)
{
    kit_process(kit, 0)->config.tell_ms = tell_ms;
    struct process *process = remote_kit_sale_open(kit, UNITS);
    kept_stop(&kit->worker);
    return process;
}

/* ---- told is kept ---- */

static void a_win_is_told_when_the_database_has_it_and_not_before(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = remote_kit_sale_open(kit, UNITS);
    const struct command command = kit_reserve(ANNA, 1);
    sqlite3 *database;
    assert_int_equal(sqlite3_open(kit->place.path, &database), SQLITE_OK);
    EVENTUALLY(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    const uint64_t tag = process_post(process, &command);
    KIT_UNTIL(kit, remote_health(process->remote).parked == 1);
    for (uint32_t i = 0; i < SOME_TURNS; i++)
        kit_turn(kit);
    assert_false(process_is_answered(process, tag));
    assert_int_equal(shown(process).counts.held, 0);
    assert_true(remote_health(process->remote).oldest_ms != 0);
    assert_int_equal(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    KIT_UNTIL(kit, process_is_answered(process, tag));
    const struct outcome out = process_outcome(process, tag);
    assert_int_equal(out.answer, ANSWER_WON);
    assert_int_equal(out.unit_price, 99);
    assert_int_equal(orders(kit), 1);
    assert_int_equal(shown(process).counts.held, 1);
    assert_int_equal(place_number(&kit->place, "SELECT ticket FROM orders"), (int64_t)out.ticket);
    kit_turn(kit);
    assert_true(remote_health(process->remote).parked == 0);
}

static void a_win_that_is_not_kept_in_time_is_deciding_until_it_is(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = stopped_open(kit, SOON_MS);
    const struct outcome out = buy(process, ANNA);
    assert_int_equal(out.answer, ANSWER_DECIDING);
    assert_int_equal(epoch_of(out.ticket), 1);
    assert_true(out.unit_price == 0 && out.pay_by_ms == 0 && out.item == 1 && out.quantity == 1);
    assert_int_equal(become(process, out.ticket), ANSWER_DECIDING);
    assert_int_equal(mine(process, ANNA).quantity, 0);
    const struct outcome again = buy(process, ANNA);
    assert_int_equal(again.answer, ANSWER_IN_PROGRESS);
    assert_int_equal(again.ticket, 0);
    assert_int_equal(board_queued(remote_inventory(process->remote)->board, 1, 0), 0);
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, become(process, out.ticket) == ANSWER_FOUND);
    assert_int_equal(look_at(process, out.ticket).user, ANNA);
    process->config.tell_ms = KIT_LONG_MS;
    const struct outcome found = buy_later(process, ANNA);
    assert_true(found.answer == ANSWER_REPEATED || found.answer == ANSWER_IN_PROGRESS);
    KIT_UNTIL(kit, buy_later(process, ANNA).answer == ANSWER_REPEATED);
    assert_int_equal(buy_later(process, ANNA).ticket, out.ticket);
    assert_int_equal(orders(kit), 1);
}

static void wins_that_redis_lost_are_void_and_their_units_are_sold_to_others(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = stopped_open(kit, SOON_MS);
    ticket_number lost[UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        const struct outcome out = buy(process, ANNA + i);
        assert_int_equal(out.answer, ANSWER_DECIDING);
        lost[i] = out.ticket;
    }
    kit_flushall(kit);
    kit_keeper_start(kit, 8, 1);
    for (uint32_t i = 0; i < UNITS; i++)
        KIT_UNTIL(kit, become(process, lost[i]) == ANSWER_VOID);
    for (uint32_t i = 0; i < UNITS; i++) {
        struct outcome out = buy_later(process, 100 + i);
        for (const uint64_t since_ms = kit_now_ms(); out.answer != ANSWER_WON
             && out.answer != ANSWER_REPEATED && kit_still(since_ms, "won");)
            out = buy_later(process, 100 + i); /* deciding for a while */
        assert_int_equal(epoch_of(out.ticket), 2);
    }
    assert_int_equal(buy(process, 200).answer, ANSWER_SOLD_OUT);
    for (uint32_t i = 0; i < UNITS; i++) /* although these numbers are others' now */
        assert_int_equal(become(process, lost[i]), ANSWER_VOID);
    assert_int_equal(orders(kit), UNITS);
    assert_int_equal(place_number(&kit->place, "SELECT min(user_id) FROM orders"), 100);
}

static void a_ticket_that_is_void_settles_nobody_elses(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = stopped_open(kit, SOON_MS);
    const ticket_number lost = buy(process, ANNA).ticket;
    kit_flushall(kit);
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, become(process, lost) == ANSWER_VOID);
    KIT_UNTIL(kit, buy_later(process, BERT).answer == ANSWER_REPEATED);
    assert_int_equal((uint32_t)mine(process, BERT).ticket & TICKET_N_MAX, (uint32_t)lost & TICKET_N_MAX);
    assert_int_equal(give_back(process, lost).answer, ANSWER_UNKNOWN_TICKET);
    assert_int_equal(mine(process, BERT).quantity, 1);
    assert_int_equal(give_back(process, mine(process, BERT).ticket).answer, ANSWER_DONE);
    assert_int_equal(mine(process, BERT).quantity, 0);
}

/* The reader of its log has handed over all that the database has by now. */
static void log_wait(struct process *process)
{
    struct wake *wake = remote_wake(process->remote);
    for (uint32_t i = 0; i < 2; i++) { /* the second look begins after the first one's signal */
        wake_clear(wake);
        EVENTUALLY(atomic_load(&wake->pending) != 0);
    }
}

/* Two proposals have the same number of a record: one of epoch 1, whose answer comes late, and one of epoch
 * 2, which is kept. */
static void an_answer_of_an_older_epoch_is_never_told(void **state)
{
    struct remote_kit *kit = *state;
    struct process *late = stopped_open(kit, KIT_LONG_MS), *other = kit_process(kit, 1);
    const struct command command = kit_reserve(ANNA, 1);
    const uint64_t before = proposed_seq(kit);
    const uint64_t tag = process_post(late, &command);
    (void)remote_turn(late->remote, kit_now_ms()); /* it is sent; the answer waits to be read */
    EVENTUALLY(proposed_seq(kit) == before + 1);
    kit_flushall(kit);
    kit_keeper_start(kit, 8, 1);
    process_open(other);
    const struct command others = kit_reserve(BERT, 2);
    const uint64_t others_tag = process_post(other, &others);
    for (const uint64_t since_ms = kit_now_ms();
         !process_is_answered(other, others_tag) && kit_still(since_ms, "it is won");)
        process_turn(other);
    const struct outcome won = process_outcome(other, others_tag);
    assert_int_equal(won.answer, ANSWER_WON);
    assert_int_equal(epoch_of(won.ticket), 2);
    log_wait(late);
    KIT_UNTIL(kit, process_is_answered(late, tag));
    assert_int_equal(process_outcome(late, tag).answer, ANSWER_UNAVAILABLE);
    assert_int_equal(process_outcome(late, tag).ticket, 0);
    assert_int_equal(mine(late, ANNA).quantity, 0);
    assert_int_equal(look_at(late, won.ticket).user, BERT);
    const struct outcome again = process_ask(late, &command);
    assert_int_equal(again.answer, ANSWER_WON);
    assert_int_equal(epoch_of(again.ticket), 2);
    assert_int_equal(orders(kit), 2);
}

/* The answer was read in time and waits for the database; its number comes to no other record. */
static void what_waits_is_void_as_soon_as_its_epoch_has_ended(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = stopped_open(kit, KIT_LONG_MS);
    const struct command first = kit_reserve(ANNA, 1);
    const uint64_t tag = process_post(process, &first);
    KIT_UNTIL(kit, remote_health(process->remote).parked == 1);
    kit_flushall(kit);
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, process_is_answered(process, tag));
    assert_int_equal(process_outcome(process, tag).answer, ANSWER_UNAVAILABLE);
    assert_int_equal(mine(process, ANNA).quantity, 0);
    const struct outcome again = buy_later(process, ANNA);
    assert_int_equal(again.answer, ANSWER_WON);
    assert_int_equal(epoch_of(again.ticket), 2);
}

/* ---- Redis ---- */

static void no_answer_in_time_is_unavailable_and_the_same_key_finds_the_win(void **state)
{
    struct remote_kit *kit = *state;
    kit_process(kit, 0)->config.timeout_ms = 500;
    struct process *process = remote_kit_sale_open(kit, UNITS);
    char id[REDIS_KIT_TEXT_MAX];
    redis_kit_order(redis_kit_port(address, 0), id,
        "EVAL return(redis.call('INFO','server'):match('process_id:([0-9]+)')) 0");
    uint64_t number = 0;
    assert_int_equal(span_to_u64(span_from_string(id), &number), STATUS_OK);
    const pid_t server = (pid_t)number;
    assert_true(server > 1);
    halt(server);
    const struct command command = kit_reserve(ANNA, 1);
    const uint64_t tag = process_post(process, &command);
    for (const uint64_t since_ms = kit_now_ms();
         !process_is_answered(process, tag) && kit_now_ms() - since_ms < KIT_LONG_MS;)
        process_turn(process);
    assert_int_equal(kill(server, SIGCONT), 0);
    assert_int_equal(process_outcome(process, tag).answer, ANSWER_UNAVAILABLE);
    struct outcome again = process_ask(process, &command);
    for (const uint64_t since_ms = kit_now_ms();
         again.answer == ANSWER_UNAVAILABLE && kit_still(since_ms, "Redis is there again");)
        again = process_ask(process, &command);
    assert_int_equal(again.answer, ANSWER_REPEATED);
    assert_int_equal(look_at(process, again.ticket).user, ANNA);
    assert_int_equal(orders(kit), 1);
}

static void more_purchases_than_a_call_takes_are_each_answered_once(void **state)
{
    enum { MANY = 3 * SCRIPT_PURCHASES_MAX + 9 };
    struct remote_kit *kit = *state;
    kit_process(kit, 0)->config.ring_slots = 256;
    struct process *process = remote_kit_sale_open(kit, MANY - 5);
    uint64_t tags[MANY];
    uint32_t won = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        const struct command command = kit_reserve(1000 + i, 1 + i);
        tags[i] = process_post(process, &command);
    }
    for (uint32_t i = 0; i < MANY; i++)
        KIT_UNTIL(kit, process_is_answered(process, tags[i])); /* each once: the kit checks it */
    for (uint32_t i = 0; i < MANY; i++) {
        const struct outcome out = process_outcome(process, tags[i]);
        assert_int_equal(out.answer, out.ticket == 0 ? ANSWER_SOLD_OUT : ANSWER_WON);
        if (out.ticket == 0)
            continue;
        won++;
        assert_int_equal(look_at(process, out.ticket).user, 1000 + i);
    }
    assert_int_equal(won, MANY - 5);
    assert_int_equal(orders(kit), won);
    assert_true(remote_idle(process->remote));
}

static void an_operators_command_waits_for_a_partition_that_is_being_opened(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = stopped_open(kit, SOON_MS);
    const struct command pause = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_PAUSE } };
    kit_flushall(kit);
    const uint64_t tag = process_post(process, &pause);
    assert_int_equal(buy(process, ANNA).answer, ANSWER_UNAVAILABLE); /* a purchase for tell_ms only */
    assert_false(process_is_answered(process, tag));
    assert_true(remote_health(process->remote).closed == 1 && remote_health(process->remote).open == 0);
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, process_is_answered(process, tag));
    assert_int_equal(process_outcome(process, tag).answer, ANSWER_DONE);
    assert_int_equal(shown(process).gate, GATE_PAUSED);
    assert_int_equal(buy(process, ANNA).answer, ANSWER_PAUSED);
}

static void a_purchase_waits_a_moment_for_a_partition_that_is_being_opened(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = stopped_open(kit, KIT_LONG_MS);
    const struct command command = kit_reserve(ANNA, 1);
    kit_flushall(kit);
    const uint64_t tag = process_post(process, &command);
    KIT_UNTIL(kit, remote_health(process->remote).closed == 1);
    assert_false(process_is_answered(process, tag));
    kit_keeper_start(kit, 8, 1);
    KIT_UNTIL(kit, process_is_answered(process, tag));
    assert_int_equal(process_outcome(process, tag).answer, ANSWER_WON);
    assert_int_equal(epoch_of(process_outcome(process, tag).ticket), 2);
    assert_int_equal(orders(kit), 1);
}

static void a_sale_without_a_partition_asks_for_one_and_is_done_when_it_is_open(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = kit_process(kit, 0);
    const struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 2, .start_ms = 1000, .end_ms = 2000 } };
    const struct command look = { .type = COMMAND_ASK_SALE, .ask = { .sale = 2 } };
    process_open(process);
    assert_int_equal(process_ask(process, &look).answer, ANSWER_UNKNOWN_SALE); /* a look asks for none */
    assert_int_equal(place_number(&kit->place, "SELECT count(*) FROM parts WHERE part = 64"), 0);
    const uint64_t tag = process_post(process, &sale);
    KIT_UNTIL(kit, place_number(&kit->place, "SELECT count(*) FROM parts WHERE part = 64") == 1);
    assert_false(process_is_answered(process, tag));
    kit_keeper_start(kit, 7, 2);
    KIT_UNTIL(kit, process_is_answered(process, tag));
    assert_int_equal(process_outcome(process, tag).answer, ANSWER_DONE);
    assert_int_equal(process_ask(process, &look).answer, ANSWER_FOUND);
}

static void a_master_that_was_not_opened_gets_no_purchases(void **state)
{
    struct remote_kit *kit = *state;
    kit_process(kit, 0)->config.tell_ms = SOON_MS;
    struct process *process = remote_kit_sale_open(kit, 1000);
    const struct span part = kit->shop.keys.names[SCRIPT_KEY_PART];
    char id[REDIS_KIT_TEXT_MAX];
    redis_kit_order(redis_kit_port(address, 0), id, "HGET %s replid", part.data);
    parts_do(&kit->shop, REDIS_WORDS(SPAN("HSET"), part, SPAN("replid"), SPAN("another")));
    user_id user = ANNA;
    KIT_UNTIL(kit, buy(process, user++).answer == ANSWER_UNAVAILABLE);
    const uint64_t seq = proposed_seq(kit);
    assert_int_equal(buy(process, user++).answer, ANSWER_UNAVAILABLE);
    assert_int_equal(proposed_seq(kit), seq); /* nothing was sent */
    parts_do(&kit->shop, REDIS_WORDS(SPAN("HSET"), part, SPAN("replid"), span_from_string(id)));
    KIT_UNTIL(kit, buy(process, user++).answer == ANSWER_WON);
}

/* ---- several processes ---- */

static uint32_t heard(const struct process *process, ticket_number ticket, user_id user)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < process->changed_count; i++)
        count += process->changed[i].ticket == ticket && process->changed[i].user == user;
    return count;
}

static void processes_see_each_others_wins_and_arrivals(void **state)
{
    struct remote_kit *kit = *state;
    struct process *first = remote_kit_sale_open(kit, UNITS), *second = kit_process(kit, 1);
    const struct command enter = { .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = CLEO } };
    uint32_t number = 99;
    process_open(second);
    const struct inventory *theirs = remote_inventory(second->remote);
    assert_false(board_may_have_bought(theirs->board, 1, ANNA));
    const struct outcome won = buy(first, ANNA);
    assert_int_equal(won.answer, ANSWER_WON);
    KIT_UNTIL(kit, shown(second).counts.held == 1);
    assert_int_equal(shown(second).counts.channel_free[0], UNITS - 1);
    assert_true(board_may_have_bought(theirs->board, 1, ANNA));
    assert_int_equal(look_at(second, won.ticket).answer, ANSWER_FOUND);
    assert_true(heard(first, won.ticket, ANNA) == 1 && heard(second, won.ticket, ANNA) == 1);
    assert_int_equal(give_back(second, won.ticket).answer, ANSWER_DONE);
    KIT_UNTIL(kit, shown(first).counts.channel_free[0] == UNITS);
    KIT_UNTIL(kit, heard(first, won.ticket, ANNA) == 2);
    assert_true(first->changes_ends > 0 && first->changes_ends <= first->changed_count);
    assert_int_equal(process_ask(first, &enter).number, 0);
    KIT_UNTIL(kit, theirs->ops->arrival_find(theirs, 1, CLEO, &number));
    assert_int_equal(number, 0);
}

static void an_order_that_one_process_moved_is_told_to_the_others(void **state)
{
    struct remote_kit *kit = *state;
    struct process *first = kit_process(kit, 0), *second = kit_process(kit, 1);
    process_open(first);
    process_open(second);
    /* Whoever begins to listen may have missed some. */
    KIT_UNTIL(kit, heard(first, 0, 0) > 0 && heard(second, 0, 0) > 0);
    first->moved = (struct kit_note){ 12345, ANNA };
    KIT_UNTIL(kit, heard(second, 12345, ANNA) > 0);
    second->moved = (struct kit_note){ 54321, 0 };
    KIT_UNTIL(kit, heard(first, 54321, 0) > 0);
    assert_true(heard(second, 12345, ANNA) == 1 && heard(first, 54321, 0) == 1);
    assert_true(heard(first, 12345, ANNA) == 0 && heard(second, 54321, 0) == 0); /* not to itself */
}

static void an_entry_that_is_damaged_closes_the_partition_in_this_process(void **state)
{
    struct remote_kit *kit = *state;
    struct process *first = remote_kit_sale_open(kit, UNITS), *second = kit_process(kit, 1);
    second->is_deaf = true;
    second->config.tell_ms = SOON_MS;
    process_open(second);
    assert_int_equal(shown(second).counts.channel_free[0], UNITS);
    const struct outcome won = buy(first, ANNA);
    assert_int_equal(won.answer, ANSWER_WON);
    EVENTUALLY(
        place_try(&kit->place,
            "UPDATE journal_entries SET bytes = CAST(substr(bytes, 1, length(bytes) - 1)"
            " || x'ff' AS BLOB) WHERE first_seq = (SELECT max(first_seq) FROM journal_entries)")
        == SQLITE_OK);
    assert_int_equal(remote_health(second->remote).damaged, 0);
    process_hear(second);
    KIT_UNTIL(kit, remote_health(second->remote).damaged == KIT_PART);
    assert_int_equal(buy(second, BERT).answer, ANSWER_UNAVAILABLE);
    assert_int_equal(become(second, won.ticket), ANSWER_DECIDING); /* it does not know */
    assert_int_equal(shown(second).counts.channel_free[0], UNITS);
    assert_int_equal(remote_health(first->remote).damaged, 0);
    assert_int_equal(buy(first, BERT).answer, ANSWER_WON); /* elsewhere it goes on */
    process_close(second);
    char what[200];
    struct remote *remote;
    second->config.store = kit->place.store;
    assert_int_equal(remote_open(&remote, &second->config, what, sizeof what), STATUS_CORRUPT);
    remote_close(remote);
    assert_non_null(strstr(what, "does not fit"));
}

/* ---- what a master must be ---- */

static void a_master_with_too_little_memory_for_the_tickets_is_told(void **state)
{
    enum { MANY = 100 * 1000 };
    struct remote_kit *kit = *state;
    struct process *second = kit_process(kit, 1);
    const uint16_t port = redis_kit_port(address, 0);
    char answer[REDIS_KIT_TEXT_MAX];
    (void)remote_kit_sale_open(kit, MANY);
    process_open(second);
    KIT_UNTIL(kit, remote_health(second->remote).open == 1);
    assert_int_equal(remote_health(second->remote).wrong, REMOTE_REDIS_FITS); /* it has no bound */
    process_close(second);
    redis_kit_order(port, answer, "CONFIG SET maxmemory %d", MANY * REMOTE_TICKET_BYTES - 1);
    process_open(second);
    KIT_UNTIL(kit, remote_health(second->remote).wrong == REMOTE_REDIS_SMALL);
    process_close(second);
    redis_kit_order(port, answer, "CONFIG SET maxmemory %d", MANY * REMOTE_TICKET_BYTES);
    process_open(second);
    KIT_UNTIL(kit, remote_health(second->remote).open == 1);
    for (int i = 0; i < SOME_TURNS; i++)
        kit_turn(kit);
    assert_int_equal(remote_health(second->remote).wrong, REMOTE_REDIS_FITS);
    redis_kit_order(port, answer, "CONFIG SET maxmemory 0");
}

static void a_master_whose_clock_is_apart_from_ours_is_told(void **state)
{
    enum { AHEAD_MS = 50 * 1000, SLOW_MS = 10 * 1000 };
    struct remote_kit *kit = *state;
    clock_start(clock_wall_ms() + AHEAD_MS);
    struct process *process = remote_kit_sale_open(kit, UNITS);
    KIT_UNTIL(kit, remote_health(process->remote).redis_apart_ms < SLOW_MS - AHEAD_MS);
    assert_true(remote_health(process->remote).redis_apart_ms >= -AHEAD_MS - 1);
    clock_start(0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, remote_kit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_win_is_told_when_the_database_has_it_and_not_before),
        RULE(a_win_that_is_not_kept_in_time_is_deciding_until_it_is),
        RULE(wins_that_redis_lost_are_void_and_their_units_are_sold_to_others),
        RULE(a_ticket_that_is_void_settles_nobody_elses),
        RULE(an_answer_of_an_older_epoch_is_never_told),
        RULE(what_waits_is_void_as_soon_as_its_epoch_has_ended),
        RULE(no_answer_in_time_is_unavailable_and_the_same_key_finds_the_win),
        RULE(more_purchases_than_a_call_takes_are_each_answered_once),
        RULE(an_operators_command_waits_for_a_partition_that_is_being_opened),
        RULE(a_purchase_waits_a_moment_for_a_partition_that_is_being_opened),
        RULE(a_sale_without_a_partition_asks_for_one_and_is_done_when_it_is_open),
        RULE(a_master_that_was_not_opened_gets_no_purchases),
        RULE(processes_see_each_others_wins_and_arrivals),
        RULE(an_order_that_one_process_moved_is_told_to_the_others),
        RULE(an_entry_that_is_damaged_closes_the_partition_in_this_process),
        RULE(a_master_with_too_little_memory_for_the_tickets_is_told),
        RULE(a_master_whose_clock_is_apart_from_ours_is_told),
    };
    clock_start(0);
    address = redis_kit_address();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
