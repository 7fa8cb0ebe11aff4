/* SPDX-License-Identifier: Apache-2.0 */
/* What a start does about a database that may be an older one, or one whose restore has not ended. */
#include "server/restore.h"

#include "base/disk.h"
#include "config/high_water.h"
#include "server/host.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <string.h>

static struct verify_folder folder;
static struct high_water mark;
static char error[CONFIG_ERROR];

static int open_folder(void **state)
{
    (void)state;
    folder_make(&folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_stop(&folder, false);
    folder_remove(&folder);
    return 0;
}

static enum status start_check(void)
{
    memset(&mark, 0, sizeof mark);
    memset(error, 0, sizeof error);
    const struct host host = { .embedded = folder.embedded };
    return restore_check(folder.data.root, folder.store, &host, &mark, error);
}

static uint64_t last_sale(void)
{
    for (uint32_t i = 0; i < mark.count; i++)
        if (strcmp(mark.rows[i].used.name, "sales") == 0)
            return mark.rows[i].used.last;
    return 0;
}

static void sale_add(sale_id expected)
{
    struct sale sale = { .title = "S", .start_ms = 1, .end_ms = 2 };
    assert_int_equal(folder.store->ops->sale_insert(folder.store, &sale), STATUS_OK);
    assert_int_equal(sale.id, expected);
}

static void a_start_keeps_how_far_the_database_is(void **state)
{
    (void)state;
    assert_int_equal(start_check(), STATUS_OK);
    assert_int_equal(start_check(), STATUS_OK);
    assert_int_equal(last_sale(), 1);
    sale_add(2);
    assert_int_equal(start_check(), STATUS_OK);
    assert_int_equal(last_sale(), 2);
}

static void an_older_database_is_refused_with_what_it_lacks(void **state)
{
    (void)state;
    assert_int_equal(start_check(), STATUS_OK);
    for (uint32_t i = 0; i < mark.count; i++)
        mark.rows[i].used.last += strcmp(mark.rows[i].used.name, "sales") == 0 ? 3 : 0;
    assert_int_equal(high_water_write(folder.data.root, &mark), STATUS_OK);
    assert_int_equal(start_check(), STATUS_CONFLICT);
    assert_says(error, "the database is older than before");
    assert_says(error, "stampede restore");
    assert_says(error, "sales");
}

/* The database may be as new as before by then: it is not whole all the same. */
static void a_restore_that_has_not_ended_is_refused(void **state)
{
    (void)state;
    assert_int_equal(start_check(), STATUS_OK);
    mark.restoring = true;
    assert_int_equal(high_water_write(folder.data.root, &mark), STATUS_OK);
    assert_int_equal(start_check(), STATUS_CONFLICT);
    assert_says(error, "stampede restore");
    assert_says(error, "has not finished");
    mark.restoring = false;
    assert_int_equal(high_water_write(folder.data.root, &mark), STATUS_OK);
    assert_int_equal(start_check(), STATUS_OK);
}

/* The inventory has given out numbers up to this one. */
static void numbers_that_the_log_knows_are_not_given_again(void **state)
{
    (void)state;
    folder_sql(&folder, "PRAGMA foreign_keys = OFF; DELETE FROM sales; DELETE FROM items");
    assert_int_equal(start_check(), STATUS_OK);
    sale_add(2);
}

static void a_damaged_file_is_named(void **state)
{
    (void)state;
    assert_int_equal(start_check(), STATUS_OK);
    folder_flip(&folder, "high-water", 30);
    assert_int_equal(start_check(), STATUS_CORRUPT);
    assert_says(error, "the file high-water is damaged");
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest rules[] = {
        RULE(a_start_keeps_how_far_the_database_is),
        RULE(an_older_database_is_refused_with_what_it_lacks),
        RULE(a_restore_that_has_not_ended_is_refused),
        RULE(numbers_that_the_log_knows_are_not_given_again),
        RULE(a_damaged_file_is_named),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
