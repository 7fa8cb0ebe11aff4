/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/words.h"

#include "tests/unit/base/unit.h"

static void a_problem_is_found_by_its_name_and_nothing_else_is(void **state)
{
    (void)state;
    assert_int_equal(word_find(SPAN("sold-out")), WORD_SOLD_OUT);
    assert_int_equal(word_find(SPAN("too-fast")), WORD_TOO_FAST);
    assert_int_equal(word_find(SPAN("sold-ou")), WORD_OTHER);
    assert_int_equal(word_find(SPAN("sold-out2")), WORD_OTHER);
    assert_int_equal(word_find(SPAN_NONE), WORD_OTHER);
    assert_int_equal(word_find(SPAN("served")), WORD_OTHER); /* ours, not the server's */
}

static void each_word_has_its_layer(void **state)
{
    (void)state;
    assert_int_equal(word_layer(WORD_WON), LAYER_WON);
    assert_int_equal(word_layer(WORD_NO_ANSWER), LAYER_EDGE);
    assert_int_equal(word_layer(WORD_PASS_FOREIGN), LAYER_PASS);
    assert_int_equal(word_layer(WORD_TOO_POPULAR), LAYER_POPULAR);
    assert_string_equal(layer_labels[LAYER_PAID], "paid");
    assert_string_equal(step_labels[STEP_BUY], "buy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_found_by_its_name_and_nothing_else_is),
        cmocka_unit_test(each_word_has_its_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
