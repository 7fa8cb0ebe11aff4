/* SPDX-License-Identifier: Apache-2.0 */
/* Preheating, publishing, gates, and units that are added, taken away and moved. */
#include "tests/unit/admin/admin_shop.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int adjust(item_id item, const char *body)
{
    return shop_asks(HTTP_POST, body, "/items/%u/adjust", item);
}

static int move(item_id item, const char *body)
{
    return shop_asks(HTTP_POST, body, "/items/%u/move", item);
}

static item_id published(uint32_t total)
{
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, total);
    shop_publish(sale);
    return item;
}

static void a_sale_without_items_is_not_published(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    assert_refused(409, "The sale has no items", shop_asks(HTTP_POST, NULL, "/sales/%u/publish", sale));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/sales/%u", sale));
    assert_true(json_is_false(shop_value("published")));
}

/* More items than are read at once. */
static void publishing_preheats_every_item(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    for (unsigned i = 0; i < 33; i++)
        shop_item(sale, 2);
    const item_id last = shop_item(sale, 7);
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/publish", sale));
    assert_int_equal(json_array_size(shop_value("items")), 34);
    assert_int_equal(shop_number("items.33.sellable"), 7);
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u/counts", last));
    assert_int_equal(shop_number("counts.free"), 7);
    shop_publish(sale);
    assert_string_equal(json_string_value(shop_value("items.0.result")), "unchanged");
}

static void units_are_added_and_taken_away_within_bounds(void **state)
{
    (void)state;
    const item_id item = published(10);
    assert_done(200, adjust(item, "{\"delta\":5}"));
    assert_int_equal(shop_number("applied"), 5);
    assert_int_equal(shop_number("counts.free"), 15);
    assert_done(200, adjust(item, "{\"delta\":-3}"));
    assert_int_equal(shop_number("counts.free"), 12);
    assert_done(200, adjust(item, "{\"delta\":4,\"channel\":\"app\"}"));
    assert_int_equal(shop_number("counts.channels.app"), 4);
    assert_int_equal(shop_number("counts.channels.web"), 12);
    assert_done(200, adjust(item, "{\"delta\":1,\"channel\":\"safety\"}"));
    assert_int_equal(shop_number("counts.safety"), 1);
    assert_refused(422, "delta", adjust(item, shop_text("{\"delta\":%d}", UNITS_MAX + 1)));
    assert_refused(422, "delta", adjust(item, shop_text("{\"delta\":%d}", -UNITS_MAX - 1)));
    assert_refused(422, "delta is missing", adjust(item, "{}"));
    assert_refused(422, "delta", adjust(item, "{\"delta\":1.5}"));
    assert_done(422, adjust(item, "{\"delta\":1,\"channel\":\"moon\"}"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u/counts", item));
    assert_int_equal(shop_number("counts.free"), 16);
}

static void no_more_is_taken_away_than_is_free(void **state)
{
    (void)state;
    const item_id item = published(3);
    assert_true(shop_sells("ann", item, 1));
    assert_done(200, adjust(item, "{\"delta\":-9}"));
    assert_said("\"applied\":-2");
    assert_int_equal(shop_number("counts.free"), 0);
    assert_int_equal(shop_number("counts.held"), 1);
}

static void units_move_between_channels_and_safety(void **state)
{
    (void)state;
    const item_id item = published(10);
    assert_done(200, move(item, "{\"from\":\"web\",\"to\":\"app\",\"quantity\":4}"));
    assert_int_equal(shop_number("counts.channels.web"), 6);
    assert_int_equal(shop_number("counts.channels.app"), 4);
    assert_done(200, move(item, "{\"from\":\"app\",\"to\":\"safety\",\"quantity\":1}"));
    assert_int_equal(shop_number("counts.channels.app"), 3);
    assert_int_equal(shop_number("counts.safety"), 1);
    assert_refused(422, "quantity", move(item, "{\"from\":\"web\",\"to\":\"app\",\"quantity\":0}"));
    assert_refused(422, "from is missing", move(item, "{\"to\":\"app\",\"quantity\":1}"));
    assert_done(422, move(item, "{\"from\":\"web\",\"to\":\"moon\",\"quantity\":1}"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u/counts", item));
    assert_int_equal(shop_number("counts.channels.web"), 6);
    assert_int_equal(shop_number("counts.given"), 10);
}

static void what_the_inventory_does_not_know_is_not_preheated(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    assert_refused(409, "The item is not preheated", adjust(item, "{\"delta\":1}"));
    assert_refused(409, "The item is not preheated",
        move(item, "{\"from\":\"web\",\"to\":\"app\",\"quantity\":1}"));
    assert_refused(409, "The sale is not preheated", shop_asks(HTTP_POST, NULL, "/sales/%u/pause", sale));
    assert_refused(404, "unknown-item", adjust(500, "{\"delta\":1}"));
    assert_refused(404, "unknown-sale", shop_asks(HTTP_POST, NULL, "/sales/255/pause"));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u/counts", item));
    assert_true(json_is_null(shop_value("counts")));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/items/%u/preheat", item));
    assert_int_equal(shop_number("sellable"), 5);
    assert_done(200, adjust(item, "{\"delta\":1}"));
}

static void a_sale_that_is_paused_sells_nothing_until_it_is_resumed(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    shop_publish(sale);
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/pause", sale));
    assert_true(json_is_true(shop_value("changed")));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/pause", sale));
    assert_true(json_is_false(shop_value("changed")));
    assert_false(shop_sells("bob", item, 1));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/resume", sale));
    assert_true(shop_sells("bob", item, 1));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/end", sale));
    assert_false(shop_sells("cleo", item, 1));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/reopen", sale));
    assert_true(shop_sells("cleo", item, 1));
}

static void counts_tell_units_and_orders(void **state)
{
    (void)state;
    const item_id item = published(5);
    assert_true(shop_sells("dora", item, 1));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u/counts", item));
    assert_int_equal(shop_number("orders"), 1);
    assert_int_equal(shop_number("units_ordered"), 1);
    assert_int_equal(shop_number("taken"), 1);
    assert_int_equal(shop_number("total"), 5);
    assert_int_equal(shop_number("counts.held"), 1);
    assert_int_equal(shop_number("counts.free"), 4);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(a_sale_without_items_is_not_published),
        SHOP_RULE(publishing_preheats_every_item),
        SHOP_RULE(units_are_added_and_taken_away_within_bounds),
        SHOP_RULE(no_more_is_taken_away_than_is_free),
        SHOP_RULE(units_move_between_channels_and_safety),
        SHOP_RULE(what_the_inventory_does_not_know_is_not_preheated),
        SHOP_RULE(a_sale_that_is_paused_sells_nothing_until_it_is_resumed),
        SHOP_RULE(counts_tell_units_and_orders),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
