/* SPDX-License-Identifier: Apache-2.0 */
/* The rules on timelines: each fires for its machine, and not for people. */
#include "funnel/anomaly/watch_rules.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <string.h>

enum { FINDINGS = 64 };

static const struct watch_settings settings = { .modes = { WATCH_BAN, WATCH_BAN, WATCH_BAN,
                                                    WATCH_BAN, WATCH_BAN },
    .rate_per_s = 20,
    .rate_for_s = 10,
    .failures_per_minute = 60,
    .crowd_users = 100,
    .roaming_addresses = 20,
    .early_ms = 30,
    .early_starts = 3,
    .regular_count = 30 };

static struct arena arena;
static struct watch *watch;
static struct watch_book *book;
static struct random random_numbers;
static uint64_t now_ms;
static uint32_t found[WATCH_RULES];
static struct watch_finding last;

static int book_setup(void **state)
{
    const struct hash_key key = { 3, 4 };
    (void)state;
    if (arena_open(&arena, watch_bytes() + watch_book_bytes()) != STATUS_OK)
        return -1;
    watch = watch_create(&arena, key, settings.early_ms);
    book = watch_book_create(&arena, key);
    watch_give(watch);
    random_seed(&random_numbers, 7);
    now_ms = 1800000000000;
    memset(found, 0, sizeof found);
    return 0;
}

static int book_teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static struct address address_of(uint32_t number)
{
    const uint8_t four[4] = { 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number };
    return address_from_v4(four);
}

static user_id user_of(uint32_t number)
{
    return hash_siphash_pair((struct hash_key){ 5, 6 }, number, 0) | 1;
}

static void note(enum watch_signal signal, uint64_t at_ms, uint32_t client, user_id user, uint64_t start_ms)
{
    const struct watch_event event = { signal, at_ms, address_of(client), user };
    if (signal == WATCH_ASKED && user != 0)
        watch_purchase(watch, user, at_ms, start_ms);
    else
        watch_note(watch, &event);
}

/* The end of a second: what the worker does then. */
static void second_ends(const struct watch_settings *with)
{
    struct watch_finding findings[FINDINGS];
    now_ms += 1000;
    watch_turn(watch);
    const struct watch_table *table = watch_take(watch);
    assert_non_null(table);
    watch_book_fold(book, table, now_ms);
    watch_give(watch);
    const uint32_t count = watch_book_judge(book, with, now_ms, findings, FINDINGS);
    for (uint32_t i = 0; i < count; i++) {
        found[findings[i].rule]++;
        last = findings[i];
    }
}

static uint32_t found_in_all(void)
{
    uint32_t sum = 0;
    for (uint32_t rule = 0; rule < WATCH_RULES; rule++)
        sum += found[rule];
    return sum;
}

static void who_wins_without_paying_again_and_again_is_found(void **state)
{
    (void)state;
    struct watch_settings with = settings;
    with.modes[WATCH_UNPAID] = WATCH_REPORT;
    with.unpaid_wins = 3;
    for (uint32_t times = 1; times <= 3; times++) {
        watch_book_unpaid(book, user_of(1), now_ms);
        second_ends(&with);
        assert_int_equal(found[WATCH_UNPAID], times == 3);
    }
    assert_true(last.user == user_of(1));
    assert_non_null(strstr(last.reason, "won 3 times"));
    watch_book_unpaid(book, user_of(2), now_ms); /* a day later it begins anew */
    now_ms += WATCH_STARTS_MS;
    watch_book_unpaid(book, user_of(2), now_ms);
    watch_book_unpaid(book, user_of(2), now_ms);
    second_ends(&with);
    assert_int_equal(found[WATCH_UNPAID], 1);
}

static void who_is_too_fast_for_long_is_found_once_with_numbers(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 30; second++) {
        for (uint32_t i = 0; i < 200; i++)
            note(WATCH_TOO_FAST, now_ms, 1, 0, 0);
        second_ends(&settings);
        assert_int_equal(found[WATCH_RATE], second >= 9);
    }
    assert_int_equal(found_in_all(), 1); /* not again and again */
    assert_non_null(strstr(last.reason, "200 times a second"));
    assert_non_null(strstr(last.reason, "10 s"));
    assert_true(last.user == 0 && last.bits == ADDRESS_BITS);
}

/* The share of bans is one of those who were seen: a few who come all the time stay a few. */
static void who_comes_each_second_is_seen_once_a_minute(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 20; second++) {
        for (uint32_t client = 0; client < 7; client++)
            note(WATCH_FAILED, now_ms, client, 0, 0);
        second_ends(&settings);
        assert_int_equal(watch_book_seen(book), 7);
    }
    note(WATCH_FAILED, now_ms, 7, 0, 0);
    second_ends(&settings);
    assert_int_equal(watch_book_seen(book), 8);
    watch_book_minute_begin(book);
    assert_int_equal(watch_book_seen(book), 0);
    note(WATCH_FAILED, now_ms, 0, 0, 0);
    second_ends(&settings);
    assert_int_equal(watch_book_seen(book), 1);
}

static void a_burst_that_ends_is_no_machine(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 60; second++) {
        for (uint32_t i = 0; i < (second % 10 == 9 ? 0 : 500); i++) /* a rest after nine seconds */
            note(WATCH_TOO_FAST, now_ms, 1, 0, 0);
        second_ends(&settings);
    }
    assert_int_equal(found_in_all(), 0);
}

static void a_users_own_rate_is_found_with_the_user(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 10; second++) {
        for (uint32_t i = 0; i < 50; i++)
            note(WATCH_TOO_FAST, now_ms, i, user_of(3), 0);
        second_ends(&settings);
    }
    assert_int_equal(found[WATCH_RATE], 1);
    assert_int_equal(last.user, user_of(3));
}

/* Forty people of one school: passes, then too many requests together, some with old passes. The same
 * numbers from an address where nobody was seen are a machine's. */
static void many_people_of_one_address_are_no_machine(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++)
        note(WATCH_SEEN, now_ms, 1, user_of(i), 0);
    note(WATCH_SEEN, now_ms, 2, user_of(100), 0);
    for (uint32_t second = 0; second < 30; second++) {
        for (uint32_t client = 1; client <= 2; client++) {
            for (uint32_t i = 0; i < 200; i++)
                note(WATCH_TOO_FAST, now_ms, client, 0, 0);
            for (uint32_t i = 0; i < 4; i++)
                note(WATCH_FAILED, now_ms, client, 0, 0);
        }
        second_ends(&settings);
    }
    assert_int_equal(found[WATCH_RATE], 1);
    assert_int_equal(found[WATCH_FAILURES], 1);
    assert_int_equal(found_in_all(), 2);
    const struct address two = address_of(2);
    assert_true(address_equal(&last.address, &two));
}

static void who_guesses_is_found_and_who_mistypes_is_not(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 180; second++) {
        if (second % 6 == 0)
            note(WATCH_FAILED, now_ms, 2, 0, 0); /* ten a minute, for three minutes */
        note(WATCH_FAILED, now_ms, 1, 0, 0);
        note(WATCH_FAILED, now_ms, 1, 0, 0);
        second_ends(&settings);
    }
    assert_int_equal(found[WATCH_FAILURES], 1);
    assert_int_equal(found_in_all(), 1);
    assert_non_null(strstr(last.reason, "60 failed checks"));
}

static void crowds_and_roaming_are_counted_by_different_ones(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 100; second++) {
        for (uint32_t i = 0; i < 3; i++)
            note(WATCH_SEEN, now_ms, 1, user_of(3 * second + i), 0); /* 300 users */
        note(WATCH_SEEN, now_ms, 2, user_of(9000 + second % 20), 0); /* 20 users, five times each */
        note(WATCH_SEEN, now_ms, 500 + second, user_of(9500), 0);    /* one user, 100 addresses */
        note(WATCH_SEEN, now_ms, 700 + second % 4, user_of(9600), 0); /* home, office, train, phone */
        second_ends(&settings);
    }
    assert_int_equal(found[WATCH_CROWD], 1);
    assert_int_equal(found[WATCH_ROAMING], 1);
    assert_int_equal(found_in_all(), 2);
}

static void the_count_of_different_ones_is_near(void **state)
{
    (void)state;
    for (uint32_t users = 1; users <= 1000; users = users * 3 / 2 + 1) {
        uint64_t marks[WATCH_MARK_WORDS] = { 0 };
        for (uint32_t i = 0; i < users; i++) {
            const uint64_t user = user_of(users * 5000 + i) >> 8;
            marks[user % WATCH_MARKS / 64] |= 1ull << user % 64;
        }
        const uint32_t estimate = watch_marks_estimate(book, marks);
        assert_in_range(estimate, users * 7 / 10, users * 13 / 10 + 1);
    }
}

static void at_the_very_start_three_times_is_found_and_twice_is_not(void **state)
{
    (void)state;
    for (uint32_t sale = 0; sale < 3; sale++) {
        const uint64_t start_ms = now_ms;
        note(WATCH_ASKED, start_ms + 5, 1, user_of(1), start_ms);
        note(WATCH_ASKED, start_ms + 25, 1, user_of(1), start_ms); /* the same start counts once */
        if (sale < 2)
            note(WATCH_ASKED, start_ms + 3, 2, user_of(2), start_ms);
        for (uint32_t i = 0; i < 50; i++) /* people */
            note(WATCH_ASKED, start_ms + 120 + random_below(&random_numbers, 800), 50 + i,
                user_of(50 + i), start_ms);
        second_ends(&settings);
        assert_int_equal(found[WATCH_TIMING], sale == 2);
        now_ms += 3600000; /* the next one is in an hour */
    }
    assert_int_equal(last.user, user_of(1));
    assert_non_null(strstr(last.reason, "3 starts"));
}

static void like_a_clock_is_found_and_like_a_hand_is_not(void **state)
{
    uint64_t machine_ms = now_ms, slow_ms = now_ms, hand_ms = now_ms, hasty_ms = now_ms;
    (void)state;
    for (uint32_t second = 0; second < 50; second++) {
        for (; machine_ms < now_ms + 1000; machine_ms += 199 + random_below(&random_numbers, 3))
            note(WATCH_ASKED, machine_ms, 1, user_of(1), 0);
        for (; slow_ms < now_ms + 1000; slow_ms += 1500) /* less than one in a table */
            note(WATCH_ASKED, slow_ms, 2, user_of(2), 0);
        for (; hand_ms < now_ms + 1000; hand_ms += 300 + random_below(&random_numbers, 400))
            note(WATCH_ASKED, hand_ms, 3, user_of(3), 0);
        for (; hasty_ms < now_ms + 1000; hasty_ms += 90 + random_below(&random_numbers, 40))
            note(WATCH_ASKED, hasty_ms, 4, user_of(4), 0);
        second_ends(&settings);
    }
    assert_int_equal(found[WATCH_TIMING], 2);
    assert_int_equal(found_in_all(), 2);
    assert_int_equal(last.user, user_of(2));
    assert_non_null(strstr(last.reason, "every 1500 ms"));
}

static void a_rule_that_is_off_finds_nothing(void **state)
{
    struct watch_settings off = settings;
    (void)state;
    memset(off.modes, WATCH_OFF, sizeof off.modes);
    for (uint32_t second = 0; second < 40; second++) {
        for (uint32_t i = 0; i < 200; i++) {
            note(WATCH_TOO_FAST, now_ms, 1, 0, 0);
            note(WATCH_FAILED, now_ms, 1, 0, 0);
            note(WATCH_SEEN, now_ms, 1, user_of(200 * second + i), 0);
        }
        second_ends(&off);
    }
    assert_int_equal(found_in_all(), 0);
}

static void who_is_forgiven_begins_anew(void **state)
{
    const struct address address = address_of(1);
    (void)state;
    for (uint32_t second = 0; second < 10; second++) {
        for (uint32_t i = 0; i < 10; i++)
            note(WATCH_FAILED, now_ms, 1, 0, 0);
        second_ends(&settings);
    }
    assert_int_equal(found[WATCH_FAILURES], 1);
    watch_book_forgive(book, &address, 0);
    note(WATCH_FAILED, now_ms, 1, 0, 0);
    second_ends(&settings);
    assert_int_equal(found[WATCH_FAILURES], 1); /* one more is not a hundred and one */
    for (uint32_t i = 0; i < 60; i++)
        note(WATCH_FAILED, now_ms, 1, 0, 0);
    second_ends(&settings);
    assert_int_equal(found[WATCH_FAILURES], 2); /* but it is watched as before */
}

/* Far more people than places, for a day: who is early at three starts is still found. */
static void a_crowd_does_not_wash_the_memory_away(void **state)
{
    (void)state;
    uint32_t stranger = 1000;
    for (uint32_t sale = 0; sale < 3; sale++) {
        note(WATCH_ASKED, now_ms + 5, 1, user_of(1), now_ms);
        for (uint32_t second = 0; second < 60; second++) {
            for (uint32_t i = 0; i < WATCH_ROWS / 2; i++, stranger++)
                note(WATCH_SEEN, now_ms, stranger, user_of(stranger), 0);
            second_ends(&settings);
        }
    }
    assert_int_equal(found[WATCH_TIMING], 1);
    assert_int_equal(found_in_all(), 1);
}

int main(void)
{
#define RULE(test) cmocka_unit_test_setup_teardown(test, book_setup, book_teardown)
    const struct CMUnitTest tests[] = {
        RULE(who_wins_without_paying_again_and_again_is_found),
        RULE(who_is_too_fast_for_long_is_found_once_with_numbers),
        RULE(who_comes_each_second_is_seen_once_a_minute),
        RULE(a_burst_that_ends_is_no_machine),
        RULE(a_users_own_rate_is_found_with_the_user),
        RULE(many_people_of_one_address_are_no_machine),
        RULE(who_guesses_is_found_and_who_mistypes_is_not),
        RULE(crowds_and_roaming_are_counted_by_different_ones),
        RULE(the_count_of_different_ones_is_near),
        RULE(at_the_very_start_three_times_is_found_and_twice_is_not),
        RULE(like_a_clock_is_found_and_like_a_hand_is_not),
        RULE(a_rule_that_is_off_finds_nothing),
        RULE(who_is_forgiven_begins_anew),
        RULE(a_crowd_does_not_wash_the_memory_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
