/* SPDX-License-Identifier: Apache-2.0 */
#include "server/file_limit.h"

#include "edge/edge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void edges_get_what_they_ask_for_when_there_is_enough(void **state)
{
    (void)state;
    const uint64_t enough = FILES_KEPT + 2 * (10000 + EDGE_TURNED_AWAY_SLOTS);
    assert_int_equal(file_limit_connections(enough, 2, 10000), 10000);
    assert_int_equal(file_limit_connections(enough - 2, 2, 10000), 9999);
    assert_int_equal(file_limit_connections(1048576, 4, 10000), 10000);
}

static void descriptors_are_left_whatever_the_limit_is(void **state)
{
    (void)state;
    for (uint64_t files = 64; files < 100000; files += 61)
        for (uint32_t edges = 1; edges <= 4; edges++) {
            const uint64_t taken = (uint64_t)edges * file_limit_connections(files, edges, 1000000);
            const uint64_t kept =
                files / FILES_KEPT_SHARE < FILES_KEPT ? files / FILES_KEPT_SHARE : FILES_KEPT;
            if (taken > (uint64_t)edges * FILE_LIMIT_CONNECTIONS_MIN)
                assert_true(taken + kept <= files);
        }
}

static void a_tiny_limit_leaves_a_few_connections(void **state)
{
    (void)state;
    assert_int_equal(file_limit_connections(0, 2, 10000), FILE_LIMIT_CONNECTIONS_MIN);
    assert_int_equal(file_limit_connections(1024, 1, 10000), 768 - EDGE_TURNED_AWAY_SLOTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_get_what_they_ask_for_when_there_is_enough),
        cmocka_unit_test(descriptors_are_left_whatever_the_limit_is),
        cmocka_unit_test(a_tiny_limit_leaves_a_few_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
