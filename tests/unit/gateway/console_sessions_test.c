/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of gateway/console_sessions.h: sessions end by themselves and are bounded; an invitation counts
 * once. */
#include "gateway/console_sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS UINT64_C(1000000000)

static struct console_sessions *sessions;
static const uint8_t alice[HASH_SHA256_BYTES] = { 1 }, bob[HASH_SHA256_BYTES] = { 2 };
struct id {
    char chars[CONSOLE_ID_CHARS];
};

static int setup(void **state)
{
    (void)state;
    assert_int_equal(console_sessions_open(&sessions), STATUS_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    console_sessions_close(sessions);
    return 0;
}

static struct id begin(const uint8_t key[HASH_SHA256_BYTES], uint64_t now_ms)
{
    struct id id;
    console_sessions_begin(sessions, key, now_ms, id.chars);
    return id;
}

/* Whose it is: 1 for alice, 2 for bob, 0 for nobody. */
static int whose(struct id id, uint64_t now_ms)
{
    uint8_t key[HASH_SHA256_BYTES];
    uint64_t ends_ms;
    return console_sessions_find(sessions, span_of(id.chars, sizeof id.chars), now_ms, key, &ends_ms)
        ? key[0]
        : 0;
}

static void each_session_has_an_id_of_its_own_and_belongs_to_its_key(void **state)
{
    (void)state;
    const struct id first = begin(alice, NOW_MS), second = begin(alice, NOW_MS),
                    other = begin(bob, NOW_MS);
    assert_memory_not_equal(first.chars, second.chars, CONSOLE_ID_CHARS);
    assert_int_equal(whose(first, NOW_MS), 1);
    assert_int_equal(whose(second, NOW_MS), 1);
    assert_int_equal(whose(other, NOW_MS), 2);
}

static void ids_that_nobody_gave_are_nobodys(void **state)
{
    (void)state;
    struct id made_up;
    uint8_t key[HASH_SHA256_BYTES];
    uint64_t ends_ms;
    memset(made_up.chars, 0, sizeof made_up.chars);
    assert_int_equal(whose(made_up, NOW_MS), 0);
    const struct id id = begin(alice, NOW_MS);
    assert_false(console_sessions_find(sessions, SPAN_NONE, NOW_MS, key, &ends_ms));
    assert_false(console_sessions_find(
        sessions, span_of(id.chars, CONSOLE_ID_CHARS - 1), NOW_MS, key, &ends_ms));
}

static void it_ends_when_nobody_uses_it(void **state)
{
    (void)state;
    const struct id id = begin(alice, NOW_MS);
    assert_int_equal(whose(id, NOW_MS + CONSOLE_IDLE_MS - 1), 1);
    assert_int_equal(whose(id, NOW_MS + CONSOLE_IDLE_MS), 1); /* the look before was a use */
    assert_int_equal(whose(id, NOW_MS + 2 * (uint64_t)CONSOLE_IDLE_MS), 0);
}

static void it_ends_after_its_life_however_much_it_is_used(void **state)
{
    (void)state;
    const struct id id = begin(alice, NOW_MS);
    const uint64_t end_ms = NOW_MS + CONSOLE_LIFE_MS;
    uint64_t now_ms = NOW_MS;
    for (; now_ms < end_ms; now_ms += CONSOLE_IDLE_MS / 2)
        assert_int_equal(whose(id, now_ms), 1);
    assert_int_equal(whose(id, end_ms - 1), 1);
    assert_int_equal(whose(id, end_ms), 0);
}

static void who_signs_out_is_out_and_nobody_else(void **state)
{
    (void)state;
    const struct id first = begin(alice, NOW_MS), second = begin(alice, NOW_MS);
    console_sessions_end(sessions, span_of(first.chars, sizeof first.chars));
    assert_int_equal(whose(first, NOW_MS), 0);
    assert_int_equal(whose(second, NOW_MS), 1);
    console_sessions_end(sessions, SPAN("nobody's"));
    assert_int_equal(whose(second, NOW_MS), 1);
}

static void a_key_with_too_many_sessions_loses_its_oldest_and_no_other_key_does(void **state)
{
    (void)state;
    struct id ids[CONSOLE_SESSIONS_PER_KEY + 1];
    const struct id other = begin(bob, NOW_MS);
    for (uint32_t i = 0; i < CONSOLE_SESSIONS_PER_KEY; i++)
        ids[i] = begin(alice, NOW_MS + 1 + i);
    assert_int_equal(whose(ids[0], NOW_MS + 100), 1); /* used: the second is the oldest now */
    ids[CONSOLE_SESSIONS_PER_KEY] = begin(alice, NOW_MS + 200);
    assert_int_equal(whose(ids[0], NOW_MS + 200), 1);
    assert_int_equal(whose(ids[1], NOW_MS + 200), 0);
    assert_int_equal(whose(ids[CONSOLE_SESSIONS_PER_KEY], NOW_MS + 200), 1);
    assert_int_equal(whose(other, NOW_MS + 200), 2);
}

static void keys_that_are_gone_do_not_fill_the_table(void **state)
{
    (void)state;
    for (uint32_t key = 0; key < 2 * ADMIN_KEYS_MAX; key++) {
        const uint8_t hash[HASH_SHA256_BYTES] = { 9, (uint8_t)key };
        for (uint32_t i = 0; i < CONSOLE_SESSIONS_PER_KEY; i++)
            begin(hash, NOW_MS + key);
    }
    const struct id id = begin(alice, NOW_MS + 1000);
    assert_int_equal(whose(id, NOW_MS + 1000), 1);
}

static int accepted(const char *token, uint64_t now_ms)
{
    uint8_t key[HASH_SHA256_BYTES];
    return console_sessions_accept(sessions, span_from_string(token), now_ms, key) ? key[0] : 0;
}

static void an_invitation_counts_once_and_not_for_long(void **state)
{
    (void)state;
    assert_int_equal(accepted("once_a", NOW_MS), 0);
    console_sessions_invite(sessions, SPAN("once_a"), alice, NOW_MS);
    assert_int_equal(accepted("once_b", NOW_MS), 0);
    assert_int_equal(accepted("", NOW_MS), 0);
    assert_int_equal(accepted("once_a", NOW_MS + CONSOLE_INVITE_MS - 1), 1);
    assert_int_equal(accepted("once_a", NOW_MS), 0);
    console_sessions_invite(sessions, SPAN("once_c"), bob, NOW_MS);
    assert_int_equal(accepted("once_c", NOW_MS + CONSOLE_INVITE_MS), 0);
}

int main(void)
{
#define TEST(rule) cmocka_unit_test_setup_teardown(rule, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_session_has_an_id_of_its_own_and_belongs_to_its_key),
        TEST(ids_that_nobody_gave_are_nobodys),
        TEST(it_ends_when_nobody_uses_it),
        TEST(it_ends_after_its_life_however_much_it_is_used),
        TEST(who_signs_out_is_out_and_nobody_else),
        TEST(a_key_with_too_many_sessions_loses_its_oldest_and_no_other_key_does),
        TEST(keys_that_are_gone_do_not_fill_the_table),
        TEST(an_invitation_counts_once_and_not_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
