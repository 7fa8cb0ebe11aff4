/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/snapshot.h"

#include "base/bytes.h"
#include "tests/unit/inventory/engine_kit.h"
#include "tests/unit/journal/memory_disk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DATA_ID = 77 };

static struct kit kit;
static struct engine loaded;
static struct disk *disk;
static struct journal_position where;

static void fill_and_write(uint64_t lsn)
{
    const struct journal_position at = { .lsn = lsn, .time_ms = 5, .hash = { 1, 2, 3 } };
    assert_int_equal(snapshot_write(disk, &kit.engine, DATA_ID, &at), STATUS_OK);
}

static int setup(void **state)
{
    (void)state;
    disk = memory_disk_open(1);
    kit_ready(&kit, 2, 3);
    return engine_open(&loaded, &kit.engine.config) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    engine_close(&loaded);
    kit_stop(&kit);
    memory_disk_close(disk);
    return 0;
}

static enum status load(void)
{
    return snapshot_load_latest(disk, &loaded, &kit.engine.config, DATA_ID, &where);
}

static void name_of(char name[DISK_NAME_MAX], uint64_t lsn)
{
    snprintf(name, DISK_NAME_MAX, "snapshot-%016" PRIx64, lsn);
}

static void without_a_snapshot_everything_starts_at_zero(void **state)
{
    (void)state;
    where.lsn = 9;
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(where.lsn, 0);
}

static void what_is_loaded_is_what_was_written_and_goes_on_alike(void **state)
{
    (void)state;
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 2, .users = { ANNA, BERT } } };
    const struct command pause = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_PAUSE } };
    assert_int_equal(kit_do(&kit, users, 0), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 4, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 5, 1), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 2, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, pause, 0), ANSWER_DONE);
    for (user_id user = ANNA; user <= CLEO; user++) {
        const struct command arrive = { .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = user } };
        assert_int_equal(kit_do(&kit, arrive, user == CLEO ? SALE_NOW : 0), ANSWER_DONE);
    }
    const struct command admit = { .type = COMMAND_ADMIT, .admit = { .sale = 1, .head = 1 } };
    assert_int_equal(kit_do(&kit, admit, SALE_NOW), ANSWER_DONE);
    fill_and_write(6);
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(where.lsn, 6);
    assert_int_equal(where.time_ms, 5);
    assert_int_equal(where.hash[2], 3);
    assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
    assert_null(engine_check(&loaded));
    assert_int_equal(tickets_find_key(&loaded.tickets, 4), 1);
    assert_int_equal(loaded.sales[1].items, 1);
    assert_int_equal(places_find(&loaded.places, 1, BERT), 1);
    assert_int_equal(loaded.sales[1].drawn, 2);
    assert_int_equal(loaded.sales[1].head, 1);
}

static void a_damaged_snapshot_is_passed_over_for_an_older_one(void **state)
{
    (void)state;
    char name[DISK_NAME_MAX];
    fill_and_write(1);
    const uint64_t older = engine_digest(&kit.engine);
    assert_int_equal(kit_buy(&kit, ANNA, 4, 2), ANSWER_WON);
    fill_and_write(2);
    name_of(name, 2);
    const uint64_t size = memory_disk_size(disk, name);
    for (uint64_t at = 0; at < size; at += at < 128 ? 1 : 7) { /* wherever it is */
        uint8_t byte;
        memory_disk_peek(disk, name, at, &byte, 1);
        byte ^= 0x10;
        memory_disk_poke(disk, name, at, &byte, 1);
        engine_close(&loaded);
        assert_int_equal(engine_open(&loaded, &kit.engine.config), STATUS_OK);
        assert_int_equal(load(), STATUS_OK); /* also where a count became larger than the tables */
        assert_int_equal(where.lsn, 1);
        assert_int_equal(engine_digest(&loaded), older);
        byte ^= 0x10;
        memory_disk_poke(disk, name, at, &byte, 1);
    }
}

static void a_snapshot_of_another_version_is_passed_over(void **state)
{
    (void)state;
    char name[DISK_NAME_MAX];
    uint8_t bytes[4096];
    fill_and_write(1);
    fill_and_write(2);
    name_of(name, 2);
    const uint64_t size = memory_disk_size(disk, name);
    assert_in_range(size, 100, sizeof bytes);
    memory_disk_peek(disk, name, 0, bytes, size);
    bytes_put_u32(bytes + 8, SNAPSHOT_VERSION + 1);
    bytes_put_u32(bytes + size - 4, hash_crc32c(0, bytes, size - 4));
    memory_disk_poke(disk, name, 0, bytes, size);
    assert_int_equal(snapshot_load(disk, &loaded, 2, DATA_ID, &where), STATUS_BAD_INPUT);
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(where.lsn, 1);
}

static void ticket_as_before(uint8_t *row)
{
    struct ticket_row ticket;
    memcpy(&ticket, row, sizeof ticket);
    bytes_put_u64(row + 16, (uint64_t)ticket.item << 48 | ticket.pay_by_ms);
    bytes_put_u16(row + 24, (uint16_t)ticket.quantity);
}

static void buyer_as_before(uint8_t *row)
{
    const uint32_t scope = bytes_get_u32(row + 8), id = scope & 0xfffff;
    bytes_put_u32(row + 8,
        scope >> 21 == 1       ? 1u << 17 | id
            : scope >> 20 == 1 ? 1u << 16 | id
                               : id);
}

/* As older versions wrote it. 1: no keys, no terms of returns, no draws, no cool-downs. Up to 2: rows of
 * tickets without their numbers, no free rows. Up to 3: 16 bits for an id. */
static uint64_t as_version(uint32_t version, const uint8_t *bytes, uint64_t size, uint8_t *out)
{
    const uint64_t buyers = bytes_get_u64(bytes + 88);
    const bool first = version == 1, second = version <= 2;
    const struct {
        uint64_t count, kept, dropped;
        void (*change)(uint8_t *row);
    } parts[] = {
        { 1,
            first        ? 104
                : second ? 112
                         : 136,
            first        ? 32
                : second ? 24
                         : 0,
            NULL },
        { bytes_get_u32(bytes + 12), first ? 29 : 57, first ? 28 : 0, NULL },
        { bytes_get_u32(bytes + 16), first ? 84 : 212, first ? 128 : 0, NULL },
        { bytes_get_u64(bytes + 80), second ? 28 : 32, second ? 4 : 0, ticket_as_before },
        { buyers, first ? 20 : 24, first ? 4 : 0, buyer_as_before },
    };
    uint64_t from = 0, to = 0;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        for (uint64_t i = 0; i < parts[part].count; i++) {
            memcpy(out + to, bytes + from, parts[part].kept);
            if (parts[part].change != NULL)
                parts[part].change(out + to);
            to += parts[part].kept;
            from += parts[part].kept + parts[part].dropped;
        }
    }
    memcpy(out + to, bytes + from, size - from);
    return to + size - from;
}

static void an_older_version_is_read(uint32_t version)
{
    char name[DISK_NAME_MAX];
    uint8_t written[4096], bytes[4096];
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 2, .users = { ANNA, BERT } } };
    assert_int_equal(kit_do(&kit, users, SALE_START - 1), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 4, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 5, 1), ANSWER_WON);
    fill_and_write(1);
    name_of(name, 1);
    const uint64_t size_written = memory_disk_size(disk, name);
    assert_in_range(size_written, 1, sizeof written);
    memory_disk_peek(disk, name, 0, written, size_written);
    const uint64_t size = as_version(version, written, size_written, bytes);
    bytes_put_u32(bytes + 8, version);
    bytes_put_u32(bytes + size - 4, hash_crc32c(0, bytes, size - 4));
    disk_file file;
    assert_int_equal(disk->ops->remove(disk, name), STATUS_OK);
    assert_int_equal(disk->ops->open(disk, name, DISK_CREATE, &file), STATUS_OK);
    assert_int_equal(disk->ops->write(disk, file, 0, bytes, size), STATUS_OK);
    disk->ops->close(disk, file);
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(where.lsn, 1);
    assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
    assert_null(engine_check(&loaded));
}

static void a_snapshot_of_the_first_version_is_read(void **state)
{
    (void)state;
    an_older_version_is_read(1);
}

static void a_snapshot_of_the_second_version_is_read(void **state)
{
    (void)state;
    an_older_version_is_read(2);
}

static void a_snapshot_of_the_third_version_is_read(void **state)
{
    (void)state;
    an_older_version_is_read(3);
}

static void what_was_reclaimed_stays_so_and_rows_go_on_alike(void **state)
{
    (void)state;
    const struct command reclaim = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = 9000, .rows = RECLAIM_ROWS_MAX } };
    for (user_id user = 1; user <= 6; user++) {
        assert_int_equal(kit_buy(&kit, user, user, 1), ANSWER_WON);
        if (user % 2 == 0)
            assert_int_equal(kit_settle(&kit, user, SETTLE_RETURN), ANSWER_DONE);
    }
    assert_int_equal(kit_do(&kit, reclaim, 9000), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, 20, 20, 1), ANSWER_WON);
    assert_int_equal(kit.out.ticket, 7);
    fill_and_write(6);
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
    assert_null(engine_check(&loaded));
    assert_int_equal(tickets_find_key(&loaded.tickets, 20), 7);
    assert_true(tickets_forgotten(&loaded.tickets, 6));
    const struct command buy = { .time_ms = SALE_NOW,
        .type = COMMAND_RESERVE,
        .reserve = { .user = 21, .item = 1, .quantity = 1, .pending_from = UINT64_MAX } };
    struct outcome outcome;
    engine_apply(&loaded, &buy, true, &outcome);
    assert_int_equal(outcome.ticket, 8);
    assert_int_equal(kit_do(&kit, buy, SALE_NOW), ANSWER_WON);
    assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
}

static void who_has_to_wait_before_the_snapshot_has_to_wait_after_it(void **state)
{
    (void)state;
    const struct command let_go = { .type = COMMAND_SETTLE,
        .settle = { .ticket = 1, .step = SETTLE_RETURN, .let_go = true } };
    kit.engine.sales[1].cooldown_s = 60;
    assert_int_equal(kit_buy(&kit, ANNA, 4, 2), ANSWER_WON);
    assert_int_equal(kit_do(&kit, let_go, SALE_NOW), ANSWER_DONE);
    fill_and_write(6);
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
    const struct command ask = {
        .time_ms = SALE_NOW, .type = COMMAND_ASK_MINE, .ask = { .item = 1, .user = ANNA }
    };
    struct outcome outcome;
    engine_apply(&loaded, &ask, true, &outcome);
    assert_int_equal(outcome.again_ms, 62000);
}

static void a_snapshot_that_can_not_be_read_is_passed_over(void **state)
{
    (void)state;
    fill_and_write(1);
    memory_disk_fail(disk, MEMORY_ANY, 3); /* list, open, read */
    assert_int_equal(load(), STATUS_OK);
    memory_disk_fail(disk, MEMORY_ANY, 0);
    assert_int_equal(where.lsn, 0);
}

/* More keys than are kept: the oldest are gone, the others answer as before. */
static void keys_of_admin_commands_survive(void **state)
{
    (void)state;
    struct command adjust = { .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 1 } };
    for (uint32_t i = 0; i <= COMMAND_KEYS_MAX; i++) {
        adjust.origin = (struct command_origin){ .key = 100 + i, .request = 5, .actor = "mia" };
        assert_int_equal(kit_do(&kit, adjust, 0), ANSWER_DONE);
    }
    fill_and_write(2);
    assert_int_equal(load(), STATUS_OK);
    assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
    struct outcome outcome;
    engine_apply(&loaded, &adjust, true, &outcome);
    assert_true(outcome.repeated && !outcome.changed && outcome.applied == 1);
    adjust.origin.key = 100;
    engine_apply(&loaded, &adjust, true, &outcome);
    assert_true(outcome.changed);
}

static void two_are_kept_and_older_ones_go(void **state)
{
    (void)state;
    char name[DISK_NAME_MAX];
    for (uint64_t lsn = 1; lsn <= 5; lsn++)
        fill_and_write(lsn);
    for (uint64_t lsn = 1; lsn <= 5; lsn++) {
        name_of(name, lsn);
        assert_int_equal(memory_disk_has(disk, name), lsn > 5 - SNAPSHOTS_KEPT);
    }
    assert_false(memory_disk_has(disk, "snapshot.tmp"));
}

static void a_snapshot_that_fails_leaves_the_last_one_as_it_was(void **state)
{
    (void)state;
    fill_and_write(1);
    for (uint64_t k = 1;; k++) {
        const struct journal_position at = { .lsn = 2 };
        memory_disk_fail(disk, MEMORY_ANY, k);
        const enum status status = snapshot_write(disk, &kit.engine, DATA_ID, &at);
        memory_disk_fail(disk, MEMORY_ANY, 0);
        if (status == STATUS_OK)
            break;
        assert_true(k < 20);
        engine_close(&loaded);
        assert_int_equal(engine_open(&loaded, &kit.engine.config), STATUS_OK);
        assert_int_equal(load(), STATUS_OK);
        assert_int_equal(engine_digest(&loaded), engine_digest(&kit.engine));
    }
    assert_int_equal(memory_disk_open_files(disk), 0);
}

static void other_data_and_smaller_tables_are_refused(void **state)
{
    (void)state;
    assert_int_equal(kit_buy(&kit, ANNA, 4, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 5, 1), ANSWER_WON);
    fill_and_write(3);
    assert_int_equal(snapshot_load_latest(disk, &loaded, &kit.engine.config, DATA_ID + 1, &where),
        STATUS_CONFLICT);
    const struct engine_config smaller[] = {
        { .items_max = 4, .sales_max = 3, .tickets_max = 1 },
        { .items_max = 2, .sales_max = 3, .tickets_max = 64 }, /* one is there: fits */
    };
    for (uint32_t i = 0; i < 2; i++) {
        engine_close(&loaded);
        assert_int_equal(engine_open(&loaded, &smaller[i]), STATUS_OK);
        assert_int_equal(snapshot_load_latest(disk, &loaded, &smaller[i], DATA_ID, &where),
            i == 0 ? STATUS_FULL : STATUS_OK);
    }
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(without_a_snapshot_everything_starts_at_zero),
        RULE(what_is_loaded_is_what_was_written_and_goes_on_alike),
        RULE(a_damaged_snapshot_is_passed_over_for_an_older_one),
        RULE(a_snapshot_of_another_version_is_passed_over),
        RULE(a_snapshot_of_the_first_version_is_read),
        RULE(a_snapshot_of_the_second_version_is_read),
        RULE(a_snapshot_of_the_third_version_is_read),
        RULE(what_was_reclaimed_stays_so_and_rows_go_on_alike),
        RULE(who_has_to_wait_before_the_snapshot_has_to_wait_after_it),
        RULE(a_snapshot_that_can_not_be_read_is_passed_over),
        RULE(keys_of_admin_commands_survive),
        RULE(two_are_kept_and_older_ones_go),
        RULE(a_snapshot_that_fails_leaves_the_last_one_as_it_was),
        RULE(other_data_and_smaller_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
