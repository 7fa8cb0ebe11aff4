/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/outgoing.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct outgoing_call *call_new(void)
{
    struct outgoing_call *call = calloc(1, sizeof *call);
    assert_non_null(call);
    return call;
}

static void a_header_is_found_by_its_name_in_any_case_and_trimmed(void **state)
{
    (void)state;
    struct outgoing_call *call = call_new();
    static const char head[] =
        "Content-Type: text/plain\r\nno colon\r\nX-Sign:\t a b \r\nEmpty:\r\n"
        "x-sign: second\r\n\r\n";
    memcpy(call->reply_headers, head, sizeof head - 1);
    call->reply_headers_size = sizeof head - 1;
    assert_true(span_equal(outgoing_header(call, "x-sign"), SPAN("a b")));
    assert_true(span_equal(outgoing_header(call, "content-type"), SPAN("text/plain")));
    assert_non_null(outgoing_header(call, "empty").data);
    assert_int_equal(outgoing_header(call, "empty").size, 0);
    assert_null(outgoing_header(call, "no colon").data);
    assert_null(outgoing_header(call, "x-sig").data);
    free(call);
}

static void headers_are_added_one_a_line_and_a_line_can_not_be_smuggled_in(void **state)
{
    (void)state;
    struct outgoing_call *call = call_new();
    assert_true(outgoing_header_add(call, "A", SPAN("one")));
    assert_false(outgoing_header_add(call, "B", SPAN("x\r\nC: y")));
    assert_false(outgoing_header_add(call, "B", SPAN("x\0y")));
    assert_true(outgoing_header_add(call, "D", SPAN("")));
    assert_string_equal(call->headers, "A: one\nD: \n");
    free(call);
}

static void a_header_that_has_no_room_changes_nothing(void **state)
{
    (void)state;
    struct outgoing_call *call = call_new();
    static char value[OUTGOING_HEADERS_MAX];
    memset(value, 'v', sizeof value);
    /* "N: " + value + "\n" + 0 */
    assert_false(outgoing_header_add(call, "N", span_of(value, OUTGOING_HEADERS_MAX - 4)));
    assert_string_equal(call->headers, "");
    assert_true(outgoing_header_add(call, "N", span_of(value, OUTGOING_HEADERS_MAX - 5)));
    assert_int_equal(strlen(call->headers), OUTGOING_HEADERS_MAX - 1);
    assert_false(outgoing_header_add(call, "N", SPAN("")));
    assert_int_equal(strlen(call->headers), OUTGOING_HEADERS_MAX - 1);
    free(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_found_by_its_name_in_any_case_and_trimmed),
        cmocka_unit_test(headers_are_added_one_a_line_and_a_line_can_not_be_smuggled_in),
        cmocka_unit_test(a_header_that_has_no_room_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
