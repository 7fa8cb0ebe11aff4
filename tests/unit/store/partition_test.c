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

static void a_number_of_shards_that_parts_have_no_room_for_is_refused(void **state)
{
    struct place *place = *state;
    place_execute(place, "INSERT INTO parts(part, seq, shards) VALUES(3, 0, 32)");
    assert_int_not_equal(place_try(place, "UPDATE parts SET shards = 33 WHERE part = 3"), 0);
    assert_int_not_equal(place_try(place, "UPDATE parts SET shards = 0 WHERE part = 3"), 0);
    assert_int_not_equal(place_try(place, "UPDATE sales SET shards = 33"), 0);
}

/* Opened by a program that did not make the others: it is left to a person. */
static void a_shard_that_stands_alone_is_not_passed_over(void **state)
{
    struct place *place = *state;
    const struct cluster_store_ops *ops = place->store->ops->cluster;
    place_execute(place, "UPDATE sales SET shards = 3; INSERT INTO parts(part, seq) VALUES(34, 0)");
    assert_int_equal(ops->part_want(place->store, 32), STATUS_AWAY);
    assert_int_equal(place_number(place, "SELECT count(*) FROM parts WHERE part > 0"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_entry_without_bytes_or_with_too_many_is_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(an_epoch_that_a_ticket_has_no_room_for_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_number_of_shards_that_parts_have_no_room_for_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_shard_that_stands_alone_is_not_passed_over, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
