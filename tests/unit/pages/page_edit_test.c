/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/page_edit.h"

#include "tests/unit/base/unit.h"

static void each_edit_is_made_once_where_its_text_first_stands(void **state)
{
    char memory[128];
    struct text out = text_in(memory, sizeof memory);
    struct page_edit edits[] = { { SPAN("</b>"), SPAN("!</b>"), false },
        { SPAN("one"), SPAN("two"), false }, { SPAN("gone"), SPAN("x"), false } };
    (void)state;
    page_edit(SPAN("<b>one</b> one <b></b>"), edits, 3, &out);
    assert_true(span_equal(text_span(&out), SPAN("<b>two!</b> one <b></b>")));
    assert_true(edits[0].done && edits[1].done);
    assert_false(edits[2].done);
}

static void an_edit_that_is_done_is_not_made(void **state)
{
    char memory[16];
    struct text out = text_in(memory, sizeof memory);
    struct page_edit edits[] = { { SPAN("a"), SPAN("b"), true } };
    (void)state;
    page_edit(SPAN("aa"), edits, 1, &out);
    assert_true(span_equal(text_span(&out), SPAN("aa")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_edit_is_made_once_where_its_text_first_stands),
        cmocka_unit_test(an_edit_that_is_done_is_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
