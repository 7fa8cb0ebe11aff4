/* SPDX-License-Identifier: Apache-2.0 */
/* What several machines tell each other through the store: switches, and which processes there are. */
#include "tests/seam/store_suite_parts.h"

#include "contract/cluster_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- switches ---- */

static void switch_turn(struct fixture *f, const char *name, item_id item, uint32_t value)
{
    struct switch_row row = { .item = item, .value = value };
    snprintf(row.name, sizeof row.name, "%s", name);
    assert_int_equal(suite_cluster(f)->switch_set(f->store, &row), STATUS_OK);
}

static void a_switch_is_kept_once_and_an_items_goes_when_it_is_off(void **state)
{
    struct fixture *f = *state;
    struct switch_row rows[4];
    uint32_t count = 9;
    assert_int_equal(suite_cluster(f)->switch_list(f->store, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
    switch_turn(f, "pow_boost", 0, UINT32_MAX);
    switch_turn(f, "pow_boost", 0, 3);
    switch_turn(f, "sold_out_items", 7, 1);
    switch_turn(f, "sold_out_items", 70, 1);
    switch_turn(f, "sold_out_items", 8, 0); /* was never on */
    switch_turn(f, "refuse_new", 0, 0);
    assert_int_equal(suite_cluster(f)->switch_list(f->store, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 4);
    assert_true(strcmp(rows[0].name, "pow_boost") == 0 && rows[0].item == 0 && rows[0].value == 3);
    assert_true(strcmp(rows[1].name, "refuse_new") == 0 && rows[1].value == 0); /* it is off */
    assert_true(strcmp(rows[2].name, "sold_out_items") == 0 && rows[2].item == 7 && rows[2].value == 1);
    assert_true(rows[3].item == 70);
    switch_turn(f, "sold_out_items", 7, 0);
    switch_turn(f, "pow_boost", 0, 0);
    assert_int_equal(suite_cluster(f)->switch_list(f->store, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_true(rows[0].value == 0 && rows[2].item == 70);
    assert_int_equal(suite_cluster(f)->switch_set(f->store, &(struct switch_row){ .value = 1 }),
        STATUS_BAD_INPUT);
}

/* ---- members ---- */

static void member_tell(struct fixture *f, uint64_t process, const char *role, uint64_t seen_ms)
{
    struct member member = { .process = process,
        .name = "machine-1:8080",
        .version = "1.2.3",
        .channels = "web,app",
        .settings = UINT64_MAX - process,
        .clock_ms = seen_ms + 7,
        .seen_ms = seen_ms };
    snprintf(member.role, sizeof member.role, "%s", role);
    assert_int_equal(suite_cluster(f)->member_set(f->store, &member), STATUS_OK);
}

static uint32_t members_of(struct fixture *f, struct member *members, uint32_t max)
{
    uint32_t count = 99;
    assert_int_equal(suite_cluster(f)->member_list(f->store, members, max, &count), STATUS_OK);
    return count;
}

static void a_process_has_one_row_which_it_renews_and_removes(void **state)
{
    struct fixture *f = *state;
    struct member members[3];
    assert_int_equal(members_of(f, members, 3), 0);
    member_tell(f, 70, "gateway", 1000);
    member_tell(f, 7, "worker", 1000);
    member_tell(f, 70, "all", 2000);
    suite_restart(f);
    assert_int_equal(members_of(f, members, 3), 2);
    assert_true(members[0].process == 7 && strcmp(members[0].role, "worker") == 0);
    assert_true(members[0].seen_ms == 1000 && members[1].seen_ms == 2000);
    assert_true(members[1].process == 70 && strcmp(members[1].role, "all") == 0);
    assert_true(members[1].settings == UINT64_MAX - 70 && members[1].clock_ms == 2007);
    assert_string_equal(members[1].name, "machine-1:8080");
    assert_string_equal(members[1].version, "1.2.3");
    assert_string_equal(members[1].channels, "web,app");
    assert_int_equal(members_of(f, members, 1), 1);
    assert_int_equal(suite_cluster(f)->member_remove(f->store, 8), STATUS_OK); /* there is none */
    assert_int_equal(suite_cluster(f)->member_remove(f->store, 7), STATUS_OK);
    assert_int_equal(members_of(f, members, 3), 1);
    assert_int_equal(members[0].process, 70);
    assert_int_equal(suite_cluster(f)->member_set(f->store, &(struct member){ .role = "all" }),
        STATUS_BAD_INPUT);
}

static void a_process_that_was_not_seen_for_long_is_forgotten(void **state)
{
    struct fixture *f = *state;
    struct member members[3];
    const uint64_t far = 0xfedcba9876543210u; /* numbers of processes have 64 bits */
    member_tell(f, 7, "worker", 4999);
    member_tell(f, far, "worker", 5000);
    assert_int_equal(suite_cluster(f)->members_forget(f->store, 5000), STATUS_OK);
    assert_int_equal(members_of(f, members, 3), 1);
    assert_true(members[0].process == far);
    assert_true(member_is_live(&members[0], 5000 + MEMBER_LIVE_MS - 1));
    assert_false(member_is_live(&members[0], 5000 + MEMBER_LIVE_MS));
}

static void a_database_that_takes_writes_says_so_and_nothing_is_changed(void **state)
{
    struct fixture *f = *state;
    struct member members[2];
    char what[64] = "unchanged";
    member_tell(f, 7, "worker", 1000);
    assert_int_equal(suite_cluster(f)->write_check(f->store, what, sizeof what), STATUS_OK);
    assert_string_equal(what, "");
    assert_int_equal(members_of(f, members, 2), 1);
    assert_int_equal(members[0].seen_ms, 1000);
}

int suite_run_members(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_switch_is_kept_once_and_an_items_goes_when_it_is_off),
        SUITE_RULE(a_process_has_one_row_which_it_renews_and_removes),
        SUITE_RULE(a_process_that_was_not_seen_for_long_is_forgotten),
        SUITE_RULE(a_database_that_takes_writes_says_so_and_nothing_is_changed),
    };
    return cmocka_run_group_tests_name("order store: processes of several machines", rules, NULL, NULL);
}
