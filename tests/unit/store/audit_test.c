/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (uint64_t i = 1; i <= 5; i++) {
        struct audit_entry entry = { .time_ms = i, .actor = "ann", .action = "adjust" };
        snprintf(entry.detail, sizeof entry.detail, "item 1 by %u", (unsigned)i);
        assert_int_equal(place->store->ops->audit_append(place->store, &entry), STATUS_OK);
    }
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static uint64_t first_bad(struct place *place)
{
    uint64_t entries, bad;
    assert_int_equal(place->store->ops->audit_verify(place->store, &entries, &bad), STATUS_OK);
    return bad;
}

static void bad_after(struct place *place, const char *sql, uint64_t expected)
{
    assert_int_equal(first_bad(place), 0);
    place_execute(place, sql);
    assert_int_equal(first_bad(place), expected);
}

static void a_changed_row_breaks_the_chain_there(void **state)
{
    bad_after(*state, "UPDATE audit SET detail = 'item 1 banned_by 9' WHERE id = 3", 3);
}
static void a_changed_actor_breaks_the_chain_there(void **state)
{
    bad_after(*state, "UPDATE audit SET actor = 'eve' WHERE id = 3", 3);
}
static void a_changed_time_breaks_the_chain_there(void **state)
{
    bad_after(*state, "UPDATE audit SET time_ms = 99 WHERE id = 5", 5);
}
static void moving_bytes_between_fields_breaks_the_chain(void **state)
{
    bad_after(*state, "UPDATE audit SET actor = 'anna', action = 'djust' WHERE id = 2", 2);
}
static void bytes_hidden_behind_a_nul_break_the_chain(void **state)
{
    bad_after(*state, "UPDATE audit SET actor = 'ann' || char(0) || 'x' WHERE id = 4", 4);
}
static void a_removed_row_breaks_the_chain_there(void **state)
{
    bad_after(*state, "DELETE FROM audit WHERE id = 2", 2);
}
static void a_cut_end_is_seen(void **state)
{
    bad_after(*state, "DELETE FROM audit WHERE id >= 4", 4);
}
static void an_added_row_is_seen(void **state)
{
    bad_after(*state,
        "INSERT INTO audit SELECT 6, time_ms, actor, action, detail, hash FROM audit WHERE id = 5", 6);
}
static void a_changed_head_is_seen(void **state)
{
    bad_after(*state, "UPDATE audit_head SET hash = zeroblob(32)", 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_changed_row_breaks_the_chain_there),
        TEST(a_changed_actor_breaks_the_chain_there),
        TEST(a_changed_time_breaks_the_chain_there),
        TEST(moving_bytes_between_fields_breaks_the_chain),
        TEST(bytes_hidden_behind_a_nul_break_the_chain),
        TEST(a_removed_row_breaks_the_chain_there),
        TEST(a_cut_end_is_seen),
        TEST(an_added_row_is_seen),
        TEST(a_changed_head_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
