/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/level.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

static struct level_move move;

static void nothing(const struct level_shard *shards, uint32_t count, bool ahead)
{
    assert_false(level_plan(shards, count, ahead, &move));
}

static void moves(const struct level_shard *shards, uint32_t count, bool ahead, uint32_t from,
    uint32_t to, uint32_t quantity)
{
    assert_true(level_plan(shards, count, ahead, &move));
    assert_int_equal(move.from, from);
    assert_int_equal(move.to, to);
    assert_int_equal(move.quantity, quantity);
}

static void units_go_where_somebody_waits_for_them(void **state)
{
    (void)state;
    moves((struct level_shard[]){ { .free = 0, .wanted = 1 }, { .free = 9 }, { .free = 3 } }, 3,
        false, 1, 0, 4);
    moves((struct level_shard[]){ { .free = 0, .wanted = 1 }, { .free = 1 } }, 2, false, 1, 0, 1);
    moves((struct level_shard[]){ { .free = 1, .wanted = 3 }, { .free = 2 }, { .free = 0 } }, 3,
        false, 1, 0, 2);
    moves((struct level_shard[]){ { .free = 2 }, { .free = 1, .wanted = 5 }, { .free = 2 } }, 3,
        false, 0, 1, 2); /* they gather */
    nothing((struct level_shard[]){ { .free = 3, .wanted = 3 }, { .free = 9 } }, 2, false);
    nothing((struct level_shard[]){ { .free = 0, .wanted = 1 }, { .free = 0 } }, 2, false);
}

static void what_a_shards_own_buyers_want_stays_there(void **state)
{
    (void)state;
    nothing((struct level_shard[]){ { .free = 0, .wanted = 1 }, { .free = 1, .wanted = 1 } }, 2, true);
    moves((struct level_shard[]){ { .free = 0, .wanted = 1 }, { .free = 4, .wanted = 1 } }, 2,
        false, 1, 0, 1);
    nothing((struct level_shard[]){ { .free = 0, .wanted = 1 }, { .free = 9, .fixed = true } }, 2, true);
    moves((struct level_shard[]){ { .free = 0, .wanted = 3 }, { .free = 4, .wanted = 2 } }, 2,
        false, 1, 0, 2);
}

static void a_shard_that_runs_low_gets_units_before_it_is_empty(void **state)
{
    (void)state;
    moves((struct level_shard[]){ { .free = 24 }, { .free = 1 }, { .free = 23 } }, 3, true, 0, 1, 11);
    nothing((struct level_shard[]){ { .free = 24 }, { .free = 1 }, { .free = 23 } }, 3, false);
    nothing((struct level_shard[]){ { .free = 24 }, { .free = 4 }, { .free = 20 } }, 3,
        true); /* a quarter of the average */
    nothing((struct level_shard[]){ { .free = 1 }, { .free = 1 }, { .free = 1 } }, 3, true);
    nothing((struct level_shard[]){ { .free = 0 }, { .free = 0 } }, 2, true);
}

static void units_that_are_too_few_for_several_shards_come_together_in_one(void **state)
{
    (void)state;
    moves((struct level_shard[]){ { .free = 1, .wanted = 2 }, { .free = 1, .wanted = 2 } }, 2,
        false, 1, 0, 1);
    moves((struct level_shard[]){ { .free = 1, .wanted = 3 }, { .free = 1, .wanted = 2 } }, 2,
        false, 0, 1, 1);
    nothing((struct level_shard[]){ { .free = 2, .wanted = 2 }, { .free = 0, .wanted = 2 } }, 2, false);
}

/* Whoever follows the plan comes to an end, and then nobody waits for units that others could spare. */
static void plans_come_to_an_end(void **state)
{
    struct random random;
    (void)state;
    random_seed(&random, 7);
    for (uint32_t round = 0; round < 2000; round++) {
        struct level_shard shards[SHARDS_MAX];
        const uint32_t count = 2 + (uint32_t)random_below(&random, SHARDS_MAX - 1);
        uint64_t before = 0, after = 0;
        for (uint32_t i = 0; i < count; i++) {
            shards[i] = (struct level_shard){ .free = (uint32_t)random_below(&random, 40),
                .wanted = (uint32_t)(random_below(&random, 3) == 0 ? random_below(&random, 4) : 0) };
            before += shards[i].free;
        }
        uint32_t steps = 0;
        for (; level_plan(shards, count, true, &move); steps++) {
            assert_true(move.quantity > 0 && move.quantity <= shards[move.from].free
                && move.from != move.to);
            assert_true(steps < 50 * SHARDS_MAX);
            shards[move.from].free -= move.quantity;
            shards[move.to].free += move.quantity;
        }
        for (uint32_t i = 0; i < count; i++)
            after += shards[i].free;
        assert_int_equal(before, after);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t other = 0; other < count; other++)
                assert_false(shards[i].free < shards[i].wanted && shards[other].wanted == 0
                    && shards[other].free > 0 && other != i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_go_where_somebody_waits_for_them),
        cmocka_unit_test(what_a_shards_own_buyers_want_stays_there),
        cmocka_unit_test(a_shard_that_runs_low_gets_units_before_it_is_empty),
        cmocka_unit_test(units_that_are_too_few_for_several_shards_come_together_in_one),
        cmocka_unit_test(plans_come_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
