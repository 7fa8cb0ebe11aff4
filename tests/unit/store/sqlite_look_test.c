/* Rows for reconciliation, and repairs: sqlite_look and sqlite_repair on a real file; and what only
 * SQLite can show of sqlite_dead and sqlite_report. */
#include "contract/reconcile.h"
#include "contract/report.h"

#include "tests/unit/store/sqlite_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define look(place) ((place)->store->ops->reconcile)

static int place_setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    *state = place;
    return 0;
}

static int place_teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static uint64_t live_of(struct place *place)
{
    struct look_user users[8];
    uint32_t count;
    uint64_t live = 0;
    assert_int_equal(look(place)->users(place->store, place->item, true, 0, users, 8, &count), STATUS_OK);
    for (uint32_t i = 0; i < count; i++)
        live += users[i].live;
    return live;
}

static void a_moment_stays_while_the_writer_goes_on(void **state)
{
    struct place *place = *state;
    struct look_item item;
    uint32_t count;
    assert_int_equal(look(place)->moment_begin(place->store), STATUS_OK);
    assert_int_equal(place_sell(place, 6), STATUS_OK);
    assert_int_equal(look(place)->items(place->store, LOOK_MOMENT, 0, &item, 1, &count), STATUS_OK);
    assert_int_equal(item.item.sold, 5);
    assert_int_equal(live_of(place), 5);
    assert_int_equal(look(place)->items(place->store, LOOK_NOW, 0, &item, 1, &count), STATUS_OK);
    assert_int_equal(item.item.sold, 6);
    look(place)->moment_end(place->store);
    look(place)->moment_end(place->store);
    assert_int_equal(place_number(place, "PRAGMA wal_checkpoint(TRUNCATE)"), 0); /* nobody reads */
    assert_int_equal(look(place)->moment_begin(place->store), STATUS_OK);
    assert_int_equal(live_of(place), 6);
    look(place)->moment_end(place->store);
}

static void lists_come_in_slices_and_one_by_one(void **state)
{
    struct place *place = *state;
    struct look_order orders[2];
    struct look_user users[3];
    uint32_t count;
    bool dead = true;
    assert_int_equal(look(place)->orders(place->store, 3, orders, 2, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(orders[0].order.ticket, 4);
    assert_true(orders[0].has_slot && orders[0].slot == 0 && orders[0].limit_per_user == 1);
    assert_int_equal(look(place)->order(place->store, 9, orders), STATUS_NOT_FOUND);
    assert_int_equal(look(place)->dead(place->store, 9, &dead), STATUS_OK);
    assert_false(dead);
    assert_int_equal(look(place)->moment_begin(place->store), STATUS_OK);
    assert_int_equal(look(place)->users(place->store, place->item, true, 0, users, 3, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(
        look(place)->users(place->store, place->item, false, users[2].user, users, 3, &count), STATUS_OK);
    assert_int_equal(count, 2);
    look(place)->moment_end(place->store);
}

static void repairs_set_what_the_rows_say_and_refuse_what_needs_a_person(void **state)
{
    struct place *place = *state;
    struct finding finding = { .code = FINDING_SOLD, .item = place->item };
    struct look_order row;
    place_execute(place, "UPDATE items SET sold = sold + 2");
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT sold FROM items"), 5);
    finding = (struct finding){ .code = FINDING_EVENT_MISSING, .ticket = 2, .step = SETTLE_RETURN };
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(look(place)->order(place->store, 2, &row), STATUS_OK);
    assert_int_equal(row.open, 1 << SETTLE_RETURN);
    finding.code = FINDING_EVENT_STALE;
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_CONFLICT);
    assert_int_equal(look(place)->order(place->store, 2, &row), STATUS_OK);
    assert_int_equal(row.confirmed, 1 << SETTLE_RETURN);
    finding = (struct finding){ .code = FINDING_COUNTER, .scope = place->item, .user = 77 };
    place_execute(place, "INSERT INTO user_counters VALUES(1, 77, 4)");
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM user_counters WHERE user = 77"), 0);
    finding.code = FINDING_TICKET_DIFFERS;
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_BAD_INPUT);
}

static void counts_of_a_sale_add_up_and_the_first_sold_out_counts(void **state)
{
    struct place *place = *state;
    const struct report_store_ops *report = place->store->ops->report;
    struct sale_count counts[3] = { { "door.go", 3 }, { "sold-out", 100 } }, again[4];
    struct sale_figures figures;
    uint32_t count;
    assert_int_equal(report->counts_add(place->store, 1, counts, 2), STATUS_OK);
    counts[1].count = 200;
    assert_int_equal(report->counts_add(place->store, 1, counts, 2), STATUS_OK);
    assert_int_equal(report->counts_add(place->store, 999, counts, 1), STATUS_REFUSED);
    assert_int_equal(report->counts(place->store, 1, again, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(again[0].count, 6);
    assert_int_equal(again[1].count, 100);
    assert_int_equal(report->figures(place->store, 1, &figures), STATUS_OK);
    assert_int_equal(figures.winners, 5);
    assert_int_equal(figures.orders[ORDER_PENDING], 5);
    assert_int_equal(figures.payments, 0);
}

static void a_letter_whose_record_is_damaged_is_not_applied(void **state)
{
    struct place *place = *state;
    struct queue_record record = place_win(place, 9);
    const uint8_t dead = DISPOSE_DEAD;
    const struct dead_decision decision = { .id = 1, .to = DEAD_RETRIED };
    place->refusal = (struct refusal){ 0 };
    assert_int_equal(
        place->store->ops->apply(place->store, &record, &dead, 1, &place->refusal), STATUS_OK);
    place_execute(place, "UPDATE dead_letters SET record = substr(record, 1, 9)");
    assert_int_equal(place->store->ops->dead_letter_decide(place->store, &decision, &place->refusal),
        STATUS_CORRUPT);
    assert_int_equal(place_number(place, "SELECT state FROM dead_letters"), DEAD_OPEN);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_moment_stays_while_the_writer_goes_on),
        TEST(lists_come_in_slices_and_one_by_one),
        TEST(repairs_set_what_the_rows_say_and_refuse_what_needs_a_person),
        TEST(counts_of_a_sale_add_up_and_the_first_sold_out_counts),
        TEST(a_letter_whose_record_is_damaged_is_not_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
