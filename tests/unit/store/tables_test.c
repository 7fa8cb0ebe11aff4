/* SPDX-License-Identifier: Apache-2.0 */
#include "store/restore.h"
#include "tests/seam/store_tables.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A table that the database counts and that a restore does not know would give its numbers again. */
static void every_counter_is_raised_after_a_restore(void **state)
{
    struct place place = { 0 };
    struct store_table tables[STORE_TABLES_MAX];
    int counters = 0;
    (void)state;
    place_make(&place);
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    for (size_t i = store_tables_list(tables); i-- > 0;) {
        struct store_sequence sequence = { .last = 77 };
        if (!tables[i].counts)
            continue;
        snprintf(sequence.name, sizeof sequence.name, "%s", tables[i].name);
        assert_int_equal(place.store->ops->restore->raise(place.store, &sequence), STATUS_OK);
        counters++;
    }
    assert_int_equal(counters, 15);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_counter_is_raised_after_a_restore) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
