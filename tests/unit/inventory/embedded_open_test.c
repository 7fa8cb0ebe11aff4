/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/embedded.h"

#include "journal/segment.h"
#include "tests/unit/inventory/engine_kit.h"
#include "tests/unit/journal/memory_disk.h"

#include <stdio.h>
#include <string.h>

#define FIRST_SEGMENT SEGMENT_PREFIX "0000000000000001"

static struct disk *disk;
static struct embedded *embedded;
static struct embedded_report report;

static enum status inventory_open(uint64_t tickets_max)
{
    const struct embedded_config config = {
        .journal = { .disk = disk,
            .data_id = 5,
            .segment_bytes = 4 * JOURNAL_PAGE,
            .batch_bytes = 2 * JOURNAL_PAGE,
        },
        .engine = { .items_max = 4, .sales_max = 3, .tickets_max = tickets_max },
        .ports = 1,
        .ring_slots = 64,
    };
    return embedded_open(&embedded, &config, &report);
}

static enum answer ask(struct command command, uint64_t now_ms)
{
    struct inventory_port *port = embedded_port(embedded, 0, NULL);
    if (journal_wants_segment(embedded_journal(embedded)))
        assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    struct inventory_request *request = port->ops->reserve(port);
    assert_non_null(request);
    request->tag = 0;
    request->command = command;
    port->ops->commit(port);
    port->ops->flush(port);
    while (embedded_turn(embedded, now_ms)) {
    }
    (void)embedded_write(embedded);
    embedded_turn(embedded, now_ms);
    const struct inventory_answer *told = port->ops->collect(port);
    assert_non_null(told);
    const enum answer answer = told->outcome.answer;
    assert_null(port->ops->collect(port));
    return answer;
}

static void sale_start(void)
{
    struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 0) };
    preheat.preheat.total = preheat.preheat.channel_units[0] = 1000;
    preheat.preheat.safety = 0;
    for (uint32_t channel = 1; channel < CHANNELS_MAX; channel++)
        preheat.preheat.channel_units[channel] = 0;
    preheat.preheat.locked = preheat.preheat.sold_before = 0;
    assert_int_equal(ask((struct command){ .type = COMMAND_SALE,
                             .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = SALE_END } },
                         SALE_START),
        ANSWER_DONE);
    assert_int_equal(ask(preheat, SALE_START), ANSWER_DONE);
}

static enum answer buy(user_id user, uint64_t now_ms)
{
    return ask((struct command){ .type = COMMAND_RESERVE,
                   .reserve = { .user = user, .item = 1, .quantity = 1 } },
        now_ms);
}

static int setup(void **state)
{
    (void)state;
    disk = memory_disk_open(9);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    sale_start();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    embedded_close(embedded);
    embedded = NULL;
    memory_disk_close(disk);
    return 0;
}

/* Each purchase is a batch and a page: a few of them fill a segment. */
static void buy_until_the_log_rolls(user_id *user)
{
    const uint64_t begun = journal_segments_begun(embedded_journal(embedded));
    while (journal_segments_begun(embedded_journal(embedded)) == begun)
        assert_int_equal(buy((*user)++, SALE_NOW), ANSWER_WON);
}

static void a_roll_makes_a_snapshot_and_the_next_start_replays_only_what_follows(void **state)
{
    user_id user = 100;
    (void)state;
    buy_until_the_log_rolls(&user);
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    assert_int_equal(buy(user++, SALE_NOW), ANSWER_WON);
    const uint64_t digest = engine_digest(embedded_engine(embedded));
    const uint64_t end = journal_durable(embedded_journal(embedded));
    embedded_close(embedded);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    assert_true(report.snapshot.lsn > 0 && report.snapshot.lsn < end);
    assert_int_equal(report.replay.records, end - report.snapshot.lsn);
    assert_true(engine_digest(embedded_engine(embedded)) == digest);
}

static void snapshot_newest(void *context, const char *name)
{
    uint64_t *newest = context, lsn;
    assert_int_equal(span_to_hex64(span_from_string(name + strlen("snapshot-")), &lsn), STATUS_OK);
    *newest = lsn > *newest ? lsn : *newest;
}

/* One after each roll would write rows × rolls. */
static void snapshots_become_rarer_as_the_state_grows_and_replay_stays_in_proportion(void **state)
{
    enum { WINS = 900, RECORDS_PER_SEGMENT = 3 };
    uint64_t newest = 0, snapshots = 0, rows_written = 0;
    (void)state;
    for (user_id user = 1; user <= WINS; user++) {
        uint64_t now = 0;
        assert_int_equal(buy(user, SALE_NOW), ANSWER_WON);
        assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
        assert_int_equal(disk->ops->list(disk, "snapshot-", snapshot_newest, &now), STATUS_OK);
        const uint64_t end = journal_durable(embedded_journal(embedded));
        if (now != newest) {
            snapshots++;
            rows_written += 2 * now; /* a ticket and a buyer for each win */
        }
        newest = now;
        assert_true((end - newest) * 4 <= 2 * newest + 4 * RECORDS_PER_SEGMENT);
    }
    assert_in_range(snapshots, 8, 20);
    assert_in_range(rows_written, 2 * WINS, 6 * 2 * WINS / 2);
    embedded_close(embedded);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    assert_true(report.snapshot.lsn == newest);
}

static void a_roll_packs_the_closed_segment_and_the_log_replays_without_a_snapshot(void **state)
{
    user_id user = 100;
    char name[DISK_NAME_MAX];
    (void)state;
    buy_until_the_log_rolls(&user);
    assert_int_equal(memory_disk_size(disk, FIRST_SEGMENT), 4 * JOURNAL_PAGE);
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    assert_true(memory_disk_size(disk, FIRST_SEGMENT) < 2 * JOURNAL_PAGE);
    const uint64_t digest = engine_digest(embedded_engine(embedded));
    const uint64_t end = journal_durable(embedded_journal(embedded));
    snprintf(name, sizeof name, "snapshot-%016llx",
        (unsigned long long)journal_segment_start(embedded_journal(embedded)) - 1);
    embedded_close(embedded);
    assert_int_equal(disk->ops->remove(disk, name), STATUS_OK);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    assert_int_equal(report.replay.records, end);
    assert_true(engine_digest(embedded_engine(embedded)) == digest);
}

static void what_can_wait_waits_while_many_purchases_come(void **state)
{
    user_id user = 100;
    uint64_t newest = 0;
    (void)state;
    buy_until_the_log_rolls(&user);
    assert_int_equal(embedded_prepare(embedded), STATUS_OK);
    assert_int_equal(embedded_keep(embedded, true), STATUS_OK);
    assert_int_equal(memory_disk_size(disk, FIRST_SEGMENT), 4 * JOURNAL_PAGE);
    assert_int_equal(disk->ops->list(disk, "snapshot-", snapshot_newest, &newest), STATUS_OK);
    assert_int_equal(newest, 0);
    /* Then fewer come. No further segment needs to be full for that. */
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    assert_true(memory_disk_size(disk, FIRST_SEGMENT) < 2 * JOURNAL_PAGE);
    assert_int_equal(disk->ops->list(disk, "snapshot-", snapshot_newest, &newest), STATUS_OK);
    assert_int_equal(newest, journal_segment_start(embedded_journal(embedded)) - 1);
}

/* Left by a crash, or by a program that did not pack. */
static void a_closed_segment_of_an_earlier_run_is_packed_after_the_start(void **state)
{
    user_id user = 100;
    (void)state;
    buy_until_the_log_rolls(&user);
    embedded_close(embedded);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    assert_int_equal(memory_disk_size(disk, FIRST_SEGMENT), 4 * JOURNAL_PAGE);
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    assert_true(memory_disk_size(disk, FIRST_SEGMENT) < 2 * JOURNAL_PAGE);
}

/* The next segment has no room, but the closed one gives some back. */
static void a_full_disk_is_packed_and_wins_go_on(void **state)
{
    user_id user = 100;
    (void)state;
    buy_until_the_log_rolls(&user);
    const uint64_t used = 2 * 4 * JOURNAL_PAGE;
    memory_disk_capacity(disk, used + 2 * JOURNAL_PAGE);
    assert_int_equal(embedded_prepare(embedded), STATUS_FULL);
    assert_int_equal(embedded_keep(embedded, true), STATUS_FULL); /* also while many purchases come */
    assert_true(memory_disk_size(disk, FIRST_SEGMENT) < 2 * JOURNAL_PAGE);
    memory_disk_capacity(disk, UINT64_MAX); /* for the snapshot */
    assert_int_equal(embedded_housekeep(embedded), STATUS_OK);
    assert_int_equal(buy(user, SALE_NOW), ANSWER_WON);
}

static void time_never_starts_behind_the_log(void **state)
{
    (void)state;
    assert_int_equal(buy(7, SALE_NOW + 1), ANSWER_WON);
    embedded_close(embedded);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    assert_true(embedded_time_floor(embedded) == SALE_NOW + 1);
    /* A wall clock that was set back does not open yesterday's window again. */
    assert_int_equal(buy(8, SALE_START - 1), ANSWER_WON);
    embedded_close(embedded);
    assert_int_equal(inventory_open(4096), STATUS_OK);
    assert_true(embedded_time_floor(embedded) == SALE_NOW + 1);
}

static void a_snapshot_that_does_not_fit_the_settings_is_named(void **state)
{
    (void)state;
    for (user_id user = 1; user <= 40; user++)
        assert_int_equal(buy(user, SALE_NOW), ANSWER_WON);
    assert_int_equal(embedded_snapshot_now(embedded), STATUS_OK);
    embedded_close(embedded);
    embedded = NULL;
    assert_int_equal(inventory_open(16), STATUS_FULL);
    assert_null(embedded);
    assert_non_null(strstr(report.what, "tickets_max"));
    assert_int_equal(inventory_open(4096), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_roll_makes_a_snapshot_and_the_next_start_replays_only_what_follows, setup, teardown),
        cmocka_unit_test_setup_teardown(
            snapshots_become_rarer_as_the_state_grows_and_replay_stays_in_proportion, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_roll_packs_the_closed_segment_and_the_log_replays_without_a_snapshot, setup, teardown),
        cmocka_unit_test_setup_teardown(what_can_wait_waits_while_many_purchases_come, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_closed_segment_of_an_earlier_run_is_packed_after_the_start, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_packed_and_wins_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(time_never_starts_behind_the_log, setup, teardown),
        cmocka_unit_test_setup_teardown(a_snapshot_that_does_not_fit_the_settings_is_named, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
