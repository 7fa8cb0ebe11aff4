/* SPDX-License-Identifier: Apache-2.0 */
/* The rule behind all others: a catalog that followed the changes one by one is the catalog that the
 * store would be read into now. */
#include "api/catalog.h"
#include "base/clock.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 2048, RENDER_BYTES = 4 << 20, STEPS = 250 };
static const uint64_t NOW_MS = 1700000000000;

static struct place place;
static struct order_store *store;
static const struct order_store_ops *real;
static struct order_store_ops counted;
static uint32_t reads;
static bool products_are_away;
static struct board board; /* no item is preheated */
static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % bound;
}

static enum status product_get(struct order_store *handle, uint32_t id, struct product *product)
{
    reads++;
    return products_are_away ? STATUS_AWAY : real->product_get(handle, id, product);
}

static enum status sale_get(struct order_store *handle, sale_id id, struct sale *sale)
{
    reads++;
    return real->sale_get(handle, id, sale);
}

static enum status item_get(struct order_store *handle, item_id id, struct item *item)
{
    reads++;
    return real->item_get(handle, id, item);
}

static enum status items(struct order_store *handle, sale_id sale, item_id after, struct item *rows,
    uint32_t max, uint32_t *count)
{
    reads++;
    return real->items(handle, sale, after, rows, max, count);
}

static int setup(void **state)
{
    (void)state;
    place_make(&place);
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    store = place.store;
    real = store->ops;
    counted = *real;
    counted.product_get = product_get;
    counted.sale_get = sale_get;
    counted.item_get = item_get;
    counted.items = items;
    store->ops = &counted;
    products_are_away = false;
    random_state = 1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store->ops = real;
    place_remove(&place);
    return 0;
}

/* ---- what the shop does ---- */

static uint32_t product_add(void)
{
    struct product product = { .name = "Lamp", .images = "[\"/media/a.png\"]", .currency = "CNY" };
    snprintf(product.description, sizeof product.description, "Bright \"%u\"", random_below(1000));
    product.list_price = 1000 + random_below(1000);
    assert_int_equal(store->ops->product_insert(store, &product), STATUS_OK);
    return product.id;
}

/* Over for ever, or coming for ever: the test does not depend on the time. */
static void schedule(struct sale *sale)
{
    const uint64_t far_ms = random_below(2) == 0 ? 1000 : UINT64_C(1) << 45;
    sale->start_ms = far_ms + random_below(50);
    sale->end_ms = far_ms + 100 + random_below(50);
}

static sale_id sale_add(bool published)
{
    struct sale sale = { .title = "Lamps", .published = published };
    schedule(&sale);
    assert_int_equal(store->ops->sale_insert(store, &sale), STATUS_OK);
    return sale.id;
}

static item_id item_add(sale_id sale, uint32_t product)
{
    struct item item = {
        .sale = sale, .product = product, .flash_price = 1 + random_below(500), .total = 1
    };
    item.channel_units[0] = 1;
    assert_int_equal(store->ops->item_insert(store, &item), STATUS_OK);
    return item.id;
}

static void sale_alter(sale_id id)
{
    struct sale sale;
    assert_int_equal(real->sale_get(store, id, &sale), STATUS_OK);
    switch (random_below(5)) {
    case 0:
        snprintf(sale.title, sizeof sale.title, "Lamps \"%u\"", random_below(1000));
        break;
    case 1:
        schedule(&sale);
        break;
    case 2:
        sale.published = !sale.published;
        break;
    case 3:
        sale.archived = !sale.archived;
        break;
    default:
        sale.waiting_room = !sale.waiting_room;
        sale.pace_per_s = random_below(3);
        snprintf(sale.beacon_name, sizeof sale.beacon_name, "dice %u", random_below(10));
    }
    assert_int_equal(store->ops->sale_update(store, &sale), STATUS_OK);
}

static void item_alter(item_id id)
{
    struct item item;
    if (random_below(3) == 0) {
        assert_int_equal(store->ops->item_remove(store, id), STATUS_OK);
        return;
    }
    assert_int_equal(real->item_get(store, id, &item), STATUS_OK);
    item.flash_price = 1 + random_below(500);
    item.deduct_on_payment = !item.deduct_on_payment;
    assert_int_equal(store->ops->item_update(store, &item, false), STATUS_OK);
}

static void product_alter(uint32_t id)
{
    struct product product;
    assert_int_equal(real->product_get(store, id, &product), STATUS_OK);
    snprintf(product.name, sizeof product.name, "Lamp %u", random_below(1000));
    assert_int_equal(store->ops->product_update(store, &product), STATUS_OK);
}

/* One of the items that there are; 0: none. */
static item_id item_any(void)
{
    struct item rows[1];
    uint32_t count = 0;
    assert_int_equal(real->items(store, 0, random_below(60), rows, 1, &count), STATUS_OK);
    return count == 0 || rows[0].id == place.item ? 0 : rows[0].id;
}

static struct catalog_change something_changes(uint32_t sales, uint32_t products)
{
    const sale_id sale = (sale_id)(1 + random_below(sales));
    const item_id item = item_any();
    switch (random_below(4)) {
    case 0:
        sale_alter(sale);
        return (struct catalog_change){ CATALOG_SALE, sale };
    case 1: {
        const uint32_t product = 1 + random_below(products);
        product_alter(product);
        return (struct catalog_change){ CATALOG_PRODUCT, product };
    }
    case 2:
        if (item != 0) {
            item_alter(item);
            return (struct catalog_change){ CATALOG_ITEM, item };
        }
        /* fall through */
    default:
        return (struct catalog_change){ CATALOG_ITEM, item_add(sale, 1 + random_below(products)) };
    }
}

/* ---- what the public sees ---- */

static void render(const struct catalog *catalog, struct text *out)
{
    for (const struct catalog_sale *sale = catalog_sale_next(catalog, 0); sale != NULL;
         sale = catalog_sale_next(catalog, sale->id))
        catalog_render_sale(catalog, &board, 0, sale, 0, NOW_MS, RENDER_BYTES, out);
    for (const struct catalog_item *item = catalog_item_next(catalog, 0); item != NULL;
         item = catalog_item_next(catalog, item->id)) {
        catalog_render_item(catalog, &board, 0, item, true, NOW_MS, out);
        text_add(out, catalog_product_of(catalog, item)->name);
    }
    for (int ended = 0; ended < 2; ended++) {
        const struct catalog_wish wish = { .ended = ended == 1 };
        catalog_render_sales(catalog, &board, 0, &wish, NOW_MS, RENDER_BYTES, out);
    }
    assert_false(out->overflow);
}

static char *rendered(const struct catalog *catalog)
{
    struct text text = text_in(malloc(RENDER_BYTES), RENDER_BYTES - 1);
    assert_non_null(text.data);
    render(catalog, &text);
    text.data[text.size] = 0;
    return text.data;
}

static void is_what_the_store_says(
    const struct catalog *catalog, const struct item_rules *rules, const char *shown)
{
    struct catalog *whole;
    static struct item_rules whole_rules;
    assert_int_equal(catalog_build(&whole, store), STATUS_OK);
    char *expected = rendered(whole);
    assert_string_equal(shown, expected);
    assert_int_equal(catalog->lists->coming, whole->lists->coming);
    catalog_rules_show(whole, &whole_rules, ITEMS_MAX);
    assert_memory_equal(rules, &whole_rules, sizeof *rules);
    free(expected);
    catalog_free(whole);
}

static void following_changes_leads_to_what_reading_all_leads_to(void **state)
{
    enum { SALES = 8, PRODUCTS = 5 };
    static struct item_rules rules;
    struct catalog *now, *next;
    (void)state;
    for (uint32_t i = 0; i < PRODUCTS; i++)
        (void)product_add();
    for (uint32_t i = 0; i < SALES; i++)
        (void)sale_add(i % 2 == 0);
    assert_int_equal(catalog_build(&now, store), STATUS_OK);
    catalog_rules_show(now, &rules, ITEMS_MAX);
    for (uint32_t step = 0; step < STEPS; step++) {
        char *before = rendered(now);
        const struct catalog_change change = something_changes(SALES, PRODUCTS);
        assert_int_equal(catalog_change(now, store, &change, &next), STATUS_OK);
        catalog_rules_change(now, next, &change, &rules, ITEMS_MAX);
        char *still = rendered(now), *after = rendered(next);
        assert_string_equal(still, before); /* it may still be read */
        is_what_the_store_says(next, &rules, after);
        if (next != now)
            catalog_free(now);
        now = next;
        free(before);
        free(still);
        free(after);
    }
    catalog_free(now);
}

static void an_edit_reads_one_row_however_many_items_there_are(void **state)
{
    enum { ITEMS = ID_CHUNK + 50 };
    struct catalog *now, *next;
    const uint32_t product = product_add();
    const sale_id sale = sale_add(true);
    const struct catalog_change changes[] = { { CATALOG_SALE, sale }, { CATALOG_ITEM, 0 },
        { CATALOG_PRODUCT, product } };
    item_id last = 0;
    (void)state;
    for (uint32_t i = 0; i < ITEMS; i++)
        last = item_add(sale, product);
    assert_int_equal(catalog_build(&now, store), STATUS_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct catalog_change change = changes[i];
        if (change.part == CATALOG_ITEM)
            change.id = last;
        reads = 0;
        assert_int_equal(catalog_change(now, store, &change, &next), STATUS_OK);
        assert_int_equal(reads, 1);
        assert_ptr_not_equal(next, now);
        assert_ptr_equal(catalog_item_find(now, last - 1), catalog_item_find(next, last - 1));
        catalog_free(now);
        now = next;
    }
    catalog_free(now);
}

static void what_the_public_does_not_see_makes_no_version(void **state)
{
    struct catalog *now, *next;
    (void)state;
    assert_int_equal(catalog_build(&now, store), STATUS_OK);
    const uint32_t product = product_add();
    const sale_id draft = sale_add(false);
    const struct catalog_change changes[] = { { CATALOG_PRODUCT, product }, { CATALOG_SALE, draft },
        { CATALOG_ITEM, item_add(draft, product) }, { CATALOG_ITEM, 60000 }, { CATALOG_SALE, 9999 },
        { CATALOG_PRODUCT, 123456789 } };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_int_equal(catalog_change(now, store, &changes[i], &next), STATUS_OK);
        assert_ptr_equal(next, now);
    }
    catalog_free(now);
}

static void a_store_that_fails_in_the_middle_changes_nothing(void **state)
{
    struct catalog *now, *next;
    (void)state;
    assert_int_equal(catalog_build(&now, store), STATUS_OK);
    char *before = rendered(now);
    const sale_id sale = sale_add(true);
    (void)item_add(sale, product_add());
    const struct catalog_change change = { CATALOG_SALE, sale };
    products_are_away = true;
    assert_int_equal(catalog_change(now, store, &change, &next), STATUS_AWAY);
    assert_ptr_equal(next, now);
    char *after = rendered(now);
    assert_string_equal(before, after);
    products_are_away = false;
    assert_int_equal(catalog_change(now, store, &change, &next), STATUS_OK);
    assert_non_null(catalog_sale_find(next, sale));
    catalog_free(now);
    catalog_free(next);
    free(before);
    free(after);
}

int main(void)
{
    clock_start(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            following_changes_leads_to_what_reading_all_leads_to, setup, teardown),
        cmocka_unit_test_setup_teardown(an_edit_reads_one_row_however_many_items_there_are, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_public_does_not_see_makes_no_version, setup, teardown),
        cmocka_unit_test_setup_teardown(a_store_that_fails_in_the_middle_changes_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
