/* SPDX-License-Identifier: Apache-2.0 */
#include "store/restore.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

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

static void a_table_that_has_no_rows_yet_is_raised_too(void **state)
{
    struct place *place = *state;
    const struct restore_store_ops *ops = place->store->ops->restore;
    assert_int_equal(
        ops->raise(place->store, &(struct store_sequence){ .name = "waitlist", .last = 40 }), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT seq FROM sqlite_sequence WHERE name = 'waitlist'"), 40);
    assert_int_equal(ops->raise(place->store, &(struct store_sequence){ .name = "orders", .last = 40 }),
        STATUS_NOT_FOUND); /* tickets are the log's */
    assert_int_equal(
        place_number(place, "SELECT count(*) FROM sqlite_sequence WHERE name = 'orders'"), 0);
}

static enum status preheat_lost(struct place *place, item_id item)
{
    const struct queue_record record = { .at.seq = ++place->lsn,
        .command = { .type = COMMAND_PREHEAT,
            .preheat = { .item = item, .sale = 1, .unit_price = 5, .total = 3, .channel_units = { 3 } } },
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    return place_apply(place, &record, 1);
}

/* An older record does not tell it. */
static void a_currency_that_nobody_knows_is_not_guessed(void **state)
{
    struct place *place = *state;
    place->store->ops->restore->recover(place->store, true);
    assert_int_equal(preheat_lost(place, 20), STATUS_OK);
    assert_int_equal(place_number(place,
                         "SELECT count(*) FROM products JOIN items ON product = products.id"
                         " WHERE items.id = 20 AND currency = 'CNY'"),
        1); /* everything here is sold in it */
    place_execute(place, "UPDATE products SET currency = 'EUR' WHERE id = 1");
    assert_int_equal(preheat_lost(place, 21), STATUS_OK);
    assert_int_equal(place_number(place,
                         "SELECT count(*) FROM products JOIN items ON product = products.id"
                         " WHERE items.id = 21 AND currency = 'XX' || 'X'"),
        1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_table_that_has_no_rows_yet_is_raised_too, setup, teardown),
        cmocka_unit_test_setup_teardown(a_currency_that_nobody_knows_is_not_guessed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
