/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/item_page.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>

static const char page[] =
    "<html><head><title>Shop &amp; Co</title><x></head><main><noscript>on!</noscript></main>";
static char memory[8192];

static const char *written(const struct page_item *item)
{
    struct page_shell shell;
    struct text out = text_in(memory, sizeof memory - 1);
    assert_true(page_shell_split(span_from_string(page), &shell));
    item_page_write(&shell, item, &out);
    assert_false(out.overflow);
    memory[out.size] = 0;
    return memory;
}

static bool has(const char *text)
{
    if (strstr(memory, text) != NULL)
        return true;
    print_message("%s is not in %s\n", text, memory);
    return false;
}

static void a_page_carries_the_product_for_people_and_for_previews(void **state)
{
    (void)state;
    written(&(struct page_item){ .id = 7,
        .name = SPAN("Tea"),
        .about = SPAN("Green."),
        .image = SPAN("/media/a.jpg"),
        .currency = SPAN("CNY"),
        .price = "99.00",
        .list_price = "199.00",
        .start_ms = 1794312000000,
        .end_ms = 1794315600000,
        .base = SPAN("https://sale.example") });
    assert_true(has("<html><head><title>Tea · Shop &amp; Co</title><x>"));
    assert_true(has("<meta property=\"og:image\" content=\"https://sale.example/media/a.jpg\">"));
    assert_true(has("<link rel=\"canonical\" href=\"https://sale.example/items/7/\">"));
    assert_true(has("<meta property=\"product:price:amount\" content=\"99.00\">"));
    assert_true(has("\"image\":\"https://sale.example/media/"
                    "a.jpg\",\"offers\":{\"@type\":\"Offer\",\"price\":\"99.00\","));
    assert_true(has("\"validFrom\":\"2026-11-10T12:00:00.000Z\",\"priceValidUntil\":\"2026-11-"
                    "10T13:00:00.000Z\""));
    assert_true(has("<h1>Tea</h1>"));
    assert_true(has("<s class=\"price-list\">199.00</s>"));
    assert_true(has("<time datetime=\"2026-11-10T12:00:00.000Z\">2026-11-10 12:00 UTC</time>"));
    assert_true(has("</article></div></main>"));
    assert_true(has("<img src=\"/media/a.jpg\" alt=\"Tea\" width=\"480\" height=\"480\">"));
    assert_true(has("<p class=\"quantity\"></p><div class=\"dock\">"));
}

static void what_the_script_will_show_has_its_place(void **state)
{
    (void)state;
    written(&(struct page_item){
        .id = 7, .name = SPAN("Tea"), .currency = SPAN("CNY"), .price = "1", .limit = 1 });
    assert_true(has("<img src=\"/favicon.svg\" alt=\"Tea\""));
    assert_true(has("<div class=\"buy buy-place\"></div>"));
    assert_null(strstr(memory, "class=\"quantity\"")); /* one for each user: nothing to choose */
}

static void what_a_merchant_writes_is_shown_and_runs_nothing(void **state)
{
    (void)state;
    written(&(struct page_item){ .id = 7,
        .name = SPAN("</title><script>x</script>"),
        .about = SPAN("\"><img onerror=x>"),
        .image = SPAN("https://img.example/\"onload=\"x"),
        .currency = SPAN("CNY"),
        .price = "1" });
    assert_null(strstr(memory, "<script>"));
    assert_null(strstr(memory, "<img onerror"));
    assert_null(strstr(memory, "\"onload=\"x"));
    assert_true(has(
        "{\"@context\":\"https://schema.org\",\"@type\":\"Product\",\"name\":\"\\u003c/title>"));
    assert_true(has("<h1>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;</h1>"));
    assert_null(strstr(memory, "canonical"));
    assert_null(strstr(memory, "price-list"));
}

static void a_page_in_a_language_says_so_and_names_the_others(void **state)
{
    static const struct page_language others[] = { { SPAN_NONE, SPAN("茶") },
        { SPAN("de"), SPAN("Tee & Co") } };
    (void)state;
    written(&(struct page_item){ .id = 7,
        .language = SPAN("en"),
        .others = others,
        .other_count = 2,
        .name = SPAN("Tea"),
        .currency = SPAN("CNY"),
        .price = "1",
        .base = SPAN("https://sale.example") });
    assert_true(has("data-inside=\"7\" lang=\"en\">"));
    assert_true(has("<link rel=\"canonical\" href=\"https://sale.example/items/7/en/\">"));
    assert_true(
        has("<link rel=\"alternate\" hreflang=\"en\" href=\"https://sale.example/items/7/en/\">"));
    assert_true(has(
        "<link rel=\"alternate\" hreflang=\"x-default\" href=\"https://sale.example/items/7/\">"));
    assert_true(
        has("<link rel=\"alternate\" hreflang=\"de\" href=\"https://sale.example/items/7/de/\">"));
    assert_true(has("<p><a href=\"/items/7/\">茶</a></p>"));
    assert_true(has("<p><a href=\"/items/7/de/\" lang=\"de\">Tee &amp; Co</a></p>"));
}

static void a_page_without_its_places_is_told(void **state)
{
    struct page_shell shell;
    (void)state;
    assert_false(page_shell_split(SPAN("<title>x</title></head><noscript>"), &shell));
    assert_false(page_shell_split(SPAN(""), &shell));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_carries_the_product_for_people_and_for_previews),
        cmocka_unit_test(what_the_script_will_show_has_its_place),
        cmocka_unit_test(what_a_merchant_writes_is_shown_and_runs_nothing),
        cmocka_unit_test(a_page_in_a_language_says_so_and_names_the_others),
        cmocka_unit_test(a_page_without_its_places_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
