/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/cluster_store.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static enum status next(struct place *place, uint64_t after)
{
    struct journal_entry entry;
    uint8_t *buffer = test_malloc(JOURNAL_ENTRY_BYTES_MAX);
    const enum status status =
        place->store->ops->cluster->journal_next(place->store, 3, after, &entry, buffer);
    test_free(buffer);
    return status;
}

static void an_entry_without_bytes_or_with_too_many_is_damage(void **state)
{
    struct place *place = *state;
    place_execute(place, "INSERT INTO journal_entries VALUES(3, 1, 1, x'')");
    place_execute(place, "INSERT INTO journal_entries VALUES(3, 2, 1, zeroblob(1048577))");
    place_execute(place, "INSERT INTO journal_entries VALUES(3, 3, 1, zeroblob(1048576))");
    assert_int_equal(next(place, 0), STATUS_CORRUPT);
    assert_int_equal(next(place, 1), STATUS_CORRUPT);
    assert_int_equal(next(place, 2), STATUS_OK);
    assert_int_equal(next(place, 3), STATUS_NOT_FOUND);
}

static void an_epoch_that_a_ticket_has_no_room_for_is_refused(void **state)
{
    struct place *place = *state;
    place_execute(place, "INSERT INTO parts(part, seq, epoch) VALUES(3, 0, 4095)");
    const struct cluster_store_ops *ops = place->store->ops->cluster;
    assert_int_equal(ops->epoch_raise(place->store, 3, 4095), STATUS_BAD_INPUT);
    assert_int_not_equal(place_try(place, "UPDATE parts SET epoch = 4096 WHERE part = 3"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_entry_without_bytes_or_with_too_many_is_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(an_epoch_that_a_ticket_has_no_room_for_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
