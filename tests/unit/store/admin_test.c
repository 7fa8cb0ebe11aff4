/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/admin_store.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct place place;
static char room[REQUEST_BODY_MAX];

static int setup(void **state)
{
    (void)state;
    place_make(&place);
    return place_open(&place, NULL) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    place_remove(&place);
    return 0;
}

static const struct admin_store_ops *admin(void)
{
    return place.store->ops->admin;
}

static struct queue_record adjust_by(const char *actor, int32_t delta)
{
    struct queue_record record = { .at.seq = ++place.lsn,
        .command = { .time_ms = 77, .type = COMMAND_ADJUST, .adjust = { .item = place.item } },
        .outcome = { .answer = ANSWER_DONE, .applied = delta, .changed = true } };
    record.command.adjust.delta = delta;
    snprintf(record.command.origin.actor, sizeof record.command.origin.actor, "%s", actor);
    return record;
}

static struct queue_record users_by(const char *actor, uint64_t key, uint32_t loaded)
{
    struct queue_record record = { .at.seq = ++place.lsn,
        .command = { .time_ms = 78, .type = COMMAND_USERS, .users = { .sale = 1, .count = 1 } },
        .outcome = { .answer = ANSWER_DONE, .applied = (int32_t)loaded, .changed = true } };
    record.command.users.users[0] = place.lsn;
    record.command.origin.key = key;
    snprintf(record.command.origin.actor, sizeof record.command.origin.actor, "%s", actor);
    return record;
}

static int64_t audit_rows(const char *where)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM audit WHERE %s", where);
    return place_number(&place, sql);
}

static void a_record_of_an_administrator_gets_one_audit_row(void **state)
{
    (void)state;
    struct queue_record records[] = { adjust_by("mia", 5), adjust_by("", 3) };
    assert_int_equal(place_apply(&place, records, 2), STATUS_OK);
    assert_int_equal(place_apply(&place, records, 2), STATUS_OK); /* told again */
    assert_int_equal(audit_rows("1"), 1);
    assert_int_equal(audit_rows("actor = 'mia' AND action = 'item.adjust' AND time_ms = 77"
                                " AND detail = 'item 1 channel 0 asked 5 applied 5'"),
        1);
    static const char names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1] = { "web" };
    admin()->channel_names(place.store, names);
    records[0] = adjust_by("mia", -1);
    assert_int_equal(place_apply(&place, records, 1), STATUS_OK);
    assert_int_equal(audit_rows("detail = 'item 1 web asked -1 applied -1'"), 1);
    uint64_t entries, bad;
    assert_int_equal(place.store->ops->audit_verify(place.store, &entries, &bad), STATUS_OK);
    assert_int_equal(bad, 0);
}

static void a_list_of_users_has_one_row(void **state)
{
    (void)state;
    const struct queue_record records[] = { users_by("mia", 1, 12), users_by("mia", 1, 7),
        adjust_by("tom", 1), users_by("mia", 2, 3), users_by("tom", 2, 4) };
    assert_int_equal(place_apply(&place, records, 5), STATUS_OK);
    assert_int_equal(audit_rows("1"), 4);
    assert_int_equal(audit_rows("id = 1 AND detail = 'sale 1 loaded 19'"), 1);
    assert_int_equal(audit_rows("id = 2 AND actor = 'tom' AND action = 'item.adjust'"), 1);
    assert_int_equal(audit_rows("id = 3 AND detail = 'sale 1 loaded 3'"), 1);
    assert_int_equal(audit_rows("id = 4 AND actor = 'tom' AND detail = 'sale 1 loaded 4'"), 1);
}

/* The act was done, although the database can't take it in. */
static void a_dead_letter_has_its_audit_row_too(void **state)
{
    (void)state;
    struct queue_record record = adjust_by("mia", 5);
    const uint8_t dead = DISPOSE_DEAD;
    record.command.adjust.item = 77;
    struct refusal refusal = { .text = "no such item" };
    assert_int_equal(place.store->ops->apply(place.store, &record, &dead, 1, &refusal), STATUS_OK);
    assert_int_equal(audit_rows("action = 'item.adjust'"), 1);
}

static void product_put(const char *name)
{
    static struct product product;
    product = (struct product){ .currency = "CNY" };
    snprintf(product.name, sizeof product.name, "%s", name);
    assert_int_equal(place.store->ops->product_insert(place.store, &product), STATUS_OK);
}

static void what_is_together_is_kept_or_dropped_as_a_whole(void **state)
{
    (void)state;
    const struct audit_entry entry = { .time_ms = 1, .actor = "mia", .action = "product.create" };
    const int64_t before = place_number(&place, "SELECT count(*) FROM products");
    for (int keep = 0; keep <= 1; keep++) {
        assert_int_equal(admin()->begin(place.store), STATUS_OK);
        product_put("tea");
        assert_int_equal(place.store->ops->audit_append(place.store, &entry), STATUS_OK);
        assert_int_equal(place_sell(&place, 100 + (user_id)keep), STATUS_OK);
        assert_int_equal(place_number(&place, "SELECT count(*) FROM products"), before);
        assert_int_equal(admin()->end(place.store, keep == 1), STATUS_OK);
        assert_int_equal(place_number(&place, "SELECT count(*) FROM products"), before + keep);
        assert_int_equal(audit_rows("1"), keep);
        assert_int_equal(place_number(&place, "SELECT count(*) FROM orders"), keep);
        if (keep == 0)
            place.lsn--;
    }
}

static void a_part_that_fails_leaves_the_others(void **state)
{
    (void)state;
    struct refusal refusal = { .index = 0 };
    const uint8_t apply = DISPOSE_APPLY;
    struct queue_record record = adjust_by("mia", 5);
    record.command.adjust.item = 77; /* there is none */
    assert_int_equal(admin()->begin(place.store), STATUS_OK);
    product_put("tea");
    assert_int_equal(place.store->ops->apply(place.store, &record, &apply, 1, &refusal), STATUS_REFUSED);
    assert_int_equal(admin()->end(place.store, true), STATUS_OK);
    assert_int_equal(place_number(&place, "SELECT count(*) FROM products WHERE name = 'tea'"), 1);
    assert_int_equal(audit_rows("1"), 0);
}

static void answers_are_kept_for_a_day(void **state)
{
    (void)state;
    const uint64_t now_ms = 10 * (uint64_t)REQUEST_KEPT_MS;
    struct kept_request kept = {
        .key = UINT64_MAX, .request = 5, .time_ms = now_ms, .status = 201, .body = SPAN("{\"id\":7}")
    };
    struct kept_request back;
    assert_int_equal(admin()->begin(place.store), STATUS_OK);
    assert_int_equal(admin()->request_put(place.store, &kept), STATUS_OK);
    assert_int_equal(admin()->end(place.store, true), STATUS_OK);
    assert_int_equal(admin()->request_get(place.store, UINT64_MAX, &back, room, sizeof room), STATUS_OK);
    assert_true(back.request == 5 && back.status == 201 && back.time_ms == now_ms);
    assert_true(span_equal(back.body, kept.body));
    assert_int_equal(admin()->request_get(place.store, 1, &back, room, sizeof room), STATUS_NOT_FOUND);
    for (uint64_t more = 0; more <= 1; more++) {
        kept.key = 10 + more;
        kept.time_ms = now_ms + REQUEST_KEPT_MS + more;
        assert_int_equal(admin()->begin(place.store), STATUS_OK);
        assert_int_equal(admin()->request_put(place.store, &kept), STATUS_OK);
        assert_int_equal(admin()->end(place.store, true), STATUS_OK);
        assert_int_equal(admin()->request_get(place.store, UINT64_MAX, &back, room, sizeof room),
            more == 0 ? STATUS_OK : STATUS_NOT_FOUND);
    }
}

static void a_locked_database_begins_nothing(void **state)
{
    (void)state;
    assert_int_equal(admin()->begin(place.store), STATUS_OK);
    assert_int_equal(place_try(&place, "BEGIN IMMEDIATE"), 5); /* SQLITE_BUSY: it is ours */
    assert_int_equal(admin()->end(place.store, false), STATUS_OK);
    assert_int_equal(place_try(&place, "BEGIN IMMEDIATE"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_record_of_an_administrator_gets_one_audit_row),
        TEST(a_list_of_users_has_one_row),
        TEST(a_dead_letter_has_its_audit_row_too),
        TEST(what_is_together_is_kept_or_dropped_as_a_whole),
        TEST(a_part_that_fails_leaves_the_others),
        TEST(answers_are_kept_for_a_day),
        TEST(a_locked_database_begins_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
