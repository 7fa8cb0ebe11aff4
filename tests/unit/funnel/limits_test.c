/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/limits.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { THREADS = 8, TURNS = 20000 };

static const struct limits_config standard = { .addresses = 1 << 16,
    .users = 1 << 12,
    .items = 8,
    .user_requests_max = 12,
    .v6_bits = ADDRESS_GROUP_BITS,
    .key = { 1, 2 },
    .rates = { .address_per_s = 100,
        .address_burst = 200,
        .user_requests = 10,
        .user_window_ms = 10000,
        .admission_per_s = 0 } };

static struct limits *made(const struct limits_config *config)
{
    struct limits *limits;
    assert_int_equal(limits_create(&limits, config), STATUS_OK);
    return limits;
}

static struct address numbered(uint32_t number)
{
    return address_from_v4((const uint8_t[4]){ (uint8_t)(number >> 24), (uint8_t)(number >> 16),
        (uint8_t)(number >> 8), (uint8_t)number });
}

static uint32_t let_in(struct limits *limits, const struct address *client, uint32_t tries, uint64_t now_ms)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tries; i++)
        count += limits_address(limits, client, now_ms) == 0;
    return count;
}

static void a_burst_goes_and_the_next_waits_for_one_token(void **state)
{
    struct limits *limits = made(&standard);
    const struct address client = numbered(7), other = numbered(8);
    (void)state;
    assert_int_equal(let_in(limits, &client, 200, NOW_MS), 200);
    assert_int_equal(limits_address(limits, &client, NOW_MS), 10);
    assert_int_equal(limits_address(limits, &client, NOW_MS + 9), 1);
    assert_int_equal(limits_address(limits, &client, NOW_MS + 10), 0);
    assert_int_equal(limits_address(limits, &client, NOW_MS + 10), 10);
    assert_int_equal(let_in(limits, &other, 300, NOW_MS), 200);
    assert_int_equal(let_in(limits, &client, 300, NOW_MS + 2010), 200);
    limits_free(limits);
}

static void neighbours_of_one_ipv6_customer_share_their_bucket(void **state)
{
    struct limits *limits = made(&standard);
    struct address first, second, stranger;
    (void)state;
    assert_int_equal(address_parse(SPAN("2001:db8::1"), &first), STATUS_OK);
    assert_int_equal(address_parse(SPAN("2001:db8::ffff:1"), &second), STATUS_OK);
    assert_int_equal(address_parse(SPAN("2001:db8:0:1::1"), &stranger), STATUS_OK);
    assert_int_equal(let_in(limits, &first, 150, NOW_MS), 150);
    assert_int_equal(let_in(limits, &second, 150, NOW_MS), 50);
    assert_int_equal(let_in(limits, &stranger, 150, NOW_MS), 150);
    limits_free(limits);
}

static void an_item_keeps_its_pace_and_others_are_not_held_up(void **state)
{
    struct limits *limits = made(&standard);
    uint32_t went = 0;
    (void)state;
    for (uint64_t ms = 0; ms < 10000; ms++)
        went += limits_item(limits, 3, 50, NOW_MS + ms) == 0;
    assert_in_range(went, 500, 505); /* 10 s at 50, and what may go at once */
    assert_int_equal(limits_item(limits, 4, 50, NOW_MS + 10000), 0);
    assert_int_equal(limits_item(limits, 3, 0, NOW_MS + 10000), 0);
    assert_int_equal(limits_item(limits, 800, 1, NOW_MS), 0);
    limits_free(limits);
}

static void admission_is_for_all_together_and_changes_at_once(void **state)
{
    struct limits *limits = made(&standard);
    struct limits_rates rates;
    (void)state;
    assert_int_equal(limits_admission(limits, NOW_MS), 0);
    limits_get(limits, &rates);
    rates.admission_per_s = 1;
    limits_set(limits, &rates);
    assert_int_equal(limits_admission(limits, NOW_MS), 0);
    assert_int_equal(limits_admission(limits, NOW_MS), 1000);
    assert_int_equal(limits_admission(limits, NOW_MS + 400), 600);
    rates.admission_per_s = 0;
    limits_set(limits, &rates);
    assert_int_equal(limits_admission(limits, NOW_MS), 0);
    limits_free(limits);
}

static void rates_are_brought_within_their_bounds(void **state)
{
    struct limits *limits = made(&standard);
    struct limits_rates rates = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };
    const struct address client = numbered(1);
    (void)state;
    limits_set(limits, &rates);
    limits_get(limits, &rates);
    assert_int_equal(rates.address_per_s, LIMITS_RATE_MAX);
    assert_int_equal(rates.address_burst, LIMITS_BURST_MAX);
    assert_int_equal(rates.user_requests, 12);
    assert_int_equal(rates.user_window_ms, LIMITS_WINDOW_MAX_MS);
    assert_int_equal(rates.admission_per_s, LIMITS_RATE_MAX);
    rates = (struct limits_rates){ .address_per_s = 1, .address_burst = 0 }; /* no burst is one */
    limits_set(limits, &rates);
    assert_int_equal(limits_address(limits, &client, NOW_MS), 0);
    assert_int_equal(limits_address(limits, &client, NOW_MS), 1000);
    limits_free(limits);
}

static void a_clock_set_back_shuts_nobody_out(void **state)
{
    struct limits *limits = made(&standard);
    const struct address client = numbered(9);
    const uint64_t before = NOW_MS - 3600 * 1000;
    (void)state;
    assert_int_equal(let_in(limits, &client, 300, NOW_MS), 200);
    for (int i = 0; i < 10; i++)
        assert_int_equal(limits_user(limits, 9, NOW_MS), 0);
    while (limits_item(limits, 1, 1000, NOW_MS) == 0)
        ;
    assert_int_equal(let_in(limits, &client, 300, before), 200);
    assert_int_equal(limits_user(limits, 9, before), 0);
    assert_int_equal(limits_item(limits, 1, 1000, before), 0);
    /* A turn's difference between edges gives nothing away. */
    assert_int_equal(let_in(limits, &client, 100, before - 50), 0);
    limits_free(limits);
}

static void a_month_of_rest_is_rest(void **state)
{
    struct limits *limits = made(&standard);
    const struct address client = numbered(9);
    (void)state;
    for (uint64_t day = 1; day < 800; day += 13) {
        const uint64_t now_ms = NOW_MS + day * 86400 * 1000;
        assert_int_equal(let_in(limits, &client, 201, now_ms), 200);
        for (int i = 0; i < 10; i++)
            assert_int_equal(limits_user(limits, 9, now_ms), 0);
        assert_int_not_equal(limits_user(limits, 9, now_ms), 0);
    }
    limits_free(limits);
}

/* Resident memory, in bytes. */
static size_t resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*u %lu", &pages), 1);
    fclose(file);
    return pages * 4096;
}

static void a_million_strangers_are_let_in_within_the_bound_of_memory(void **state)
{
    struct limits_config config = standard;
    uint64_t addresses = 0, users = 0;
    config.addresses = 1 << 18;
    config.users = 1 << 14;
    config.rates.address_per_s = 1; /* everybody stays busy */
    config.rates.address_burst = 1;
    struct limits *limits = made(&config);
    const size_t before = resident();
    (void)state;
    assert_true(limits_bytes(limits) <= ((size_t)8 << 18) + ((size_t)64 << 14) + 8192);
    for (uint32_t i = 0; i < 1000000; i++) {
        const struct address client = numbered(i);
        addresses += limits_address(limits, &client, NOW_MS) == 0;
        users += limits_user(limits, 1 + i, NOW_MS) == 0;
    }
    assert_in_range(addresses, 999900, 1000000); /* a few look alike (20 bits); nobody has asked twice */
    assert_int_equal(users, 1000000);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(resident() - before <= limits_bytes(limits) + 256 * 1024);
#else
    (void)before;
#endif
    limits_free(limits);
}

/* Ten times as many strangers as there are places, and one client who never stops. */
static void who_hammers_stays_known_beside_a_crowd(void **state)
{
    struct limits_config config = standard;
    config.addresses = 1 << 12;
    struct limits *limits = made(&config);
    const struct address hammer = numbered(1);
    uint64_t address_in = 0, user_in = 0;
    (void)state;
    for (uint32_t i = 0; i < 10u << 12; i++) {
        for (uint32_t j = 0; j < 20; j++) {
            address_in += limits_address(limits, &hammer, NOW_MS) == 0;
            user_in += limits_user(limits, 1, NOW_MS) == 0;
        }
        const struct address stranger = numbered(100 + i);
        assert_int_equal(limits_address(limits, &stranger, NOW_MS), 0);
        assert_int_equal(limits_user(limits, 100 + i, NOW_MS), 0);
    }
    assert_int_equal(address_in, 200);
    assert_int_equal(user_in, 10);
    limits_free(limits);
}

/* One line of eight entries, all of them of clients who have used their burst. */
static void among_those_who_hammer_newcomers_share_one_bucket(void **state)
{
    struct limits_config config = standard;
    config.addresses = 8;
    config.rates.address_burst = 2;
    struct limits *limits = made(&config);
    uint32_t strangers_in = 0;
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        const struct address hammer = numbered(1 + i);
        assert_int_equal(let_in(limits, &hammer, 5, NOW_MS), 2);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        const struct address stranger = numbered(100 + i);
        strangers_in += limits_address(limits, &stranger, NOW_MS) == 0;
    }
    assert_int_equal(strangers_in, 2 * LIMITS_OVERFLOW_SHARE);
    for (uint32_t i = 0; i < 8; i++) {
        const struct address hammer = numbered(1 + i);
        assert_int_equal(let_in(limits, &hammer, 5, NOW_MS), 0);
    }
    assert_int_equal(limits_evicted(limits), 0);
    limits_free(limits);
}

/* Eight places, and two hundred addresses that each ask for more than their burst: eight get theirs, all the
 * others together as much as LIMITS_OVERFLOW_SHARE of them. */
static void a_line_of_addresses_that_hammer_is_not_given_away(void **state)
{
    struct limits_config config = standard;
    config.addresses = 8;
    struct limits *limits = made(&config);
    uint32_t in = 0;
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        const struct address client = numbered(i);
        in += let_in(limits, &client, 250, NOW_MS);
    }
    assert_int_equal(in, (8 + LIMITS_OVERFLOW_SHARE) * 200);
    assert_int_equal(limits_evicted(limits), 0);
    limits_free(limits);
}

struct crowd {
    struct limits *limits;
    _Atomic uint64_t address, user, item, admission;
    _Atomic uint64_t clock_ms;
};

static void *crowd_thread(void *context)
{
    struct crowd *crowd = context;
    struct random random;
    random_seed(&random, (uint64_t)(uintptr_t)&random);
    for (int i = 0; i < TURNS; i++) {
        const struct address client = numbered((uint32_t)random_below(&random, 4));
        const uint64_t now_ms = atomic_load(&crowd->clock_ms);
        crowd->address += limits_address(crowd->limits, &client, now_ms) == 0;
        crowd->user += limits_user(crowd->limits, 1 + random_below(&random, 4), now_ms) == 0;
        crowd->item += limits_item(crowd->limits, 1, 100, now_ms) == 0;
        crowd->admission += limits_admission(crowd->limits, now_ms) == 0;
        if (random_below(&random, 64) == 0)
            atomic_fetch_add(&crowd->clock_ms, 1);
    }
    return NULL;
}

/* Exact while a clock that all read runs on: no race lets one more in. */
static void many_threads_never_let_in_more_than_the_limit(void **state)
{
    struct limits_config config = standard;
    (void)state;
    config.rates.admission_per_s = 500;
    struct crowd crowd = { .limits = made(&config), .clock_ms = NOW_MS };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_thread, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const uint64_t ms = crowd.clock_ms - NOW_MS;
    print_message("%llu ms: address %llu, user %llu, item %llu, admission %llu\n",
        (unsigned long long)ms, (unsigned long long)crowd.address, (unsigned long long)crowd.user,
        (unsigned long long)crowd.item, (unsigned long long)crowd.admission);
    assert_true(crowd.address <= 4 * (200 + ms / 10));
    assert_true(crowd.address >= 4 * 200);
    assert_true(crowd.user <= 4 * 10 * (1 + ms / 10000));
    assert_true(crowd.item <= 10 + ms / 10);
    assert_true(crowd.admission <= 50 + ms / 2);
    limits_free(crowd.limits);
}

struct arrival {
    struct limits *limits;
    pthread_barrier_t *together;
    _Atomic uint64_t *address, *user;
};

static void *arrival_thread(void *context)
{
    const struct arrival *arrival = context;
    for (uint32_t round = 0; round < 500; round++) {
        const struct address client = numbered(1000 + round);
        pthread_barrier_wait(arrival->together);
        for (int i = 0; i < 4; i++) {
            *arrival->address += limits_address(arrival->limits, &client, NOW_MS) == 0;
            *arrival->user += limits_user(arrival->limits, 1000 + round, NOW_MS) == 0;
        }
    }
    return NULL;
}

static void strangers_who_arrive_on_all_edges_at_once_get_one_entry(void **state)
{
    struct limits_config config = standard;
    _Atomic uint64_t address = 0, user = 0;
    pthread_barrier_t together;
    pthread_t threads[4];
    (void)state;
    config.rates.address_burst = 3;
    config.rates.user_requests = 3;
    struct arrival arrival = { made(&config), &together, &address, &user };
    pthread_barrier_init(&together, NULL, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, arrival_thread, &arrival), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&together);
    assert_int_equal(address, 500 * 3);
    assert_int_equal(user, 500 * 3);
    limits_free(arrival.limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_goes_and_the_next_waits_for_one_token),
        cmocka_unit_test(neighbours_of_one_ipv6_customer_share_their_bucket),
        cmocka_unit_test(an_item_keeps_its_pace_and_others_are_not_held_up),
        cmocka_unit_test(admission_is_for_all_together_and_changes_at_once),
        cmocka_unit_test(rates_are_brought_within_their_bounds),
        cmocka_unit_test(a_clock_set_back_shuts_nobody_out),
        cmocka_unit_test(a_month_of_rest_is_rest),
        cmocka_unit_test(a_million_strangers_are_let_in_within_the_bound_of_memory),
        cmocka_unit_test(who_hammers_stays_known_beside_a_crowd),
        cmocka_unit_test(a_line_of_addresses_that_hammer_is_not_given_away),
        cmocka_unit_test(among_those_who_hammer_newcomers_share_one_bucket),
        cmocka_unit_test(many_threads_never_let_in_more_than_the_limit),
        cmocka_unit_test(strangers_who_arrive_on_all_edges_at_once_get_one_entry),
    };
    return cmocka_run_group_tests_name("funnel/limits", tests, NULL, NULL);
}
