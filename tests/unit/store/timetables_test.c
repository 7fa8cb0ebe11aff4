/* SPDX-License-Identifier: Apache-2.0 */
/* Each session once: whoever comes second changes nothing, not even a number. */
#include "contract/timetable.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static const struct audit_entry said = {
    .time_ms = 5, .actor = "timetable", .action = "session.make", .detail = "d"
};

static uint32_t table_make(struct place *place)
{
    struct timetable table = { .model = 1,
        .title = "Evening",
        .start_minute = 1200,
        .duration_s = 3600,
        .weekdays = TIMETABLE_EVERY_DAY,
        .offset_min = -300,
        .ahead_s = 600,
        .active = true,
        .since_ms = 7 };
    struct timetable got;
    assert_int_equal(place->store->ops->timetables->insert(place->store, &table), STATUS_OK);
    assert_int_equal(place->store->ops->timetables->get(place->store, table.id, &got), STATUS_OK);
    assert_int_equal(got.offset_min, -300);
    assert_string_equal(got.title, "Evening");
    return table.id;
}

static struct timetable_day day_of(uint32_t table, uint32_t day)
{
    return (struct timetable_day){ .timetable = table, .day = day, .start_minute = MINUTE_OF_TIMETABLE };
}

static enum status make(struct place *place, const struct timetable_day *day)
{
    struct sale sale = { .title = "S", .start_ms = 1, .end_ms = 2, .timetable = day->timetable };
    struct item item = { .product = 1, .total = 1 };
    return place->store->ops->timetables->day_make(place->store, day, &sale, &item, 1, &said);
}

static void a_session_is_made_once(void **state)
{
    struct place *place = *state;
    const uint32_t table = table_make(place);
    const struct timetable_day day = day_of(table, 20768);
    const int64_t sales = place_number(place, "SELECT count(*) FROM sales");
    assert_int_equal(make(place, &day), STATUS_OK);
    assert_int_equal(make(place, &day), STATUS_CONFLICT);
    assert_int_equal(place_number(place, "SELECT count(*) FROM sales"), sales + 1);
    assert_int_equal(place_number(place, "SELECT count(*) FROM items WHERE sale > 1"), 1);
    assert_int_equal(place_number(place, "SELECT count(*) FROM audit"), 1);
    assert_int_equal(place_number(place, "SELECT state = 1 AND sale = 2 FROM timetable_days"), 1);
}

static void a_day_that_was_skipped_or_missed_is_not_made_and_one_that_is_made_stays(void **state)
{
    struct place *place = *state;
    const uint32_t table = table_make(place);
    struct timetable_day day = day_of(table, 1);
    for (int decided = DAY_SKIPPED; decided <= DAY_MISSED; decided++) {
        day.state = (uint8_t)decided;
        assert_int_equal(place->store->ops->timetables->day_put(place->store, &day), STATUS_OK);
        assert_int_equal(make(place, &day), STATUS_CONFLICT);
    }
    day.state = DAY_PLANNED; /* taken back */
    assert_int_equal(place->store->ops->timetables->day_put(place->store, &day), STATUS_OK);
    assert_int_equal(make(place, &day), STATUS_OK);
    day.state = DAY_SKIPPED;
    assert_int_equal(place->store->ops->timetables->day_put(place->store, &day), STATUS_CONFLICT);
    assert_int_equal(place_number(place, "SELECT state FROM timetable_days"), DAY_MADE);
}

static void a_sale_that_can_not_be_made_leaves_its_day_as_it_was(void **state)
{
    struct place *place = *state;
    const uint32_t table = table_make(place);
    const struct timetable_day day = day_of(table, 3);
    place_execute(place, "UPDATE items SET id = 262143");
    assert_int_equal(make(place, &day), STATUS_REFUSED);
    assert_int_equal(place_number(place, "SELECT count(*) FROM timetable_days"), 0);
    assert_int_equal(place_number(place, "SELECT count(*) FROM sales"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_is_made_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_day_that_was_skipped_or_missed_is_not_made_and_one_that_is_made_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_sale_that_can_not_be_made_leaves_its_day_as_it_was, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
