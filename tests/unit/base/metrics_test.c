/* SPDX-License-Identifier: Apache-2.0 */
#include "base/metrics.h"

#include "unit.h"

#include <pthread.h>

enum { COUNTERS = METRICS_THREADS + 8, COUNTS = 2000 };

static struct metric won = {
    .name = "stampede_answers_total",
    .labels = "answer=\"won\"",
    .help = "Answers given.",
    .kind = METRIC_COUNTER,
};
static struct metric lost = {
    .name = "stampede_answers_total", .labels = "answer=\"sold_out\"", .kind = METRIC_COUNTER
};
static struct metric depth = {
    .name = "stampede_depth", .help = "Back\\slash\nand line.", .kind = METRIC_GAUGE
};
static struct metric silent = { .name = "stampede_silent_total", .kind = METRIC_COUNTER };

static char page[65536];

static const char *render(void)
{
    struct text out = text_in(page, sizeof page - 1);
    metrics_render(&out);
    assert_false(out.overflow);
    page[out.size] = '\0';
    return page;
}

/* Registered apart and twice: one name still comes together, under one heading. */
static void each_name_has_one_heading_and_its_series_stand_together(void **state)
{
    (void)state;
    metrics_register(&won);
    metrics_register(&depth);
    metrics_register(&lost);
    metrics_register(&won);
    metrics_register(&silent);
    metric_add(&won, 3);
    metric_set(&depth, 12);
    assert_string_equal(render(),
        "# HELP stampede_answers_total Answers given.\n"
        "# TYPE stampede_answers_total counter\n"
        "stampede_answers_total{answer=\"won\"} 3\n"
        "stampede_answers_total{answer=\"sold_out\"} 0\n"
        "# HELP stampede_depth Back\\\\slash\\nand line.\n"
        "# TYPE stampede_depth gauge\n"
        "stampede_depth 12\n"
        "# TYPE stampede_silent_total counter\n"
        "stampede_silent_total 0\n");
}

static void a_page_that_does_not_fit_says_so(void **state)
{
    (void)state;
    size_t needed = strlen(render());
    struct text out = text_in(page, needed);
    metrics_render(&out);
    assert_false(out.overflow);
    out = text_in(page, needed - 1);
    metrics_render(&out);
    assert_true(out.overflow);
}

static void a_gauge_keeps_what_was_set_last(void **state)
{
    (void)state;
    metric_set(&depth, 5);
    metric_set(&depth, 2);
    assert_int_equal(metric_read(&depth), 2);
    metric_set(&depth, UINT64_MAX);
    assert_true(metric_read(&depth) == UINT64_MAX);
}

static _Atomic uint32_t slot_users[METRICS_THREADS];

static void *count(void *unused)
{
    (void)unused;
    metrics_thread_enter();
    uint32_t slot = metrics_slot;
    metrics_thread_enter(); /* again keeps the slot */
    if (slot == metrics_slot && slot < METRICS_THREADS)
        atomic_fetch_add(&slot_users[slot], 1);
    for (int i = 0; i < COUNTS; i++)
        metric_add(&lost, 2);
    return NULL;
}

static void counts_of_all_threads_add_up_even_when_slots_run_out(void **state)
{
    (void)state;
    pthread_t threads[COUNTERS];
    uint64_t before = metric_read(&lost);
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < 10; i++)
        render();
    for (int i = 0; i < COUNTERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(metric_read(&lost) - before, (uint64_t)COUNTERS * COUNTS * 2);
    assert_int_equal(slot_users[0], 0); /* of those who never enter, like this thread */
    assert_int_equal(metrics_slot, 0);
    for (int i = 1; i < METRICS_THREADS - 1; i++)
        assert_int_equal(slot_users[i], 1);
    assert_int_equal(slot_users[METRICS_THREADS - 1], COUNTERS - (METRICS_THREADS - 2));
}

static void register_two_kinds(void)
{
    static struct metric gauge = {
        .name = "stampede_silent_total",
        .labels = "a=\"b\"",
        .kind = METRIC_GAUGE,
    };
    metrics_register(&gauge);
}
static void register_twin(void)
{
    static struct metric twin = { .name = "stampede_silent_total", .kind = METRIC_COUNTER };
    metrics_register(&twin);
}
static void register_bad_name(void)
{
    static struct metric bad = { .name = "stampede-dash", .kind = METRIC_GAUGE };
    metrics_register(&bad);
}
static void register_no_name(void)
{
    static struct metric bad = { .name = "", .kind = METRIC_GAUGE };
    metrics_register(&bad);
}
static void register_up_to(int most)
{
    static struct metric many[METRICS_MAX];
    static char names[METRICS_MAX][16];
    for (int i = 0; i < most; i++) {
        struct text name = text_in(names[i], sizeof names[i] - 1);
        text_format(&name, "many_%d", i);
        many[i].name = names[i];
        metrics_register(&many[i]);
    }
}
static void register_all_there_is_room_for(void)
{
    register_up_to(METRICS_MAX - 4);
}
static void register_one_too_many(void)
{
    register_up_to(METRICS_MAX - 3);
}

static void what_prometheus_would_refuse_or_does_not_fit_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(register_two_kinds));
    assert_true(unit_stops(register_twin));
    assert_true(unit_stops(register_bad_name));
    assert_true(unit_stops(register_no_name));
    assert_false(unit_stops(register_all_there_is_room_for));
    assert_true(unit_stops(register_one_too_many));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_has_one_heading_and_its_series_stand_together),
        cmocka_unit_test(a_page_that_does_not_fit_says_so),
        cmocka_unit_test(a_gauge_keeps_what_was_set_last),
        cmocka_unit_test(counts_of_all_threads_add_up_even_when_slots_run_out),
        cmocka_unit_test(what_prometheus_would_refuse_or_does_not_fit_stops_the_program),
    };
    return cmocka_run_group_tests_name("base/metrics", tests, NULL, NULL);
}
