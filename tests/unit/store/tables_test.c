/* SPDX-License-Identifier: Apache-2.0 */
#include "store/restore.h"
#include "store/store.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A table that the database counts and that a restore does not know would give its numbers again. */
static void every_counter_is_raised_after_a_restore(void **state)
{
    struct place place = { 0 };
    int counters = 0;
    (void)state;
    place_make(&place);
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    for (const char *const *text = store_tables; *text != NULL; text++) {
        const char *at = *text;
        for (const char *found; (found = strstr(at, "AUTOINCREMENT")) != NULL; at = found + 1) {
            struct store_sequence sequence = { .last = 77 };
            const char *table = NULL;
            for (const char *next = at; next != NULL && next < found;
                 next = strstr(next + 1, "CREATE TABLE "))
                table = strncmp(next, "CREATE TABLE ", 13) == 0 ? next + 13 : table;
            assert_non_null(table);
            snprintf(sequence.name, sizeof sequence.name, "%.*s", (int)strcspn(table, "("), table);
            assert_int_equal(place.store->ops->restore->raise(place.store, &sequence), STATUS_OK);
            counters++;
        }
    }
    assert_int_equal(counters, 7);
    place_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_counter_is_raised_after_a_restore) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
