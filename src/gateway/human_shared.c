/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/human_shared.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    ROUND_MS = 100,
    PICTURES_PER_ROUND = 64,
    TRIES_PART = 4,     /* of human.spent_max: answers to pictures live no longer than these */
    SWEEP_PLACES = 512, /* a round: all within hours; what has expired gives way anyway */
};

static uint32_t power_of_two(uint64_t least)
{
    uint32_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

enum status human_desk_open(
    struct human_desk *desk, const struct config *config, uint32_t edges, char error[CONFIG_ERROR])
{
    const uint32_t marks = (uint32_t)config->human_spent_max;
    const uint32_t tries = marks / TRIES_PART;
    const bool pictures = config->human_pictures > 0 && verdict_find(config->human_outside) == NULL;
    const uint32_t slots = pictures ? power_of_two(config->human_pictures) : 0;
    const size_t bytes = spent_bytes(marks) + spent_bytes(tries) + spent_bytes((uint32_t)config->jti_max)
        + 2 * suspicion_bytes() + (slots > 0 ? picture_pool_bytes(edges, slots) : 0) + 4096;
    snprintf(error, CONFIG_ERROR, "no memory for the human check");
    if (arena_open(&desk->arena, bytes) != STATUS_OK)
        return STATUS_FULL;
    if (wake_open(&desk->wake) != STATUS_OK) {
        arena_close(&desk->arena);
        return STATUS_FULL;
    }
    random_secret(&desk->start, sizeof desk->start);
    desk->spent = spent_create(&desk->arena, marks);
    desk->tokens = spent_create(&desk->arena, (uint32_t)config->jti_max);
    desk->tries = spent_create(&desk->arena, tries);
    desk->failures = suspicion_create(&desk->arena, HUMAN_FAILURES_HALF_S);
    desk->passes = suspicion_create(&desk->arena, HUMAN_PASSES_HALF_S);
    desk->pool = slots > 0 ? picture_pool_create(&desk->arena, edges, slots) : NULL;
    error[0] = 0;
    return human_outside_open(&desk->outside, config, edges, &desk->wake, error);
}

/* Drawing may take all of a core that nobody else wants; the low priority sees to that. */
static void human_run(void *context)
{
    struct human_desk *desk = context;
    metrics_thread_enter();
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), BACKGROUND_NICE) != 0)
        log_warn("human", "the priority of drawing can't be lowered");
    while (!atomic_load(&desk->stop)) {
        const uint32_t drawn =
            desk->pool != NULL ? picture_pool_fill(desk->pool, PICTURES_PER_ROUND) : 0;
        const uint32_t now_s = (uint32_t)(clock_now_ms() / 1000);
        spent_sweep(desk->spent, SWEEP_PLACES, now_s);
        spent_sweep(desk->tries, SWEEP_PLACES, now_s);
        spent_sweep(desk->tokens, SWEEP_PLACES, now_s);
        human_outside_turn(&desk->outside, now_s);
        if (drawn < PICTURES_PER_ROUND)
            wake_wait(&desk->wake, ROUND_MS);
    }
}

enum status human_desk_start(struct human_desk *desk)
{
    if (human_outside_start(&desk->outside) != STATUS_OK)
        return STATUS_FULL;
    return thread_start(&desk->thread, "pictures", human_run, desk);
}

void human_desk_stop(struct human_desk *desk)
{
    if (!desk->thread.started)
        return;
    atomic_store(&desk->stop, true);
    wake_signal(&desk->wake);
    thread_join(&desk->thread);
    human_outside_stop(&desk->outside);
}

void human_desk_close(struct human_desk *desk)
{
    human_desk_stop(desk);
    human_outside_close(&desk->outside);
    if (desk->wake.fd > 0)
        wake_close(&desk->wake);
    arena_close(&desk->arena);
}

struct human human_desk_edge(const struct human_desk *desk, const struct config *config,
    const struct funnel_keys *keys, uint32_t edge)
{
    return (struct human){ .keys = keys,
        .spent = desk->spent,
        .tries = desk->tries,
        .failures = desk->failures,
        .passes = desk->passes,
        .pool = desk->pool,
        .outside = desk->outside.ops != NULL ? &desk->outside.edges[edge] : NULL,
        .edge = edge,
        .pow_hashes = (uint32_t)config->human_pow_hashes,
        .life_s = (uint32_t)config->human_challenge_s,
        .start = desk->start };
}
