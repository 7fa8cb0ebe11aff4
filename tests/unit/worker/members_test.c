/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of many machines see each other through a real database; its clock is the system's, and ours is
 * set apart from it. */
#include "worker/members.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/alarms.h"
#include "worker/leadership.h"
#include "worker/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOW_MS = 1000000, SLOW_MS = 60 * 1000 }; /* no answer of this database takes so long */

static struct {
    struct place place;
    struct arena arena;
    struct task task[2], leading;
    struct members *process[2];
    struct member self[2];
    struct leadership *leadership; /* of process 1 */
    int64_t redis_apart_ms;
    struct place_ops own;
} world;

static int64_t redis_apart_ms(void *context)
{
    (void)context;
    return world.redis_apart_ms;
}

static void process_make(uint32_t i, const char *role, enum leads leads)
{
    world.self[i] =
        (struct member){ .process = 7 + i, .version = "1.0", .channels = "web", .settings = 5 };
    snprintf(world.self[i].role, sizeof world.self[i].role, "%s", role);
    snprintf(world.self[i].name, sizeof world.self[i].name, "machine-%u:8080", i);
    world.leadership = leadership_open(&world.arena,
        &(struct leadership_config){ .store = world.place.store, .leads = leads, .holder = 7 + i },
        &world.leading);
    world.process[i] = members_open(&world.arena,
        &(struct members_config){ .store = world.place.store,
            .self = &world.self[i],
            .leadership = world.leadership,
            .redis_apart_ms = redis_apart_ms },
        &world.task[i]);
}

static int setup(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    log_level_set(LOG_ERROR + 1);
    clock_start(0);
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    assert_int_equal(arena_open(&world.arena, 1 << 20), STATUS_OK);
    process_make(0, "gateway", LEADS_NEVER);
    process_make(1, "worker", LEADS_BY_LEASE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    alarm_clear(ALARM_MEMBERS_DIFFER);
    alarm_clear(ALARM_CLOCK_APART);
    arena_close(&world.arena);
    place_remove(&world.place);
    clock_start(0);
    return 0;
}

static void turn(uint32_t i)
{
    assert_int_equal(world.task[i].turn(world.task[i].self, NOW_MS), NOW_MS + MEMBER_BEAT_MS);
}

static uint64_t found; /* of gauge_find */

static void gauge_find(void *context, const char *labels, uint64_t value)
{
    if (strcmp(labels, context) == 0)
        found = value;
}

static uint64_t gauge(const char *name, const char *labels)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s", labels);
    found = UINT64_MAX;
    metrics_each(name, gauge_find, wanted);
    return found;
}

static bool detail_has(const char *words)
{
    char bytes[8192];
    struct text out = text_in(bytes, sizeof bytes - 1);
    alarms_json(&out);
    assert_false(out.overflow);
    bytes[out.size] = 0;
    return strstr(bytes, words) != NULL;
}

static void one_machine_tells_nobody(void **state)
{
    (void)state;
    struct task task;
    const struct members *alone =
        members_open(&world.arena, &(struct members_config){ .store = world.place.store }, &task);
    assert_true(task.turn(task.self, NOW_MS) == TASK_IDLE);
    assert_null(members_trouble(alone));
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 0);
}

static void processes_that_agree_are_counted_and_raise_nothing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        turn(i % 2);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 2);
    assert_int_equal(gauge("stampede_members", "role=\"gateway\""), 1);
    assert_int_equal(gauge("stampede_members", "role=\"worker\""), 1);
    assert_int_equal(gauge("stampede_members", "role=\"all\""), 0);
    assert_false(alarm_is_up(ALARM_MEMBERS_DIFFER) || alarm_is_up(ALARM_CLOCK_APART));
    assert_null(members_trouble(world.process[0]));
    assert_true(gauge("stampede_clock_apart_ms", "to=\"database\"") < CLOCK_APART_ALARM_MS);
}

static void another_version_or_other_settings_are_told_until_they_agree(void **state)
{
    (void)state;
    world.self[0].settings = 6;
    turn(0);
    turn(1);
    assert_true(alarm_is_up(ALARM_MEMBERS_DIFFER));
    assert_true(
        detail_has("gateway machine-0:8080: settings differ: compare `stampede config` of both"));
    assert_false(detail_has("it runs version"));
    world.self[0].settings = 5;
    snprintf(world.self[0].version, sizeof world.self[0].version, "1.1");
    turn(0);
    turn(1);
    assert_true(detail_has("gateway machine-0:8080: it runs version 1.1, this worker 1.0"));
    assert_false(detail_has("settings differ"));
    turn(0); /* which sees the same from its side */
    assert_true(detail_has("worker machine-1:8080: it runs version 1.0, this gateway 1.1"));
    snprintf(world.self[0].version, sizeof world.self[0].version, "1.0");
    turn(0);
    turn(1);
    assert_false(alarm_is_up(ALARM_MEMBERS_DIFFER));
}

static void a_process_that_was_not_heard_lately_does_not_count(void **state)
{
    (void)state;
    world.self[0].settings = 6;
    turn(0);
    place_execute(&world.place, "UPDATE members SET seen_ms = seen_ms - 10000 WHERE process = 7");
    turn(1);
    assert_false(alarm_is_up(ALARM_MEMBERS_DIFFER));
    assert_int_equal(gauge("stampede_members", "role=\"gateway\""), 0);
}

static void old_rows_are_removed_by_the_leader_only(void **state)
{
    (void)state;
    turn(0);
    turn(1);
    place_execute(&world.place,
        "INSERT INTO members(process, role, name, version, channels, settings, clock_ms, seen_ms)"
        " SELECT 99, role, name, version, channels, settings, clock_ms, seen_ms - 61000 FROM "
        "members"
        " WHERE process = 7");
    turn(0);
    turn(1); /* nobody leads yet */
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 3);
    world.leading.turn(world.leading.self, NOW_MS);
    turn(0);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 3);
    turn(1);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members WHERE process = 99"), 0);
    assert_int_equal(place_number(&world.place, "SELECT count(*) FROM members"), 2);
}

static void redis_clock_is(int64_t apart_ms, bool alarm, bool ready)
{
    world.redis_apart_ms = apart_ms;
    turn(0);
    assert_int_equal(alarm_is_up(ALARM_CLOCK_APART), alarm);
    assert_int_equal(members_trouble(world.process[0]) == NULL, ready);
    assert_int_equal(gauge("stampede_clock_apart_ms", "to=\"redis\""), llabs(apart_ms));
}

static void a_clock_that_is_apart_is_told_and_far_apart_it_is_not_ready(void **state)
{
    (void)state;
    redis_clock_is(249, false, true);
    redis_clock_is(250, true, true);
    assert_true(detail_has("the clock of Redis is 250 ms ahead of that of this process"));
    redis_clock_is(-999, true, true);
    assert_true(detail_has("the clock of Redis is 999 ms behind that of this process"));
    redis_clock_is(1000, true, false);
    assert_non_null(strstr(members_trouble(world.process[0]), "of Redis are 1 s or more apart"));
    redis_clock_is(-1000, true, false);
    redis_clock_is(-249, false, true);
}

static void the_databases_clock_is_compared_by_what_is_sure(void **state)
{
    (void)state;
    clock_start(clock_wall_ms() + 2 * SLOW_MS);
    turn(0);
    assert_true(alarm_is_up(ALARM_CLOCK_APART));
    assert_true(detail_has("the clock of the database is "));
    assert_non_null(strstr(members_trouble(world.process[0]), "of the database are 1 s or more apart"));
    assert_true(gauge("stampede_clock_apart_ms", "to=\"database\"") > SLOW_MS);
    assert_true(gauge("stampede_clock_apart_ms", "to=\"database\"") <= 2 * SLOW_MS + 1);
    clock_start(0);
    turn(0);
    assert_false(alarm_is_up(ALARM_CLOCK_APART));
    assert_null(members_trouble(world.process[0]));
}

static enum status set_away(struct order_store *store, const struct member *member)
{
    (void)store;
    (void)member;
    return STATUS_AWAY;
}

static enum status now_away(struct order_store *store, uint64_t *now_ms)
{
    (void)store;
    *now_ms = 0;
    return STATUS_AWAY;
}

static enum status check_refused(struct order_store *store, char *what, size_t what_bytes)
{
    (void)store;
    snprintf(what, what_bytes, "read-only");
    return STATUS_AWAY;
}

static void a_database_that_takes_no_writes_is_told_and_one_that_is_away_is_not(void **state)
{
    (void)state;
    place_ops_lend(&world.place, &world.own);
    world.own.cluster.member_set = set_away; /* a write that failed for once */
    turn(0);
    assert_null(members_trouble(world.process[0]));
    world.own.cluster.write_check = check_refused;
    turn(0);
    assert_non_null(strstr(members_trouble(world.process[0]), "can't be written"));
    world.own.cluster.now = now_away; /* nothing is known then */
    turn(0);
    assert_non_null(members_trouble(world.process[0]));
    world.own.cluster = *world.own.real;
    turn(0);
    assert_null(members_trouble(world.process[0]));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(one_machine_tells_nobody),
        RULE(processes_that_agree_are_counted_and_raise_nothing),
        RULE(another_version_or_other_settings_are_told_until_they_agree),
        RULE(a_process_that_was_not_heard_lately_does_not_count),
        RULE(old_rows_are_removed_by_the_leader_only),
        RULE(a_clock_that_is_apart_is_told_and_far_apart_it_is_not_ready),
        RULE(the_databases_clock_is_compared_by_what_is_sure),
        RULE(a_database_that_takes_no_writes_is_told_and_one_that_is_away_is_not),
    };
    return cmocka_run_group_tests_name("worker/members", tests, NULL, NULL);
}
