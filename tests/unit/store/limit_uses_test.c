/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of limits as rows: what `check` finds, and what reconciliation repairs. */
#include "contract/limit_uses.h"

#include "contract/reconcile.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { NOW_MS = 5000 };

static int setup(void **state)
{
    const struct item_limits limits = { .period_limit = 2, .payer_limit = 2, .period_days = 30 };
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place->store->ops->item_limits(place->store, place->item, &limits), STATUS_OK);
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static ticket_number checked(struct place *place)
{
    ticket_number wrong = 99;
    assert_int_equal(place->store->ops->limits->check(place->store, NOW_MS, &wrong), STATUS_OK);
    return wrong;
}

static void an_order_without_its_use_is_found_until_its_period_is_over(void **state)
{
    struct place *place = *state;
    ticket_number wrong = 99;
    assert_int_equal(checked(place), 0);
    place_execute(place, "DELETE FROM limit_uses");
    assert_int_equal(checked(place), 1);
    const uint64_t over_ms =
        (uint64_t)place_number(place, "SELECT created_ms FROM orders") + 30ull * 86400000;
    assert_int_equal(place->store->ops->limits->check(place->store, over_ms, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

static void a_use_that_is_not_its_orders_is_found(void **state)
{
    static const char *const wrongs[] = {
        "UPDATE limit_uses SET units = units + 1",
        "UPDATE limit_uses SET holder = 6",
        "UPDATE limit_uses SET ticket = 7",
        "UPDATE orders SET state = 3, reason = 2, slot = NULL",
    };
    struct place *place = *state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        place_execute(place, wrongs[i]);
        assert_int_not_equal(checked(place), 0);
        place_execute(place, "UPDATE limit_uses SET units = 1, holder = 5, ticket = 1");
    }
}

static void a_holder_with_more_than_the_limit_is_found(void **state)
{
    struct place *place = *state;
    place_execute(place, "UPDATE limit_uses SET most = 1");
    assert_int_equal(checked(place), 0); /* the limit is reached */
    place_execute(place, "UPDATE limit_uses SET most = 0");
    assert_int_equal(checked(place), 1);
}

static void a_payer_whose_payment_does_not_count_is_found(void **state)
{
    struct place *place = *state;
    place_execute(place,
        "UPDATE orders SET state = 2;"
        "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms,"
        " closing_ms, payer) VALUES(1, 1, 'alpha', 'a', '', '', 1, 'CNY', 1, 4, 1, 0, 1, 1, 0, 1, "
        "0, 77)");
    assert_int_equal(checked(place), 1);
    place_execute(place, "UPDATE payments SET payer = 0");
    assert_int_equal(checked(place), 0);
}

static void reconciliation_sees_and_repairs_uses(void **state)
{
    struct place *place = *state;
    const struct reconcile_store_ops *look = place->store->ops->reconcile;
    const struct finding finding = { .code = FINDING_LIMIT_USE, .item = place->item, .user = 5 };
    struct look_user user;
    assert_int_equal(look->user(place->store, place->item, 5, &user), STATUS_OK);
    assert_int_equal(user.unused_ms, 0);
    place_execute(place, "DELETE FROM limit_uses");
    assert_int_equal(look->user(place->store, place->item, 5, &user), STATUS_OK);
    assert_int_equal(user.unused_ms, place_number(place, "SELECT created_ms FROM orders"));
    assert_int_equal(look->repair(place->store, &finding, NOW_MS), STATUS_OK);
    assert_int_equal(checked(place), 0);
    assert_int_equal(place_number(place, "SELECT units * 100 + most FROM limit_uses"), 102);
    assert_int_equal(place_number(place, "SELECT until_ms - at_ms FROM limit_uses"), 30ll * 86400000);
    place_execute(place, "UPDATE orders SET state = 3, reason = 2, slot = NULL");
    assert_int_equal(look->user(place->store, place->item, 5, &user), STATUS_OK);
    assert_int_equal(user.stale_uses, 1);
    assert_int_equal(look->repair(place->store, &finding, NOW_MS), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM limit_uses"), 0);
}

static void an_item_without_limits_writes_no_uses(void **state)
{
    struct place *place = *state;
    place_execute(place,
        "DELETE FROM limit_uses; UPDATE items SET period_limit = 0, payer_limit = 0,"
        " period_days = 0");
    assert_int_equal(place_sell(place, 6), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM limit_uses"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_order_without_its_use_is_found_until_its_period_is_over),
        TEST(a_use_that_is_not_its_orders_is_found),
        TEST(a_holder_with_more_than_the_limit_is_found),
        TEST(a_payer_whose_payment_does_not_count_is_found),
        TEST(reconciliation_sees_and_repairs_uses),
        TEST(an_item_without_limits_writes_no_uses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
