/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/waitlist.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ITEM = 2, WINDOW_MS = 700, PORT_MAX = 256 };

struct fake_port {
    struct inventory_port port;
    struct inventory_request requests[PORT_MAX];
    uint32_t committed, flushed, room;
};

static struct inventory_request *port_reserve(struct inventory_port *handle)
{
    struct fake_port *port = (struct fake_port *)handle;
    return port->committed < port->room ? &port->requests[port->committed] : NULL;
}
static void port_commit(struct inventory_port *handle)
{
    ((struct fake_port *)handle)->committed++;
}
static void port_flush(struct inventory_port *handle)
{
    struct fake_port *port = (struct fake_port *)handle;
    port->flushed = port->committed;
}
static const struct inventory_port_ops port_ops = { port_reserve, port_commit, port_flush, NULL };

/* One line; everybody in it wants `quantity`, except the second, who wants three. */
struct fake {
    struct order_store store;
    uint32_t waiting, quantity, looks, agains;
    uint64_t passed;
    enum status answer;
};

static enum status fake_lines(struct order_store *handle, item_id after,
    struct waitlist_line *lines, uint32_t max, uint32_t *count)
{
    struct fake *fake = (struct fake *)handle;
    fake->looks++;
    *count = fake->waiting > 0 && after < ITEM;
    assert_true(max >= 1);
    lines[0] = (struct waitlist_line){ .item = ITEM, .waiting = fake->waiting };
    return fake->answer;
}

static enum status fake_next(struct order_store *handle, item_id item, uint32_t units,
    struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    struct fake *fake = (struct fake *)handle;
    assert_int_equal(item, ITEM);
    *count = 0;
    for (uint32_t i = 0; i < fake->waiting && *count < max; i++) {
        const uint32_t quantity = i == 1 ? 3 : fake->quantity;
        if (quantity <= units)
            places[(*count)++] = (struct waitlist_place){
                .id = 100 + i, .item = item, .user = 7 + i, .quantity = quantity
            };
    }
    return STATUS_OK;
}

static enum status fake_pass(struct order_store *handle, uint64_t place)
{
    ((struct fake *)handle)->passed = place;
    return STATUS_OK;
}

static enum status fake_again(struct order_store *handle)
{
    ((struct fake *)handle)->agains++;
    return STATUS_OK;
}

static const struct waitlist_store_ops line_ops = {
    .lines = fake_lines, .next = fake_next, .pass = fake_pass, .again = fake_again
};
static const struct order_store_ops store_ops = { .waitlist = &line_ops };

static struct fake fake;
static struct fake_port port;
static struct board board;
static struct waitlist waitlist;
static struct arena arena;

static void show_free(uint32_t units)
{
    struct board_update update = { .item = ITEM, .sale = 1, .end_ms = 1000 };
    update.counts.channel_free[WAITLIST_CHANNEL] = units;
    update.counts.channel_free[1] = 50; /* another channel's are not for the line */
    board_publish(&board, &update);
}

static int setup(void **state)
{
    (void)state;
    log_level_set(LOG_ERROR);
    fake = (struct fake){ .store = { .ops = &store_ops }, .waiting = 4, .quantity = 1 };
    port = (struct fake_port){ .port = { .ops = &port_ops }, .room = PORT_MAX };
    assert_int_equal(arena_open(&arena, board_bytes(8, 64) + 4096), STATUS_OK);
    board_create(&board, &arena, 8, 64);
    waitlist_start(&waitlist,
        &(struct waitlist_config){
            .store = &fake.store, .port = &port.port, .board = &board, .window_ms = WINDOW_MS });
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void answer(uint32_t request, enum answer what)
{
    const struct inventory_answer told = { .tag = port.requests[request].tag,
        .outcome = { .answer = (uint8_t)what } };
    assert_true(waitlist_answer(&waitlist, &told));
}

static void free_units_are_offered_in_order_and_only_as_far_as_they_go(void **state)
{
    (void)state;
    show_free(2);
    assert_int_equal(waitlist_turn(&waitlist, 1), STATUS_OK);
    assert_int_equal(port.flushed, 2);
    const struct command_reserve *first = &port.requests[0].command.reserve;
    assert_int_equal(first->user, 7);
    assert_int_equal(first->key, waitlist_key(100));
    assert_int_equal(first->item, ITEM);
    assert_int_equal(first->channel, WAITLIST_CHANNEL);
    assert_int_equal(first->flags, RESERVE_AFTER_END | RESERVE_OFFER);
    assert_int_equal(first->window_ms, WINDOW_MS);
    assert_int_equal(port.requests[1].command.reserve.user, 9); /* three do not fit */
    /* Until all are answered nothing more is asked. */
    answer(0, ANSWER_WON);
    assert_int_equal(waitlist_turn(&waitlist, 1000), STATUS_OK);
    assert_int_equal(port.committed, 2);
    answer(1, ANSWER_WON);
    assert_int_equal(fake.passed, 0);
    assert_int_equal(waitlist_turn(&waitlist, 1000), STATUS_OK);
    assert_int_equal(port.committed, 4);
}

static void nothing_is_asked_while_nobody_waits_or_nothing_is_free(void **state)
{
    (void)state;
    assert_int_equal(waitlist_turn(&waitlist, 1), STATUS_OK); /* not preheated */
    show_free(0);
    assert_int_equal(waitlist_turn(&waitlist, 1000), STATUS_OK);
    fake.waiting = 0;
    show_free(5);
    assert_int_equal(waitlist_turn(&waitlist, 2000), STATUS_OK);
    assert_int_equal(port.committed, 0);
    assert_int_equal(fake.looks, 3);
    assert_int_equal(waitlist_turn(&waitlist, 2000 + WAITLIST_LOOK_MS - 1), STATUS_OK);
    assert_int_equal(fake.looks, 3);
    waitlist_look(&waitlist);
    assert_int_equal(waitlist_turn(&waitlist, 2000 + WAITLIST_LOOK_MS - 1), STATUS_OK);
    assert_int_equal(fake.looks, 4);
}

static void who_may_not_have_it_is_passed_over_and_looked_at_again_later(void **state)
{
    static const enum answer final[] = { ANSWER_ALREADY_BOUGHT, ANSWER_LIMIT_REACHED,
        ANSWER_OPEN_ORDER, ANSWER_NOT_ELIGIBLE, ANSWER_REPEATED };
    static const enum answer soon[] = { ANSWER_SOLD_OUT, ANSWER_UNAVAILABLE, ANSWER_IN_PROGRESS,
        ANSWER_TOO_POPULAR };
    uint64_t now_ms = 1;
    (void)state;
    show_free(1);
    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        fake.passed = 0;
        port.committed = port.flushed = 0;
        assert_int_equal(waitlist_turn(&waitlist, now_ms += WAITLIST_LOOK_MS), STATUS_OK);
        answer(0, final[i]);
        assert_int_equal(fake.passed, 100);
    }
    for (size_t i = 0; i < sizeof soon / sizeof *soon; i++) {
        fake.passed = 0;
        port.committed = port.flushed = 0;
        assert_int_equal(waitlist_turn(&waitlist, now_ms += WAITLIST_LOOK_MS), STATUS_OK);
        answer(0, soon[i]);
        assert_int_equal(fake.passed, 0);
    }
    assert_int_equal(fake.agains, 1);
    assert_int_equal(waitlist_turn(&waitlist, now_ms + WAITLIST_AGAIN_MS), STATUS_OK);
    assert_int_equal(fake.agains, 2);
}

static void full_queues_foreign_answers_and_a_store_that_is_away_do_no_harm(void **state)
{
    const struct inventory_answer foreign = { .tag = 5 };
    (void)state;
    show_free(9);
    port.room = 1;
    assert_int_equal(waitlist_turn(&waitlist, 1), STATUS_OK);
    assert_int_equal(port.flushed, 1);
    assert_false(waitlist_answer(&waitlist, &foreign));
    answer(0, ANSWER_WON);
    fake.answer = STATUS_AWAY;
    assert_int_equal(waitlist_turn(&waitlist, 1000), STATUS_AWAY);
    fake.answer = STATUS_OK;
    fake.waiting = 500;
    port.room = PORT_MAX;
    show_free(400);
    assert_int_equal(waitlist_turn(&waitlist, 2000), STATUS_OK);
    assert_int_equal(port.committed, 1 + WAITLIST_OFFERS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            free_units_are_offered_in_order_and_only_as_far_as_they_go, setup, teardown),
        cmocka_unit_test_setup_teardown(
            nothing_is_asked_while_nobody_waits_or_nothing_is_free, setup, teardown),
        cmocka_unit_test_setup_teardown(
            who_may_not_have_it_is_passed_over_and_looked_at_again_later, setup, teardown),
        cmocka_unit_test_setup_teardown(
            full_queues_foreign_answers_and_a_store_that_is_away_do_no_harm, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
