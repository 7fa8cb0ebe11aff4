/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes may join a shop on many machines: over a real database. */
#include "server/admission.h"

#include "base/clock.h"
#include "base/log.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"

#include <stdio.h>
#include <string.h>

enum { OLD = 3, NEW = 5 };

static struct {
    struct place place;
    struct place_ops own;
} world;

static struct member member_of(uint64_t process, const char *channels)
{
    struct member member = { .process = process, .role = "worker", .name = "machine-1:8080", .version = "1" };
    snprintf(member.channels, sizeof member.channels, "%s", channels);
    return member;
}

/* So long ago, by the database's clock. */
static void old_was_heard(uint32_t ago_ms)
{
    struct order_store *store = world.place.store;
    struct member old = member_of(OLD, "web,app");
    assert_int_equal(world.own.real->now(store, &old.seen_ms), STATUS_OK);
    old.seen_ms -= ago_ms;
    assert_int_equal(world.own.real->member_set(store, &old), STATUS_OK);
}

static enum status ask(const char *channels, const char *words)
{
    const struct member self = member_of(NEW, channels);
    char error[256] = "";
    const enum status status = admission_ask(world.place.store, &self, error, sizeof error);
    assert_non_null(strstr(error, words));
    return status;
}

static int setup(void **state)
{
    (void)state;
    log_level_set(LOG_ERROR + 1);
    clock_start(0);
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    place_ops_lend(&world.place, &world.own);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    place_remove(&world.place);
    return 0;
}

/* The other process renews its row whenever the rows are read. */
static enum status list_beside(
    struct order_store *store, struct member *members, uint32_t max, uint32_t *count)
{
    old_was_heard(0);
    return world.own.real->member_list(store, members, max, count);
}

static enum status list_away(
    struct order_store *store, struct member *members, uint32_t max, uint32_t *count)
{
    (void)store;
    (void)members;
    (void)max;
    *count = 0;
    return STATUS_AWAY;
}

static void who_has_the_same_channels_joins_and_is_seen(void **state)
{
    (void)state;
    old_was_heard(0);
    assert_int_equal(ask("web,app", ""), STATUS_OK);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 2);
}

static void who_has_other_channels_is_refused_and_leaves_no_row(void **state)
{
    (void)state;
    world.own.cluster.member_list = list_beside;
    assert_int_equal(ask("web", "channels.names is web here and web,app at worker machine-1:8080"),
        STATUS_BAD_INPUT);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 1);
    assert_int_equal(place_number(&world.place, "SELECT process FROM members"), OLD);
}

static void a_process_that_was_killed_is_waited_for(void **state)
{
    (void)state;
    old_was_heard(MEMBER_LIVE_MS - 300);
    assert_int_equal(ask("web", ""), STATUS_OK);
    assert_int_equal(
        place_number(&world.place, "SELECT count(*) FROM members WHERE channels = 'web'"), 1);
}

static void a_database_that_is_away_is_said(void **state)
{
    (void)state;
    world.own.cluster.member_list = list_away;
    assert_int_equal(ask("web", "can't be read from the database"), STATUS_AWAY);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(who_has_the_same_channels_joins_and_is_seen),
        RULE(who_has_other_channels_is_refused_and_leaves_no_row),
        RULE(a_process_that_was_killed_is_waited_for),
        RULE(a_database_that_is_away_is_said),
    };
    return cmocka_run_group_tests_name("server/admission", tests, NULL, NULL);
}
