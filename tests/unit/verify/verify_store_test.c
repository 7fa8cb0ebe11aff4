/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_deleted_order_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "DELETE FROM orders WHERE ticket = 5");
    assert_says(sold_verified(VERIFY_FAILED), "has no order and no dead letter");
}

/* Below it comes no other order that would show the gap. */
static void a_deleted_order_of_the_first_ticket_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "DELETE FROM orders WHERE ticket = 1");
    assert_says(sold_verified(VERIFY_FAILED), "has no order and no dead letter");
}

static void an_order_of_another_user_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE orders SET user_id = 42 WHERE ticket = 5");
    assert_says(sold_verified(VERIFY_FAILED), "has another user than its ticket");
}

static void an_order_of_another_quantity_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE orders SET quantity = 3, amount = 3 * unit_price WHERE ticket = 11");
    assert_says(sold_verified(VERIFY_FAILED), "has another quantity than its ticket");
}

static void an_order_at_the_list_price_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE orders SET unit_price = 499900, amount = 499900 WHERE ticket = 6");
    assert_says(sold_verified(VERIFY_FAILED), "has another unit price than its ticket");
}

static void an_order_of_another_item_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE orders SET item = 2, slot = 99 WHERE ticket = 6");
    assert_says(sold_verified(VERIFY_FAILED), "has another item than its ticket");
}

static void an_invented_order_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "INSERT INTO orders(ticket, item, user_id, slot, quantity, channel, state, reason, "
        "unit_price,"
        " amount, created_ms, pay_by_ms, version) SELECT 12, item, 99, slot, quantity, channel, "
        "state,"
        " reason, unit_price, amount, created_ms, pay_by_ms, version FROM orders WHERE ticket = 5");
    assert_says(sold_verified(VERIFY_FAILED), "has no ticket in the log (number 12, the last one is 11)");
}

static void the_order_of_a_forgotten_ticket_must_be_there_and_over(void **state)
{
    (void)state;
    folder_start(&sold_folder);
    sold_folder.now_ms = FOLDER_START_MS + 7200000;
    assert_int_equal(folder_reclaim(&sold_folder), 1); /* ticket 2 */
    folder_write_orders(&sold_folder);
    folder_stop(&sold_folder, true);
    (void)sold_verified(VERIFY_HOLDS);
    folder_sql(&sold_folder, "UPDATE orders SET state = 2, reason = 0, slot = 0 WHERE ticket = 2");
    assert_says(sold_verified(VERIFY_FAILED), "its ticket is returned");
    folder_sql(&sold_folder, "DELETE FROM orders WHERE ticket = 2");
    assert_says(sold_verified(VERIFY_FAILED),
        "(returned, and forgotten since) has no order and no dead letter");
}

static void a_longer_time_to_pay_needs_a_payment(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE orders SET pay_by_ms = pay_by_ms - 1 WHERE ticket = 5");
    assert_says(sold_verified(VERIFY_FAILED), "has another pay-by time than its ticket");
    folder_sql(&sold_folder, "UPDATE orders SET pay_by_ms = pay_by_ms + 2 WHERE ticket = 5");
    assert_says(sold_verified(VERIFY_FAILED), "has another pay-by time than its ticket");
    folder_sql(&sold_folder,
        "INSERT INTO payments(id, ticket, paid_ticket, provider, reference, provider_id, url, "
        "amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms,"
        " closing_ms) VALUES(1, 5, 0, 'alpha', 'a1', '', '', 9, 'CNY',"
        " 0, 2, 0, 0, 1, 0, 2, 3, 0)");
    (void)sold_verified(VERIFY_HOLDS);
}

static void money_that_is_nowhere_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "INSERT INTO payments(id, ticket, paid_ticket, provider, reference, provider_id, url, "
        "amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms,"
        " closing_ms) VALUES(1, 5, 0, 'alpha', 'a1', '', '', 9, 'CNY',"
        " 9, 4, 4, 0, 1, 1, 0, 3, 0)");
    assert_says(sold_verified(VERIFY_FAILED),
        "9 came in, 0 went back, 0 is to go back, 0 waits, but orders for 0 are paid by it");
    folder_sql(&sold_folder,
        "INSERT INTO refunds(id, payment, ticket, provider, refund_key, provider_id, amount, "
        "currency, "
        "state,"
        " why, tries, created_ms, done_ms, next_ms, error)"
        " VALUES(1, 1, 5, 'alpha', 'ra1', '', 9, 'CNY', 1, 1, 0, 1, 0, 1, '')");
    (void)sold_verified(VERIFY_HOLDS);
    folder_sql(&sold_folder, "UPDATE refunds SET state = 2, amount = 8");
    assert_says(sold_verified(VERIFY_FAILED), "9 came in, 8 went back");
}

static void an_order_paid_without_a_record_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE orders SET state = 2 WHERE ticket = 5");
    assert_says(sold_verified(VERIFY_FAILED), "is paid, its ticket is held");
}

/* The database agrees with itself: only the ticket tells that the unit is sold. */
static void an_order_closed_without_a_record_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "UPDATE orders SET state = 3, reason = 3, slot = NULL WHERE ticket = 1;"
        "UPDATE items SET sold = sold - 1 WHERE id = 1;");
    assert_says(sold_verified(VERIFY_FAILED), "is closed, its ticket is sold");
}

static void a_wrong_count_of_sold_units_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE items SET sold = sold + 1 WHERE id = 2");
    assert_says(sold_verified(VERIFY_FAILED),
        "item 2: the database says 5 sold, its live orders and what was sold before make 4");
}

static void sums_that_are_not_those_of_the_orders_are_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE order_sums SET units = units + 1 WHERE item = 2");
    assert_says(sold_verified(VERIFY_FAILED), "item 2: the kept sums are not those of its orders");
}

static void an_order_that_its_user_is_not_shown_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE items SET buyers_listed = 1 WHERE id = 2");
    assert_says(sold_verified(VERIFY_FAILED), "item 2: an order is missing in the orders of its user");
}

static void a_missing_item_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "PRAGMA foreign_keys = OFF; DELETE FROM items WHERE id = 2");
    assert_says(sold_verified(VERIFY_FAILED), "item 2 is in the log but not in the database");
}

static void another_flash_price_of_an_item_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE items SET flash_price = 1 WHERE id = 1");
    assert_says(sold_verified(VERIFY_FAILED), "item 1: flash price 1 in the database, 99900 in the log");
}

static void a_database_of_another_journal_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE store_identity SET data_id = 7");
    assert_says(sold_verified(VERIFY_FAILED), "database has 0000000000000007");
}

static void a_database_ahead_of_the_journal_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE parts SET seq = 17");
    assert_says(sold_verified(VERIFY_FAILED),
        "the journal is older than the database: it ends at 16, orders are written up to 17");
}

static void a_changed_audit_entry_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "UPDATE audit SET actor = 'nobody'");
    assert_says(sold_verified(VERIFY_FAILED), "entry 1 is not what was written");
}

static void a_new_database_beside_a_journal_that_has_records_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "DELETE FROM orders; UPDATE store_identity SET data_id = 0; UPDATE parts SET seq = 0");
    assert_says(sold_verified(VERIFY_FAILED), "the database is new, but the journal ends at 16");
}

static void a_ticket_that_is_a_dead_letter_needs_no_order(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "DELETE FROM orders WHERE ticket = 5; UPDATE items SET sold = sold - 1 WHERE id = 1;"
        "INSERT INTO dead_letters VALUES(1, 8, 7, 5, 1, 1, 1, 1, 'test', x'', 1, 0, '', '')");
    assert_says(sold_verified(VERIFY_HOLDS), "1 dead letters");
}

static void a_dead_letter_of_another_partition_is_found(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "INSERT INTO dead_letters VALUES(1, (3 << 43) + 8, 7, 5, 1, 1, 1, 1, 'test', x'', 2, 0,"
        " '', '')");
    assert_says(sold_verified(VERIFY_FAILED), "dead letter 1 is of partition 3, whose log is not there");
}

static void an_order_may_be_ahead_of_its_ticket_while_its_stock_event_is_open(void **state)
{
    (void)state;
    folder_sql(&sold_folder,
        "UPDATE orders SET state = 3, reason = 3, slot = NULL WHERE ticket = 5;"
        "UPDATE items SET sold = sold - 1 WHERE id = 1;"
        "INSERT INTO stock_events VALUES(1, 5, 1, 0, NULL)");
    sold_verified(VERIFY_HOLDS);
}

static void a_database_behind_the_log_is_compared_at_its_own_position(void **state)
{
    (void)state;
    folder_start(&sold_folder);
    sold_folder.now_ms = FOLDER_START_MS + 7000;
    assert_int_equal(folder_buy(&sold_folder, "one-more", 1, 1), 12);
    folder_stop(&sold_folder, false);
    const char *text = sold_verified(VERIFY_HOLDS);
    assert_says(text, "database: written up to position 16, 11 orders");
}

static void without_a_database_the_log_is_verified_alone_and_none_is_made(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/stampede.db", sold_folder.path);
    assert_int_equal(unlink(path), 0);
    const char *text = sold_verified(VERIFY_FAILED);
    assert_says(text, "database: no database");
    assert_says(text, "there is no stampede.db");
    assert_says(text, "not checked, no database");
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_file_that_is_no_database_is_named(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/stampede.db", sold_folder.path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs("this is not a database, is it? no, it is not\n", file);
    fclose(file);
    assert_says(sold_verified(VERIFY_FAILED), "the database can't be read");
}

/* Wherever a copy ended early. */
static void a_database_that_is_cut_is_found(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/stampede.db", sold_folder.path);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    for (off_t part = 7; part > 0; part--) {
        assert_int_equal(truncate(path, file.st_size * part / 8 / 4096 * 4096), 0);
        assert_says(sold_verified(VERIFY_FAILED), "FAILED");
    }
}

static void another_secret_than_the_databases_is_found(void **state)
{
    (void)state;
    char path[96], line[128];
    snprintf(path, sizeof path, "%s/identity", sold_folder.path);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    line[14] = '1'; /* as the first version wrote it: no checksum */
    line[40] = line[40] == '7' ? '8' : '7';
    rewind(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    fprintf(file, "%.97s\n", line);
    assert_int_equal(fclose(file), 0);
    assert_says(sold_verified(VERIFY_FAILED), "the secret in the file identity does not belong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_database_that_is_cut_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(another_secret_than_the_databases_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_deleted_order_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_deleted_order_of_the_first_ticket_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_order_closed_without_a_record_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_order_of_another_user_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_order_of_another_quantity_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_order_at_the_list_price_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_order_of_another_item_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_invented_order_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            the_order_of_a_forgotten_ticket_must_be_there_and_over, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_longer_time_to_pay_needs_a_payment, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(money_that_is_nowhere_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(an_order_paid_without_a_record_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_wrong_count_of_sold_units_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            sums_that_are_not_those_of_the_orders_are_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            an_order_that_its_user_is_not_shown_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_missing_item_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(another_flash_price_of_an_item_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_database_of_another_journal_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_database_ahead_of_the_journal_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_changed_audit_entry_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_new_database_beside_a_journal_that_has_records_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_ticket_that_is_a_dead_letter_needs_no_order, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_dead_letter_of_another_partition_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            an_order_may_be_ahead_of_its_ticket_while_its_stock_event_is_open, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_database_behind_the_log_is_compared_at_its_own_position, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            without_a_database_the_log_is_verified_alone_and_none_is_made, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_file_that_is_no_database_is_named, sold_make, sold_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
