/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/watch.h"

#include "base/clock.h"
#include "rehearse/server_counts.h"

#include <stdlib.h>

enum { EVERY_MS = 1000 };

static void sample_take(struct watch *watch)
{
    struct received text;
    watch->asked++;
    if (!admin_session_text(&watch->session, "/metrics", &text))
        return;
    if (watch->count < sizeof watch->samples / sizeof *watch->samples)
        watch->samples[watch->count++] = (struct watch_sample){ .at_ms = clock_monotonic_ms(),
            .go = metrics_value(text.bytes, "stampede_door_total", "answer=\"go\""),
            .orders_written = metrics_value(text.bytes, "stampede_orders_written_total", ""),
            .order_lag = metrics_value(text.bytes, "stampede_order_lag", "") };
    free(text.bytes);
}

static void watch_run(void *context)
{
    struct watch *watch = context;
    uint64_t next_ms = clock_monotonic_ms();
    while (!atomic_load(&watch->ends)) {
        sample_take(watch);
        next_ms += EVERY_MS;
        const uint64_t now_ms = clock_monotonic_ms();
        if (now_ms < next_ms && !atomic_load(&watch->ends))
            wake_wait(&watch->wake, (uint32_t)(next_ms - now_ms));
    }
}

bool watch_start(struct watch *watch, const char *url, const char *key_file, FILE *errors)
{
    watch->session = (struct admin_session){ .out = errors, .errors = errors };
    if (wake_open(&watch->wake) != STATUS_OK)
        return false;
    return admin_session_open(&watch->session, url, key_file)
        && thread_start(&watch->thread, "watch", watch_run, watch) == STATUS_OK;
}

void watch_stop(struct watch *watch)
{
    if (!watch->thread.started)
        return;
    atomic_store(&watch->ends, true);
    wake_signal(&watch->wake);
    thread_join(&watch->thread);
    watch->thread.started = false;
    wake_close(&watch->wake);
    admin_session_close(&watch->session);
}

static uint64_t per_second(uint64_t units, uint64_t ms)
{
    return ms > 0 ? (units * 1000 + ms - 1) / ms : 0;
}

uint64_t watch_peak_orders(const struct watch *watch)
{
    uint64_t peak = 0;
    for (uint32_t i = 1; i < watch->count; i++) {
        const struct watch_sample *one = &watch->samples[i - 1], *other = &watch->samples[i];
        const uint64_t rate =
            per_second(other->orders_written - one->orders_written, other->at_ms - one->at_ms);
        peak = rate > peak ? rate : peak;
    }
    return peak;
}

uint64_t watch_peak_go(const struct watch *watch)
{
    uint64_t peak = 0;
    for (uint32_t i = 1; i < watch->count; i++) {
        const struct watch_sample *one = &watch->samples[i - 1], *other = &watch->samples[i];
        const uint64_t rate = per_second(other->go - one->go, other->at_ms - one->at_ms);
        peak = rate > peak ? rate : peak;
    }
    return peak;
}

uint64_t watch_most_lag(const struct watch *watch)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < watch->count; i++)
        most = watch->samples[i].order_lag > most ? watch->samples[i].order_lag : most;
    return most;
}
