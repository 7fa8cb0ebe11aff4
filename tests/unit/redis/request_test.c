/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/request.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void a_request_has_the_size_that_was_told(void **state)
{
    (void)state;
    char buffer[256];
    const char nul[3] = { 'a', 0, '\n' };
    struct text out = text_in(buffer, sizeof buffer);
    const struct redis_words words =
        REDIS_WORDS(SPAN("SET"), span_of(nul, sizeof nul), SPAN_NONE, SPAN("0123456789"));
    redis_request_write(&out, words);
    static const char expected[] =
        "*4\r\n$3\r\nSET\r\n$3\r\na\0\n\r\n$0\r\n\r\n$10\r\n0123456789\r\n";
    assert_false(out.overflow);
    assert_int_equal(out.size, sizeof expected - 1);
    assert_memory_equal(buffer, expected, out.size);
    assert_int_equal(redis_request_bytes(words), out.size);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_request_has_the_size_that_was_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
