/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cli/received.h: pieces become one text, up to a bound. */
#include "cli/received.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>

static void pieces_are_put_together(void **state)
{
    (void)state;
    struct received received = { 0 };
    char first[] = "one ", second[] = "two";
    assert_int_equal(received_take(first, 1, 4, &received), 4);
    assert_int_equal(received_take(second, 1, 3, &received), 3);
    assert_int_equal(received.size, 7);
    assert_string_equal(received.bytes, "one two");
    free(received.bytes);
}

static void what_is_too_long_is_refused_and_what_came_stays(void **state)
{
    (void)state;
    struct received received = { 0 };
    char piece[] = "x";
    assert_int_equal(received_take(piece, 1, 1, &received), 1);
    assert_int_equal(received_take(piece, 1, RECEIVED_BYTES_MAX, &received), 0);
    assert_int_equal(received.size, 1);
    assert_string_equal(received.bytes, "x");
    free(received.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_put_together),
        cmocka_unit_test(what_is_too_long_is_refused_and_what_came_stays),
    };
    return cmocka_run_group_tests_name("cli/received", tests, NULL, NULL);
}
