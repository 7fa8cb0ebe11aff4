/* SPDX-License-Identifier: Apache-2.0 */
/* The guards as rows: slot, counters, stock events. */
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>

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

static enum status settle(struct place *place, ticket_number ticket, enum settle_step step)
{
    const struct queue_record record = { .at.seq = ++place->lsn,
        .command = { .type = COMMAND_SETTLE, .settle = { .ticket = ticket, .step = (uint8_t)step } },
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    return place_apply(place, &record, 1);
}

static void a_limit_of_one_needs_a_slot_and_no_counter(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT slot FROM orders"), 0);
    assert_int_equal(place_number(place, "SELECT count(*) FROM user_counters"), 0);
    assert_int_equal(settle(place, 1, SETTLE_RETURN), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT slot IS NULL FROM orders"), 1);
}

static void a_higher_limit_needs_a_counter_and_the_ticket_as_slot(void **state)
{
    struct place *place = *state;
    place_execute(place, "UPDATE items SET limit_per_user = 2");
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT slot FROM orders"), 1);
    assert_int_equal(
        place_number(place, "SELECT used FROM user_counters WHERE scope = 1 AND user_id = 5"), 1);
    place_execute(place, "UPDATE user_counters SET used = 2"); /* counted elsewhere */
    assert_int_equal(place_sell(place, 5), STATUS_REFUSED);
    assert_int_equal(place->refusal.kind, REFUSAL_LIMIT);
    assert_int_equal(settle(place, 1, SETTLE_RETURN), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT used FROM user_counters"), 1);
}

static void what_is_written_off_stays_counted(void **state)
{
    struct place *place = *state;
    place_execute(place, "UPDATE items SET limit_per_user = 2");
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    assert_int_equal(settle(place, 1, SETTLE_SOLD), STATUS_OK);
    assert_int_equal(settle(place, 1, SETTLE_WRITE_OFF), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT used FROM user_counters"), 1);
    assert_int_equal(place_number(place, "SELECT written_off FROM items"), 1);
}

static void a_stock_event_remembers_which_record_confirmed_it(void **state)
{
    struct place *place = *state;
    static const uint8_t reject[] = { DISPOSE_REJECT };
    const struct queue_record record = place_win(place, 5);
    assert_int_equal(
        place->store->ops->apply(place->store, &record, reject, 1, &place->refusal), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT confirmed_lsn IS NULL FROM stock_events"), 1);
    assert_int_equal(settle(place, 1, SETTLE_RETURN), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT confirmed_lsn FROM stock_events"), 2);
    assert_int_equal(settle(place, 1, SETTLE_RETURN), STATUS_OK); /* again under another position */
    assert_int_equal(place_number(place, "SELECT confirmed_lsn FROM stock_events"), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_limit_of_one_needs_a_slot_and_no_counter),
        TEST(a_higher_limit_needs_a_counter_and_the_ticket_as_slot),
        TEST(what_is_written_off_stays_counted),
        TEST(a_stock_event_remembers_which_record_confirmed_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
