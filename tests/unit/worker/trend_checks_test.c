/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms that begin when a counter grows, and end some time after it has grown last. */
#include "worker/trend_checks.h"

#include "api/handover.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/config.h"
#include "tests/unit/base/unit.h"
#include "worker/alarms.h"
#include "worker/task.h"

enum { CALM_MS = 5000, BEGIN_MS = 1000000 };

/* As queue/relay.c and orders/ have them. */
COUNTER(unreadable, "stampede_broker_unreadable_total", "Of this test.");
COUNTER_OF(amounts, "stampede_payment_news_total", "result=\"amount\"", "Of this test.");

static const struct {
    struct metric *counter;
    enum alarm alarm;
} rows[] = { { &unreadable, ALARM_MESSAGE_UNREADABLE }, { &amounts, ALARM_PAYMENT_MISMATCH } };

static void an_alarm_of_a_counter_ends_when_it_was_calm_for_long_enough(void **unused)
{
    static struct config config = { .alarms_calm_ms = CALM_MS };
    static struct handover catalog; /* nothing is published */
    struct arena arena;
    struct task task;
    (void)unused;
    assert_int_equal(arena_open(&arena, 1 << 16), STATUS_OK);
    trend_checks_open(
        &arena, &(struct trend_checks_config){ .config = &config, .catalog = &catalog }, &task);
    uint64_t now_ms = BEGIN_MS;
    task.turn(task.self, now_ms);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const enum alarm alarm = rows[i].alarm;
        assert_false(alarm_is_up(alarm));
        metric_add(rows[i].counter, 1);
        task.turn(task.self, now_ms += 1000);
        assert_true(alarm_is_up(alarm));
        task.turn(task.self, now_ms + CALM_MS - 1);
        assert_true(alarm_is_up(alarm));
        metric_add(rows[i].counter, 1); /* once more: it begins anew to be calm */
        task.turn(task.self, now_ms += CALM_MS);
        task.turn(task.self, now_ms + CALM_MS - 1);
        assert_true(alarm_is_up(alarm));
        task.turn(task.self, now_ms += CALM_MS);
        assert_false(alarm_is_up(alarm));
    }
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alarm_of_a_counter_ends_when_it_was_calm_for_long_enough),
    };
    log_level_set(LOG_ERROR + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
