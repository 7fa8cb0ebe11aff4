/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct redis_value text_of(const char *text)
{
    return (struct redis_value){ .kind = REDIS_KIND_TEXT, .text = span_from_string(text) };
}

static enum status time_read(struct redis_look *look, const char *seconds, const char *microseconds)
{
    struct redis_value parts[] = { text_of(seconds), text_of(microseconds) };
    const struct redis_value reply = { .kind = REDIS_KIND_LIST, .count = 2, .list = parts };
    return redis_look_time(look, &reply, 1000000, 1000010);
}

static void a_clock_that_may_be_ours_is_not_apart(void **state)
{
    static const struct {
        const char *seconds, *microseconds;
        int64_t apart_ms;
    } rows[] = {
        { "1000", "0", 0 },
        { "1000", "10999", 0 }, /* it may have been read just before it was heard */
        { "1000", "11000", 1 },
        { "999", "999999", -1 },
        { "1002", "510000", 2500 },
        { "0", "0", -1000000 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct redis_look look = { 0 };
        assert_int_equal(time_read(&look, rows[i].seconds, rows[i].microseconds), STATUS_OK);
        assert_true(look.clock_known);
        assert_int_equal(look.apart_ms, rows[i].apart_ms);
    }
}

static void a_strange_time_changes_nothing(void **state)
{
    static const char *const bad[][2] = { { "", "0" }, { "1000", "" }, { "-1", "0" },
        { "1000", "1000000" }, { "4294967296", "0" }, { "1000x", "0" } };
    (void)state;
    struct redis_look look = { .apart_ms = 77 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(time_read(&look, bad[i][0], bad[i][1]), STATUS_BAD_INPUT);
    struct redis_value part = text_of("1000");
    const struct redis_value one = { .kind = REDIS_KIND_LIST, .count = 1, .list = &part };
    assert_int_equal(redis_look_time(&look, &one, 0, 0), STATUS_BAD_INPUT);
    assert_int_equal(redis_look_time(&look, &part, 0, 0), STATUS_BAD_INPUT);
    assert_true(look.apart_ms == 77 && !look.clock_known);
}

static void memory_is_read_with_its_policy(void **state)
{
    (void)state;
    struct redis_look look = { 0 };
    const struct redis_value none =
        text_of("# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
    assert_int_equal(redis_look_memory(&look, &none), STATUS_OK);
    assert_true(look.memory_known && look.memory_max == 0);
    const struct redis_value much = text_of(
        "maxmemory_human:8.00G\r\nmaxmemory:8589934592\r\nmaxmemory_policy:allkeys-lru\r\n");
    assert_int_equal(redis_look_memory(&look, &much), STATUS_OK);
    assert_true(look.memory_max == 8589934592);
    assert_string_equal(look.policy, "allkeys-lru");
    static const char *const bad[] = { "", "maxmemory:1\r\n", "maxmemory_policy:noeviction\r\n",
        "maxmemory:-1\r\nmaxmemory_policy:noeviction\r\n",
        "maxmemory:1\r\nmaxmemory_policy:a-policy-with-a-name-of-32-chars\r\n" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct redis_value reply = text_of(bad[i]);
        assert_int_equal(redis_look_memory(&look, &reply), STATUS_BAD_INPUT);
    }
    assert_true(look.memory_max == 8589934592);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_may_be_ours_is_not_apart),
        cmocka_unit_test(a_strange_time_changes_nothing),
        cmocka_unit_test(memory_is_read_with_its_policy),
    };
    return cmocka_run_group_tests_name("redis/look", tests, NULL, NULL);
}
