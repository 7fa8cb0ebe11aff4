/* SPDX-License-Identifier: Apache-2.0 */
/* The list of users who may buy in a sale for invited users: load any number, list, remove. */
#include "tests/unit/admin/admin_shop.h"

#include "base/text.h"
#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 2 * USERS_PER_COMMAND + 1 };

static sale_id invited_sale(void)
{
    const sale_id sale = shop_sale();
    assert_done(200, shop_asks(HTTP_PATCH, "{\"eligible_only\":true}", "/sales/%u", sale));
    return sale;
}

static int load(sale_id sale, const char *users)
{
    return shop_asks(HTTP_POST, shop_text("{\"users\":%s}", users), "/sales/%u/users", sale);
}

static size_t listed(sale_id sale)
{
    assert_done(200, shop_asks(HTTP_GET, NULL, "/sales/%u/users", sale));
    return json_array_size(shop_value("users"));
}

static void every_user_of_a_long_list_may_buy_and_nobody_else(void **state)
{
    char bytes[16 * MANY], name[16];
    struct text list = text_in(bytes, sizeof bytes);
    (void)state;
    const sale_id sale = invited_sale();
    const item_id item = shop_item(sale, 2 * MANY);
    shop_publish(sale);
    for (unsigned i = 0; i < MANY; i++)
        text_format(&list, "%s\"user-%u\"", i == 0 ? "[" : ",", i);
    text_add(&list, SPAN("]\0"));
    assert_false(list.overflow);
    assert_done(200, load(sale, bytes));
    assert_int_equal(shop_number("users"), MANY);
    assert_int_equal(shop_number("loaded"), MANY);
    assert_done(200, load(sale, bytes));
    assert_int_equal(shop_number("loaded"), 0);
    assert_true(shop_sells("user-0", item, 1));
    snprintf(name, sizeof name, "user-%u", MANY - 1);
    assert_true(shop_sells(name, item, 1));
    assert_false(shop_sells("somebody", item, 1));
}

static void names_are_texts_of_1_to_128_bytes(void **state)
{
    char list[160];
    (void)state;
    const sale_id sale = invited_sale();
    assert_refused(422, "users must be a list", load(sale, "\"ann\""));
    assert_refused(422, "users must be texts of 1 to 128 bytes", load(sale, "[\"ann\",7]"));
    assert_refused(422, "users must be texts of 1 to 128 bytes", load(sale, "[\"\"]"));
    memset(list, 'a', sizeof list);
    memcpy(list, "[\"", 2);
    memcpy(list + 2 + 129, "\"]", 3);
    assert_refused(422, "users must be texts of 1 to 128 bytes", load(sale, list));
    memcpy(list + 2 + 128, "\"]", 3);
    assert_done(200, load(sale, list));
    assert_refused(422, "users is missing", shop_asks(HTTP_POST, "{}", "/sales/%u/users", sale));
    assert_refused(404, "unknown-sale", load(255, "[\"ann\"]"));
}

static void users_are_removed_by_name_or_by_the_id_of_the_list(void **state)
{
    char id[17];
    (void)state;
    const sale_id sale = invited_sale();
    const item_id item = shop_item(sale, 5);
    shop_publish(sale);
    assert_done(200, load(sale, "[\"ann\",\"bob\",\"cleo\"]"));
    assert_done(200,
        shop_asks(HTTP_POST, "{\"users\":[\"ann\",\"dora\"]}", "/sales/%u/users/remove", sale));
    assert_int_equal(shop_number("removed"), 1);
    assert_false(shop_sells("ann", item, 1));
    assert_true(shop_sells("bob", item, 1));
    const uint64_t patience_ms = shop_now_ms() + 60000;
    while (listed(sale) != 2) /* the database follows the inventory */
        assert_true(shop_now_ms() < patience_ms);
    snprintf(id, sizeof id, "%s", json_string_value(shop_value("users.0.user_id")));
    assert_done(200,
        shop_asks(HTTP_POST, shop_text("{\"user_ids\":[\"%s\"]}", id), "/sales/%u/users/remove", sale));
    assert_int_equal(shop_number("removed"), 1);
}

static void removing_names_users_in_one_way(void **state)
{
    (void)state;
    const sale_id sale = invited_sale();
    assert_refused(422, "by either users", shop_asks(HTTP_POST, "{}", "/sales/%u/users/remove", sale));
    assert_refused(422, "by either users",
        shop_asks(HTTP_POST, "{\"users\":[],\"user_ids\":[]}", "/sales/%u/users/remove", sale));
    assert_refused(422, "user_ids must be a list",
        shop_asks(HTTP_POST, "{\"user_ids\":7}", "/sales/%u/users/remove", sale));
    assert_refused(422, "16 hex digits",
        shop_asks(HTTP_POST, "{\"user_ids\":[\"ann\"]}", "/sales/%u/users/remove", sale));
    assert_refused(400, "after must be 16 hex digits",
        shop_asks(HTTP_GET, NULL, "/sales/%u/users?after=7", sale));
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(every_user_of_a_long_list_may_buy_and_nobody_else),
        SHOP_RULE(names_are_texts_of_1_to_128_bytes),
        SHOP_RULE(users_are_removed_by_name_or_by_the_id_of_the_list),
        SHOP_RULE(removing_names_users_in_one_way),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
