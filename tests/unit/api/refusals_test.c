/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of api/refusals.h: every answer of the inventory and every conflict has its words. */
#include "api/refusals.h"

#include "base/clock.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static bool is_no_refusal(enum answer answer)
{
    return answer == ANSWER_NONE || answer == ANSWER_WON || answer == ANSWER_REPEATED
        || answer == ANSWER_DONE || answer == ANSWER_UNCHANGED || answer == ANSWER_FOUND
        || answer == ANSWER_NOTHING_TO_REPEAT || answer == ANSWER_DECIDING || answer == ANSWER_VOID;
}

static void every_refusal_is_a_problem_and_nothing_else_is(void **state)
{
    (void)state;
    for (enum answer answer = 0; answer < ANSWERS; answer++) {
        const enum problem problem = refusal_problem(answer);
        if (is_no_refusal(answer) != (problem == PROBLEM_NONE))
            fail_msg("answer %d is told as problem %d", answer, problem);
        assert_true(problem == PROBLEM_NONE || problem_texts[problem].status >= 400);
    }
    assert_int_equal(refusal_problem(ANSWER_SOLD_OUT), PROBLEM_SOLD_OUT);
    assert_int_equal(refusal_problem(ANSWER_UNKNOWN_TICKET), PROBLEM_UNKNOWN_ORDER);
}

static void every_conflict_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int index = 0; index < CONFLICTS; index++) {
        const uint8_t conflict = (uint8_t)index;
        assert_non_null(refusal_conflict_text(conflict));
        for (uint8_t other = 0; other < conflict; other++)
            assert_string_not_equal(refusal_conflict_text(conflict), refusal_conflict_text(other));
    }
    assert_string_equal(refusal_conflict_text(UINT8_MAX), refusal_conflict_text(CONFLICT_NONE));
}

static void a_name_is_one_answer_only(void **state)
{
    (void)state;
    assert_string_equal(refusal_answer_name(ANSWER_WON), "won");
    assert_string_equal(refusal_answer_name(ANSWER_FOUND), ""); /* a purchase is not answered so */
    for (enum answer answer = 0; answer < ANSWERS; answer++)
        for (enum answer other = 0; other < answer; other++)
            assert_true(refusal_answer_name(answer)[0] == 0
                || strcmp(refusal_answer_name(answer), refusal_answer_name(other)) != 0);
}

static void retry_after_is_in_seconds_and_never_early(void **state)
{
    (void)state;
    char bytes[64];
    struct text out = text_in(bytes, sizeof bytes);
    const uint64_t now_ms = clock_now_ms();
    assert_int_equal(refusal_retry_s(0), 1);
    assert_in_range(refusal_retry_s(now_ms + 90 * 1000), 80, 90);
    assert_in_range(refusal_retry_s(now_ms + 90 * 1000 + 500), 80, 91);
    refusal_again_members(1234, &out);
    assert_true(span_equal(text_span(&out), SPAN(",\"again_ms\":1234")));
}

int main(void)
{
    clock_start(0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_refusal_is_a_problem_and_nothing_else_is),
        cmocka_unit_test(every_conflict_has_a_text_of_its_own),
        cmocka_unit_test(a_name_is_one_answer_only),
        cmocka_unit_test(retry_after_is_in_seconds_and_never_early),
    };
    return cmocka_run_group_tests_name("api/refusals", tests, NULL, NULL);
}
