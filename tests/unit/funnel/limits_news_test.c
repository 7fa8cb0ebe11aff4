/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways that tell each other what they have let through, as messages that this test carries. */
#include "funnel/limits_news.h"

#include "base/random.h"
#include "funnel/limits_uses.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { GATEWAYS = 4, LOOK_MS = 20, RATE = 20, BURST = 40, ITEM = 3 };

static struct limits *gates[GATEWAYS];
static struct limits_news news[GATEWAYS];
static char bytes[NEWS_BYTES_MAX];

static int open_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < GATEWAYS; i++) {
        const struct limits_config config = { .addresses = 1 << (10 + i), /* not even that need be equal */
            .users = 8,
            .items = 8,
            .v6_bits = ADDRESS_GROUP_BITS,
            .key = { i, i },
            .shared = true,
            .rates = { .address_per_s = RATE, .address_burst = BURST } };
        assert_int_equal(limits_create(&gates[i], &config), STATUS_OK);
        limits_join(gates[i], (struct hash_key){ 1, 2 });
        news[i] = (struct limits_news){ .limits = gates[i] };
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < GATEWAYS; i++)
        limits_free(gates[i]);
    return 0;
}

static struct address numbered(uint32_t number)
{
    return address_from_v4(
        (const uint8_t[4]){ 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number });
}

/* What a gateway has to say now, as a text; NULL: nothing. */
static const char *said(uint32_t gateway, uint64_t now_ms)
{
    struct text message = text_in(bytes, sizeof bytes - 1);
    if (!limits_news_write(&news[gateway], now_ms, &message))
        return NULL;
    assert_false(message.overflow);
    bytes[message.size] = 0;
    return bytes;
}

static void heard(uint32_t gateway, uint32_t from, const char *message, uint64_t now_ms)
{
    limits_news_heard(&news[gateway], from + 1, span_from_string(message), now_ms);
}

static void tell_all(uint64_t now_ms)
{
    for (uint32_t from = 0; from < GATEWAYS; from++) {
        const char *message = said(from, now_ms);
        for (uint32_t to = 0; to < GATEWAYS && message != NULL; to++)
            if (to != from)
                heard(to, from, message, now_ms);
    }
}

static uint32_t let_in(uint32_t gateway, uint32_t number, uint32_t tries, uint64_t now_ms)
{
    const struct address client = numbered(number);
    uint32_t count = 0;
    for (uint32_t i = 0; i < tries; i++)
        count += limits_address(gates[gateway], &client, now_ms) == 0;
    return count;
}

/* Ten seconds, so many tries at each gateway in each look. */
static uint32_t let_in_all(uint32_t number, uint32_t tries_per_look, uint32_t looks_between)
{
    uint32_t count = 0;
    for (uint32_t ms = 0; ms < 10000; ms += LOOK_MS) {
        if (ms / LOOK_MS % looks_between == 0)
            for (uint32_t gateway = 0; gateway < GATEWAYS; gateway++)
                count += let_in(gateway, number, tries_per_look, NOW_MS + ms);
        tell_all(NOW_MS + ms);
    }
    return count;
}

static void who_hammers_four_gateways_gets_what_one_gives(void **state)
{
    (void)state;
    const uint32_t count = let_in_all(1, 5, 1);
    assert_in_range(count, BURST + 10 * RATE, (BURST + 10 * RATE) * 11 / 10);
}

/* It stays within the rate of each, so that no bucket ever shows more than a request or two. */
static void who_is_slow_at_each_and_fast_at_all_gets_what_one_gives(void **state)
{
    (void)state;
    const uint32_t count = let_in_all(2, 1, 1000 / RATE / LOOK_MS + 1);
    assert_in_range(count, (BURST + 10 * RATE) * 9 / 10, (BURST + 10 * RATE) * 11 / 10);
}

/* All of a burst at each before anybody has heard of the others: what was too much is waited for. */
static void what_was_heard_late_is_owed_and_not_forgotten(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t gateway = 0; gateway < GATEWAYS; gateway++)
        count += let_in(gateway, 3, 100, NOW_MS);
    assert_int_equal(count, GATEWAYS * BURST);
    tell_all(NOW_MS);
    const uint64_t paid_ms = NOW_MS + (GATEWAYS - 1) * BURST * 1000 / RATE;
    assert_int_equal(let_in(0, 3, 1, paid_ms - 500), 0);
    assert_int_equal(let_in(0, 3, 1, paid_ms + 100), 1);
}

static void an_honest_crowd_is_not_talked_about(void **state)
{
    (void)state;
    assert_string_equal(said(0, NOW_MS), ""); /* only that it is there */
    for (uint32_t number = 0; number < 5000; number++)
        assert_int_equal(let_in(0, number, 2, NOW_MS + number), 2);
    assert_null(said(0, NOW_MS + 900));
    assert_string_equal(said(0, NOW_MS + 1000), "");
    for (uint32_t i = 0; i < 2 * 10; i++) /* who asks twice and goes is forgotten */
        assert_true(said(0, NOW_MS + 10000 + i * USES_LIFE_MS) != NULL && bytes[0] == 0);
}

static void the_heaviest_are_told_first_and_few_at_once(void **state)
{
    (void)state;
    enum { HEAVY = 100 };
    uint32_t told = 0;
    (void)!said(0, NOW_MS);
    heard(0, 1, "", NOW_MS); /* two gateways: five requests are a share */
    for (uint32_t number = 0; number < HEAVY; number++)
        assert_int_equal(let_in(0, number, 8, NOW_MS), 8);
    assert_int_equal(let_in(0, 999, BURST, NOW_MS), BURST);
    for (uint32_t look = 1; look <= 3; look++) {
        const char *message = said(0, NOW_MS + look * LOOK_MS);
        uint32_t words = message != NULL;
        for (const char *at = message; at != NULL && (at = strchr(at, ' ')) != NULL; at++)
            words++;
        const uint32_t uses = words / 3;
        assert_true(uses <= USES_PER_LOOK);
        told += uses;
    }
    assert_in_range(told, HEAVY - 5, HEAVY + 1); /* a full line of the table forgets some */
    assert_null(said(0, NOW_MS + 4 * LOOK_MS));
}

static void an_item_and_admission_have_one_pace(void **state)
{
    (void)state;
    enum { PACE = 50 };
    const struct limits_rates rates = { .admission_per_s = PACE };
    uint32_t items = 0, admitted = 0;
    for (uint32_t i = 0; i < GATEWAYS; i++)
        limits_set(gates[i], &rates);
    for (uint32_t ms = 0; ms < 10000; ms += LOOK_MS) {
        for (uint32_t i = 0; i < GATEWAYS; i++) {
            items += limits_item(gates[i], ITEM, PACE, NOW_MS + ms) == 0;
            items += limits_item(gates[i], ITEM, PACE, NOW_MS + ms) == 0;
            admitted += limits_admission(gates[i], NOW_MS + ms) == 0;
        }
        tell_all(NOW_MS + ms);
    }
    assert_in_range(items, 10 * PACE, 11 * PACE);
    assert_in_range(admitted, 10 * PACE, 11 * PACE);
    assert_int_equal(limits_item(gates[0], ITEM + 1, PACE, NOW_MS), 0); /* other items are not charged */
}

static void a_bucket_never_owes_more_than_a_bound(void **state)
{
    const struct address client = numbered(4);
    (void)state;
    assert_int_equal(let_in(0, 4, BURST, NOW_MS), BURST);
    const char *message = said(0, NOW_MS);
    char copy[NEWS_BYTES_MAX];
    snprintf(copy, sizeof copy, "%s", message);
    for (uint32_t i = 0; i < 1000; i++)
        heard(1, 0, copy, NOW_MS);
    const uint32_t wait_ms = limits_address(gates[1], &client, NOW_MS);
    assert_in_range(wait_ms, LIMITS_DEBT_MS - 100, LIMITS_DEBT_MS + 100);
    heard(1, 0, "d 0 18446744073709551615 i 3 99999999999999", NOW_MS);
    limits_set(gates[1], &(struct limits_rates){ .admission_per_s = 100 });
    assert_in_range(limits_admission(gates[1], NOW_MS), LIMITS_DEBT_MS - 200, LIMITS_DEBT_MS);
    assert_in_range(limits_item(gates[1], ITEM, 100, NOW_MS), LIMITS_DEBT_MS - 200, LIMITS_DEBT_MS);
}

static void nonsense_is_left_alone(void **state)
{
    static const char *const messages[] = { "x 1 2", "a", "a 1", "a zz 1", "i -1 5", "i 3", " ",
        "i 8 100000000000", "i 3 1x", "dd 0 100000000000" };
    (void)state;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        heard(0, 1, messages[i], NOW_MS);
    assert_int_equal(limits_item(gates[0], ITEM, 1, NOW_MS), 0);
    assert_int_equal(limits_admission(gates[0], NOW_MS), 0);
}

static void gateways_are_those_that_were_heard_of_late(void **state)
{
    (void)state;
    assert_int_equal(limits_news_gateways(&news[0], NOW_MS), 1);
    for (uint32_t i = 0; i < 3; i++)
        heard(0, i, "", NOW_MS);
    heard(0, 1, "", NOW_MS + 1);
    assert_int_equal(limits_news_gateways(&news[0], NOW_MS + 1), 4);
    assert_int_equal(limits_news_gateways(&news[0], NOW_MS + NEWS_GONE_MS), 2);
    for (uint32_t i = 0; i < 2 * NEWS_PEERS_MAX; i++)
        heard(0, 100 + i, "", NOW_MS + NEWS_GONE_MS);
    assert_int_equal(limits_news_gateways(&news[0], NOW_MS + NEWS_GONE_MS), 1 + NEWS_PEERS_MAX);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(who_hammers_four_gateways_gets_what_one_gives),
        RULE(who_is_slow_at_each_and_fast_at_all_gets_what_one_gives),
        RULE(what_was_heard_late_is_owed_and_not_forgotten),
        RULE(an_honest_crowd_is_not_talked_about),
        RULE(the_heaviest_are_told_first_and_few_at_once),
        RULE(an_item_and_admission_have_one_pace),
        RULE(a_bucket_never_owes_more_than_a_bound),
        RULE(nonsense_is_left_alone),
        RULE(gateways_are_those_that_were_heard_of_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
