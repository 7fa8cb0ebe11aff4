/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/form.h"

#include "tests/unit/base/unit.h"

enum { ROOM = 512 };

static void a_form_is_decoded_sorted_and_written_plain(void **state)
{
    char room[ROOM], out[ROOM];
    struct form form;
    struct text text = text_in(out, sizeof out);
    (void)state;
    assert_int_equal(
        form_read(&form, SPAN("b=2+2&a_b=%E9%99%90%2b%2B&a=1&empty=&A=x%3Dy%26"), room, sizeof room),
        STATUS_OK);
    assert_int_equal(form.count, 5);
    form_sort(&form);
    form_write_plain(&form, &text);
    assert_true(span_equal(text_span(&text), SPAN("A=x=y&&a=1&a_b=\xe9\x99\x90++&b=2 2&empty=")));
    assert_true(span_equal(form_value(&form, "b"), SPAN("2 2")));
    assert_null(form_value(&form, "c").data);
    form_drop(&form, "a_b");
    form_drop(&form, "none");
    text = text_in(out, sizeof out);
    form_write(&form, &text);
    assert_true(span_equal(text_span(&text), SPAN("A=x%3Dy%26&a=1&b=2%202&empty=")));
}

static void what_is_no_form_is_refused(void **state)
{
    static const char *const wrong[] = { "a", "=1", "a=1&&b=2", "&a=1", "a=%", "a=%1", "a=%g1",
        "a=%1g", "a=1&a=2", "a=1&%61=2", "%=1" };
    char room[ROOM];
    struct form form;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(
            form_read(&form, span_from_string(wrong[i]), room, sizeof room), STATUS_BAD_INPUT);
    assert_int_equal(form_read(&form, SPAN_NONE, room, sizeof room), STATUS_OK);
    assert_int_equal(form.count, 0);
}

static void its_bounds_hold(void **state)
{
    char room[ROOM], many[8 * (FORM_PAIRS_MAX + 1)];
    struct form form;
    struct text text = text_in(many, sizeof many);
    (void)state;
    for (unsigned i = 0; i < FORM_PAIRS_MAX; i++)
        text_format(&text, "%sn%u=1", i == 0 ? "" : "&", i);
    assert_int_equal(form_read(&form, text_span(&text), room, sizeof room), STATUS_OK);
    assert_int_equal(form.count, FORM_PAIRS_MAX);
    assert_int_equal(form_add(&form, "x", SPAN("1")), STATUS_FULL);
    assert_int_equal(form_add(&form, "x", SPAN_NONE), STATUS_OK);
    assert_int_equal(form.count, FORM_PAIRS_MAX);
    text_literal(&text, "&x=1");
    assert_int_equal(form_read(&form, text_span(&text), room, sizeof room), STATUS_FULL);
    assert_int_equal(form_read(&form, SPAN("abc=def"), room, 6), STATUS_OK);
    assert_int_equal(form_read(&form, SPAN("abc=def"), room, 5), STATUS_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_is_decoded_sorted_and_written_plain),
        cmocka_unit_test(what_is_no_form_is_refused),
        cmocka_unit_test(its_bounds_hold),
    };
    return cmocka_run_group_tests_name("payment/form", tests, NULL, NULL);
}
