/* SPDX-License-Identifier: Apache-2.0 */
/* Who leads, over a real database: one at a time, and nobody by a lease that may be over. */
#include "worker/leadership.h"

#include "base/arena.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/task.h"

enum { NOW_MS = 1000000, LEADS_MS = LEADER_LEASE_MS - LEADER_MARGIN_MS };

static struct {
    struct place place;
    struct arena arena;
    struct task task[2];
    struct leadership *process[2];
    struct place_ops own; /* of a database that is away */
} world;

static int setup(void **state)
{
    (void)state;
    log_level_set(LOG_ERROR + 1);
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    assert_int_equal(arena_open(&world.arena, 1 << 12), STATUS_OK);
    for (uint32_t i = 0; i < 2; i++)
        world.process[i] = leadership_open(&world.arena,
            &(struct leadership_config){
                .store = world.place.store, .leads = LEADS_BY_LEASE, .holder = 7 + i },
            &world.task[i]);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&world.arena);
    place_remove(&world.place);
    return 0;
}

static uint64_t turn(uint32_t i, uint64_t now_ms)
{
    return world.task[i].turn(world.task[i].self, now_ms);
}

static bool leads(uint32_t i, uint64_t now_ms)
{
    return leadership_holds(world.process[i], now_ms);
}

static void database_leave(void)
{
    place_ops_lend(&world.place, &world.own);
    world.own.cluster.lease_take = place_lease_away;
}

static void one_machine_always_leads_and_a_gateway_never(void **state)
{
    (void)state;
    struct task tasks[2];
    const struct leadership_config alone = { .leads = LEADS_ALWAYS }; /* nobody is asked */
    const struct leadership_config gateway = { .leads = LEADS_NEVER, .holder = 9 };
    const struct leadership *always = leadership_open(&world.arena, &alone, &tasks[0]);
    const struct leadership *never = leadership_open(&world.arena, &gateway, &tasks[1]);
    assert_true(leadership_holds(NULL, NOW_MS));
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(tasks[i].turn(tasks[i].self, NOW_MS) == TASK_IDLE);
        assert_true(leadership_holds(always, NOW_MS));
        assert_false(leadership_holds(never, NOW_MS));
        tasks[i].end(tasks[i].self, NOW_MS);
    }
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM leases"), 0);
}

static void of_two_processes_one_leads_and_prolongs_its_lease(void **state)
{
    (void)state;
    assert_false(leads(0, NOW_MS) || leads(1, NOW_MS)); /* before anybody has asked */
    assert_int_equal(turn(0, NOW_MS), NOW_MS + LEADER_PROLONG_MS);
    assert_int_equal(turn(1, NOW_MS), NOW_MS + LEADER_PROLONG_MS);
    assert_true(leads(0, NOW_MS));
    assert_false(leads(1, NOW_MS));
    for (uint64_t ms = NOW_MS; ms < NOW_MS + 3 * LEADER_LEASE_MS; ms += LEADER_PROLONG_MS) {
        assert_true(leads(0, ms));
        turn(0, ms);
        turn(1, ms);
        assert_false(leads(1, ms));
    }
}

static void it_stops_before_its_lease_is_over(void **state)
{
    (void)state;
    turn(0, NOW_MS);
    assert_true(leads(0, NOW_MS + LEADS_MS - 1));
    assert_false(leads(0, NOW_MS + LEADS_MS));
    assert_true(LEADS_MS > 2 * LEADER_PROLONG_MS); /* one question may be lost */
}

static void a_lease_that_somebody_else_has_ends_it_at_once(void **state)
{
    (void)state;
    turn(0, NOW_MS);
    place_execute(&world.place, "UPDATE leases SET until_ms = 1"); /* it was stopped for long */
    turn(1, NOW_MS + 1);
    assert_true(leads(1, NOW_MS + 1));
    turn(0, NOW_MS + 2);
    assert_false(leads(0, NOW_MS + 2));
    place_execute(&world.place, "UPDATE leases SET until_ms = 1");
    turn(0, NOW_MS + 3);
    assert_true(leads(0, NOW_MS + 3));
}

static void a_database_that_is_away_prolongs_nothing(void **state)
{
    (void)state;
    turn(0, NOW_MS);
    database_leave();
    assert_int_equal(turn(0, NOW_MS + 100), NOW_MS + 100 + LEADER_PROLONG_MS); /* it is asked again */
    assert_true(leads(0, NOW_MS + LEADS_MS - 1)); /* the time that is left counts */
    turn(0, NOW_MS + LEADS_MS - 1);
    assert_false(leads(0, NOW_MS + LEADS_MS));
    turn(1, NOW_MS);
    assert_false(leads(1, NOW_MS)); /* and nobody gets it */
}

static void a_process_that_ends_gives_the_lease_back(void **state)
{
    (void)state;
    turn(0, NOW_MS);
    world.task[1].end(world.task[1].self, NOW_MS); /* it is not this one's to give */
    turn(1, NOW_MS);
    assert_false(leads(1, NOW_MS));
    world.task[0].end(world.task[0].self, NOW_MS);
    assert_false(leads(0, NOW_MS));
    turn(1, NOW_MS);
    assert_true(leads(1, NOW_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_machine_always_leads_and_a_gateway_never, setup, teardown),
        cmocka_unit_test_setup_teardown(of_two_processes_one_leads_and_prolongs_its_lease, setup, teardown),
        cmocka_unit_test_setup_teardown(it_stops_before_its_lease_is_over, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lease_that_somebody_else_has_ends_it_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_is_away_prolongs_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_process_that_ends_gives_the_lease_back, setup, teardown),
    };
    return cmocka_run_group_tests_name("worker/leadership", tests, NULL, NULL);
}
