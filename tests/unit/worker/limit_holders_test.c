/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of worker/limit_holders.h: what the database has comes to the board, in parts and again. */
#include "worker/limit_holders.h"

#include "base/arena.h"
#include "contract/board.h"
#include "contract/limit_uses.h"
#include "tests/unit/base/unit.h"
#include "worker/task.h"

#include <string.h>

enum { USERS = 1500, GROUP = 9, MAX = 2000 };

static struct arena arena;
static struct board board;
static struct task task;
static user_id first;  /* the lowest user that the database has */
static uint32_t users; /* and the highest */
static bool away;
static uint32_t ends; /* parts that were the last of a round */

/* All of one group. */
static enum status holders_tell(struct order_store *store, struct limit_holder *after,
    struct limit_holder *holders, uint32_t max, uint32_t *count, bool *more)
{
    (void)store;
    *count = 0;
    if (away)
        return STATUS_AWAY;
    while (*count < max && after->user < users) {
        *after = (struct limit_holder){ GROUP, after->user < first ? first : after->user + 1 };
        holders[(*count)++] = *after;
    }
    *more = *count > 0;
    ends += !*more;
    return STATUS_OK;
}

static const struct limit_store_ops limit_ops = { .holders = holders_tell };
static const struct order_store_ops store_ops = { .limits = &limit_ops };
static struct order_store store = { .ops = &store_ops };

static int setup(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, board_bytes(4, MAX) + (1 << 16)), STATUS_OK);
    board_create(&board, &arena, 4, MAX);
    limit_holders_open(&arena, &store, &board, &task);
    first = 1;
    users = USERS;
    away = false;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

/* Turns until a round has ended; answers when that was. */
static uint64_t round_make(uint64_t now_ms)
{
    const uint32_t before = ends;
    for (uint32_t turns = 0; turns < 4000; turns++) {
        const uint64_t next_ms = task.turn(task.self, now_ms);
        if (ends > before)
            return now_ms;
        now_ms = next_ms;
    }
    fail_msg("no end of the round");
    return 0;
}

static void whoever_the_database_has_is_a_holder_after_a_round_of_small_parts(void **state)
{
    (void)state;
    (void)task.turn(task.self, 1);
    assert_in_range(atomic_load(&board.holders->count), 1, USERS / 2);
    (void)round_make(2);
    for (user_id user = 1; user <= USERS; user++)
        assert_true(board_may_hold(&board, GROUP, user));
}

static void rounds_come_again_after_longer_pauses_and_find_who_was_missed(void **state)
{
    (void)state;
    const uint64_t slack_ms = 2000;
    first = 20;
    uint64_t last_ms = round_make(1), pause_ms = 10 * 1000;
    for (uint32_t i = 0; i < 12; i++) {
        first--; /* who was missed stands before those that were read last */
        const uint64_t now_ms = round_make(last_ms + 1);
        assert_in_range(now_ms - last_ms, pause_ms, pause_ms + slack_ms);
        assert_true(board_may_hold(&board, GROUP, first));
        last_ms = now_ms;
        pause_ms = pause_ms * 2 < 3600 * 1000 ? pause_ms * 2 : 3600 * 1000;
    }
    assert_int_equal(pause_ms, 3600 * 1000);
}

static void a_database_that_is_away_is_asked_again_where_the_round_was(void **state)
{
    (void)state;
    (void)task.turn(task.self, 1);
    const uint64_t known = atomic_load(&board.holders->count);
    away = true;
    assert_int_equal(task.turn(task.self, 10), 1010);
    away = false;
    (void)task.turn(task.self, 1010);
    assert_true(atomic_load(&board.holders->count) > known);
}

static void a_full_filter_is_made_again_with_the_next_round(void **state)
{
    (void)state;
    for (user_id user = 1; !board_holders_full(&board); user++) /* of a period that is over */
        board_add_holder(&board, GROUP + 1, user);
    const uint64_t now_ms = round_make(1);
    assert_false(board_may_hold(&board, GROUP + 1, 1));
    assert_true(board_may_hold(&board, GROUP, USERS));
    users = 2 * MAX; /* more than there is room for: nobody is wrong in it */
    (void)round_make(now_ms + 1);
    assert_true(board_holders_full(&board));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest rules[] = {
        RULE(whoever_the_database_has_is_a_holder_after_a_round_of_small_parts),
        RULE(rounds_come_again_after_longer_pauses_and_find_who_was_missed),
        RULE(a_database_that_is_away_is_asked_again_where_the_round_was),
        RULE(a_full_filter_is_made_again_with_the_next_round),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
