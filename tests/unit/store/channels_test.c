/* SPDX-License-Identifier: Apache-2.0 */
/* Figures, reports and uses of the safety stock come back as they went in, and add up. */
#include "contract/channels.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NOW_MS = 5000 };

static struct place place;
static item_id own; /* the place has some already */
static uint32_t sold;

static const struct channel_store_ops *ops(void)
{
    return place.store->ops->channels;
}

static int shop_open(void **state)
{
    struct product product = { .name = "Tea", .images = "[]", .currency = "CNY" };
    struct sale sale = { .title = "Noon", .start_ms = 1000, .end_ms = 4000 };
    struct item item = { .total = 10, .channel_units = { 10 }, .channel_return_ms = 7 };
    (void)state;
    memset(&place, 0, sizeof place);
    place_make(&place);
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    assert_int_equal(place.store->ops->product_insert(place.store, &product), STATUS_OK);
    assert_int_equal(place.store->ops->sale_insert(place.store, &sale), STATUS_OK);
    item.sale = sale.id;
    item.product = product.id;
    assert_int_equal(place.store->ops->item_insert(place.store, &item), STATUS_OK);
    own = item.id;
    sold = product.id;
    return 0;
}

static int shop_close(void **state)
{
    (void)state;
    place_remove(&place);
    return 0;
}

static void the_last_figures_of_a_channel_count(void **state)
{
    struct channel_figures rows[4], told = { "tmall", { 1, 2, 3, 4 }, NOW_MS, "ada" };
    uint32_t count = 0;
    (void)state;
    assert_int_equal(ops()->figures_put(place.store, &told), STATUS_OK);
    told.figures.units = 9;
    assert_int_equal(ops()->figures_put(place.store, &told), STATUS_OK);
    assert_int_equal(ops()->figures(place.store, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_memory_equal(&rows[0].figures, &told.figures, sizeof told.figures);
    assert_string_equal(rows[0].by, "ada");
}

static void a_report_is_kept_once(void **state)
{
    struct channel_report first = { 0, own, "tmall", "a", 5, 3, 2, NOW_MS }, second = first,
                          other = first;
    struct channel_report_filter filter = { .missing = true };
    struct channel_report rows[4];
    uint64_t reported, missing;
    uint32_t count;
    (void)state;
    assert_int_equal(ops()->report_get(place.store, &first), STATUS_NOT_FOUND);
    assert_int_equal(ops()->report_put(place.store, &first), STATUS_OK);
    second.taken = 5;
    second.missing = 0;
    assert_int_equal(ops()->report_put(place.store, &second), STATUS_OK);
    assert_int_equal(second.missing, 2); /* what is kept */
    snprintf(other.channel, sizeof other.channel, "jd");
    other.taken = 5;
    other.missing = 0;
    assert_int_equal(ops()->report_put(place.store, &other), STATUS_OK);
    assert_int_equal(ops()->report_sums(place.store, own, "tmall", &reported, &missing), STATUS_OK);
    assert_int_equal(reported * 10 + missing, 52);
    assert_int_equal(ops()->reports(place.store, 0, &filter, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    filter = (struct channel_report_filter){ .item = own, .channel = "jd" };
    assert_int_equal(ops()->reports(place.store, 0, &filter, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].channel, "jd");
    filter = (struct channel_report_filter){ 0 };
    assert_int_equal(ops()->reports(place.store, rows[0].id, &filter, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
}

static void uses_count_by_reason_once_the_sale_is_over(void **state)
{
    struct safety_use use = { own, SAFETY_EXCHANGE, 2, "note", "ada", NOW_MS };
    struct safety_history history;
    (void)state;
    assert_int_equal(ops()->safety_use_put(place.store, &use), STATUS_OK);
    use.reason = SAFETY_LOSS;
    use.units = 3;
    assert_int_equal(ops()->safety_use_put(place.store, &use), STATUS_OK);
    assert_int_equal(ops()->safety_history(place.store, sold, 4000, &history), STATUS_OK);
    assert_int_equal(history.exchanged * 100 + history.lost * 10 + history.damaged + history.other, 230);
    assert_int_equal(ops()->safety_history(place.store, 0, 4000, &history), STATUS_OK);
    assert_int_equal(history.lost, 3);
    assert_int_equal(ops()->safety_history(place.store, sold, 3999, &history), STATUS_OK);
    assert_int_equal(history.lost, 0);
    assert_int_equal(ops()->safety_history(place.store, sold + 1, 4000, &history), STATUS_OK);
    assert_int_equal(history.lost, 0);
    use.reason = SAFETY_REASONS;
    assert_int_not_equal(ops()->safety_use_put(place.store, &use), STATUS_OK);
}

static void an_item_keeps_its_time_to_give_back(void **state)
{
    struct item item;
    (void)state;
    assert_int_equal(place.store->ops->item_get(place.store, own, &item), STATUS_OK);
    assert_int_equal(item.channel_return_ms, 7);
    item.channel_return_ms = 1ull << 34;
    assert_int_equal(place.store->ops->item_update(place.store, &item, false), STATUS_OK);
    assert_int_equal(place.store->ops->item_get(place.store, own, &item), STATUS_OK);
    assert_int_equal(item.channel_return_ms, 1ull << 34);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test_setup_teardown(the_last_figures_of_a_channel_count, shop_open, shop_close),
        cmocka_unit_test_setup_teardown(a_report_is_kept_once, shop_open, shop_close),
        cmocka_unit_test_setup_teardown(uses_count_by_reason_once_the_sale_is_over, shop_open, shop_close),
        cmocka_unit_test_setup_teardown(an_item_keeps_its_time_to_give_back, shop_open, shop_close),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
