/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { SLOTS = 4, CAPACITY = 64, REQUEST_BYTES = 14 }; /* "*1\r\n$4\r\nword\r\n" */

static struct arena arena;
static struct redis_pipeline pipeline;

static int made(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, redis_pipeline_arena_bytes(SLOTS, CAPACITY) + 4096), STATUS_OK);
    redis_pipeline_create(&pipeline, &arena, SLOTS, CAPACITY);
    return 0;
}

static int gone(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void put(uint64_t tag, uint64_t due_ms)
{
    char word[8];
    snprintf(word, sizeof word, "%04u", (unsigned)tag % 10000);
    assert_true(redis_pipeline_fits(&pipeline, 1, REQUEST_BYTES));
    redis_pipeline_put(&pipeline, &(struct redis_waiting){ .tag = tag, .due_ms = due_ms },
        REDIS_WORDS(span_from_string(word)));
}

static void assert_taken(uint64_t tag)
{
    char expected[32];
    const struct redis_waiting waiting = redis_pipeline_take(&pipeline);
    const struct span bytes = redis_pipeline_bytes(&pipeline, &waiting);
    assert_int_equal(waiting.tag, tag);
    snprintf(expected, sizeof expected, "*1\r\n$4\r\n%04u\r\n", (unsigned)tag % 10000);
    assert_true(span_equal(bytes, span_from_string(expected)));
}

static void requests_are_bounded_by_number_and_by_bytes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOTS; i++)
        put(i, 100);
    assert_false(redis_pipeline_fits(&pipeline, 1, 1)); /* 56 of 64 bytes, but no place */
    redis_pipeline_sent(&pipeline, redis_pipeline_unsent(&pipeline).size);
    assert_taken(0);
    assert_true(redis_pipeline_fits(&pipeline, 1, CAPACITY - SLOTS * REQUEST_BYTES));
    /* Less than half is free at the front: nothing is moved. */
    assert_false(redis_pipeline_fits(&pipeline, 1, CAPACITY - SLOTS * REQUEST_BYTES + 1));
    assert_false(redis_pipeline_fits(&pipeline, 2, 1));
    for (uint64_t i = 1; i < SLOTS; i++)
        assert_taken(i);
    assert_true(redis_pipeline_fits(&pipeline, SLOTS, CAPACITY));
    assert_false(redis_pipeline_fits(&pipeline, SLOTS, CAPACITY + 1));
}

/* What was not sent stays, whoever has been answered; and bytes keep their order while their room moves. */
static void room_is_used_again_and_unsent_bytes_stay(void **state)
{
    (void)state;
    char sent[REQUEST_BYTES * 200 + 1], expected[REQUEST_BYTES * 200 + 1];
    size_t size = 0, wanted = 0;
    put(0, 100);
    for (uint64_t i = 1; i < 200; i++) {
        put(i, 100);
        /* Up to the last byte but three, so that some are always unsent. */
        const struct span unsent = redis_pipeline_unsent(&pipeline);
        memcpy(sent + size, unsent.data, unsent.size - 3);
        size += unsent.size - 3;
        redis_pipeline_sent(&pipeline, unsent.size - 3);
        assert_taken(i - 1);
    }
    for (uint32_t i = 0; i < 200; i++)
        wanted +=
            (size_t)snprintf(expected + wanted, sizeof expected - wanted, "*1\r\n$4\r\n%04u\r\n", i);
    assert_int_equal(size, wanted - 3);
    assert_memory_equal(sent, expected, size);
    assert_int_equal(redis_pipeline_unsent(&pipeline).size, 3);
}

static void what_is_said_goes_with_the_others_and_waits_for_nothing(void **state)
{
    (void)state;
    redis_pipeline_say(&pipeline, REDIS_WORDS(SPAN("PING")));
    assert_int_equal(pipeline.count, 0);
    put(1, 100); /* does not take the room of what nobody waits for, but must still be sent */
    assert_int_equal(pipeline.count, 1);
    assert_true(span_equal(
        redis_pipeline_unsent(&pipeline), SPAN("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\n0001\r\n")));
    redis_pipeline_put_bytes(
        &pipeline, &(struct redis_waiting){ .tag = 2 }, SPAN("*1\r\n$4\r\n0002\r\n"));
    redis_pipeline_sent(&pipeline, 3 * REQUEST_BYTES);
    assert_taken(1);
    assert_taken(2);
    put(3, 100);
    redis_pipeline_reset(&pipeline);
    assert_int_equal(redis_pipeline_unsent(&pipeline).size, 0);
    assert_int_equal(pipeline.count, 0);
    assert_int_equal(pipeline.due_floor, UINT64_MAX);
}

static void one_late_request_is_found_wherever_it_stands(void **state)
{
    (void)state;
    put(1, 300);
    put(2, 100);
    put(3, 200);
    assert_int_equal(pipeline.due_floor, 100);
    assert_false(redis_pipeline_is_late(&pipeline, 99));
    assert_true(redis_pipeline_is_late(&pipeline, 100));
    redis_pipeline_sent(&pipeline, 3 * REQUEST_BYTES);
    assert_taken(1);
    assert_taken(2);
    assert_false(redis_pipeline_is_late(&pipeline, 199)); /* the early one has been answered */
    assert_int_equal(pipeline.due_floor, 200);
    assert_true(redis_pipeline_is_late(&pipeline, 200));
    assert_taken(3);
    assert_false(redis_pipeline_is_late(&pipeline, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_are_bounded_by_number_and_by_bytes, made, gone),
        cmocka_unit_test_setup_teardown(room_is_used_again_and_unsent_bytes_stay, made, gone),
        cmocka_unit_test_setup_teardown(
            what_is_said_goes_with_the_others_and_waits_for_nothing, made, gone),
        cmocka_unit_test_setup_teardown(one_late_request_is_found_wherever_it_stands, made, gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
