/* SPDX-License-Identifier: Apache-2.0 */
/* One server sells with a database; over a real one, whose clock goes on. */
#include "worker/database_hold.h"

#include "base/arena.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/task.h"

#include <stdio.h>
#include <string.h>

enum { NOW_MS = 1000000, FIRST = 7, SECOND = 9, LOST = 77 };

static struct {
    struct place place;
    struct arena arena;
    struct task task;
    int lost;
    struct place_ops own;
} world;

static void lost(void *context)
{
    *(int *)context = LOST;
}

static int setup(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    log_level_set(LOG_ERROR + 1);
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    place_ops_lend(&world.place, &world.own);
    return arena_open(&world.arena, 1 << 12) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    place_remove(&world.place);
    arena_close(&world.arena);
    return 0;
}

static void hold_open(uint64_t holder)
{
    database_hold_open(&world.arena,
        &(struct database_hold_config){
            .store = world.place.store, .holder = holder, .lost = lost, .context = &world.lost },
        &world.task);
}

static enum status take(uint64_t holder, const char *words)
{
    char error[256] = "";
    const enum status status = database_hold_take(world.place.store, holder, error, sizeof error);
    assert_non_null(strstr(error, words));
    return status;
}

static void lease_is(const char *until)
{
    char sql[128];
    snprintf(sql, sizeof sql, "UPDATE leases SET until_ms = %s WHERE name = 'one machine'", until);
    place_execute(&world.place, sql);
}

/* The first server lives, and prolongs its lease whenever somebody else asks. */
static enum status asked_beside_the_first(
    struct order_store *store, const char *name, uint64_t holder, uint32_t ms, struct lease *lease)
{
    struct lease first;
    const enum status status = world.own.real->lease_take(store, name, holder, ms, lease);
    assert_int_equal(world.own.real->lease_take(store, name, FIRST, ms, &first), STATUS_OK);
    return status;
}

static void a_second_server_is_refused_while_the_first_one_lives(void **state)
{
    (void)state;
    assert_int_equal(take(FIRST, ""), STATUS_OK);
    world.own.cluster.lease_take = asked_beside_the_first;
    assert_int_equal(take(SECOND, "another server sells with this database"), STATUS_CONFLICT);
    assert_int_equal(place_number(&world.place, "SELECT holder FROM leases"), FIRST);
}

static void after_a_kill_the_next_server_waits_until_the_lease_is_over(void **state)
{
    (void)state;
    assert_int_equal(take(FIRST, ""), STATUS_OK);
    lease_is("until_ms - 2700"); /* the most of it is over */
    assert_int_equal(take(SECOND, ""), STATUS_OK);
    assert_int_equal(place_number(&world.place, "SELECT holder FROM leases"), SECOND);
}

static void a_clean_stop_leaves_nothing_to_wait_for(void **state)
{
    (void)state;
    assert_int_equal(take(FIRST, ""), STATUS_OK);
    database_hold_give(world.place.store, SECOND); /* not its own */
    assert_int_equal(place_number(&world.place, "SELECT holder FROM leases"), FIRST);
    database_hold_give(world.place.store, FIRST);
    assert_int_equal(place_number(&world.place, "SELECT holder FROM leases"), 0);
}

static void a_database_that_is_away_refuses_the_start(void **state)
{
    (void)state;
    world.own.cluster.lease_take = place_lease_away;
    assert_int_equal(take(FIRST, "the lease of the database can't be taken"), STATUS_AWAY);
}

static void the_lease_is_prolonged_and_whoever_loses_it_is_told(void **state)
{
    (void)state;
    hold_open(0); /* a file: nobody else can have it */
    assert_true(world.task.turn(world.task.self, NOW_MS) == TASK_IDLE);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM leases"), 0);
    assert_int_equal(take(FIRST, ""), STATUS_OK);
    hold_open(FIRST);
    lease_is("1"); /* it was stopped for long, and nobody came */
    assert_int_equal(world.task.turn(world.task.self, NOW_MS), NOW_MS + DATABASE_HOLD_PROLONG_MS);
    assert_true(place_number(&world.place, "SELECT until_ms FROM leases") > 1);
    world.own.cluster.lease_take = place_lease_away;
    assert_int_equal(world.task.turn(world.task.self, NOW_MS), NOW_MS + DATABASE_HOLD_PROLONG_MS);
    world.own.cluster.lease_take = world.own.real->lease_take;
    lease_is("1");
    assert_int_equal(take(SECOND, ""), STATUS_OK);
    assert_int_equal(world.lost, 0);
    assert_true(world.task.turn(world.task.self, NOW_MS) == TASK_IDLE);
    assert_int_equal(world.lost, LOST);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_second_server_is_refused_while_the_first_one_lives),
        RULE(after_a_kill_the_next_server_waits_until_the_lease_is_over),
        RULE(a_clean_stop_leaves_nothing_to_wait_for),
        RULE(a_database_that_is_away_refuses_the_start),
        RULE(the_lease_is_prolonged_and_whoever_loses_it_is_told),
    };
    return cmocka_run_group_tests_name("worker/database_hold", tests, NULL, NULL);
}
