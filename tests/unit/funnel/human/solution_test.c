/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/solution.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct solution solution;

static enum human_answer read_text(const char *body)
{
    memset(&solution, 0xff, sizeof solution);
    return solution_read(span_from_string(body), &solution);
}

static void each_form_of_a_solution_is_read(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"solution\":\"abc=\"}"), HUMAN_PASSED);
    assert_true(span_equal(solution.pow, SPAN("abc=")));
    assert_int_equal(read_text("{\"solution\":{\"token\":\"t\",\"answer\":\"k3\"}}"), HUMAN_PASSED);
    assert_true(span_equal(solution.token, SPAN("t")) && span_equal(solution.answer, SPAN("k3")));
    assert_int_equal(solution.seen, SOLUTION_TOKEN | SOLUTION_ANSWER);
    assert_null(solution.pow.data);
    assert_int_equal(read_text("{\"solution\":{\"x\":[7,9],\"token\":\"t\"}}"), HUMAN_PASSED);
    assert_int_equal(solution.x[0], 7);
    assert_int_equal(solution.x[1], 9);
    assert_int_equal(read_text("{\"solution\":{\"token\":\"t\",\"response\":\"r\"}}"), HUMAN_PASSED);
    assert_true(span_equal(solution.response, SPAN("r")));
}

static void a_body_without_a_solution_is_absent(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), HUMAN_ABSENT);
    assert_int_equal(read_text("{}"), HUMAN_ABSENT);
}

static void everything_else_is_malformed(void **state)
{
    static const char *const bodies[] = { "[]", "{\"solution\":7}", "{\"solution\":{}}",
        "{\"answer\":\"x\"}", "{\"solution\":\"a\",\"solution\":\"b\"}", "{\"solution\":\"a\"} x",
        "{\"solution\":{\"token\":\"t\"}}", "{\"solution\":{\"answer\":\"k\"}}",
        "{\"solution\":{\"token\":\"t\",\"token\":\"t\",\"answer\":\"k\"}}",
        "{\"solution\":{\"token\":\"t\",\"answer\":\"k\",\"response\":\"r\"}}",
        "{\"solution\":{\"token\":\"t\",\"x\":[7]}}", "{\"solution\":{\"token\":\"t\",\"x\":[7,8,9]}}",
        "{\"solution\":{\"token\":\"t\",\"other\":\"k\"}}" };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (read_text(bodies[i]) != HUMAN_MALFORMED)
            fail_msg("%s is taken", bodies[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_of_a_solution_is_read),
        cmocka_unit_test(a_body_without_a_solution_is_absent),
        cmocka_unit_test(everything_else_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
