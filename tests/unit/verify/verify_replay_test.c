/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

#include "contract/record.h"
#include "inventory/replay.h"
#include "tests/support/journal_put.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_SEGMENT "segment-0000000000000001"

static void a_flipped_byte_in_the_middle_is_named_by_segment_and_batch(void **state)
{
    (void)state;
    folder_flip(&sold_folder, "journal/" FIRST_SEGMENT, 4096 * 5 + 90);
    const char *text = sold_verified(VERIFY_DAMAGED);
    assert_says(text, "FAILED: journal damaged: " FIRST_SEGMENT " at byte 20480: ");
    assert_says(text, "FAILED  hash chain of the journal");
}

static void a_flipped_byte_in_the_segments_header_is_named(void **state)
{
    (void)state;
    folder_flip(&sold_folder, "journal/" FIRST_SEGMENT, 20);
    assert_says(sold_verified(VERIFY_DAMAGED), FIRST_SEGMENT);
}

static void a_lost_last_batch_shows_by_the_databases_position_and_the_snapshot(void **state)
{
    (void)state;
    /* Like a torn end: cut, not damage. */
    folder_flip(&sold_folder, "journal/" FIRST_SEGMENT, 4096 * 16 + 90);
    const char *text = sold_verified(VERIFY_FAILED);
    assert_says(
        text, "the journal is older than the database: it ends at 15, orders are written up to 16");
    assert_says(text, "is of a later position than the end of the log, 15");
    assert_says(text, "the last batch is torn");
}

static void a_torn_end_that_nobody_was_told_of_is_no_failure(void **state)
{
    (void)state;
    char path[160];
    snprintf(path, sizeof path, "%s/journal/" FIRST_SEGMENT, sold_folder.path);
    FILE *segment = fopen(path, "r+e");
    assert_non_null(segment);
    assert_int_equal(fseek(segment, 4096 * 17, SEEK_SET), 0);
    assert_int_equal(fputs("half a batch", segment) >= 0, 1);
    assert_int_equal(fclose(segment), 0);
    assert_says(sold_verified(VERIFY_HOLDS), "the last batch is torn (12 bytes)");
}

/* What an engine with another rule would have logged: the journal is whole, its records lie. */
static void forged_append(uint64_t time_ms, const struct command *command)
{
    char error[CONFIG_ERROR];
    uint8_t bytes[RECORD_BYTES_MAX];
    struct engine engine;
    const struct engine_config sizes = { .items_max = 16, .sales_max = 8, .tickets_max = 1000 };
    struct replay replay = { .engine = &engine };
    struct journal *journal;
    struct journal_recovery recovery;
    struct outcome outcome;
    const struct journal_position beginning = { 0 };
    assert_int_equal(data_folder_open(&sold_folder.data, sold_folder.path, DATA_SERVE, error), STATUS_OK);
    assert_int_equal(engine_open(&engine, &sizes), STATUS_OK);
    const struct journal_config config = { sold_folder.data.journal, sold_folder.data.data_id,
        64 * 4096, 4 * 4096 };
    assert_int_equal(
        journal_open(&journal, &config, &beginning, replay_record, &replay, &recovery), STATUS_OK);
    struct command forged = *command;
    forged.time_ms = FOLDER_START_MS + 10;
    engine_apply(&engine, &forged, true, &outcome);
    assert_true(outcome.changed);
    forged.time_ms = time_ms;
    outcome.pay_by_ms += time_ms - (FOLDER_START_MS + 10);
    journal_put(journal, forged.type, bytes, record_encode(&forged, &outcome, bytes));
    assert_true(journal_seal(journal, time_ms));
    assert_int_equal(journal_write(journal), STATUS_OK);
    journal_close(journal);
    engine_close(&engine);
    data_folder_close(&sold_folder.data);
}

static void a_win_after_the_end_is_found_although_the_journal_is_whole(void **state)
{
    (void)state;
    const struct command late = { .type = COMMAND_RESERVE,
        .reserve = { .user = 77, .key = 5, .item = 2, .quantity = 1 } };
    forged_append(FOLDER_START_MS + 3600000, &late);
    const char *text = sold_verified(VERIFY_FAILED);
    assert_says(text, "record 17: replay comes to another outcome");
}

static void late_money_may_win_after_the_end(void **state)
{
    (void)state;
    const struct command late = { .type = COMMAND_RESERVE,
        .reserve = { .user = 77, .key = 5, .item = 2, .quantity = 1, .flags = RESERVE_AFTER_END } };
    forged_append(FOLDER_START_MS + 3600000, &late);
    assert_says(sold_verified(VERIFY_HOLDS), "verified: 17 records, 12 tickets");
}

static void an_empty_folder_holds(void **state)
{
    (void)state;
    struct verify_folder empty = { .path = "/tmp/stampede-verify-XXXXXX" };
    int result;
    assert_non_null(mkdtemp(empty.path));
    folder_start(&empty);
    folder_stop(&empty, false);
    const char *text = folder_verify(empty.path, "x", 0, 5, false, &result);
    assert_says(text, "verified: 0 records, 0 tickets, all checks hold");
    assert_int_equal(result, VERIFY_HOLDS);
    folder_remove(&empty);
}

static void a_long_list_of_users_fits_whatever_the_tables_were_sized_for(void **state)
{
    (void)state;
    folder_start(&sold_folder);
    struct command users = { .type = COMMAND_USERS, .users = { .sale = 1, .count = USERS_PER_COMMAND } };
    for (uint64_t i = 0; i < 1700; i++) { /* 33 in a batch: far more users than tickets fit in these bytes */
        for (uint32_t k = 0; k < USERS_PER_COMMAND; k++)
            users.users.users[k] = (i * USERS_PER_COMMAND + k + 1) * UINT64_C(0x9e3779b97f4a7c15);
        struct inventory_request *request = sold_folder.port->ops->reserve(sold_folder.port);
        assert_non_null(request);
        *request = (struct inventory_request){ .command = users };
        sold_folder.port->ops->commit(sold_folder.port);
        sold_folder.port->ops->flush(sold_folder.port);
        if (i % 33 != 32 && i != 1699)
            continue;
        while (!embedded_idle(sold_folder.embedded)) {
            (void)embedded_turn(sold_folder.embedded, sold_folder.now_ms);
            (void)embedded_write(sold_folder.embedded);
            assert_int_equal(embedded_housekeep(sold_folder.embedded), STATUS_OK);
            while (sold_folder.port->ops->collect(sold_folder.port) != NULL)
                continue;
        }
    }
    folder_write_orders(&sold_folder);
    folder_stop(&sold_folder, false);
    assert_says(sold_verified(VERIFY_HOLDS), "verified: 1716 records");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_flipped_byte_in_the_middle_is_named_by_segment_and_batch, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_flipped_byte_in_the_segments_header_is_named, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_lost_last_batch_shows_by_the_databases_position_and_the_snapshot, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_torn_end_that_nobody_was_told_of_is_no_failure, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_win_after_the_end_is_found_although_the_journal_is_whole, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(late_money_may_win_after_the_end, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_empty_folder_holds, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_long_list_of_users_fits_whatever_the_tables_were_sized_for, sold_make, sold_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
