/* SPDX-License-Identifier: Apache-2.0 */
/* A change is made once and whole, with its audit entry, or not at all. */
#include "tests/unit/admin/admin_shop.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static uint64_t items_of(sale_id sale)
{
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items?sale=%u", sale));
    return json_array_size(shop_value("items"));
}

static int item_ask(sale_id sale, uint32_t total)
{
    return shop_asks(HTTP_POST,
        shop_text("{\"sale\":%u,\"product\":1,\"flash_price\":1,\"total\":%u}", sale, total), "/items");
}

static void a_change_with_a_key_is_made_once_and_answered_the_same(void **state)
{
    char first[1024];
    (void)state;
    const sale_id sale = shop_sale();
    shop_key_set("once");
    assert_done(201, item_ask(sale, 5));
    snprintf(first, sizeof first, "%s", shop_said());
    assert_done(201, item_ask(sale, 5));
    assert_string_equal(shop_said(), first);
    assert_int_equal(items_of(sale), 1);
}

static void a_key_of_another_change_is_refused(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    shop_key_set("mine");
    assert_done(201, item_ask(sale, 5));
    assert_refused(422, "key-reused", item_ask(sale, 6));
    assert_int_equal(items_of(sale), 1);
}

static void a_refusal_does_not_take_the_key(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    shop_key_set("again");
    assert_refused(422, "bad-value", shop_asks(HTTP_POST, "{}", "/items"));
    assert_done(201, item_ask(sale, 5));
}

static void what_fails_after_a_row_was_written_leaves_nothing(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    shop_key_set("halfway");
    shop_fault_set(FAULT_AFTER_A_ROW);
    assert_refused(503, "unavailable", item_ask(sale, 5));
    shop_fault_set(FAULT_NONE);
    assert_int_equal(items_of(sale), 0);
    assert_done(201, item_ask(sale, 5));
    assert_int_equal(items_of(sale), 1);
}

static void a_change_without_its_audit_entry_is_not_made(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    shop_fault_set(FAULT_AUDIT);
    assert_refused(503, "unavailable", item_ask(sale, 5));
    shop_fault_set(FAULT_NONE);
    assert_int_equal(items_of(sale), 0);
}

/* The inventory has the items already; whoever hears "unavailable" would think that it has not. */
static void after_a_command_a_failed_write_is_an_unknown_outcome(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    shop_key_set("publish");
    shop_fault_set(FAULT_AT_THE_END);
    assert_refused(504, "outcome-unknown", shop_asks(HTTP_POST, NULL, "/sales/%u/publish", sale));
    shop_fault_set(FAULT_NONE);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u/counts", item));
    assert_int_equal(shop_number("counts.free"), 5);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/sales/%u", sale));
    assert_true(json_is_false(shop_value("published")));
    shop_publish(sale);
    assert_said("\"published\":true");
}

static void without_a_command_a_failed_write_is_unavailable(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    shop_fault_set(FAULT_AT_THE_END);
    assert_refused(503, "unavailable", item_ask(sale, 5));
    shop_fault_set(FAULT_NONE);
    assert_int_equal(items_of(sale), 0);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(a_change_with_a_key_is_made_once_and_answered_the_same),
        SHOP_RULE(a_key_of_another_change_is_refused),
        SHOP_RULE(a_refusal_does_not_take_the_key),
        SHOP_RULE(what_fails_after_a_row_was_written_leaves_nothing),
        SHOP_RULE(a_change_without_its_audit_entry_is_not_made),
        SHOP_RULE(after_a_command_a_failed_write_is_an_unknown_outcome),
        SHOP_RULE(without_a_command_a_failed_write_is_unavailable),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
