/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/inventory/embedded_wait_test.c: purchases that wait in their port, for a segment of the journal
 * or for orders that are far behind, and who wakes the host for them. */
#include "inventory/embedded.h"

#include "tests/unit/inventory/engine_kit.h"
#include "tests/unit/journal/memory_disk.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>

enum { SLOTS = 64, END_MS = 4000, MOMENTS = 3000, MOMENT_SPINS = 4, LOST_MS = 10000 };

static struct disk *disk;
static struct embedded *embedded;
static struct inventory_port *port;

static struct embedded_config config_make(uint32_t slots)
{
    return (struct embedded_config){
        .journal = { .disk = disk,
            .data_id = 5,
            .segment_bytes = 4 * JOURNAL_PAGE,
            .batch_bytes = 2 * JOURNAL_PAGE,
        },
        .engine = { .items_max = 4, .sales_max = 3, .tickets_max = 4096 },
        .ports = 1,
        .ring_slots = slots,
    };
}

static void inventory_start(void)
{
    struct embedded_report report;
    const struct embedded_config config = config_make(SLOTS);
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

static struct command buy(user_id user)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .item = 1, .quantity = 1 } };
}

static uint32_t wins_stopped(void)
{
    return atomic_load(&embedded_board(embedded)->wins_stopped);
}

static int setup(void **state)
{
    (void)state;
    disk = memory_disk_open(3);
    inventory_start();
    ask(1,
        (struct command){ .type = COMMAND_SALE,
            .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = END_MS } });
    ask(2, (struct command){ .type = COMMAND_PREHEAT, .preheat = kit_item(1, 0) });
    cycle(SALE_START);
    expect(1, ANSWER_DONE);
    expect(2, ANSWER_DONE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    embedded_close(embedded);
    memory_disk_close(disk);
    return 0;
}

/* Each purchase is a batch and a page of its own. Nobody prepares the next segment. */
static void segment_use_up(void)
{
    const struct journal *journal = embedded_journal(embedded);
    for (uint64_t tag = 50; journal_room(journal) > 0; tag++) {
        ask(tag, buy(tag));
        cycle(SALE_NOW);
        expect(tag, ANSWER_WON);
    }
    assert_true(journal_wants_segment(journal));
}

static void purchases_wait_for_the_next_segment_and_are_decided_when_it_is_there(void **state)
{
    (void)state;
    segment_use_up();
    ask(3, buy(ANNA));
    ask(4, buy(BERT));
    cycle(SALE_NOW + WINS_WAIT_MS - 1);
    assert_null(port->ops->collect(port));
    assert_int_equal(wins_stopped(), WINS_RUNNING);
    assert_int_equal(embedded_prepare(embedded), STATUS_OK);
    cycle(SALE_NOW + WINS_WAIT_MS - 1);
    expect(3, ANSWER_WON);
    expect(4, ANSWER_WON);
    segment_use_up();
    ask(5, buy(ANNA));
    cycle(SALE_NOW + WINS_WAIT_MS); /* a wait of its own */
    assert_null(port->ops->collect(port));
}

static void purchases_that_waited_a_second_for_a_segment_are_refused_until_it_is_there(void **state)
{
    (void)state;
    segment_use_up();
    ask(3, buy(ANNA));
    cycle(SALE_NOW);
    assert_null(port->ops->collect(port));
    cycle(SALE_NOW + WINS_WAIT_MS);
    expect(3, ANSWER_UNAVAILABLE);
    assert_int_equal(wins_stopped(), WINS_NO_DISK);
    ask(4, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
    cycle(SALE_NOW + WINS_WAIT_MS);
    expect(4, ANSWER_FOUND);
    assert_int_equal(embedded_prepare(embedded), STATUS_OK);
    ask(5, buy(ANNA));
    cycle(SALE_NOW + WINS_WAIT_MS);
    expect(5, ANSWER_WON);
    assert_int_equal(wins_stopped(), WINS_RUNNING);
}

/* The log that a start finds may end with a full segment. */
static void the_wait_for_a_segment_begins_with_the_turn_that_finds_none(void **state)
{
    (void)state;
    segment_use_up();
    embedded_close(embedded);
    inventory_start();
    assert_int_equal(journal_room(embedded_journal(embedded)), 0);
    ask(3, buy(ANNA));
    cycle(SALE_NOW + WINS_WAIT_MS);
    cycle(SALE_NOW + 2 * WINS_WAIT_MS - 1);
    assert_null(port->ops->collect(port));
    cycle(SALE_NOW + 2 * WINS_WAIT_MS);
    expect(3, ANSWER_UNAVAILABLE);
}

static void without_room_for_a_segment_purchases_are_refused_at_once(void **state)
{
    (void)state;
    segment_use_up();
    ask(3, buy(ANNA));
    cycle(SALE_NOW);
    assert_null(port->ops->collect(port));
    memory_disk_capacity(disk, 1);
    assert_int_equal(embedded_prepare(embedded), STATUS_FULL);
    cycle(SALE_NOW);
    expect(3, ANSWER_UNAVAILABLE);
    assert_int_equal(wins_stopped(), WINS_NO_DISK);
    memory_disk_capacity(disk, UINT64_MAX);
    assert_int_equal(embedded_prepare(embedded), STATUS_OK);
    segment_use_up();
    ask(4, buy(ANNA));
    cycle(SALE_NOW); /* this one may be prepared soon */
    assert_null(port->ops->collect(port));
}

static bool is_woken(struct wake *wake)
{
    struct pollfd readable = { .fd = wake->fd, .events = POLLIN };
    const bool woken = poll(&readable, 1, 0) == 1;
    wake_clear(wake);
    return woken;
}

static void the_host_is_woken_when_the_next_segment_is_there_or_has_no_room(void **state)
{
    struct wake host;
    (void)state;
    segment_use_up();
    assert_int_equal(wake_open(&host), STATUS_OK);
    embedded_host(embedded, &host);
    memory_disk_capacity(disk, 1);
    assert_int_equal(embedded_prepare(embedded), STATUS_FULL);
    assert_true(is_woken(&host));
    memory_disk_capacity(disk, UINT64_MAX);
    assert_int_equal(embedded_prepare(embedded), STATUS_OK);
    assert_true(is_woken(&host));
    assert_int_equal(embedded_prepare(embedded), STATUS_OK); /* it is there already */
    assert_false(is_woken(&host));
    embedded_host(embedded, NULL);
    wake_close(&host);
}

static void purchases_wait_for_orders_that_are_far_behind(void **state)
{
    (void)state;
    embedded_wins_until(embedded, journal_appended(embedded_journal(embedded)) + 1);
    ask(3, buy(ANNA));
    cycle(SALE_NOW);
    expect(3, ANSWER_WON);
    ask(4, buy(BERT));
    cycle(SALE_NOW + WINS_WAIT_MS - 1);
    assert_null(port->ops->collect(port));
    assert_int_equal(wins_stopped(), WINS_RUNNING);
    embedded_wins_until(embedded, UINT64_MAX);
    cycle(SALE_NOW + WINS_WAIT_MS - 1);
    expect(4, ANSWER_WON);
}

static void purchases_that_waited_for_a_second_are_refused_and_other_changes_go_on(void **state)
{
    (void)state;
    embedded_wins_until(embedded, 0);
    ask(3, buy(ANNA));
    ask(4, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 1 } });
    cycle(SALE_NOW);
    assert_null(port->ops->collect(port));
    cycle(SALE_NOW + WINS_WAIT_MS);
    expect(3, ANSWER_UNAVAILABLE);
    expect(4, ANSWER_DONE);
    assert_int_equal(wins_stopped(), WINS_ORDERS_LAG);
    embedded_wins_until(embedded, UINT64_MAX);
    ask(5, buy(ANNA));
    cycle(SALE_NOW + WINS_WAIT_MS);
    expect(5, ANSWER_WON);
    assert_int_not_equal(wins_stopped(), WINS_ORDERS_LAG);
}

/* Orders move on in time for a few of them only. */
static void purchases_that_stand_behind_many_others_are_refused_after_a_second_too(void **state)
{
    enum { ASKED = 1024, STEP = 256, STEP_MS = 6 * WINS_WAIT_MS / 10 };
    struct embedded_config config = config_make(ASKED);
    struct embedded_report report;
    uint32_t won = 0, refused = 0;
    config.journal.segment_bytes = 64 * JOURNAL_PAGE;
    config.journal.batch_bytes = 32 * JOURNAL_PAGE;
    (void)state;
    embedded_close(embedded);
    assert_int_equal(embedded_open(&embedded, &config, &report), STATUS_OK);
    port = embedded_port(embedded, 0, NULL);
    ask(3, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = ASKED } });
    cycle(SALE_NOW);
    expect(3, ANSWER_DONE);
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK); /* a segment of the new size is ready */
    lsn_t until = journal_appended(embedded_journal(embedded)) + 1;
    for (user_id user = 0; user < ASKED; user++)
        ask(100 + user, buy(1000 + user));
    for (uint64_t ms = 0; ms <= 2 * STEP_MS; ms += STEP_MS, until += STEP) {
        embedded_wins_until(embedded, until);
        cycle(SALE_NOW + ms);
        for (const struct inventory_answer *told; (told = port->ops->collect(port)) != NULL;) {
            won += told->outcome.answer == ANSWER_WON;
            refused += told->outcome.answer == ANSWER_UNAVAILABLE;
        }
        assert_true(refused == 0 || ms >= WINS_WAIT_MS);
    }
    assert_true(won > 0);
    assert_true(refused > 0);
    assert_int_equal(won + refused, ASKED);
    ask(2000, buy(5000)); /* who comes later waits again */
    cycle(SALE_NOW + 2 * STEP_MS);
    assert_null(port->ops->collect(port));
    embedded_wins_until(embedded, UINT64_MAX);
    cycle(SALE_NOW + 2 * STEP_MS);
    expect(2000, ANSWER_WON);
}

static void the_host_is_woken_for_a_purchase_that_waits_and_not_for_none(void **state)
{
    struct wake host;
    (void)state;
    assert_int_equal(wake_open(&host), STATUS_OK);
    embedded_host(embedded, &host);
    embedded_wins_until(embedded, 0);
    assert_false(is_woken(&host));
    ask(3, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 1 } });
    cycle(SALE_NOW);
    expect(3, ANSWER_DONE);
    assert_true(is_woken(&host)); /* by the request, and by the sync */
    embedded_wins_until(embedded, 1);
    assert_false(is_woken(&host));
    ask(4, buy(ANNA));
    turns(SALE_NOW);
    assert_null(port->ops->collect(port));
    (void)is_woken(&host);
    embedded_wins_until(embedded, UINT64_MAX);
    assert_true(is_woken(&host));
    cycle(SALE_NOW);
    expect(4, ANSWER_WON);
    (void)is_woken(&host);
    embedded_wins_until(embedded, 0); /* nobody waits any more */
    assert_false(is_woken(&host));
    embedded_host(embedded, NULL);
    wake_close(&host);
}

/* Another thread moves wins_until on, each time at another moment of a turn. */
static _Atomic uint32_t moment, moved;

static void *mover_run(void *context)
{
    uint32_t last = 0;
    (void)context;
    while (last < MOMENTS) {
        const uint32_t next = atomic_load(&moment);
        if (next == last) {
            sched_yield();
            continue;
        }
        for (uint32_t spins = next % 500 * MOMENT_SPINS; spins > 0; spins--)
            atomic_signal_fence(memory_order_seq_cst);
        embedded_wins_until(embedded, UINT64_MAX);
        atomic_store(&moved, last = next);
    }
    return NULL;
}

/* False: nobody told the host to look again. */
static bool purchase_is_decided(struct wake *host)
{
    struct pollfd readable = { .fd = host->fd, .events = POLLIN };
    const struct inventory_answer *told = NULL;
    while (told == NULL) {
        const bool again = embedded_turn(embedded, SALE_NOW);
        if (embedded_write(embedded))
            continue;
        for (told = port->ops->collect(port); told != NULL && told->tag != 4;)
            told = port->ops->collect(port);
        if (told != NULL || again)
            continue;
        if (poll(&readable, 1, LOST_MS) == 0)
            return false;
        wake_clear(host);
    }
    return told->outcome.answer == ANSWER_SOLD_OUT;
}

/* Also when they do between the look of a turn and its wait: then nobody wakes the host. */
static void a_purchase_is_decided_whenever_orders_catch_up(void **state)
{
    struct wake host;
    pthread_t mover;
    bool decided = true;
    (void)state;
    for (uint64_t tag = 50; tag < 60; tag++) {
        assert_int_equal(embedded_prepare(embedded), STATUS_OK);
        ask(tag, buy(tag));
        cycle(SALE_NOW);
        expect(tag, ANSWER_WON);
    }
    assert_int_equal(wake_open(&host), STATUS_OK);
    embedded_host(embedded, &host);
    assert_int_equal(pthread_create(&mover, NULL, mover_run, NULL), 0);
    for (uint32_t i = 1; i <= MOMENTS && decided; i++) {
        embedded_wins_until(embedded, 0);
        for (uint32_t question = 0; question < SLOTS - 1; question++) /* the turn takes longer */
            ask(3, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } });
        ask(4, buy(ANNA));
        wake_clear(&host);
        atomic_store(&moment, i);
        decided = purchase_is_decided(&host);
        while (atomic_load(&moved) < i)
            sched_yield();
    }
    atomic_store(&moment, MOMENTS); /* the end of the other thread */
    pthread_join(mover, NULL);
    embedded_host(embedded, NULL);
    wake_close(&host);
    assert_true(decided);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(purchases_wait_for_the_next_segment_and_are_decided_when_it_is_there),
        RULE(purchases_that_waited_a_second_for_a_segment_are_refused_until_it_is_there),
        RULE(the_wait_for_a_segment_begins_with_the_turn_that_finds_none),
        RULE(without_room_for_a_segment_purchases_are_refused_at_once),
        RULE(the_host_is_woken_when_the_next_segment_is_there_or_has_no_room),
        RULE(purchases_wait_for_orders_that_are_far_behind),
        RULE(purchases_that_waited_for_a_second_are_refused_and_other_changes_go_on),
        RULE(purchases_that_stand_behind_many_others_are_refused_after_a_second_too),
        RULE(the_host_is_woken_for_a_purchase_that_waits_and_not_for_none),
        RULE(a_purchase_is_decided_whenever_orders_catch_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
