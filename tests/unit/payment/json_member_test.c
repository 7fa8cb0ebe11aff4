/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/payment/json_member_test.c: a member's bytes are cut out as they stand. */
#include "payment/json_member.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

static void a_member_is_cut_out_byte_by_byte(void **state)
{
    static const struct {
        const char *text, *wanted; /* of "a"; NULL: there is none */
    } cases[] = {
        { "{\"a\":1}", "1" },
        { " {\n\"a\" : { \"b\": [1, \"}\"] } ,\"c\":2}", "{ \"b\": [1, \"}\"] }" },
        { "{\"b\":{\"a\":1},\"a\":\"x,}\\\"y\"}", "\"x,}\\\"y\"" },
        { "{\"b\":\"\\\\\",\"a\":[{},[]]}", "[{},[]]" },
        { "{\"aa\":1,\"a\":true}", "true" },
        { "{\"b\":{\"a\":1}}", NULL },
        { "{\"A\":1,\"\":2}", NULL },
        { "{}", NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct span value = SPAN_NONE;
        const bool found = json_member_cut(span_from_string(cases[i].text), "a", &value);
        if (found != (cases[i].wanted != NULL)
            || (found && !span_equal(value, span_from_string(cases[i].wanted))))
            fail_msg("%s: %.*s", cases[i].text, (int)value.size, value.data);
    }
}

static void nothing_is_read_behind_the_end(void **state)
{
    static const char text[] = "{\"b\":\"\\\"\", \"a\":{\"c\":[1,\"}\"]}}";
    (void)state;
    for (size_t size = 0; size < sizeof text - 1; size++) {
        char *copy = malloc(size == 0 ? 1 : size); /* the sanitizer sees a read past it */
        struct span value;
        assert_non_null(copy);
        memcpy(copy, text, size);
        (void)!json_member_cut(span_of(copy, size), "a", &value);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_cut_out_byte_by_byte),
        cmocka_unit_test(nothing_is_read_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
