/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of orders and of the audit trail: what a query may ask for, and pages without gaps. */
#include "tests/unit/admin/admin_shop.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static size_t rows(const char *query)
{
    assert_done(200, shop_asks(HTTP_GET, NULL, "/orders?%s", query));
    return json_array_size(shop_value("orders"));
}

static void a_query_that_asks_for_nothing_sensible_is_refused(void **state)
{
    static const char *const wrong[][2] = {
        { "item=0", "item must be a number, 1 or more." },
        { "sale=0", "sale must be a number, 1 or more." },
        { "before=0", "before must be a number, 1 or more." },
        { "from_ms=0", "from_ms must be a number, 1 or more." },
        { "to_ms=0", "to_ms must be a number, 1 or more." },
        { "item=4294967296", "item" },
        { "item=x", "item" },
        { "limit=101", "limit" },
        { "limit=-1", "limit" },
        { "state=open", "state must be pending, paid, closed or refunded." },
        { "state=", "state has no value" },
        { "user=12", "user must be 16 hex digits." },
        { "user=0000000000000000", "user must be 16 hex digits." },
        { "user=00000000000000zz", "user must be 16 hex digits." },
        { "subject=", "subject has no value" },
        { "user=0000000000000001&subject=ann", "either user or subject, not both" },
        { "colour=red", "colour" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_refused(400, wrong[i][1], shop_asks(HTTP_GET, NULL, "/orders?%s", wrong[i][0]));
}

static void a_subject_has_up_to_128_bytes(void **state)
{
    char name[130];
    (void)state;
    memset(name, 'a', sizeof name);
    name[128] = 0;
    assert_done(200, shop_asks(HTTP_GET, NULL, "/orders?subject=%s", name));
    name[128] = 'a';
    name[129] = 0;
    assert_refused(400, "subject must be", shop_asks(HTTP_GET, NULL, "/orders?subject=%s", name));
}

static void orders_are_found_by_item_sale_user_state_and_time(void **state)
{
    (void)state;
    const sale_id sale = shop_sale(), another = shop_sale();
    const item_id item = shop_item(sale, 5), second = shop_item(sale, 5), third = shop_item(another, 5);
    shop_publish(sale);
    shop_publish(another);
    const unsigned long long before_ms = shop_now_ms();
    assert_true(shop_sells("ann", item, 1));
    char user[17];
    snprintf(user, sizeof user, "%s", json_string_value(shop_value("orders.0.user")));
    assert_true(shop_sells("ann", second, 1));
    assert_true(shop_sells("bob", third, 1));
    assert_int_equal(rows(shop_text("item=%u", item)), 1);
    assert_int_equal(rows(shop_text("sale=%u", sale)), 2);
    assert_int_equal(rows(shop_text("sale=%u", another)), 1);
    assert_int_equal(rows(shop_text("subject=ann&from_ms=%llu", before_ms)), 2);
    assert_int_equal(rows(shop_text("user=%s", user)), 2);
    assert_int_equal(rows("subject=nobody"), 0);
    assert_int_equal(rows(shop_text("sale=%u&state=pending", sale)), 2);
    assert_int_equal(rows(shop_text("sale=%u&state=paid", sale)), 0);
    assert_int_equal(rows(shop_text("sale=%u&to_ms=%llu", sale, before_ms - 1)), 0);
    assert_int_equal(rows(shop_text("sale=%u&from_ms=%llu", sale, before_ms + 3600000)), 0);
}

static void pages_of_orders_have_every_order_once(void **state)
{
    uint64_t numbers[3], before = UINT64_MAX;
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    shop_publish(sale);
    assert_true(shop_sells("cleo", item, 1));
    assert_true(shop_sells("dora", item, 1));
    assert_true(shop_sells("emil", item, 1));
    for (size_t i = 0; i < 3; i++) {
        char last[32] = "";
        if (i > 0)
            snprintf(last, sizeof last, "&before=%llu", (unsigned long long)before);
        assert_done(200, shop_asks(HTTP_GET, NULL, "/orders?sale=%u&limit=1%s", sale, last));
        assert_int_equal(json_array_size(shop_value("orders")), 1);
        numbers[i] = shop_number("orders.0.number");
        before = shop_number("next");
    }
    assert_true(numbers[0] > numbers[1] && numbers[1] > numbers[2]); /* the newest first */
    assert_done(200,
        shop_asks(HTTP_GET, NULL, "/orders?sale=%u&limit=1&before=%llu", sale,
            (unsigned long long)before));
    assert_int_equal(json_array_size(shop_value("orders")), 0);
    assert_null(shop_value("next"));
}

static void names_and_addresses_are_for_those_who_may_act_on_them(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 1);
    shop_publish(sale);
    assert_true(shop_sells("fay", item, 1));
    char order[17];
    snprintf(order, sizeof order, "%s", json_string_value(shop_value("orders.0.view.order")));
    shop_role_set(ADMIN_OPERATOR);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/orders/%s", order));
    assert_non_null(shop_value("details"));
    shop_role_set(ADMIN_VIEWER);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/orders/%s", order));
    assert_null(shop_value("details"));
    assert_refused(404, "This order does not exist.", shop_asks(HTTP_GET, NULL, "/orders/%016x", 7));
}

/* More than two pages. */
static void pages_of_the_audit_trail_have_every_entry_once_and_in_order(void **state)
{
    uint64_t last = 0, entries = 0;
    size_t pages = 0;
    bool more = true;
    (void)state;
    for (unsigned i = 0; i < 210; i++)
        assert_done(200,
            shop_asks(HTTP_PATCH, i % 2 == 0 ? "{\"refuse_new\":true}" : "{\"refuse_new\":false}",
                "/switches"));
    for (; more; pages++) {
        assert_done(200, shop_asks(HTTP_GET, NULL, "/audit?after=%llu", (unsigned long long)last));
        const size_t count = json_array_size(shop_value("audit"));
        assert_true(count <= 100);
        for (size_t i = 0; i < count; i++) {
            const uint64_t id = (uint64_t)json_integer_value(
                json_object_get(json_array_get(shop_value("audit"), i), "id"));
            assert_int_equal(id, last + 1);
            last = id;
            entries++;
        }
        more = shop_value("next") != NULL;
        if (more)
            assert_int_equal(shop_number("next"), last);
    }
    assert_true(entries >= 210 && pages >= 3);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(a_query_that_asks_for_nothing_sensible_is_refused),
        SHOP_RULE(a_subject_has_up_to_128_bytes),
        SHOP_RULE(orders_are_found_by_item_sale_user_state_and_time),
        SHOP_RULE(pages_of_orders_have_every_order_once),
        SHOP_RULE(names_and_addresses_are_for_those_who_may_act_on_them),
        SHOP_RULE(pages_of_the_audit_trail_have_every_entry_once_and_in_order),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
