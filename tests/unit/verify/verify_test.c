/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void a_healthy_folder_holds_and_every_check_ran(void **state)
{
    (void)state;
    int result;
    const char *text = folder_verify(sold_folder.path, NULL, 0, 0, false, &result);
    assert_says(text, "verified: 16 records, 11 tickets, all checks hold\n");
    assert_int_equal(result, VERIFY_HOLDS);
    assert_silent(text, "not checked");
    assert_silent(text, "FAILED");
    assert_says(text, "ok      snapshots equal the replay");
    assert_says(text, "time: 2026-11-11T11:59:00.000Z to 2026-11-11T12:00:06.000Z");
    /*                  item      given       free       held       sold     safety written off
     * tickets */
    assert_says(text,
        "     1         10          1          8          1          0           0         10\n");
    assert_says(text,
        "     2         20         14          4          0          2           0          1\n");
}

static void verifying_changes_no_byte_of_the_journal_and_makes_no_file_in_it(void **state)
{
    (void)state;
    int result;
    const uint64_t before = tree_digest(sold_folder.path);
    folder_verify(sold_folder.path, NULL, 0, 0, false, &result);
    assert_true(tree_digest(sold_folder.path) == before);
}

static void a_winner_hears_of_ticket_free_units_and_who_was_ahead(void **state)
{
    (void)state;
    int result;
    char part[96];
    const char *text = folder_verify(sold_folder.path, "user-3", 0, 0, false, &result);
    assert_int_equal(result, VERIFY_HOLDS);
    assert_says(text, "2026-11-11T12:00:00.300Z  position 7  won 1 of item 1 on channel 0");
    assert_says(text, "free in the channel before 7, after 6");
    assert_says(text, "3 wins of the item before it; ahead in the same second 3, in the same batch 0");
    assert_says(text, "limit: 1 per user and item (this user has 1 now), no limit per user and sale");
    assert_says(text, "won 4 of item 2 on channel 0");
    snprintf(part, sizeof part, "ticket %016llx, order %016llx, unit price 99900",
        (unsigned long long)funnel_ticket_id(&sold_folder.keys, 4),
        (unsigned long long)funnel_order_id(&sold_folder.keys, 4));
    assert_says(text, part);
    assert_silent(text, "never won");
}

static void a_winner_is_found_by_the_hex_user_id_too_and_one_item_can_be_picked(void **state)
{
    (void)state;
    int result;
    char id[17];
    snprintf(id, sizeof id, "%016llx",
        (unsigned long long)funnel_user_id(&sold_folder.keys, SPAN("user-3")));
    const char *text = folder_verify(sold_folder.path, id, 2, 0, false, &result);
    assert_says(text, "won 4 of item 2");
    assert_silent(text, "of item 1 on channel");
}

static void a_return_is_told_with_what_it_freed(void **state)
{
    (void)state;
    int result;
    const char *text = folder_verify(sold_folder.path, "user-1", 0, 0, false, &result);
    assert_says(text, "2026-11-11T12:00:06.000Z  position 16  1 of item 1 returned");
    assert_says(text, "free before 0, after 1");
    text = folder_verify(sold_folder.path, "user-0", 0, 0, false, &result);
    assert_says(text, "1 of item 1 sold");
}

static void who_never_won_hears_so_and_that_refusals_are_not_logged(void **state)
{
    (void)state;
    int result;
    const char *text = folder_verify(sold_folder.path, "late", 0, 0, false, &result);
    assert_int_equal(result, VERIFY_HOLDS);
    assert_says(text, "nothing in the log: this user never won; refusals are not logged");
}

static void counts_at_a_moment_are_those_behind_its_last_record(void **state)
{
    (void)state;
    int result;
    const char *text = folder_verify(sold_folder.path, NULL, 1, FOLDER_START_MS + 299, false, &result);
    assert_says(text, "at 2026-11-11T12:00:00.299Z, position 6\n");
    assert_says(text,
        "     1         10          7          3          0          0           0          3\n");
    text = folder_verify(sold_folder.path, NULL, 1, FOLDER_START_MS + 300, false, &result);
    assert_says(text, "at 2026-11-11T12:00:00.300Z, position 7\n");
    assert_says(text,
        "     1         10          6          4          0          0           0          4\n");
    text = folder_verify(sold_folder.path, NULL, 0, 1, false, &result);
    assert_says(text, "position 0\n");
    assert_says(text, "(no item)");
    text = folder_verify(sold_folder.path, NULL, 0, FOLDER_START_MS + 999999, false, &result);
    assert_says(text, "position 16\n");
}

static void beside_a_running_server_it_reads_what_is_durable_and_says_so(void **state)
{
    (void)state;
    int result;
    folder_start(&sold_folder);
    const char *text = folder_verify(sold_folder.path, NULL, 0, 0, false, &result);
    assert_int_equal(result, VERIFY_HOLDS);
    assert_says(text, "a server is running on it: read up to position 16");
    sold_folder.now_ms = FOLDER_START_MS + 7000;
    assert_int_equal(folder_buy(&sold_folder, "one-more", 1, 1), 12);
    text = folder_verify(sold_folder.path, NULL, 0, 0, false, &result);
    assert_says(text, "read up to position 17");
    assert_says(text, "database: written up to position 16, 11 orders");
    assert_int_equal(result, VERIFY_HOLDS);
    folder_stop(&sold_folder, false);
}

static void a_folder_that_is_none_is_named_and_not_made(void **state)
{
    (void)state;
    int result;
    struct stat entry;
    const char *text = folder_verify("/tmp/stampede-no-such-folder", NULL, 0, 0, false, &result);
    assert_int_equal(result, VERIFY_DAMAGED);
    assert_says(text, "FAILED: /tmp/stampede-no-such-folder is not a data folder");
    assert_int_not_equal(stat("/tmp/stampede-no-such-folder", &entry), 0);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    char *const cases[][4] = { { "verify", NULL }, { "verify", "a", "b", NULL },
        { "verify", "a", "--item", NULL }, { "verify", "a", "--nothing", NULL } };
    char *zero[] = { "verify", "a", "--item", "0", NULL };
    char *when[] = { "verify", "a", "--at", "noon", NULL };
    const int quiet = open("/dev/null", O_WRONLY), kept = dup(STDERR_FILENO);
    dup2(quiet, STDERR_FILENO);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = 0;
        char *arguments[5] = { 0 };
        for (; cases[i][count] != NULL; count++)
            arguments[count] = cases[i][count];
        assert_int_equal(verify_main(count, arguments, NULL), VERIFY_DAMAGED);
    }
    assert_int_equal(verify_main(4, zero, NULL), VERIFY_DAMAGED);
    assert_int_equal(verify_main(4, when, NULL), VERIFY_DAMAGED);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_folder_holds_and_every_check_ran),
        cmocka_unit_test(verifying_changes_no_byte_of_the_journal_and_makes_no_file_in_it),
        cmocka_unit_test(a_winner_hears_of_ticket_free_units_and_who_was_ahead),
        cmocka_unit_test(a_winner_is_found_by_the_hex_user_id_too_and_one_item_can_be_picked),
        cmocka_unit_test(a_return_is_told_with_what_it_freed),
        cmocka_unit_test(who_never_won_hears_so_and_that_refusals_are_not_logged),
        cmocka_unit_test(counts_at_a_moment_are_those_behind_its_last_record),
        cmocka_unit_test(beside_a_running_server_it_reads_what_is_durable_and_says_so),
        cmocka_unit_test(a_folder_that_is_none_is_named_and_not_made),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, sold_make, sold_remove);
}
