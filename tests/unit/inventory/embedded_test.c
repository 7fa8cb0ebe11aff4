/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/embedded.h"

#include "tests/unit/inventory/engine_kit.h"
#include "tests/unit/journal/memory_disk.h"

#include <pthread.h>
#include <sched.h>

enum { SLOTS = 16, THREAD_BUYS = 2000, END_MS = 4000 };

static struct disk *disk;
static struct embedded *embedded;
static struct embedded_report report;
static struct inventory_port *port;

static struct embedded_config config_make(uint64_t tickets_max, uint32_t slots)
{
    return (struct embedded_config){
        .journal = {
            .disk = disk,
            .data_id = 5,
            .segment_bytes = 4 * JOURNAL_PAGE,
            .batch_bytes = 2 * JOURNAL_PAGE,
        },
        .engine = { .items_max = 4, .sales_max = 3, .tickets_max = tickets_max },
        .filter_key = { 1, 2 },
        .ports = 2,
        .ring_slots = slots,
    };
}

static void inventory_start(void)
{
    const struct embedded_config config = config_make(4096, SLOTS);
    assert_int_equal(embedded_open(&embedded, &config, &report), STATUS_OK);
    port = embedded_port(embedded, 0, NULL);
}

static void ask(uint64_t tag, struct command command)
{
    struct inventory_request *request = port->ops->reserve(port);
    assert_non_null(request);
    *request = (struct inventory_request){ .tag = tag, .command = command };
    port->ops->commit(port);
    port->ops->flush(port);
}

static void expect(uint64_t tag, enum answer answer)
{
    const struct inventory_answer *told = port->ops->collect(port);
    assert_non_null(told);
    assert_int_equal(told->tag, tag);
    assert_int_equal(told->outcome.answer, answer);
}

/* A batch that waits for others takes more than one. */
static void turns(uint64_t now_ms)
{
    while (embedded_turn(embedded, now_ms)) {
    }
}

static void cycle(uint64_t now_ms)
{
    turns(now_ms);
    (void)embedded_write(embedded);
    turns(now_ms);
}

static struct command buy(user_id user, uint32_t quantity)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .item = 1, .quantity = quantity } };
}

static void sale_start(uint32_t limit)
{
    const struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = END_MS } };
    const struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, limit) };
    ask(1, sale);
    ask(2, preheat);
    cycle(SALE_START);
    expect(1, ANSWER_DONE);
    expect(2, ANSWER_DONE);
}

static int setup(void **state)
{
    (void)state;
    disk = memory_disk_open(3);
    inventory_start();
    sale_start(0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    embedded_close(embedded);
    memory_disk_close(disk);
    return 0;
}

static void a_win_is_told_when_it_is_durable_and_not_before(void **state)
{
    (void)state;
    ask(3, buy(ANNA, 1));
    turns(SALE_NOW);
    assert_null(port->ops->collect(port));
    assert_false(embedded_idle(embedded));
    turns(SALE_NOW);
    assert_null(port->ops->collect(port));
    assert_true(embedded_write(embedded));
    assert_null(port->ops->collect(port));
    turns(SALE_NOW);
    expect(3, ANSWER_WON);
    assert_true(embedded_idle(embedded));
    assert_false(embedded_write(embedded));
}

enum { CROWD = 2, WAITS_MAX = 20 };

/* How many turns a purchase waits before its batch is written. */
static uint32_t turns_waited(user_id user)
{
    uint32_t waited = 0;
    assert_int_equal(embedded_prepare(embedded), STATUS_OK);
    ask(9, buy(user, 1));
    while (waited++ < WAITS_MAX) {
        const bool again = embedded_turn(embedded, SALE_NOW);
        if (embedded_write(embedded)) {
            assert_false(again);
            turns(SALE_NOW);
            expect(9, ANSWER_WON);
            return waited - 1;
        }
        assert_true(again); /* nobody wakes it up */
    }
    return waited;
}

static void a_purchase_waits_for_others_only_while_many_come(void **state)
{
    (void)state;
    (void)turns_waited(1); /* the batch before it is that of the sale and its item */
    assert_int_equal(turns_waited(90), 0);
    for (uint64_t i = 0; i < CROWD; i++)
        ask(10 + i, buy(2 + i, 1));
    cycle(SALE_NOW);
    for (uint64_t i = 0; i < CROWD; i++)
        expect(10 + i, ANSWER_WON);
    const uint32_t waited = turns_waited(100);
    assert_true(waited > 0 && waited < WAITS_MAX);
    ask(3, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 2 } });
    cycle(SALE_NOW);
    expect(3, ANSWER_DONE);
    assert_int_equal(turns_waited(101), 0);
}

static void an_answer_carries_the_log_position_that_it_saw(void **state)
{
    (void)state;
    const struct command terms = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = END_MS + 1 } };
    ask(3, terms);
    cycle(SALE_NOW);
    const struct inventory_answer *answer = port->ops->collect(port);
    assert_int_equal(answer->outcome.answer, ANSWER_DONE);
    assert_int_equal(answer->outcome.lsn, 3); /* the sale, its item, this */
    ask(4, buy(ANNA, 1));
    ask(5, terms); /* changes nothing, and is as of the purchase */
    ask(6, (struct command){ .type = COMMAND_ASK_SALE, .ask = { .sale = 1 } });
    turns(SALE_NOW);
    assert_null(port->ops->collect(port));
    cycle(SALE_NOW);
    answer = port->ops->collect(port);
    assert_int_equal(answer->outcome.lsn, 4);
    answer = port->ops->collect(port);
    assert_int_equal(answer->outcome.answer, ANSWER_UNCHANGED);
    assert_int_equal(answer->outcome.lsn, 4);
    answer = port->ops->collect(port);
    assert_int_equal(answer->outcome.answer, ANSWER_FOUND);
    assert_int_equal(answer->outcome.terms.end_ms, END_MS + 1);
    assert_int_equal(answer->outcome.lsn, 4);
}

static void what_saw_a_win_in_flight_waits_with_it_and_the_rest_does_not(void **state)
{
    (void)state;
    ask(3, buy(ANNA, 10));
    ask(4, buy(BERT, 1)); /* sold out, because of the one before */
    ask(5, buy(ANNA, 1)); /* one purchase of a user and item at a time: tells nothing of the log */
    ask(6, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 3 } });
    ask(7, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
    turns(SALE_NOW);
    expect(5, ANSWER_IN_PROGRESS);
    expect(6, ANSWER_UNKNOWN_ITEM);
    assert_null(port->ops->collect(port));
    (void)embedded_write(embedded);
    turns(SALE_NOW);
    expect(3, ANSWER_WON);
    expect(4, ANSWER_SOLD_OUT);
    expect(7, ANSWER_FOUND);
}

static void the_board_shows_what_is_durable_and_knows_the_buyers(void **state)
{
    (void)state;
    const struct board *board = embedded_board(embedded);
    struct board_update shown;
    ask(3, buy(ANNA, 10));
    turns(SALE_NOW);
    assert_true(board_read(board, 1, &shown));
    assert_int_equal(shown.counts.channel_free[0], 10);
    (void)embedded_write(embedded);
    turns(SALE_NOW);
    assert_true(board_read(board, 1, &shown));
    assert_int_equal(shown.counts.channel_free[0], 0);
    assert_true(board_may_have_bought(board, 1, ANNA));
    ask(4, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 2 } });
    cycle(SALE_NOW);
    assert_true(board_read(board, 1, &shown));
    assert_int_equal(shown.counts.channel_free[0], 2);
}

/* Item 1 has ten units. What is free and not asked for by others is free − queued, at every step. */
static void the_board_counts_what_is_on_its_way_until_the_counts_show_it(void **state)
{
    (void)state;
    const struct board *board = embedded_board(embedded);
    struct board_update shown;
    ask(3, buy(ANNA, 4));
    ask(4, buy(BERT, 7)); /* more than is left: refused, but it was caused by a win in flight */
    assert_int_equal(board_queued(board, 1, 0), 11);
    turns(SALE_NOW);
    assert_int_equal(board_queued(board, 1, 0), 11); /* decided, not durable: nobody knows yet */
    ask(5, buy(ANNA, 1));                            /* refused at once */
    assert_int_equal(board_queued(board, 1, 0), 12);
    turns(SALE_NOW);
    assert_int_equal(board_queued(board, 1, 0), 11);
    (void)embedded_write(embedded);
    turns(SALE_NOW);
    assert_true(board_read(board, 1, &shown));
    assert_int_equal(shown.counts.channel_free[0], 6);
    assert_int_equal(board_queued(board, 1, 0), 0);
    ask(6, (struct command){ .type = COMMAND_RESERVE, .reserve = { .user = 9, .item = 99, .quantity = 1 } });
    ask(7, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
    assert_int_equal(board_queued(board, 1, 0), 0); /* neither is a purchase of it */
    cycle(SALE_NOW);
}

static void a_limit_over_the_sale_waits_for_the_other_items_win(void **state)
{
    (void)state;
    const struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 2, .start_ms = SALE_START, .end_ms = END_MS, .limit_per_user = 1 } };
    struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(2, 0) };
    preheat.preheat.sale = 2;
    ask(3, sale);
    ask(4, preheat);
    preheat.preheat.item = 3;
    ask(5, preheat);
    cycle(SALE_NOW);
    for (uint64_t tag = 3; tag <= 5; tag++)
        expect(tag, ANSWER_DONE);
    struct command first = buy(ANNA, 1), second = buy(ANNA, 1);
    first.reserve.item = 2;
    second.reserve.item = 3;
    ask(6, first);
    ask(7, second);
    turns(SALE_NOW);
    assert_null(port->ops->collect(port)); /* "limit reached" would tell of a win that may get lost */
    (void)embedded_write(embedded);
    turns(SALE_NOW);
    expect(6, ANSWER_WON);
    expect(7, ANSWER_LIMIT_REACHED);
}

static void after_a_journal_fault_nothing_is_told_any_more(void **state)
{
    (void)state;
    ask(3, buy(ANNA, 1));
    turns(SALE_NOW);
    memory_disk_fail(disk, MEMORY_SYNC, 1);
    assert_true(embedded_write(embedded));
    memory_disk_fail(disk, MEMORY_ANY, 0);
    assert_true(embedded_failed(embedded));
    ask(4, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
    for (uint32_t i = 0; i < 3; i++) {
        embedded_turn(embedded, SALE_NOW);
        assert_false(embedded_write(embedded));
        assert_null(port->ops->collect(port));
    }
    assert_int_equal(atomic_load(&embedded_board(embedded)->wins_stopped), WINS_FAILED);
    assert_int_equal(embedded_snapshot_now(embedded), STATUS_IO);
    assert_int_equal(embedded_housekeep(embedded), STATUS_IO);
}

static void what_was_told_is_there_after_a_restart_also_from_a_snapshot(void **state)
{
    (void)state;
    uint64_t tag = 10;
    for (user_id user = 100; user < 110; user++) {
        ask(++tag, buy(user, 1));
        cycle(SALE_NOW);
        expect(tag, ANSWER_WON);
        assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    }
    const uint64_t digest = engine_digest(embedded_engine(embedded));
    for (uint32_t life = 0; life < 3; life++) {
        if (life == 1)
            assert_int_equal(embedded_snapshot_now(embedded), STATUS_OK);
        embedded_close(embedded);
        memory_disk_power_cut(disk);
        inventory_start();
        assert_true(report.snapshot.lsn > 0); /* the roll of a segment made one */
        assert_int_equal(engine_digest(embedded_engine(embedded)), digest);
        assert_int_equal(embedded_time_floor(embedded), SALE_NOW);
        assert_true(board_may_have_bought(embedded_board(embedded), 1, 105));
    }
    assert_int_equal(report.replay.records, 0);
    ask(1, buy(200, 1));
    cycle(SALE_START); /* a clock that was set back */
    expect(1, ANSWER_SOLD_OUT);
}

static void a_full_disk_stops_wins_and_not_answers_and_ends_by_itself(void **state)
{
    (void)state;
    memory_disk_capacity(disk, 1);
    uint64_t tag = 10;
    enum answer last = ANSWER_WON;
    for (user_id user = 100; user < 140 && last == ANSWER_WON; user++) {
        ask(++tag, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 1 } });
        cycle(SALE_NOW);
        (void)!embedded_housekeep(embedded);
        const struct inventory_answer *told = port->ops->collect(port);
        assert_non_null(told);
        if (told->outcome.answer == ANSWER_DONE)
            continue;
        last = told->outcome.answer;
    }
    assert_int_equal(last, ANSWER_UNAVAILABLE);
    assert_int_equal(atomic_load(&embedded_board(embedded)->wins_stopped), WINS_NO_DISK);
    ask(2, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
    cycle(SALE_NOW);
    expect(2, ANSWER_FOUND);
    memory_disk_capacity(disk, UINT64_MAX);
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    ask(3, buy(ANNA, 1));
    cycle(SALE_NOW);
    expect(3, ANSWER_WON);
    assert_int_equal(atomic_load(&embedded_board(embedded)->wins_stopped), WINS_RUNNING);
}

static void another_data_folder_is_refused_by_name(void **state)
{
    (void)state;
    struct embedded_config config = config_make(4096, SLOTS);
    struct embedded *other;
    assert_int_equal(embedded_snapshot_now(embedded), STATUS_OK);
    config.journal.data_id = 6;
    assert_int_equal(embedded_open(&other, &config, &report), STATUS_CONFLICT);
    assert_null(other);
    assert_string_not_equal(report.what, "");
    embedded_close(NULL);
}

static void collecting_one_by_one_never_overflows_the_answers(void **state)
{
    (void)state;
    const struct command question = { .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } };
    for (uint64_t tag = 1; tag <= SLOTS; tag++)
        ask(tag, question);
    assert_null(port->ops->reserve(port));
    cycle(SALE_NOW);
    for (uint64_t tag = 1; tag <= 3 * SLOTS; tag++) { /* as many on their way as there can be, all the time */
        expect(tag, ANSWER_FOUND);
        ask(SLOTS + tag, question);
        assert_null(port->ops->reserve(port));
        cycle(SALE_NOW);
    }
}

/* Host, sync and housekeeper as real threads: every request is answered once, and everybody who
 * was told has a unit. */
static _Atomic bool stopping;

static void *sync_run(void *context)
{
    (void)context;
    while (!atomic_load(&stopping)) {
        wake_wait(embedded_sync_wake(embedded), 1);
        (void)embedded_write(embedded);
    }
    return NULL;
}

static void *host_run(void *context)
{
    (void)context;
    while (!atomic_load(&stopping)) {
        if (!embedded_turn(embedded, SALE_NOW))
            sched_yield();
    }
    return NULL;
}

static void *house_run(void *context)
{
    (void)context;
    while (!atomic_load(&stopping)) {
        (void)!embedded_housekeep(embedded);
        sched_yield();
    }
    return NULL;
}

static void threads_answer_every_request_once(void **state)
{
    (void)state;
    pthread_t threads[3];
    void *(*const runs[])(void *) = { sync_run, host_run, house_run };
    uint32_t wins = 0, answers = 0, asked = 0;
    ask(9, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 500 } });
    cycle(SALE_NOW);
    expect(9, ANSWER_DONE);
    atomic_store(&stopping, false);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, runs[i], NULL), 0);
    while (answers < THREAD_BUYS) {
        struct inventory_request *request = asked < THREAD_BUYS ? port->ops->reserve(port) : NULL;
        if (request != NULL) {
            *request = (struct inventory_request){ .tag = ++asked, .command = buy(1000 + asked, 1) };
            port->ops->commit(port);
            port->ops->flush(port);
        }
        const struct inventory_answer *told = port->ops->collect(port);
        if (told == NULL) {
            sched_yield();
            continue;
        }
        answers++;
        wins += told->outcome.answer == ANSWER_WON;
        assert_true(told->outcome.answer == ANSWER_WON || told->outcome.answer == ANSWER_SOLD_OUT
            || told->outcome.answer == ANSWER_UNAVAILABLE);
    }
    atomic_store(&stopping, true);
    for (uint32_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(embedded_engine(embedded)->tickets.last, wins);
    assert_null(engine_check(embedded_engine(embedded)));
    assert_true(wins > 0 && wins <= 510);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_win_is_told_when_it_is_durable_and_not_before),
        RULE(a_purchase_waits_for_others_only_while_many_come),
        RULE(an_answer_carries_the_log_position_that_it_saw),
        RULE(what_saw_a_win_in_flight_waits_with_it_and_the_rest_does_not),
        RULE(the_board_shows_what_is_durable_and_knows_the_buyers),
        RULE(the_board_counts_what_is_on_its_way_until_the_counts_show_it),
        RULE(a_limit_over_the_sale_waits_for_the_other_items_win),
        RULE(after_a_journal_fault_nothing_is_told_any_more),
        RULE(what_was_told_is_there_after_a_restart_also_from_a_snapshot),
        RULE(a_full_disk_stops_wins_and_not_answers_and_ends_by_itself),
        RULE(another_data_folder_is_refused_by_name),
        RULE(collecting_one_by_one_never_overflows_the_answers),
        RULE(threads_answer_every_request_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
