/* SPDX-License-Identifier: Apache-2.0 */
/* Groups on a disk that fails, and the transactions of administrators within them. The rules of every store
 * are in tests/seam/store_suite_groups.c. */
#include "contract/admin_store.h"
#include "tests/unit/store/place.h"
#include "tests/unit/store/sqlite/fault_vfs.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct place place;

static int setup(void **state)
{
    (void)state;
    fault_plan = (struct fault_plan){ 0 };
    place_make(&place);
    return place_open(&place, FAULT_VFS_NAME) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    fault_plan = (struct fault_plan){ 0 };
    place_remove(&place);
    return 0;
}

static const struct order_store_ops *ops(void)
{
    return place.store->ops;
}

static enum status cancel(ticket_number ticket, uint8_t *answer)
{
    const struct order_move move = { .ticket = ticket, .event = ORDER_EVENT_CANCEL, .now_ms = 1 };
    struct order after;
    return ops()->orders_move(place.store, &move, 1, &after, answer);
}

static void must_cancel(ticket_number ticket)
{
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(cancel(ticket, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
}

static void sell(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(place_sell(&place, 100 + i), STATUS_OK);
}

static int64_t closed(void)
{
    return place_number(&place, "SELECT count(*) FROM orders WHERE state = 3");
}

static void a_group_costs_one_sync_and_reading_alone_begins_nothing(void **state)
{
    (void)state;
    struct order order;
    sell(20);
    ops()->group_begin(place.store);
    assert_int_equal(ops()->order_by_ticket(place.store, 1, &order), STATUS_OK);
    assert_false(ops()->group_is_open(place.store));
    assert_int_equal(place_try(&place, "BEGIN IMMEDIATE"), SQLITE_OK); /* nobody holds the lock */
    const uint32_t before = fault_plan.calls;
    for (ticket_number ticket = 1; ticket <= 20; ticket++)
        must_cancel(ticket);
    assert_int_equal(fault_plan.calls, before); /* nothing is on its way to the disk */
    assert_int_equal(closed(), 0);              /* and nobody else sees it */
    assert_int_equal(ops()->group_end(place.store), STATUS_OK);
    assert_int_equal(closed(), 20);
}

/* The k-th call to the disk fails while the group is committed, for every k. */
static void every_disk_fault_takes_the_whole_group(void **state)
{
    (void)state;
    static const int results[] = { SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC };
    sell(3);
    for (uint32_t i = 0; i < sizeof results / sizeof *results; i++) {
        for (uint32_t at = 1;; at++) {
            ops()->group_begin(place.store);
            must_cancel(1);
            must_cancel(2);
            fault_plan = (struct fault_plan){ .fail_at = at, .result = results[i] };
            const enum status status = ops()->group_end(place.store);
            const bool failed = fault_plan.calls >= at;
            fault_plan = (struct fault_plan){ 0 };
            assert_false(ops()->group_is_open(place.store));
            if (!failed) {
                assert_int_equal(status, STATUS_OK);
                break;
            }
            assert_true(status == STATUS_AWAY || status == STATUS_UNKNOWN);
            assert_int_equal(closed(), 0);
        }
        assert_int_equal(closed(), 2);
        /* As before, for the next kind of fault. */
        place_execute(&place,
            "UPDATE orders SET state = 1, reason = 0, slot = 0 WHERE ticket < 3;"
            "UPDATE items SET sold = sold + 2; DELETE FROM stock_events");
    }
}

/* SQLite gives up the whole transaction in the middle, as it does when a write fails: whoever comes next is
 * not kept alone. */
static void a_group_that_is_lost_is_away_until_its_end(void **state)
{
    (void)state;
    uint8_t answer = MOVE_ANSWERS;
    struct order order;
    sell(3);
    place_execute(&place,
        "CREATE TRIGGER gives_up BEFORE UPDATE ON orders WHEN new.ticket = 2"
        " BEGIN SELECT RAISE(ROLLBACK, 'given up'); END");
    ops()->group_begin(place.store);
    must_cancel(1);
    assert_int_not_equal(cancel(2, &answer), STATUS_OK);
    assert_true(ops()->group_is_open(place.store));
    assert_int_equal(cancel(3, &answer), STATUS_AWAY);
    assert_int_equal(ops()->order_by_ticket(place.store, 1, &order), STATUS_AWAY);
    assert_int_equal(ops()->admin->begin(place.store), STATUS_AWAY);
    assert_int_equal(ops()->group_end(place.store), STATUS_AWAY);
    assert_int_equal(closed(), 0);
    ops()->group_begin(place.store);
    must_cancel(3);
    assert_int_equal(ops()->group_end(place.store), STATUS_OK);
    assert_int_equal(closed(), 1);
}

static void a_request_of_an_administrator_is_a_part_of_the_group(void **state)
{
    (void)state;
    const struct admin_store_ops *admin = ops()->admin;
    const struct audit_entry entry = { .time_ms = 1, .actor = "mia", .action = "order.cancel" };
    sell(4);
    ops()->group_begin(place.store);
    must_cancel(1);
    for (int keep = 0; keep <= 1; keep++) {
        assert_int_equal(admin->begin(place.store), STATUS_OK);
        must_cancel(2);
        assert_int_equal(ops()->audit_append(place.store, &entry), STATUS_OK);
        assert_int_equal(admin->end(place.store, keep == 1), STATUS_OK);
    }
    assert_int_equal(admin->begin(place.store), STATUS_OK);
    assert_true(admin->pause(place.store)); /* a question to the inventory: others go on meanwhile */
    must_cancel(3);
    assert_false(admin->is_open(place.store));
    assert_int_equal(ops()->group_end(place.store), STATUS_OK);
    assert_int_equal(closed(), 3);
    assert_int_equal(place_number(&place, "SELECT count(*) FROM audit"), 1);
    assert_int_equal(admin->begin(place.store), STATUS_OK); /* alone again */
    must_cancel(4);
    assert_int_equal(closed(), 3);
    assert_int_equal(admin->end(place.store, true), STATUS_OK);
    assert_int_equal(closed(), 4);
}

static void sold_and_sums_are_right_at_the_end_whatever_was_dropped(void **state)
{
    (void)state;
    const struct admin_store_ops *admin = ops()->admin;
    item_id wrong = 0;
    sell(8);
    ops()->group_begin(place.store);
    for (uint32_t i = 0; i < 4; i++) { /* dropped as the first of the group, and between others */
        assert_int_equal(admin->begin(place.store), STATUS_OK);
        must_cancel(7);
        must_cancel(8);
        assert_int_equal(admin->end(place.store, false), STATUS_OK);
        must_cancel(1 + i);
        assert_int_equal(place_sell(&place, 200 + i), STATUS_OK); /* the log writes items, too */
    }
    assert_int_equal(admin->begin(place.store), STATUS_OK);
    must_cancel(7);
    assert_int_equal(admin->end(place.store, true), STATUS_OK);
    assert_int_equal(ops()->group_end(place.store), STATUS_OK);
    assert_int_equal(closed(), 5);
    assert_int_equal(place_number(&place, "SELECT sold FROM items"), 8 + 4 - 5);
    assert_int_equal(ops()->sums_check(place.store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

static void sums_that_are_refused_at_the_end_take_the_whole_group(void **state)
{
    (void)state;
    sell(2);
    place_close(&place);
    /* Another writer between our read and our update, played by a trigger. */
    place_execute(&place,
        "CREATE TRIGGER meddle AFTER UPDATE ON orders BEGIN"
        " UPDATE items SET version = version + 1; END");
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    ops()->group_begin(place.store);
    must_cancel(1);
    must_cancel(2);
    assert_int_equal(ops()->group_end(place.store), STATUS_REFUSED);
    assert_int_equal(closed(), 0);
    place_execute(&place, "DROP TRIGGER meddle");
    must_cancel(1);
    assert_int_equal(closed(), 1);
}

static void a_locked_database_begins_no_group(void **state)
{
    (void)state;
    uint8_t answer = MOVE_ANSWERS;
    sqlite3 *other;
    sell(1);
    assert_int_equal(sqlite3_open(place.path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ops()->group_begin(place.store);
    assert_int_equal(cancel(1, &answer), STATUS_AWAY);
    assert_false(ops()->group_is_open(place.store));
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    must_cancel(1);
    assert_int_equal(ops()->group_end(place.store), STATUS_OK);
    assert_int_equal(closed(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_group_costs_one_sync_and_reading_alone_begins_nothing),
        TEST(every_disk_fault_takes_the_whole_group),
        TEST(a_group_that_is_lost_is_away_until_its_end),
        TEST(a_request_of_an_administrator_is_a_part_of_the_group),
        TEST(sold_and_sums_are_right_at_the_end_whatever_was_dropped),
        TEST(sums_that_are_refused_at_the_end_take_the_whole_group),
        TEST(a_locked_database_begins_no_group),
    };
    fault_vfs_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
