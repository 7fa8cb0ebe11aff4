/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/ticket_number.h"
#include "tests/unit/base/unit.h"
#include "verify/verify_parts.h"

#include <string.h>

enum { ITEM = 1, SALE = 3, SHARDS = 3 };

/* A sale with three shards, 10 units in each, and a sale of one shard behind it. */
static struct engine engines[SHARDS + 1];
static struct verify_log logs[SHARDS + 1];
static struct verify_item items[4];
static struct verify verify;
static struct replay replay;

static int setup(void **state)
{
    (void)state;
    memset(logs, 0, sizeof logs);
    memset(items, 0, sizeof items);
    memset(&verify, 0, sizeof verify);
    memset(&replay, 0, sizeof replay);
    verify.source.partitions = true;
    verify.logs = logs;
    verify.log_count = SHARDS + 1;
    verify.items = items;
    verify.replay = &replay;
    for (uint32_t i = 0; i <= SHARDS; i++) {
        assert_int_equal(
            engine_open(&engines[i],
                &(struct engine_config){ .items_max = 4, .sales_max = 8, .tickets_max = 16 }),
            STATUS_OK);
        engines[i].items[ITEM] = (struct engine_item){ .sale = i < SHARDS ? SALE : SALE + 1,
            .total = 12,
            .locked = 2,
            .given = 10,
            .free = { 10 },
            .unit_price = 99 };
        logs[i].engine = &engines[i];
        logs[i].state.part = i < SHARDS ? part_of_sale(SALE, i) : part_of_sale(SALE + 1, 0);
    }
    items[ITEM].log = &logs[1];
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= SHARDS; i++)
        engine_close(&engines[i]);
    return 0;
}

/* A record of that shard. */
static void moved(uint32_t shard, uint8_t type, uint32_t other, uint32_t number, uint32_t units)
{
    struct engine_transfers *transfers = &engines[shard].transfers;
    struct engine_item *item = &engines[shard].items[ITEM];
    const uint32_t change = type == COMMAND_GIVE ? (uint32_t) - (int32_t)units : units;
    *(type == COMMAND_GIVE ? &transfers->given[other] : &transfers->taken[other]) = number;
    item->free[0] += change;
    item->given += change;
    item->total += change;
    replay.command = (struct command){ .type = type,
        .transfer = { .item = ITEM, .quantity = 99, .number = number, .shard = (uint8_t)other } };
    replay.outcome = (struct outcome){ .applied = (int32_t)units };
    verify.log = &logs[shard];
    verify_transfer_note(&verify);
}

static uint64_t failures(void)
{
    verify_transfers_check(&verify);
    return verify.checks[CHECK_CONSERVATION].failures;
}

static void an_item_has_the_units_of_all_its_shards_and_of_those_on_their_way(void **state)
{
    struct verify_units sum;
    (void)state;
    assert_true(verify_item_sum(&verify, ITEM, &sum));
    assert_true(sum.total == 36 && sum.locked == 6 && sum.unit_price == 99);
    assert_true(sum.counts.given == 30 && sum.counts.free == 30);
    moved(0, COMMAND_GIVE, 2, 1, 4);
    assert_true(verify_item_sum(&verify, ITEM, &sum));
    assert_true(sum.total == 36 && sum.counts.given == 30 && sum.counts.channel_free[0] == 30);
    moved(2, COMMAND_TAKE, 0, 1, 4);
    assert_true(verify_item_sum(&verify, ITEM, &sum));
    assert_true(sum.total == 36 && sum.counts.given == 30 && sum.counts.channel_free[0] == 30);
    assert_false(verify_item_sum(&verify, 2, &sum));
}

static void what_left_one_shard_came_to_the_other_or_is_on_its_way(void **state)
{
    (void)state;
    assert_int_equal(failures(), 0);
    moved(0, COMMAND_GIVE, 2, 1, 4);
    assert_int_equal(failures(), 0);
    moved(2, COMMAND_TAKE, 0, 1, 4);
    moved(0, COMMAND_GIVE, 2, 2, 3);
    moved(1, COMMAND_GIVE, 2, 1, 2);
    assert_int_equal(failures(), 0);
}

static void units_that_nobody_gave_or_that_were_lost_are_told(void **state)
{
    (void)state;
    moved(0, COMMAND_GIVE, 2, 1, 4);
    moved(2, COMMAND_TAKE, 0, 1, 5); /* more than were given */
    assert_int_equal(failures(), 1);
    assert_non_null(
        strstr(verify.checks[CHECK_CONSERVATION].what, "partition 96 gave 4 units to partition 98"));
    moved(1, COMMAND_TAKE, 0, 1, 1); /* by a transfer that there was not */
    assert_int_equal(failures(), 1 + 2);
}

static void a_log_that_could_not_be_read_says_nothing_about_transfers(void **state)
{
    (void)state;
    moved(2, COMMAND_TAKE, 0, 1, 5);
    logs[0].broken = true;
    assert_int_equal(failures(), 0);
    assert_true(verify_item_broken(&verify, ITEM));
    logs[0].broken = false;
    logs[SHARDS].broken = true; /* another sale's */
    assert_false(verify_item_broken(&verify, ITEM));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(an_item_has_the_units_of_all_its_shards_and_of_those_on_their_way),
        RULE(what_left_one_shard_came_to_the_other_or_is_on_its_way),
        RULE(units_that_nobody_gave_or_that_were_lost_are_told),
        RULE(a_log_that_could_not_be_read_says_nothing_about_transfers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
