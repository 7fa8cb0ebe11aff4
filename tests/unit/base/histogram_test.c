/* SPDX-License-Identifier: Apache-2.0 */
#include "base/histogram.h"

#include "unit.h"

#include <string.h>

static HISTOGRAM(waits, "stampede_test_seconds", "How long it took.");
static struct histogram routes[] = {
    { .name = "stampede_routes_seconds", .labels = "route=\"a\"", .help = "By route." },
    { .name = "stampede_routes_seconds", .labels = "route=\"b\"", .help = "Not shown." },
};
HISTOGRAM_TABLE(routes);

static void each_time_is_in_a_bucket_that_ends_at_most_a_quarter_later(void **state)
{
    (void)state;
    const struct histogram_counts none = { { 0 } };
    for (uint64_t us = 16; us < 16u << 20; us += us / 7 + 1) {
        struct histogram_counts one = { { 0 } };
        one.counts[histogram_bucket(us)] = 1;
        const uint64_t end_us = histogram_quantile_us(&none, &one, 500);
        assert_true(end_us > us && end_us <= us + us / 4 + 1);
    }
    assert_int_equal(histogram_bucket(0), 0);
    assert_int_equal(histogram_bucket(15), 0);
    assert_int_equal(histogram_bucket(16), 1);
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void quantiles_are_of_what_came_between_two_moments(void **state)
{
    (void)state;
    struct histogram_counts before, after;
    for (int i = 0; i < 1000; i++)
        histogram_note(&waits, 1000000);
    histogram_read(&waits, &before);
    assert_int_equal(histogram_quantile_us(&before, &before, 500), 0);
    for (int i = 0; i < 98; i++)
        histogram_note(&waits, 100);
    histogram_note(&waits, 5000);
    histogram_note(&waits, 5000);
    histogram_read(&waits, &after);
    assert_in_range(histogram_quantile_us(&before, &after, 500), 100, 128);
    assert_in_range(histogram_quantile_us(&before, &after, 980), 100, 128);
    assert_in_range(histogram_quantile_us(&before, &after, 990), 5000, 6400);
}

static void the_page_shows_half_octaves_that_add_up(void **state)
{
    (void)state;
    static char page[65536];
    struct text out = text_in(page, sizeof page - 1);
    metrics_render(&out);
    assert_false(out.overflow);
    page[out.size] = '\0';
    assert_non_null(strstr(page, "# TYPE stampede_test_seconds histogram\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_bucket{le=\"0.000064\"} 0\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_bucket{le=\"0.000096\"} 0\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_bucket{le=\"0.000128\"} 98\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_bucket{le=\"0.008192\"} 100\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_bucket{le=\"+Inf\"} 1100\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_sum 1000.019800\n"));
    assert_non_null(strstr(page, "stampede_test_seconds_count 1100\n"));
    assert_ptr_equal(histogram_find("stampede_test_seconds"), &waits);
    assert_null(histogram_find("stampede_other_seconds"));
}

static void series_of_one_name_share_help_and_type(void **state)
{
    (void)state;
    static char page[65536];
    struct text out = text_in(page, sizeof page - 1);
    histogram_note(&routes[1], 100);
    metrics_render(&out);
    page[out.size] = '\0';
    const char *head = strstr(page, "# TYPE stampede_routes_seconds histogram\n");
    assert_non_null(head);
    assert_null(strstr(head + 1, "# TYPE stampede_routes_seconds"));
    assert_null(strstr(page, "Not shown."));
    assert_non_null(strstr(page, "stampede_routes_seconds_bucket{route=\"a\",le=\"+Inf\"} 0\n"));
    assert_non_null(strstr(page, "stampede_routes_seconds_bucket{route=\"b\",le=\"0.000128\"} 1\n"));
    assert_non_null(strstr(page, "stampede_routes_seconds_count{route=\"b\"} 1\n"));
    uint32_t bounds = 0;
    for (const char *at = page; (at = strstr(at, "{route=\"a\",le=")) != NULL; at++)
        bounds++;
    assert_int_equal(bounds, 1 + 2 * HISTOGRAM_OCTAVES + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_time_is_in_a_bucket_that_ends_at_most_a_quarter_later),
        cmocka_unit_test(quantiles_are_of_what_came_between_two_moments),
        cmocka_unit_test(the_page_shows_half_octaves_that_add_up),
        cmocka_unit_test(series_of_one_name_share_help_and_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
