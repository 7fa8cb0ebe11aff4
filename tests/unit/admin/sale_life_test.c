/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of whole sales: hidden, put away, and made anew after the model of an old one. */
#include "tests/unit/admin/admin_shop.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static int clone(sale_id sale, const char *more)
{
    const unsigned long long now_ms = shop_now_ms();
    return shop_asks(HTTP_POST,
        shop_text("{\"start_ms\":%llu,\"end_ms\":%llu%s}", now_ms + 60000, now_ms + 120000, more),
        "/sales/%u/clone", sale);
}

/* The items of a sale are in the answer then. */
static size_t items_of(sale_id sale)
{
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items?sale=%u", sale));
    return json_array_size(shop_value("items"));
}

static void a_clone_has_the_items_as_they_were_before_anything_was_sold(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    shop_publish(sale);
    assert_true(shop_sells("ann", item, 1));
    assert_true(shop_sells("bob", item, 1));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/items/%u", item));
    assert_int_equal(shop_number("taken"), 2);
    assert_done(201, clone(sale, ""));
    const sale_id copy = (sale_id)shop_number("id");
    assert_string_equal(json_string_value(shop_value("title")), "Sale");
    assert_true(json_is_false(shop_value("published")));
    assert_int_equal(items_of(copy), 1);
    assert_int_not_equal(shop_number("items.0.id"), item);
    assert_int_equal(shop_number("items.0.taken"), 0);
    assert_int_equal(shop_number("items.0.total"), 5);
    assert_int_equal(shop_number("items.0.channels.web"), 5);
    assert_true(json_is_false(shop_value("items.0.preheated")));
}

/* More items than are read at once. */
static void a_clone_has_every_item(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    for (unsigned i = 0; i < 35; i++)
        shop_item(sale, 1);
    assert_done(201, clone(sale, ""));
    assert_int_equal(items_of((sale_id)shop_number("id")), 35);
}

static void a_clone_may_name_other_totals(void **state)
{
    (void)state;
    const sale_id sale = shop_sale(), other = shop_sale();
    const item_id item = shop_item(sale, 5), strange = shop_item(other, 5);
    char more[96];
    assert_done(200,
        shop_asks(HTTP_PATCH, "{\"total\":10,\"safety\":2,\"channels\":{\"web\":5,\"app\":3}}",
            "/items/%u", item));
    snprintf(more, sizeof more, ",\"totals\":{\"%u\":7},\"title\":\"Again\"", item);
    assert_done(201, clone(sale, more));
    assert_string_equal(json_string_value(shop_value("title")), "Again");
    assert_int_equal(items_of((sale_id)shop_number("id")), 1);
    assert_int_equal(shop_number("items.0.total"), 7);
    assert_int_equal(shop_number("items.0.channels.app"), 3);
    assert_int_equal(shop_number("items.0.channels.web"), 2);
    snprintf(more, sizeof more, ",\"totals\":{\"%u\":5}", item);
    assert_done(201, clone(sale, more)); /* just enough for the app and safety */
    snprintf(more, sizeof more, ",\"totals\":{\"%u\":4}", item);
    assert_refused(422, "totals must leave enough units", clone(sale, more));
    snprintf(more, sizeof more, ",\"totals\":{\"%u\":7}", strange);
    assert_refused(422, "totals names an item that is not in this sale", clone(sale, more));
}

static void totals_are_whole_numbers_of_units_by_item(void **state)
{
    static const char *const wrong[][2] = {
        { "[7]", "totals must be an object of item numbers" },
        { "{\"x\":7}", "totals must be an object of item numbers" },
        { "{\"%u\":0}", "whole numbers of units, 1 or more" },
        { "{\"%u\":-1}", "whole numbers of units, 1 or more" },
        { "{\"%u\":1.5}", "whole numbers of units, 1 or more" },
        { "{\"%u\":100000001}", "whole numbers of units, 1 or more" },
    };
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    char more[96];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *number = strstr(wrong[i][0], "%u");
        if (number == NULL)
            snprintf(more, sizeof more, ",\"totals\":%s", wrong[i][0]);
        else
            snprintf(more, sizeof more, ",\"totals\":{\"%u%s", item, number + 2);
        assert_refused(422, wrong[i][1], clone(sale, more));
    }
}

static void a_clone_ends_after_it_starts_and_in_the_future(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const unsigned long long now_ms = shop_now_ms();
    assert_refused(422, "end_ms must be after start_ms",
        shop_asks(HTTP_POST, shop_text("{\"start_ms\":%llu,\"end_ms\":%llu}", now_ms, now_ms),
            "/sales/%u/clone", sale));
    assert_refused(422, "in the future",
        shop_asks(HTTP_POST, shop_text("{\"start_ms\":1,\"end_ms\":%llu}", now_ms - 30000),
            "/sales/%u/clone", sale));
    assert_refused(422, "start_ms is missing", shop_asks(HTTP_POST, "{}", "/sales/%u/clone", sale));
    assert_refused(404, "unknown-sale", clone(255, ""));
}

static void a_sale_that_can_sell_is_not_hidden(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    const item_id item = shop_item(sale, 5);
    shop_publish(sale);
    assert_refused(409, "Pause or end it first",
        shop_asks(HTTP_POST, "{\"force\":true}", "/sales/%u/unpublish", sale));
    assert_true(shop_sells("cleo", item, 1));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/pause", sale));
    assert_refused(409, "1 units are held, 0 are sold",
        shop_asks(HTTP_POST, NULL, "/sales/%u/unpublish", sale));
    assert_done(200, shop_asks(HTTP_POST, "{\"force\":true}", "/sales/%u/unpublish", sale));
    assert_true(json_is_false(shop_value("published")));
    assert_done(200, shop_asks(HTTP_GET, NULL, "/audit"));
    assert_said("sale.unpublish.force");
}

static void a_sale_is_archived_when_it_has_ended_and_comes_back(void **state)
{
    (void)state;
    const sale_id sale = shop_sale();
    shop_item(sale, 5);
    shop_publish(sale);
    assert_refused(409, "The sale has not ended", shop_asks(HTTP_POST, NULL, "/sales/%u/archive", sale));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/end", sale));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/archive", sale));
    assert_true(json_is_true(shop_value("archived")));
    assert_refused(409, "Unarchive it first", shop_asks(HTTP_POST, NULL, "/sales/%u/publish", sale));
    assert_refused(409, "Unarchive it first", shop_asks(HTTP_POST, NULL, "/sales/%u/open", sale));
    assert_refused(409, "Unarchive it first", shop_asks(HTTP_POST, NULL, "/sales/%u/reopen", sale));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/unarchive", sale));
    assert_true(json_is_false(shop_value("archived")));
}

/* More sales than are read at once; those in use and those put away are two lists. */
static void pages_of_sales_have_every_sale_once(void **state)
{
    size_t listed = 0, put_away = 0;
    (void)state;
    sale_id last = 0;
    for (unsigned i = 0; i < 55; i++)
        last = shop_sale();
    shop_item(last, 1);
    shop_publish(last);
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/end", last));
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/archive", last));
    for (unsigned long long archived = 0; archived < 2; archived++) {
        unsigned long long after = 0;
        bool more = true;
        while (more) {
            assert_done(
                200, shop_asks(HTTP_GET, NULL, "/sales?archived=%llu&after=%llu", archived, after));
            const size_t count = json_array_size(shop_value("sales"));
            assert_true(count <= 50);
            *(archived == 1 ? &put_away : &listed) += count;
            more = shop_value("next") != NULL;
            after = more ? shop_number("next") : 0;
        }
    }
    assert_int_equal(listed + put_away, last);
    assert_true(put_away >= 1 && listed >= 54);
    assert_refused(400, "archived", shop_asks(HTTP_GET, NULL, "/sales?archived=2"));
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        SHOP_RULE(a_clone_has_the_items_as_they_were_before_anything_was_sold),
        SHOP_RULE(a_clone_has_every_item),
        SHOP_RULE(a_clone_may_name_other_totals),
        SHOP_RULE(totals_are_whole_numbers_of_units_by_item),
        SHOP_RULE(a_clone_ends_after_it_starts_and_in_the_future),
        SHOP_RULE(a_sale_that_can_sell_is_not_hidden),
        SHOP_RULE(a_sale_is_archived_when_it_has_ended_and_comes_back),
        SHOP_RULE(pages_of_sales_have_every_sale_once),
    };
    return cmocka_run_group_tests(rules, shop_open, shop_close);
}
