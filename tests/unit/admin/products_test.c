/* SPDX-License-Identifier: Apache-2.0 */
/* Products: what describes them has its bounds, and a currency stays once a price counts. */
#include "tests/unit/admin/admin_shop.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int product(const char *more)
{
    return shop_asks(HTTP_POST, shop_text("{\"name\":\"Cup\"%s}", more), "/products");
}

static void a_product_has_a_name_and_a_price(void **state)
{
    (void)state;
    assert_refused(422, "list_price is missing", product(""));
    assert_refused(422, "name is missing", shop_asks(HTTP_POST, "{\"list_price\":1}", "/products"));
    assert_refused(422, "list_price", product(",\"list_price\":1000000000001"));
    assert_refused(422, "list_price", product(",\"list_price\":-1"));
    assert_done(201, product(",\"list_price\":1000000000000"));
    assert_string_equal(json_string_value(shop_value("currency")), "CNY");
    assert_int_equal(json_array_size(shop_value("images")), 0);
}

static void a_price_fits_its_currency(void **state)
{
    (void)state;
    assert_done(201, product(",\"currency\":\"JPY\",\"list_price\":\"500\""));
    assert_int_equal(shop_number("list_price"), 500);
    assert_refused(422, "0 digits after the point",
        product(",\"currency\":\"JPY\",\"list_price\":\"500.00\""));
    assert_done(201, product(",\"currency\":\"USD\",\"list_price\":\"5.00\""));
    assert_int_equal(shop_number("list_price"), 500);
    assert_refused(422, "ISO 4217", product(",\"currency\":\"usd\",\"list_price\":1"));
    assert_refused(422, "ISO 4217", product(",\"currency\":\"ZZZ\",\"list_price\":1"));
    assert_refused(422, "currency", product(",\"currency\":\"US\",\"list_price\":1"));
}

static void images_are_a_list_of_addresses(void **state)
{
    (void)state;
    assert_refused(
        422, "images must be a list", product(",\"list_price\":1,\"images\":\"/media/a.png\""));
    assert_refused(422, "images must be a list", product(",\"list_price\":1,\"images\":[7]"));
    assert_done(422, product(",\"list_price\":1,\"images\":[\"http://elsewhere.example/a.png\"]"));
    assert_done(422, product(",\"list_price\":1,\"images\":[\"javascript:alert(1)\"]"));
}

static void a_change_keeps_what_it_does_not_name_and_says_what_changed(void **state)
{
    char entry[64];
    (void)state;
    assert_done(201, product(",\"list_price\":700,\"description\":\"blue\""));
    const uint32_t id = (uint32_t)shop_number("id");
    assert_done(200, shop_asks(HTTP_PATCH, "{\"name\":\"Mug\"}", "/products/%u", id));
    assert_int_equal(shop_number("list_price"), 700);
    assert_string_equal(json_string_value(shop_value("description")), "blue");
    assert_done(200, shop_asks(HTTP_PATCH, "{\"list_price\":800}", "/products/%u", id));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/audit"));
    snprintf(entry, sizeof entry, "product %u name: Cup \u2192 Mug", id);
    assert_said(entry);
    snprintf(entry, sizeof entry, "product %u list_price: 700 CNY \u2192 800 CNY", id);
    assert_said(entry);
    assert_refused(404, "This product does not exist", shop_asks(HTTP_PATCH, "{}", "/products/999"));
}

static void the_currency_stays_once_an_item_is_preheated(void **state)
{
    (void)state;
    assert_done(201, product(",\"list_price\":700"));
    const uint32_t id = (uint32_t)shop_number("id");
    const sale_id sale = shop_sale();
    assert_done(201,
        shop_asks(HTTP_POST,
            shop_text("{\"sale\":%u,\"product\":%u,\"flash_price\":1,\"total\":1}", sale, id), "/items"));
    assert_done(200, shop_asks(HTTP_PATCH, "{\"currency\":\"EUR\"}", "/products/%u", id));
    shop_publish(sale);
    assert_refused(409, "the currency can't be changed",
        shop_asks(HTTP_PATCH, "{\"currency\":\"USD\"}", "/products/%u", id));
    assert_done(
        200, shop_asks(HTTP_PATCH, "{\"currency\":\"EUR\",\"list_price\":5}", "/products/%u", id));
}

static void pages_of_products_have_every_product_once(void **state)
{
    unsigned long long after = 0;
    size_t listed = 0;
    bool more = true;
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        assert_done(201, product(",\"list_price\":1"));
    const size_t last = shop_number("id");
    while (more) {
        assert_done(200, shop_asks(HTTP_GET, NULL, "/products?after=%llu", after));
        assert_true(json_array_size(shop_value("products")) <= 16);
        listed += json_array_size(shop_value("products"));
        more = shop_value("next") != NULL;
        after = more ? shop_number("next") : 0;
    }
    assert_int_equal(listed, last);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(a_product_has_a_name_and_a_price),
        SHOP_RULE(a_price_fits_its_currency),
        SHOP_RULE(images_are_a_list_of_addresses),
        SHOP_RULE(a_change_keeps_what_it_does_not_name_and_says_what_changed),
        SHOP_RULE(the_currency_stays_once_an_item_is_preheated),
        SHOP_RULE(pages_of_products_have_every_product_once),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
