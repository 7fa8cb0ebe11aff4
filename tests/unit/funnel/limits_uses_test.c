/* SPDX-License-Identifier: Apache-2.0 */
/* What was let through and nobody was told yet, noted by many threads while one takes it. */
#include "funnel/limits_uses.h"

#include "tests/unit/base/unit.h"

#include <pthread.h>
#include <stdatomic.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { THREADS = 4, TURNS = 20000, ITEMS = 8, ADDRESSES = 64, PACE = 1000000 };

static struct limits *made(uint32_t burst)
{
    const struct limits_config config = { .addresses = 1 << 12,
        .users = 8,
        .items = ITEMS,
        .v6_bits = ADDRESS_GROUP_BITS,
        .shared = true,
        .rates = { .address_per_s = LIMITS_RATE_MAX, .address_burst = burst, .admission_per_s = PACE } };
    struct limits *limits;
    assert_int_equal(limits_create(&limits, &config), STATUS_OK);
    limits_join(limits, (struct hash_key){ 1, 2 });
    return limits;
}

static struct address numbered(uint32_t number)
{
    return address_from_v4((const uint8_t[4]){ 10, 0, (uint8_t)(number >> 8), (uint8_t)number });
}

struct sums {
    uint64_t layers[LIMITS_LAYERS];
};
static void look(struct limits *limits, struct sums *sums, uint64_t now_ms)
{
    struct uses_look at;
    struct limits_use use;
    uses_look_begin(limits, &at, now_ms);
    while (uses_look_next(limits, &at, 1, &use)) {
        assert_true(use.layer < LIMITS_LAYERS && use.amount > 0);
        assert_true(use.layer != LIMITS_ADDRESS || (use.name & ~USES_NAME_MASK) == 0);
        sums->layers[use.layer] += use.amount;
    }
}

struct shared {
    struct limits *limits;
    _Atomic uint32_t running, through[LIMITS_LAYERS];
};
static void *hammer(void *context)
{
    struct shared *shared = context;
    for (uint32_t i = 0; i < TURNS; i++) {
        const struct address client = numbered(i % ADDRESSES);
        const uint64_t now_ms = NOW_MS + i / 100;
        atomic_fetch_add(
            &shared->through[LIMITS_ADDRESS], limits_address(shared->limits, &client, now_ms) == 0);
        atomic_fetch_add(&shared->through[LIMITS_ITEM],
            limits_item(shared->limits, i % ITEMS, PACE, now_ms) == 0);
        atomic_fetch_add(
            &shared->through[LIMITS_ADMISSION], limits_admission(shared->limits, now_ms) == 0);
    }
    atomic_fetch_sub(&shared->running, 1);
    return NULL;
}

static void each_note_is_taken_once_whatever_threads_do(void **state)
{
    struct shared shared = { .limits = made(1000), .running = THREADS };
    struct sums sums = { { 0 } };
    pthread_t threads[THREADS];
    (void)state;
    look(shared.limits, &sums, NOW_MS); /* the next half is forgotten much later */
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &shared), 0);
    while (atomic_load(&shared.running) > 0)
        look(shared.limits, &sums, NOW_MS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    limits_set(shared.limits,
        &(struct limits_rates){ .address_per_s = 1, .address_burst = 1 }); /* all that is left */
    for (int i = 0; i < 2; i++)
        look(shared.limits, &sums, NOW_MS);
    const uint64_t ns = 1000 * UINT64_C(1000000) / PACE;
    assert_int_equal(sums.layers[LIMITS_ITEM], atomic_load(&shared.through[LIMITS_ITEM]) * ns);
    assert_int_equal(sums.layers[LIMITS_ADMISSION], atomic_load(&shared.through[LIMITS_ADMISSION]) * ns);
    const uint64_t noted = sums.layers[LIMITS_ADDRESS] / LIMITS_PAGE_SHARE;
    const uint64_t let_in = atomic_load(&shared.through[LIMITS_ADDRESS]);
    /* The first request of each is not noted, and a note that loses four races is not either. */
    assert_in_range(noted, let_in * 9 / 10, let_in);
    limits_free(shared.limits);
}

static void a_page_is_an_eighth_and_refusals_are_not_noted(void **state)
{
    struct limits *limits = made(4);
    struct sums sums = { { 0 } };
    const struct address client = numbered(1);
    (void)state;
    limits_set(limits, &(struct limits_rates){ .address_per_s = 1, .address_burst = 4 });
    assert_int_equal(limits_address(limits, &client, NOW_MS), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(limits_page(limits, &client, NOW_MS), 0);
    for (int i = 0; i < 10; i++)
        (void)!limits_address(limits, &client, NOW_MS); /* two more go */
    look(limits, &sums, NOW_MS);
    assert_int_equal(sums.layers[LIMITS_ADDRESS], 3 * LIMITS_PAGE_SHARE);
    look(limits, &sums, NOW_MS);
    assert_int_equal(sums.layers[LIMITS_ADDRESS], 3 * LIMITS_PAGE_SHARE);
    limits_free(limits);
}

static void who_stays_below_a_share_is_forgotten_by_half(void **state)
{
    struct limits *limits = made(1000); /* a share is 250 requests */
    struct sums sums = { { 0 } };
    const struct address client = numbered(1);
    (void)state;
    look(limits, &sums, NOW_MS);
    for (uint32_t round = 0; round < 4; round++) {
        const uint64_t now_ms = NOW_MS + round * USES_LIFE_MS;
        for (int i = 0; i < 120; i++)
            assert_int_equal(limits_address(limits, &client, now_ms + (uint64_t)i), 0);
        look(limits, &sums, now_ms + 1000);
    }
    assert_int_equal(sums.layers[LIMITS_ADDRESS], 0); /* 120 and half of what there was: never 250 */
    const uint64_t after_ms = NOW_MS + 3 * USES_LIFE_MS + 1000; /* before the next half goes */
    for (int i = 0; i < 250; i++)
        (void)!limits_address(limits, &client, after_ms + (uint64_t)i);
    look(limits, &sums, after_ms + 300);
    assert_in_range(sums.layers[LIMITS_ADDRESS], 250 * LIMITS_PAGE_SHARE, 400 * LIMITS_PAGE_SHARE);
    limits_free(limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_note_is_taken_once_whatever_threads_do),
        cmocka_unit_test(a_page_is_an_eighth_and_refusals_are_not_noted),
        cmocka_unit_test(who_stays_below_a_share_is_forgotten_by_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
