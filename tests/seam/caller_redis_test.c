/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/caller_redis_test.c: requests of a thread that waits, against a real server
 * (tools/with-redis). */
#include "redis/caller.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONG_MS = 60 * 1000, MANY = 20000 };

static const char *address;

static int setup(void **state)
{
    struct redis_client_config config = { .limits = { .in_flight_max = 64 } };
    struct span bad;
    struct redis_caller *caller;
    assert_int_equal(redis_nodes_read(span_of(address, strlen(address)), config.seeds,
                         REDIS_SEEDS_MAX, &config.seed_count, &bad),
        STATUS_OK);
    assert_int_equal(redis_caller_open(&caller, &config), STATUS_OK);
    assert_true(redis_caller_is_ready(caller, LONG_MS));
    *state = caller;
    return 0;
}

static int teardown(void **state)
{
    redis_caller_close(*state);
    return 0;
}

static void text_take(void *context, const struct redis_value *value)
{
    if (value->kind == REDIS_KIND_NUMBER)
        snprintf(context, 64, "%lld", (long long)value->number);
    else
        snprintf(context, 64, "%.*s", (int)value->text.size, value->text.data);
}

static void a_call_waits_for_its_answer(void **state)
{
    char text[64] = "";
    const struct span key = SPAN("k");
    assert_int_equal(
        redis_call(*state, key, REDIS_WORDS(SPAN("SET"), key, SPAN("17")), LONG_MS, NULL, NULL),
        REDIS_ANSWER_OK);
    assert_int_equal(redis_call(*state, key, REDIS_WORDS(SPAN("GET"), key), LONG_MS, text_take, text),
        REDIS_ANSWER_OK);
    assert_string_equal(text, "17");
    assert_int_equal(
        redis_call(*state, key, REDIS_WORDS(SPAN("LPUSH"), key, SPAN("1")), LONG_MS, text_take, text),
        REDIS_ANSWER_REFUSED);
    assert_memory_equal(text, "WRONGTYPE", 9); /* the error is shown, too */
}

static void many_go_out_without_waiting(void **state)
{
    char text[64] = "";
    const struct span key = SPAN("many");
    for (uint32_t i = 0; i < MANY; i++) /* many more than may be in flight */
        redis_call_later(*state, key, REDIS_WORDS(SPAN("INCR"), key), LONG_MS);
    assert_int_equal(redis_call_wait(*state), REDIS_ANSWER_OK);
    assert_int_equal(redis_call(*state, key, REDIS_WORDS(SPAN("GET"), key), LONG_MS, text_take, text),
        REDIS_ANSWER_OK);
    assert_string_equal(text, "20000");
}

static void one_that_failed_among_many_is_told_once(void **state)
{
    const struct span key = SPAN("mixed");
    redis_call_later(*state, key, REDIS_WORDS(SPAN("SET"), key, SPAN("a")), LONG_MS);
    redis_call_later(*state, key, REDIS_WORDS(SPAN("INCR"), key), LONG_MS);
    redis_call_later(*state, key, REDIS_WORDS(SPAN("SET"), key, SPAN("b")), LONG_MS);
    assert_int_equal(redis_call_wait(*state), REDIS_ANSWER_REFUSED);
    assert_int_equal(redis_call_wait(*state), REDIS_ANSWER_OK);
}

static void who_does_not_answer_in_time_is_not_waited_for(void **state)
{
    const struct span key = SPAN("k");
    assert_int_equal(
        redis_call(*state, key, REDIS_WORDS(SPAN("BLPOP"), SPAN("empty"), SPAN("0")), 50, NULL, NULL),
        REDIS_ANSWER_UNKNOWN);
    assert_int_equal(redis_call(*state, key, REDIS_WORDS(SPAN("GET"), key), LONG_MS, NULL, NULL),
        REDIS_ANSWER_OK); /* by a new connection */
}

static void nobody_there_is_told_after_the_time(void **state)
{
    struct redis_client_config config = { .seed_count = 1 };
    struct redis_caller *caller;
    struct span bad;
    (void)state;
    assert_int_equal(
        redis_nodes_read(SPAN("127.0.0.1:1"), config.seeds, 1, &config.seed_count, &bad), STATUS_OK);
    assert_int_equal(redis_caller_open(&caller, &config), STATUS_OK);
    assert_false(redis_caller_is_ready(caller, 50));
    assert_int_equal(redis_call(caller, SPAN("k"), REDIS_WORDS(SPAN("PING")), 50, NULL, NULL),
        REDIS_ANSWER_AWAY);
    redis_call_later(caller, SPAN("k"), REDIS_WORDS(SPAN("PING")), 1);
    assert_int_equal(redis_call_wait(caller), REDIS_ANSWER_AWAY);
    redis_caller_close(caller);
    redis_caller_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_waits_for_its_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(many_go_out_without_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_failed_among_many_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(who_does_not_answer_in_time_is_not_waited_for, setup, teardown),
        cmocka_unit_test(nobody_there_is_told_after_the_time),
    };
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        fputs("run by tools/with-redis\n", stderr);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
