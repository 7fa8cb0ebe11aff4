/* SPDX-License-Identifier: Apache-2.0 */
/* Items as an administrator puts them on sale: bounds, channels that add up, and what may change when. */
#include "tests/unit/admin/admin_shop.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int item_make(sale_id sale, const char *more)
{
    return shop_asks(HTTP_POST,
        shop_text("{\"sale\":%u,\"product\":1,\"flash_price\":100%s}", sale, more), "/items");
}

static int item_change(item_id item, const char *body)
{
    return shop_asks(HTTP_PATCH, body, "/items/%u", item);
}

static void without_channels_all_units_are_the_webs(void **state)
{
    (void)state;
    assert_done(201, item_make(shop_sale(), ",\"total\":10,\"locked\":2,\"safety\":3"));
    assert_int_equal(shop_number("channels.web"), 5);
    assert_int_equal(shop_number("channels.app"), 0);
    assert_int_equal(shop_number("limit_per_user"), 1);
    assert_int_equal(shop_number("pay_window_ms"), 15 * 60 * 1000);
}

static void channels_add_up_to_what_can_be_sold(void **state)
{
    static const char *const wrong[][2] = {
        { "{\"web\":4,\"app\":2}", "must add up" },
        { "{\"web\":6,\"app\":2}", "must add up" },
        { "{}", "must add up" },
        { "{\"web\":5,\"app\":2,\"shop\":0}", "a channel that is not configured" },
        { "{\"web\":8,\"app\":-1}", "whole numbers of units" },
        { "{\"web\":4.5,\"app\":2.5}", "whole numbers of units" },
        { "[7]", "must be an object" },
    };
    (void)state;
    const sale_id sale = shop_sale();
    char more[160];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(more, sizeof more, ",\"total\":10,\"locked\":1,\"safety\":2,\"channels\":%s",
            wrong[i][0]);
        assert_refused(422, wrong[i][1], item_make(sale, more));
    }
    assert_done(201,
        item_make(sale, ",\"total\":10,\"locked\":1,\"safety\":2,\"channels\":{\"web\":5,\"app\":2}"));
    assert_int_equal(shop_number("channels.web"), 5);
    assert_int_equal(shop_number("channels.app"), 2);
    assert_refused(422, "locked plus safety must not exceed total",
        item_make(sale, ",\"total\":10,\"locked\":6,\"safety\":5"));
}

static void numbers_have_their_bounds(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    char more[96];
    snprintf(more, sizeof more, ",\"total\":%d", UNITS_MAX);
    assert_done(201, item_make(sale, more));
    snprintf(more, sizeof more, ",\"total\":%d", UNITS_MAX + 1);
    assert_refused(422, "total", item_make(sale, more));
    assert_refused(422, "total is missing", item_make(sale, ""));
    assert_done(201, item_make(sale, ",\"total\":1,\"pay_window_ms\":1000"));
    assert_refused(422, "pay_window_ms", item_make(sale, ",\"total\":1,\"pay_window_ms\":999"));
    snprintf(more, sizeof more, ",\"total\":1,\"pay_window_ms\":%d", 7 * 24 * 3600 * 1000 + 1);
    assert_refused(422, "pay_window_ms", item_make(sale, more));
    assert_refused(404, "unknown-sale", item_make(255, ",\"total\":1"));
    assert_refused(422, "This product does not exist.",
        shop_asks(HTTP_POST,
            shop_text("{\"sale\":%u,\"product\":99,\"flash_price\":1,\"total\":1}", sale), "/items"));
}

static int priced(sale_id sale, const char *price)
{
    return shop_asks(HTTP_POST,
        shop_text("{\"sale\":%u,\"product\":1,\"flash_price\":%s,\"total\":1}", sale, price), "/items");
}

static void a_price_may_be_said_in_the_currency(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    assert_done(201, priced(sale, "\"99.50\""));
    assert_int_equal(shop_number("flash_price"), 9950);
    assert_refused(422, "2 digits after the point", priced(sale, "\"99.505\""));
    assert_done(201, priced(sale, "1000000000000"));
    assert_refused(422, "flash_price", priced(sale, "1000000000001"));
    assert_refused(422, "flash_price", priced(sale, "-1"));
}

static void what_is_odd_is_done_with_a_warning(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    assert_done(201, item_make(sale, ",\"total\":1"));
    assert_null(shop_value("warnings"));
    assert_done(201, item_make(sale, ",\"total\":0"));
    assert_int_equal(json_array_size(shop_value("warnings")), 2);
    assert_said("total is 0");
    assert_said("another item of this sale sells the same product");
    assert_done(201,
        shop_asks(HTTP_POST,
            shop_text("{\"sale\":%u,\"product\":1,\"flash_price\":0,\"total\":1}", shop_sale()),
            "/items"));
    assert_said("the item is given away");
}

static void before_it_is_preheated_units_can_be_named_anew(void **state)
{
    (void)state;
    const item_id item = shop_item(shop_sale(), 10);
    assert_done(200, item_change(item, "{\"total\":8,\"channels\":{\"web\":3,\"app\":5}}"));
    assert_done(200, item_change(item, "{\"limit_per_user\":2}"));
    assert_int_equal(shop_number("channels.app"), 5);
    assert_refused(422, "must add up", item_change(item, "{\"channels\":{\"web\":3}}"));
    assert_done(200, item_change(item, "{\"total\":6}"));
    assert_int_equal(shop_number("channels.web"), 6); /* units without channels: all the web's */
    assert_int_equal(shop_number("channels.app"), 0);
}

static void once_it_is_preheated_units_are_adjusted_and_it_stays(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 10), kept = shop_item(sale, 10);
    assert_done(200, shop_asks(HTTP_DELETE, NULL, "/items/%u", item));
    assert_refused(404, "unknown-item", shop_asks(HTTP_GET, NULL, "/items/%u", item));
    shop_publish(sale);
    assert_refused(409, "use adjust", item_change(kept, "{\"total\":11}"));
    assert_refused(409, "can't be removed", shop_asks(HTTP_DELETE, NULL, "/items/%u", kept));
    assert_done(200, item_change(kept, "{\"flash_price\":200}")); /* nobody has bought it */
    assert_int_equal(shop_number("flash_price"), 200);
}

static void after_the_first_order_price_and_limit_stay(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 10);
    shop_publish(sale);
    assert_true(shop_sells("ann", item, 1));
    assert_refused(409, "Units were already sold", item_change(item, "{\"flash_price\":1}"));
    assert_refused(409, "Units were already sold", item_change(item, "{\"limit_per_user\":9}"));
    assert_refused(409, "Units were already sold", item_change(item, "{\"deduct_on_payment\":true}"));
    assert_done(200, item_change(item, "{\"pay_window_ms\":60000}"));
    assert_int_equal(shop_number("flash_price"), 99900);
}

static void pages_of_items_have_every_item_once(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    item_id last = 0;
    for (unsigned i = 0; i < 51; i++)
        last = shop_item(sale, 1);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items?sale=%u", sale));
    assert_int_equal(json_array_size(shop_value("items")), 50);
    assert_done(200,
        shop_asks(HTTP_GET, NULL, "/items?sale=%u&after=%llu", sale,
            (unsigned long long)shop_number("next")));
    assert_int_equal(json_array_size(shop_value("items")), 1);
    assert_int_equal(shop_number("items.0.id"), last);
    assert_null(shop_value("next"));
}

static void a_sale_that_has_ended_takes_no_items(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 1);
    shop_publish(sale);
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/end", sale));
    assert_refused(409, "The sale has ended", item_make(sale, ",\"total\":1"));
    assert_refused(409, "The sale has ended", item_change(item, "{\"flash_price\":1}"));
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(without_channels_all_units_are_the_webs),
        SHOP_RULE(channels_add_up_to_what_can_be_sold),
        SHOP_RULE(numbers_have_their_bounds),
        SHOP_RULE(a_price_may_be_said_in_the_currency),
        SHOP_RULE(what_is_odd_is_done_with_a_warning),
        SHOP_RULE(before_it_is_preheated_units_can_be_named_anew),
        SHOP_RULE(once_it_is_preheated_units_are_adjusted_and_it_stays),
        SHOP_RULE(after_the_first_order_price_and_limit_stay),
        SHOP_RULE(pages_of_items_have_every_item_once),
        SHOP_RULE(a_sale_that_has_ended_takes_no_items),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
