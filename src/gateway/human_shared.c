/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/human_shared.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/thread.h"
#include "funnel/human/human.h"
#include "funnel/human/picture_pool.h"
#include "funnel/human/suspicion.h"
#include "funnel/keys.h"
#include "funnel/spent.h"
#include "gateway/human_outside.h"

#include <stdio.h>

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

enum status human_shared_open(struct human_shared *shared, const struct config *config,
    uint32_t edges, char error[CONFIG_ERROR])
{
    const uint32_t marks = (uint32_t)config->human_spent_max;
    const uint32_t tries = marks / TRIES_PART;
    const bool pictures = config->human_pictures > 0 && verdict_find(config->human_outside) == NULL;
    const uint32_t slots = pictures ? power_of_two(config->human_pictures) : 0;
    const size_t bytes = spent_bytes(marks) + spent_bytes(tries) + spent_bytes((uint32_t)config->jti_max)
        + 2 * suspicion_bytes() + (slots > 0 ? picture_pool_bytes(edges, slots) : 0) + 4096;
    snprintf(error, CONFIG_ERROR, "no memory for the human check");
    if (arena_open(&shared->arena, bytes) != STATUS_OK)
        return STATUS_FULL;
    if (wake_open(&shared->wake) != STATUS_OK) {
        arena_close(&shared->arena);
        return STATUS_FULL;
    }
    random_secret(&shared->start, sizeof shared->start);
    shared->spent = spent_create(&shared->arena, marks);
    shared->tokens = spent_create(&shared->arena, (uint32_t)config->jti_max);
    shared->tries = spent_create(&shared->arena, tries);
    shared->failures = suspicion_create(&shared->arena, HUMAN_FAILURES_HALF_S);
    shared->passes = suspicion_create(&shared->arena, HUMAN_PASSES_HALF_S);
    shared->pool = slots > 0 ? picture_pool_create(&shared->arena, edges, slots) : NULL;
    error[0] = 0;
    return human_outside_open(&shared->outside, config, edges, &shared->wake, error);
}

void human_shared_join(struct human_shared *shared, const struct funnel_keys *keys)
{
    static const char name[] = "gateways";
    shared->start = (uint32_t)hash_siphash(keys->spent, name, sizeof name);
}

/* Drawing may take all of a core that nobody else wants; the low priority sees to that. */
static void human_run(void *context)
{
    struct human_shared *shared = context;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&shared->stop)) {
        const uint32_t drawn =
            shared->pool != NULL ? picture_pool_fill(shared->pool, PICTURES_PER_ROUND) : 0;
        const uint32_t now_s = (uint32_t)(clock_now_ms() / 1000);
        spent_sweep(shared->spent, SWEEP_PLACES, now_s);
        spent_sweep(shared->tries, SWEEP_PLACES, now_s);
        spent_sweep(shared->tokens, SWEEP_PLACES, now_s);
        human_outside_turn(&shared->outside, now_s);
        if (drawn < PICTURES_PER_ROUND)
            wake_wait(&shared->wake, ROUND_MS);
    }
}

enum status human_shared_start(struct human_shared *shared)
{
    if (human_outside_start(&shared->outside) != STATUS_OK)
        return STATUS_FULL;
    return thread_start(&shared->thread, "pictures", human_run, shared);
}

void human_shared_stop(struct human_shared *shared)
{
    if (!shared->thread.started)
        return;
    atomic_store(&shared->stop, true);
    wake_signal(&shared->wake);
    thread_join(&shared->thread);
    human_outside_stop(&shared->outside);
}

void human_shared_close(struct human_shared *shared)
{
    human_shared_stop(shared);
    human_outside_close(&shared->outside);
    if (shared->wake.fd > 0)
        wake_close(&shared->wake);
    arena_close(&shared->arena);
}

struct human human_shared_edge(const struct human_shared *shared, const struct config *config,
    const struct funnel_keys *keys, uint32_t edge)
{
    return (struct human){ .keys = keys,
        .spent = shared->spent,
        .tries = shared->tries,
        .failures = shared->failures,
        .passes = shared->passes,
        .pool = shared->pool,
        .outside = shared->outside.ops != NULL ? &shared->outside.edges[edge] : NULL,
        .edge = edge,
        .pow_hashes = (uint32_t)config->human_pow_hashes,
        .life_s = (uint32_t)config->human_challenge_s,
        .start = shared->start };
}
