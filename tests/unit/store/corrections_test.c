/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
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

static struct item item_of(const struct place *place)
{
    struct item item;
    assert_int_equal(place->store->ops->item_get(place->store, place->item, &item), STATUS_OK);
    return item;
}

static void an_older_record_does_not_write_terms_that_are_newer(void **state)
{
    struct place *place = *state;
    struct item item = item_of(place);
    item.flash_price = 777;
    item.limit_per_user = 5;
    item.terms_lsn = place->lsn + 2; /* the record of this change is still to come */
    assert_int_equal(place->store->ops->item_update(place->store, &item, false), STATUS_OK);
    struct queue_record older = { .at.seq = ++place->lsn,
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    older.command.type = COMMAND_PREHEAT;
    older.command.preheat = (struct command_preheat){ .item = item.id, .sale = item.sale };
    older.command.preheat.unit_price = older.command.preheat.limit_per_user = 1;
    older.command.preheat.change = true;
    assert_int_equal(place_apply(place, &older, 1), STATUS_OK);
    assert_int_equal(item_of(place).flash_price, 777);
    assert_int_equal(item_of(place).limit_per_user, 5);
    struct queue_record newer = older;
    newer.at.seq = ++place->lsn; /* where the terms are of: they stand as they are */
    assert_int_equal(newer.at.seq, item.terms_lsn);
    assert_int_equal(place_apply(place, &newer, 1), STATUS_OK);
    assert_int_equal(item_of(place).flash_price, 777);
    newer.at.seq = ++place->lsn;
    newer.command.preheat.unit_price = 888;
    assert_int_equal(place_apply(place, &newer, 1), STATUS_OK);
    assert_int_equal(item_of(place).flash_price, 888);
    assert_int_equal(item_of(place).limit_per_user, 1);
}

static void stock_of_a_preheated_item_and_items_with_orders_stay(void **state)
{
    struct place *place = *state;
    struct item item = item_of(place);
    assert_int_equal(place_sell(place, 1), STATUS_OK);
    assert_int_equal(place->store->ops->item_remove(place->store, item.id), STATUS_CONFLICT);
    struct item fresh = { .sale = item.sale, .product = item.product, .total = 5, .channel_units = { 5 } };
    assert_int_equal(place->store->ops->item_insert(place->store, &fresh), STATUS_OK);
    fresh.total = 7;
    fresh.channel_units[0] = 7;
    assert_int_equal(place->store->ops->item_update(place->store, &fresh, true), STATUS_OK);
    assert_int_equal(place->store->ops->item_get(place->store, fresh.id, &fresh), STATUS_OK);
    assert_int_equal(fresh.total, 7);
    place_execute(place, "UPDATE items SET preheated = 1 WHERE total = 7");
    assert_int_equal(place->store->ops->item_update(place->store, &fresh, true), STATUS_CONFLICT);
    assert_int_equal(place->store->ops->item_remove(place->store, fresh.id), STATUS_CONFLICT);
    place_execute(place, "UPDATE items SET preheated = 0 WHERE total = 7");
    assert_int_equal(place->store->ops->item_remove(place->store, fresh.id), STATUS_OK);
    assert_int_equal(place->store->ops->item_remove(place->store, fresh.id), STATUS_CONFLICT);
}

static void eligible_users_are_listed_in_pages_whatever_their_numbers(void **state)
{
    struct place *place = *state;
    const struct item item = item_of(place);
    struct queue_record add = { .at.seq = ++place->lsn,
        .command = { .type = COMMAND_USERS,
            .users = { .sale = item.sale,
                .count = 4,
                .users = { 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX } } },
        .outcome = { .answer = ANSWER_DONE, .applied = 4, .changed = true } };
    assert_int_equal(place_apply(place, &add, 1), STATUS_OK);
    user_id seen[4], page[1];
    const user_id *after = NULL;
    uint32_t count = 1, all = 0;
    while (count == 1) {
        assert_int_equal(
            place->store->ops->eligible_users(place->store, item.sale, after, page, 1, &count), STATUS_OK);
        if (count == 0)
            break;
        assert_true(all < 4);
        seen[all] = page[0];
        after = &seen[all++];
    }
    assert_int_equal(all, 4);
    add.at.seq = ++place->lsn;
    add.command.users.remove = true;
    add.command.users.count = 3;
    assert_int_equal(place_apply(place, &add, 1), STATUS_OK);
    assert_int_equal(
        place->store->ops->eligible_users(place->store, item.sale, NULL, seen, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_true(seen[0] == UINT64_MAX);
}

static void a_product_that_is_not_there_is_not_changed(void **state)
{
    struct place *place = *state;
    const struct product none = { .id = 99, .name = "x", .currency = "CNY" };
    assert_int_equal(place->store->ops->product_update(place->store, &none), STATUS_NOT_FOUND);
    const struct item nothing = { .id = 999 };
    assert_int_equal(place->store->ops->item_update(place->store, &nothing, false), STATUS_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_older_record_does_not_write_terms_that_are_newer),
        TEST(stock_of_a_preheated_item_and_items_with_orders_stay),
        TEST(eligible_users_are_listed_in_pages_whatever_their_numbers),
        TEST(a_product_that_is_not_there_is_not_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
