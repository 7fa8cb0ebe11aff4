/* SPDX-License-Identifier: Apache-2.0 */
/* The limits against plain models: a bucket that knows how full it is, and a list of all times.
 * LIMIT_TIMELINES=1000000 is the long form. Each timeline has its own rates, its own few clients
 * and its own clock, which stands, runs, jumps ahead and (in some) goes back. */
#include "funnel/limits.h"

#include "base/metrics.h"
#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    QUICK_TIMELINES = 2000,
    STEPS = 60,
    CLIENTS_MAX = 16,
    UNITS_PER_S = 1024 * 1000, /* the clock of an address's entry */
    LINE = 8,
};

static uint64_t timelines(void)
{
    const char *wanted = getenv("LIMIT_TIMELINES");
    return wanted == NULL ? QUICK_TIMELINES : strtoull(wanted, NULL, 10);
}

/* ---- the models ---- */

struct bucket { /* tokens as the time that they take to drip in */
    int64_t capacity, cost, level, changed;
    bool used;
};

/* `skew`: in the bucket's units. */
static bool bucket_model(struct bucket *bucket, int64_t now, int64_t skew)
{
    int64_t level = bucket->capacity;
    if (bucket->used) {
        level = bucket->level + (now - bucket->changed);
        if (level > bucket->capacity || level < -skew)
            level = bucket->capacity;
    }
    if (level < bucket->cost)
        return false;
    bucket->level = level - bucket->cost;
    bucket->changed = now;
    bucket->used = true;
    return true;
}

struct history { /* of one user: every time of asking */
    int64_t times[STEPS];
    uint32_t count;
};

static bool history_model(struct history *history, uint32_t requests, int64_t window, int64_t now)
{
    bool allowed = true;
    if (history->count >= requests) {
        const int64_t age = now - history->times[history->count - requests];
        allowed = age >= window || age <= -(int64_t)LIMITS_SKEW_MS;
    }
    history->times[history->count++] = now;
    return allowed;
}

/* ---- timelines ---- */

struct timeline {
    struct random random;
    uint64_t now_ms;
    bool may_go_back;
    uint32_t typical_ms;
};

static struct timeline timeline_start(uint64_t seed)
{
    struct timeline timeline;
    random_seed(&timeline.random, seed);
    timeline.now_ms = 1800000000000 + random_below(&timeline.random, 1ull << 40);
    timeline.may_go_back = random_below(&timeline.random, 4) == 0;
    timeline.typical_ms = (uint32_t)1 << random_below(&timeline.random, 12);
    return timeline;
}

static void timeline_step(struct timeline *timeline)
{
    struct random *random = &timeline->random;
    switch (random_below(random, 16)) {
    case 0:
        timeline->now_ms += random_below(random, 3600 * 1000);
        break;
    case 1:
        if (timeline->may_go_back)
            timeline->now_ms -= random_below(random, 2 * timeline->typical_ms);
        break;
    case 2:
        if (timeline->may_go_back)
            timeline->now_ms -= random_below(random, 4 * LIMITS_SKEW_MS);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        break; /* the same millisecond */
    default:
        timeline->now_ms += random_below(random, timeline->typical_ms);
    }
}

static uint64_t metric_sum;
static void metric_see(void *context, const char *labels, uint64_t value)
{
    (void)labels;
    *(uint64_t *)context += value;
}
static uint64_t counted(const char *metric)
{
    metric_sum = 0;
    metrics_each(metric, metric_see, &metric_sum);
    return metric_sum;
}
static uint64_t overflows(void)
{
    return counted("stampede_limits_overflow_total");
}
static uint64_t evictions(void)
{
    return counted("stampede_limits_evicted_total");
}

/* While everybody has an entry the answer is the model's. A client who lost the entry to a newcomer starts
 * with an unused limit, but nobody is refused before the limit. */
static bool agrees(bool allowed, bool model, uint64_t evictions_before)
{
    return allowed == model || (allowed && evictions() > evictions_before);
}

static struct limits *made(const struct limits_rates *rates, uint64_t seed)
{
    struct limits *limits;
    const struct limits_config config = { .addresses = LINE,
        .users = LINE,
        .items = 4,
        .user_requests_max = LIMITS_REQUESTS_MAX,
        .v6_bits = ADDRESS_GROUP_BITS,
        .key = { seed, ~seed },
        .rates = *rates };
    assert_int_equal(limits_create(&limits, &config), STATUS_OK);
    return limits;
}

/* Clients whose tags differ: two of a million that share a bucket are told in the header. */
static uint32_t clients_make(struct address *clients, uint32_t wanted, uint64_t seed)
{
    const struct hash_key key = { seed, ~seed };
    uint32_t count = 0;
    for (uint32_t i = 0; count < wanted; i++) {
        const uint8_t bytes[4] = { 10, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };
        clients[count] = address_from_v4(bytes);
        bool differs = address_hash(key, &clients[count]) >> 45 != 0; /* 0 is made 1 */
        for (uint32_t j = 0; j < count; j++)
            differs &= address_hash(key, &clients[count]) >> 44 != address_hash(key, &clients[j]) >> 44;
        count += differs;
    }
    return count;
}

static void disagree(const char *layer, uint64_t seed, int step)
{
    fail_msg("%s: seed %llu step %d differs from the model", layer, (unsigned long long)seed, step);
}

static void address_timeline(uint64_t seed)
{
    struct timeline timeline = timeline_start(seed);
    struct random *random = &timeline.random;
    const uint32_t per_s = 1 + (uint32_t)random_below(random, random_below(random, 2) ? 20 : 2000);
    const uint32_t burst = 1 + (uint32_t)random_below(random, 12);
    /* Several clients only where time runs on: an idle entry is taken over without loss, except for
     * somebody who then travels back. */
    const uint32_t wanted = timeline.may_go_back ? 1 : CLIENTS_MAX;
    const uint32_t count = 1 + (uint32_t)random_below(random, wanted);
    struct limits *limits =
        made(&(struct limits_rates){ .address_per_s = per_s, .address_burst = burst }, seed);
    struct address clients[CLIENTS_MAX];
    struct bucket buckets[CLIENTS_MAX];
    struct bucket shared = { .cost = (1000000000 / LIMITS_OVERFLOW_SHARE + per_s - 1) / per_s };
    shared.capacity = shared.cost * burst * LIMITS_OVERFLOW_SHARE;
    clients_make(clients, count, seed);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t cost = (UNITS_PER_S + per_s - 1) / per_s;
        buckets[i] = (struct bucket){ .capacity = cost * burst, .cost = cost };
    }
    const uint64_t evictions_before = evictions();
    for (int step = 0; step < STEPS; step++) {
        const uint32_t who = (uint32_t)random_below(random, count);
        const uint64_t before = overflows();
        timeline_step(&timeline);
        const uint32_t wait_ms = limits_address(limits, &clients[who], timeline.now_ms);
        const int64_t now = (int64_t)timeline.now_ms;
        const bool model = overflows() == before
            ? bucket_model(
                &buckets[who], now * 1024, count > 1 ? INT64_MAX : (int64_t)LIMITS_SKEW_MS * 1024)
            : bucket_model(&shared, now * 1000000, (int64_t)LIMITS_SKEW_MS * 1000000);
        if (!agrees(wait_ms == 0, model, evictions_before))
            disagree("address", seed, step);
        if (wait_ms == 0 && !model) /* had begun anew; the model owes it */
            buckets[who].level -= buckets[who].cost;
    }
    limits_free(limits);
}

static void user_timeline(uint64_t seed)
{
    struct timeline timeline = timeline_start(seed);
    struct random *random = &timeline.random;
    const uint32_t requests = 1 + (uint32_t)random_below(random, 12);
    const uint32_t window_ms = 1 + (uint32_t)random_below(random, 8 * timeline.typical_ms);
    const uint32_t wanted = timeline.may_go_back ? 1 : CLIENTS_MAX;
    const uint32_t count = 1 + (uint32_t)random_below(random, wanted);
    struct limits *limits =
        made(&(struct limits_rates){ .user_requests = requests, .user_window_ms = window_ms }, seed);
    struct history histories[CLIENTS_MAX] = { { .count = 0 } };
    struct bucket shared = {
        .capacity = (int64_t)window_ms * 1000000,
        .cost = (int64_t)window_ms * 1000000 / requests / LIMITS_OVERFLOW_SHARE + 1,
    };
    const uint64_t evictions_before = evictions();
    for (int step = 0; step < STEPS; step++) {
        const uint32_t who = (uint32_t)random_below(random, count);
        const uint64_t before = overflows();
        timeline_step(&timeline);
        const uint32_t wait_ms = limits_user(limits, 1000 + who, timeline.now_ms);
        const int64_t now = (int64_t)timeline.now_ms;
        const bool model = overflows() == before
            ? history_model(&histories[who], requests, window_ms, now)
            : bucket_model(&shared, now * 1000000, (int64_t)LIMITS_SKEW_MS * 1000000);
        if (!agrees(wait_ms == 0, model, evictions_before))
            disagree("user", seed, step);
    }
    limits_free(limits);
}

static void pace_timeline(uint64_t seed)
{
    struct timeline timeline = timeline_start(seed);
    struct random *random = &timeline.random;
    const uint32_t pace = 1 + (uint32_t)random_below(random, random_below(random, 2) ? 20 : 2000);
    const uint32_t all = 1 + (uint32_t)random_below(random, 2000);
    struct limits *limits = made(&(struct limits_rates){ .admission_per_s = all }, seed);
    struct bucket items[4], admission = { .cost = (1000000000 + all - 1) / all };
    const int64_t least = (int64_t)LIMITS_BURST_MS * 1000000;
    admission.capacity = admission.cost > least ? admission.cost : least;
    for (int i = 0; i < 4; i++) {
        const int64_t cost = (1000000000 + pace - 1) / pace;
        items[i] = (struct bucket){ .cost = cost, .capacity = cost > least ? cost : least };
    }
    for (int step = 0; step < STEPS; step++) {
        const item_id item = (item_id)random_below(random, 4);
        timeline_step(&timeline);
        const int64_t now = (int64_t)timeline.now_ms * 1000000;
        const int64_t skew = (int64_t)LIMITS_SKEW_MS * 1000000;
        const bool paced = limits_item(limits, item, pace, timeline.now_ms) == 0;
        if (paced != bucket_model(&items[item], now, skew))
            disagree("item", seed, step);
        const bool admitted = limits_admission(limits, timeline.now_ms) == 0;
        if (admitted != bucket_model(&admission, now, skew))
            disagree("admission", seed, step);
    }
    limits_free(limits);
}

static void run(void (*timeline)(uint64_t seed), const char *name)
{
    const uint64_t count = timelines();
    const uint64_t before = overflows();
    for (uint64_t seed = 1; seed <= count; seed++)
        timeline(seed);
    print_message("%s: %llu timelines, %llu requests, %llu of them shared a bucket because the "
                  "table was full\n",
        name, (unsigned long long)count, (unsigned long long)count * STEPS,
        (unsigned long long)(overflows() - before));
}

static void the_token_bucket_answers_as_its_model(void **state)
{
    (void)state;
    run(address_timeline, "address");
}
static void the_sliding_window_answers_as_its_model(void **state)
{
    (void)state;
    run(user_timeline, "user");
}
static void pacing_and_admission_answer_as_their_models(void **state)
{
    (void)state;
    run(pace_timeline, "pace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_token_bucket_answers_as_its_model),
        cmocka_unit_test(the_sliding_window_answers_as_its_model),
        cmocka_unit_test(pacing_and_admission_answer_as_their_models),
    };
    return cmocka_run_group_tests_name("funnel/limits_model", tests, NULL, NULL);
}
