/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/slots.h"

#include "tests/unit/base/unit.h"

#include <string.h>

enum { ROWS = 12, SLOTS = 24 };

static uint32_t at[SLOTS];
static struct slots slots = { at, SLOTS };
static uint64_t homes[ROWS]; /* by row */

static uint64_t home_of(const void *table, uint32_t row)
{
    return ((const uint64_t *)table)[row];
}

static int64_t slot_of(uint32_t row)
{
    uint64_t slot = homes[row];
    while (at[slot] != 0 && at[slot] != row + 1)
        slot = slots_next(&slots, slot);
    return at[slot] == 0 ? -1 : (int64_t)slot;
}

/* Homes in bunches, also at the end of the array: every row that is left is found from its home, whatever
 * the order in which the others go. */
static void those_that_are_left_are_found(void **state)
{
    static const uint64_t bunches[] = { 22, 22, 23, 22, 0, 5, 5, 23, 6, 5, 1, 22 };
    (void)state;
    for (uint32_t first = 0; first < ROWS; first++) {
        memset(at, 0, sizeof at);
        for (uint32_t row = 0; row < ROWS; row++) {
            homes[row] = bunches[row];
            slots_put(&slots, homes[row], row);
        }
        for (uint32_t gone = 0; gone < ROWS; gone++) {
            const uint32_t row = (first + gone * 5) % ROWS; /* 5 and 12: each row once */
            assert_true(slot_of(row) >= 0);
            slots_remove(&slots, (uint64_t)slot_of(row), home_of, homes);
            for (uint32_t other = 0; other < ROWS; other++) {
                bool left = true;
                for (uint32_t i = 0; i <= gone; i++)
                    left &= other != (first + i * 5) % ROWS;
                assert_int_equal(slot_of(other) >= 0, left);
            }
        }
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            assert_int_equal(at[slot], 0);
    }
}

static void a_hash_belongs_to_one_of_the_slots(void **state)
{
    (void)state;
    assert_int_equal(slots_home(&slots, 0), 0);
    assert_int_equal(slots_home(&slots, UINT64_MAX), SLOTS - 1);
    assert_int_equal(slots_next(&slots, SLOTS - 1), 0);
    assert_true(slots_for(3) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_are_left_are_found),
        cmocka_unit_test(a_hash_belongs_to_one_of_the_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
