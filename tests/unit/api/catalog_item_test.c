/* SPDX-License-Identifier: Apache-2.0 */
#include "api/catalog_blocks.h"

#include "tests/unit/base/unit.h"

static void is_shown(const struct item *row, const char *head, const char *tail, const char *offers)
{
    struct catalog_item *item = catalog_item_make(row);
    assert_true(span_equal(item->head, span_from_string(head)));
    assert_true(span_equal(item->tail, span_from_string(tail)));
    assert_true(span_equal(item->offers, span_from_string(offers)));
    assert_int_equal(item->id, row->id);
    assert_int_equal(item->sale, row->sale);
    assert_int_equal(item->product, row->product);
    free(item);
}

static void the_largest_numbers_have_room(void **state)
{
    (void)state;
    struct item row = { .id = ITEMS_LIMIT - 1,
        .sale = SALES_LIMIT - 1,
        .product = UINT32_MAX,
        .flash_price = UINT64_MAX,
        .limit_per_user = UINT32_MAX,
        .limits = { .period_limit = UINT32_MAX, .period_days = UINT32_MAX } };
    is_shown(&row, "\"id\":262143,\"sale\":16383,",
        ",\"flash_price\":18446744073709551615,\"limit_per_user\":4294967295,\"deduct\":\"order\""
        ",\"period_limit\":4294967295,\"period_days\":4294967295",
        "");
}

static void what_stands_in_for_it_when_it_is_sold_out_is_written_before(void **state)
{
    (void)state;
    const char *const head = "\"id\":7,\"sale\":2,";
    const char *const tail = ",\"flash_price\":5,\"limit_per_user\":1,\"deduct\":\"payment\"";
    struct item row = {
        .id = 7, .sale = 2, .product = 1, .flash_price = 5, .limit_per_user = 1, .deduct_on_payment = true
    };
    is_shown(&row, head, tail, "");
    row.offer.kind = SOLD_OUT_WAITLIST;
    is_shown(&row, head, tail,
        ",\"offers\":{\"kind\":\"waitlist\",\"waitlist\":\"/v1/items/7/waitlist\"}");
    row.offer = (struct sold_out_offer){ .kind = SOLD_OUT_SUBSTITUTES, .substitutes = "3,4" };
    is_shown(&row, head, tail, ",\"offers\":{\"kind\":\"substitutes\",\"substitutes\":[3,4]}");
    row.offer = (struct sold_out_offer){ .kind = SOLD_OUT_PRESALE };
    is_shown(&row, head, tail,
        ",\"offers\":{\"kind\":\"presale\",\"item\":7,\"presale\":\"/v1/items/7/presale\"}");
    row.offer.presale_item = 8;
    row.offer.deposit_item = 9;
    is_shown(&row, head, tail,
        ",\"offers\":{\"kind\":\"presale\",\"item\":8,\"presale\":\"/v1/items/8/"
        "presale\",\"deposit_item\":9,"
        "\"deposit_kept\":\"never\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_numbers_have_room),
        cmocka_unit_test(what_stands_in_for_it_when_it_is_sold_out_is_written_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
