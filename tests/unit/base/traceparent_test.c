/* SPDX-License-Identifier: Apache-2.0 */
#include "base/traceparent.h"

#include "unit.h"

#include <string.h>

#define GOOD "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static void what_is_read_is_written_again(void **state)
{
    (void)state;
    struct trace_context context;
    char out[TRACEPARENT_CHARS + 1];
    assert_true(traceparent_read(SPAN(GOOD), &context));
    assert_true(context.sampled);
    assert_int_equal(context.trace[0], 0x4b);
    assert_int_equal(context.parent[7], 0xb7);
    traceparent_write(&context, out);
    assert_string_equal(out, GOOD);
    assert_true(
        traceparent_read(SPAN("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"), &context));
    assert_false(context.sampled);
}

static void whatever_is_not_well_formed_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trace_context context = { .sampled = true };
        assert_false(traceparent_read(span_from_string(bad[i]), &context));
        assert_int_equal(context.trace[0], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(whatever_is_not_well_formed_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
