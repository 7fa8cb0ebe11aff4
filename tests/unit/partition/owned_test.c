/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/owned.h"

#include "tests/unit/base/unit.h"

static uint32_t told, cleared;

static void alarm_note(void *context, uint32_t part, const char *what)
{
    (void)context;
    (void)part;
    told += what != NULL;
    cleared += what == NULL;
}

/* Two partitions are closed, and a third never was. */
static void an_alarm_ends_with_the_last_partition_that_was_closed(void **state)
{
    struct owned parts[3];
    uint32_t alarmed = 2;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        owned_init(&parts[i], &(struct opener_config){ .part = i + 1 }, alarm_note, &alarmed);
        parts[i].is_alarmed = i < 2;
    }
    owned_let_go(&parts[0]);
    assert_int_equal(cleared, 0);
    owned_let_go(&parts[0]);
    owned_let_go(&parts[2]);
    assert_int_equal(cleared, 0);
    owned_let_go(&parts[1]);
    assert_int_equal(cleared, 1);
    assert_true(told == 0 && alarmed == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alarm_ends_with_the_last_partition_that_was_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
