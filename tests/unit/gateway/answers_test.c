/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/gateway/answers_test.c: bytes that lie ready are those that rendering would make. */
#include "gateway/answers.h"

#include "api/problems.h"
#include "base/clock.h"
#include "edge/http_date.h"
#include "funnel/keys.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static struct funnel_keys keys;
static char bytes[2048];

static int start(void **state)
{
    (void)state;
    cipher_permutation_make(&keys.ticket, (struct hash_key){ 1, 2 });
    cipher_permutation_make(&keys.order, (struct hash_key){ 3, 4 });
    clock_start(0);
    answers_create();
    return 0;
}

static bool is_as_rendered(const struct edge_answer *answer)
{
    struct text out = text_in(bytes, sizeof bytes);
    const struct span ready = answer_ready(answer, &keys);
    answer_render(answer, &keys, SPAN_NONE, false, &out);
    assert_false(out.overflow);
    if (ready.size == 0)
        return false;
    assert_int_equal(ready.size, out.size);
    assert_memory_equal(ready.data, out.data, out.size);
    return true;
}

static void a_ready_refusal_has_the_bytes_of_a_rendered_one(void **state)
{
    (void)state;
    uint32_t ready = 0;
    for (uint64_t second = 1; second <= 3; second++) {
        http_date_turn(second * 1000);
        for (int kind = 0; kind < PROBLEMS; kind++) {
            for (uint32_t i = 0; i < 8; i++) {
                const struct edge_answer answer = { .kind = (uint8_t)kind,
                    .flags = (i & 1) != 0 ? ANSWER_CHINESE : 0,
                    .a = i >> 1 & 1,
                    .b = i >> 2 };
                if (kind != PROBLEM_NONE)
                    ready += is_as_rendered(&answer);
            }
        }
    }
    assert_true(ready > PROBLEMS); /* in two languages and three seconds */
}

static void sold_out_lies_ready_in_both_languages_with_the_date_of_its_second(void **state)
{
    (void)state;
    struct edge_answer answer = { .kind = PROBLEM_SOLD_OUT };
    http_date_turn(1000);
    assert_true(is_as_rendered(&answer));
    assert_non_null(memmem(bytes, sizeof bytes, "00:00:01 GMT", 12));
    http_date_turn(2000);
    assert_true(is_as_rendered(&answer));
    answer.flags = ANSWER_CHINESE;
    assert_true(is_as_rendered(&answer));
    answer.a = 3; /* units that others may have */
    assert_false(is_as_rendered(&answer));
}

static void a_ready_win_has_the_bytes_of_a_rendered_one_whatever_came_before_it(void **state)
{
    (void)state;
    const uint64_t time_ms = 1800000000000;
    const struct edge_answer wins[] = {
        { .extra = 1, .a = 1, .b = 1, .c = 99900, .d = time_ms },
        { .extra = 1, .a = 1, .b = 2, .c = 99900, .d = time_ms + 1 },
        { .extra = 1, .a = 1, .b = UINT64_MAX, .c = 99900, .d = 9999999999999 },
        { .extra = 1, .a = 1, .b = 3, .c = 99900, .d = 1000000000000 },
        { .extra = 1, .a = 2, .b = 3, .c = 99900, .d = time_ms },
        { .extra = 2, .a = 2, .b = 3, .c = 99900, .d = time_ms },
        { .extra = 65535, .a = 2, .b = 3, .c = 1, .d = time_ms },
        { .extra = 65535, .a = UINT32_MAX, .b = 3, .c = UINT64_MAX, .d = time_ms },
        { .extra = 1, .a = 1, .b = 4, .c = 0, .d = time_ms, .flags = ANSWER_CHINESE },
    };
    for (uint64_t second = 1; second <= 2; second++) {
        http_date_turn(second * 1000);
        for (size_t i = 0; i < sizeof wins / sizeof *wins; i++) {
            assert_true(is_as_rendered(&wins[i]));
            assert_true(is_as_rendered(&wins[i])); /* and as the second of its kind */
        }
    }
}

static void a_win_whose_time_has_another_length_is_rendered(void **state)
{
    (void)state;
    struct edge_answer win = { .extra = 1, .a = 1, .b = 1, .c = 99900, .d = 0 };
    assert_false(is_as_rendered(&win));
    win.d = 999999999999;
    assert_false(is_as_rendered(&win));
    win.d = 10000000000000;
    assert_false(is_as_rendered(&win));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ready_refusal_has_the_bytes_of_a_rendered_one),
        cmocka_unit_test(sold_out_lies_ready_in_both_languages_with_the_date_of_its_second),
        cmocka_unit_test(a_ready_win_has_the_bytes_of_a_rendered_one_whatever_came_before_it),
        cmocka_unit_test(a_win_whose_time_has_another_length_is_rendered),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
