/* SPDX-License-Identifier: Apache-2.0 */
/* The list of bans over a real database: what comes and goes holds at once, in the set that edges have. */
#include "worker/ban_list.h"

#include "api/handover.h"
#include "base/arena.h"
#include "contract/admin_store.h"
#include "contract/bans.h"
#include "funnel/bans.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/task.h"

#include <stdio.h>

enum { NOW_MS = 1000000, HOUR_MS = 3600 * 1000 };

static struct {
    struct place place;
    struct arena arena;
    struct handover shown;
    struct reader_turns turns; /* of no reader: what is replaced goes at once */
    struct task task;
    struct ban_list *list;
} world;

static void list_open(void)
{
    assert_int_equal(arena_open(&world.arena, 1 << 16), STATUS_OK);
    handover_create(&world.shown, NULL, ban_set_free);
    world.list = ban_list_open(&world.arena,
        &(struct ban_list_config){
            .store = world.place.store, .shown = &world.shown, .turns = &world.turns, .proxies = "" },
        &world.task);
}

static void list_close(void)
{
    handover_close(&world.shown);
    arena_close(&world.arena);
}

static int setup(void **state)
{
    (void)state;
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    list_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    list_close();
    place_remove(&world.place);
    return 0;
}

static struct ban user_ban(user_id user, uint64_t until_ms)
{
    return (struct ban){
        .kind = BAN_USER, .user = user, .reason = "x", .by = "ann", .created_ms = NOW_MS, .until_ms = until_ms
    };
}

static uint64_t put(struct ban ban)
{
    assert_int_equal(ban_list_put(world.list, &ban), STATUS_OK);
    return ban.id;
}

static void lift(uint64_t id)
{
    struct order_store *store = world.place.store;
    bool lifted;
    assert_int_equal(store->ops->bans->lift(store, id, NOW_MS, &lifted), STATUS_OK);
    assert_true(lifted);
    ban_list_lifted(world.list, id, NOW_MS);
}

static bool user_is_banned(user_id user, uint64_t now_ms)
{
    return ban_set_user_at(handover_get(&world.shown), user, now_ms);
}

static bool address_is_banned(const char *text)
{
    struct address address;
    assert_int_equal(address_parse(span_from_string(text), &address), STATUS_OK);
    return ban_set_address_at(handover_get(&world.shown), &address, NOW_MS);
}

/* As many users as the table of bans has room for, less `free`. */
static void bans_fill(uint32_t free, uint64_t until_ms)
{
    char fill[300];
    snprintf(fill, sizeof fill,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
        " INSERT INTO bans(kind, user_id, reason, banned_by, created_ms, until_ms, lifted_ms)"
        " SELECT 2, 1000 + i, '', 'x', 1, %llu, 0 FROM n",
        BANS_MAX - free, (unsigned long long)until_ms);
    place_execute(&world.place, fill);
}

static void a_ban_holds_at_once_and_a_lifted_one_no_longer(void **state)
{
    struct ban block = user_ban(0, NOW_MS + HOUR_MS);
    (void)state;
    block.kind = BAN_ADDRESS;
    assert_int_equal(address_block_parse(span_from_string("203.0.113.0/24"), &block.block), STATUS_OK);
    const uint64_t user = put(user_ban(7, NOW_MS + HOUR_MS)), addresses = put(block);
    assert_true(user_is_banned(7, NOW_MS) && address_is_banned("203.0.113.200"));
    assert_false(user_is_banned(8, NOW_MS) || address_is_banned("203.0.114.0"));
    lift(addresses);
    assert_true(user_is_banned(7, NOW_MS));
    assert_false(address_is_banned("203.0.113.200"));
    lift(user);
    assert_false(user_is_banned(7, NOW_MS));
}

static void of_two_bans_of_one_user_the_other_holds_on(void **state)
{
    (void)state;
    const uint64_t shorter = put(user_ban(7, NOW_MS + 1000));
    const uint64_t longer = put(user_ban(7, NOW_MS + HOUR_MS));
    assert_true(user_is_banned(7, NOW_MS + HOUR_MS - 1));
    lift(longer);
    assert_true(user_is_banned(7, NOW_MS + 999));
    assert_false(user_is_banned(7, NOW_MS + 1000));
    lift(shorter);
    assert_false(user_is_banned(7, NOW_MS));
}

static void a_request_that_is_rolled_back_bans_and_lifts_nobody(void **state)
{
    struct order_store *store = world.place.store;
    (void)state;
    const uint64_t kept = put(user_ban(7, NOW_MS + HOUR_MS));
    assert_int_equal(store->ops->admin->begin(store), STATUS_OK);
    put(user_ban(8, NOW_MS + HOUR_MS));
    lift(kept);
    assert_true(user_is_banned(7, NOW_MS) && !user_is_banned(8, NOW_MS)); /* not yet */
    assert_int_equal(store->ops->admin->end(store, false), STATUS_OK);
    ban_list_show(world.list, NOW_MS);
    assert_true(user_is_banned(7, NOW_MS));
    assert_false(user_is_banned(8, NOW_MS));
}

static void a_request_that_is_kept_bans_when_it_ends(void **state)
{
    struct order_store *store = world.place.store;
    (void)state;
    assert_int_equal(store->ops->admin->begin(store), STATUS_OK);
    put(user_ban(8, NOW_MS + HOUR_MS));
    assert_int_equal(store->ops->admin->end(store, true), STATUS_OK);
    ban_list_show(world.list, NOW_MS);
    assert_true(user_is_banned(8, NOW_MS));
}

static void all_of_them_hold_after_a_restart(void **state)
{
    (void)state;
    for (user_id user = 1; user <= 300; user++)
        put(user_ban(user, NOW_MS + HOUR_MS));
    list_close();
    list_open();
    (void)world.task.turn(world.task.self, NOW_MS);
    for (user_id user = 1; user <= 300; user++)
        assert_true(user_is_banned(user, NOW_MS));
}

static void the_next_ban_is_put_into_the_set_that_edges_have(void **state)
{
    (void)state;
    bans_fill(1000, NOW_MS + HOUR_MS);
    put(user_ban(1, NOW_MS + HOUR_MS));
    const struct ban_set *set = handover_get(&world.shown);
    for (user_id user = 2; user <= 500; user++)
        lift(put(user_ban(user, NOW_MS + HOUR_MS)));
    assert_ptr_equal(handover_get(&world.shown), set);
    assert_true(user_is_banned(1, NOW_MS) && user_is_banned(1001, NOW_MS));
    assert_false(user_is_banned(500, NOW_MS));
}

static void the_last_place_is_given_once_and_an_end_makes_room(void **state)
{
    struct ban ban = user_ban(1, NOW_MS + HOUR_MS);
    (void)state;
    bans_fill(1, NOW_MS + 10);
    const uint64_t last = put(ban);
    assert_int_equal(ban_list_put(world.list, &ban), STATUS_FULL);
    lift(last);
    put(ban);
    assert_int_equal(ban_list_put(world.list, &ban), STATUS_FULL);
    ban.created_ms = NOW_MS + 9;
    assert_int_equal(ban_list_put(world.list, &ban), STATUS_FULL);
    ban.created_ms = NOW_MS + 10;
    assert_int_equal(ban_list_put(world.list, &ban), STATUS_OK);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RULE(a_ban_holds_at_once_and_a_lifted_one_no_longer),
        RULE(of_two_bans_of_one_user_the_other_holds_on),
        RULE(a_request_that_is_rolled_back_bans_and_lifts_nobody),
        RULE(a_request_that_is_kept_bans_when_it_ends),
        RULE(all_of_them_hold_after_a_restart),
        RULE(the_next_ban_is_put_into_the_set_that_edges_have),
        RULE(the_last_place_is_given_once_and_an_end_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
