/* SPDX-License-Identifier: Apache-2.0 */
/* Bans in the database: they come back as they went in, after a restart too. */
#include "contract/bans.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NOW_MS = 5000 };

static int place_setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    *state = place;
    return 0;
}

static int place_teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static struct ban block_ban(const char *text)
{
    struct ban ban = { .kind = BAN_ADDRESS,
        .reason = "asked 500 times a second",
        .by = "rule rate",
        .created_ms = NOW_MS,
        .until_ms = NOW_MS + 1000 };
    assert_int_equal(address_block_parse(span_from_string(text), &ban.block), STATUS_OK);
    return ban;
}

static void bans_come_back_as_they_went_in(void **state)
{
    struct place *place = *state;
    static const char *const blocks[] = { "203.0.113.0/24", "203.0.113.7", "2001:db8::/32", "::1" };
    struct ban got;
    for (uint32_t i = 0; i < 4; i++) {
        struct ban ban = block_ban(blocks[i]);
        assert_int_equal(place->store->ops->bans->insert(place->store, &ban), STATUS_OK);
        assert_int_equal(ban.id, i + 1);
    }
    struct ban user = { .kind = BAN_USER,
        .user = 0xfedcba9876543210,
        .reason = "by hand",
        .by = "ann",
        .created_ms = NOW_MS,
        .until_ms = NOW_MS + 1 };
    assert_int_equal(place->store->ops->bans->insert(place->store, &user), STATUS_OK);
    place_close(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    const struct ban_store_ops *bans = place->store->ops->bans;
    for (uint32_t i = 0; i < 4; i++) {
        const struct ban wanted = block_ban(blocks[i]);
        assert_int_equal(bans->get(place->store, i + 1, &got), STATUS_OK);
        assert_memory_equal(&got.block, &wanted.block, sizeof got.block);
        assert_string_equal(got.reason, wanted.reason);
        assert_string_equal(got.by, "rule rate");
        assert_int_equal(got.until_ms, NOW_MS + 1000);
        assert_int_equal(got.lifted_ms, 0);
    }
    assert_int_equal(bans->get(place->store, user.id, &got), STATUS_OK);
    assert_true(got.kind == BAN_USER && got.user == user.user);
    assert_int_equal(bans->get(place->store, 99, &got), STATUS_NOT_FOUND);
}

static void what_is_over_or_lifted_is_history(void **state)
{
    struct place *place = *state;
    const struct ban_store_ops *bans = place->store->ops->bans;
    struct ban first = block_ban("10.0.0.1"), second = block_ban("10.0.0.2"), rows[4];
    uint32_t count;
    bool lifted;
    second.until_ms = NOW_MS + 2000;
    assert_int_equal(bans->insert(place->store, &first), STATUS_OK);
    assert_int_equal(bans->insert(place->store, &second), STATUS_OK);
    assert_int_equal(bans->list(place->store, 0, NOW_MS + 999, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(bans->list(place->store, 0, NOW_MS + 1000, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].id, second.id);
    assert_int_equal(bans->lift(place->store, first.id, NOW_MS + 1000, &lifted), STATUS_OK);
    assert_false(lifted); /* it was over */
    assert_int_equal(bans->lift(place->store, second.id, NOW_MS + 1500, &lifted), STATUS_OK);
    assert_true(lifted);
    assert_int_equal(bans->lift(place->store, second.id, NOW_MS + 1600, &lifted), STATUS_OK);
    assert_false(lifted);
    assert_int_equal(bans->lift(place->store, 77, NOW_MS, &lifted), STATUS_NOT_FOUND);
    assert_int_equal(bans->list(place->store, 0, NOW_MS + 1500, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(bans->list(place->store, 0, 0, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(rows[1].lifted_ms, NOW_MS + 1500);
    assert_int_equal(bans->list(place->store, first.id, 0, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
}

static bool ban_count(void *context, const struct ban *ban)
{
    struct {
        uint32_t count;
        uint64_t last;
    } *seen = context;
    seen->count++;
    seen->last = ban->id;
    return true;
}

static uint32_t in_effect(const struct place *place, uint64_t now_ms, uint64_t *last)
{
    struct {
        uint32_t count;
        uint64_t last;
    } seen = { 0 };
    assert_int_equal(
        place->store->ops->bans->in_effect(place->store, now_ms, ban_count, &seen), STATUS_OK);
    *last = seen.last;
    return seen.count;
}

static void a_ban_that_was_lifted_is_not_in_effect(void **state)
{
    struct place *place = *state;
    const struct ban_store_ops *bans = place->store->ops->bans;
    struct ban first = block_ban("10.0.0.1"), second = block_ban("10.0.0.2");
    uint64_t last;
    bool lifted;
    assert_int_equal(bans->insert(place->store, &first), STATUS_OK);
    assert_int_equal(bans->insert(place->store, &second), STATUS_OK);
    assert_int_equal(in_effect(place, NOW_MS, &last), 2);
    assert_int_equal(bans->lift(place->store, first.id, NOW_MS, &lifted), STATUS_OK);
    assert_int_equal(in_effect(place, NOW_MS, &last), 1);
    assert_int_equal(last, second.id);
    assert_int_equal(in_effect(place, NOW_MS + 1000, &last), 0); /* over, and it ended no sessions */
}

static void a_ban_that_ended_sessions_is_in_effect_as_long_as_they_live(void **state)
{
    struct place *place = *state;
    struct ban ban = block_ban("10.0.0.1");
    struct ban_entry effect;
    uint64_t last;
    ban.kind = BAN_USER;
    ban.user = UINT64_MAX;
    ban.sessions_ms = NOW_MS;
    assert_int_equal(place->store->ops->bans->insert(place->store, &ban), STATUS_OK);
    assert_int_equal(in_effect(place, NOW_MS, &last), 1);
    assert_int_equal(in_effect(place, NOW_MS + BAN_SESSIONS_MS - 1, &last), 1);
    assert_int_equal(in_effect(place, NOW_MS + BAN_SESSIONS_MS, &last), 0);
    assert_int_equal(
        place->store->ops->bans->effect(place->store, &ban, NOW_MS + BAN_SESSIONS_MS - 1, &effect),
        STATUS_OK);
    assert_true(
        effect.until_ms == ban.until_ms && effect.sessions_ms == NOW_MS && effect.user == ban.user);
}

static void what_ended_is_counted_by_kind(void **state)
{
    struct place *place = *state;
    const struct ban_store_ops *bans = place->store->ops->bans;
    struct ban ban = block_ban("10.0.0.1");
    struct bans_ended ended;
    assert_int_equal(bans->insert(place->store, &ban), STATUS_OK);
    ban.kind = BAN_USER;
    ban.until_ms = NOW_MS + 2000;
    assert_int_equal(bans->insert(place->store, &ban), STATUS_OK);
    assert_int_equal(bans->ended(place->store, NOW_MS, NOW_MS + 999, &ended), STATUS_OK);
    assert_true(ended.count[BAN_ADDRESS] == 0 && ended.count[BAN_USER] == 0);
    assert_int_equal(ended.next_ms, NOW_MS + 1000);
    assert_int_equal(bans->ended(place->store, NOW_MS + 999, NOW_MS + 1000, &ended), STATUS_OK);
    assert_true(ended.count[BAN_ADDRESS] == 1 && ended.count[BAN_USER] == 0);
    assert_int_equal(bans->ended(place->store, NOW_MS + 1000, NOW_MS + 2000, &ended), STATUS_OK);
    assert_true(ended.count[BAN_ADDRESS] == 0 && ended.count[BAN_USER] == 1);
    assert_int_equal(ended.next_ms, 0);
}

/* History may be a thousand times what is in force. */
static void what_is_in_force_is_found_without_history(void **state)
{
    struct place *place = *state;
#define PLAN "EXPLAIN QUERY PLAN SELECT max(sessions_ms) FROM bans WHERE lifted_ms = 0"
    assert_true(
        place_plan_has(place, PLAN " AND user_id = 1 AND until_ms > 2", "USING INDEX bans_of_user"));
    assert_true(
        place_plan_has(place, PLAN " AND block = 'x' AND until_ms > 2", "USING INDEX bans_of_block"));
    assert_true(place_plan_has(place, PLAN " AND until_ms > 1", "USING INDEX bans_in_force"));
    assert_true(place_plan_has(place, PLAN " AND until_ms <= 1 AND sessions_ms > 0 AND sessions_ms > 2",
        "USING INDEX bans_of_sessions"));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)
    const struct CMUnitTest tests[] = {
        RULE(bans_come_back_as_they_went_in),
        RULE(what_is_over_or_lifted_is_history),
        RULE(a_ban_that_was_lifted_is_not_in_effect),
        RULE(a_ban_that_ended_sessions_is_in_effect_as_long_as_they_live),
        RULE(what_ended_is_counted_by_kind),
        RULE(what_is_in_force_is_found_without_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
