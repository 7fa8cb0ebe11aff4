/* SPDX-License-Identifier: Apache-2.0 */
#include "config/fence.h"

#include "base/disk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct disk *folder_make(void)
{
    char path[] = "/tmp/stampede-fence-XXXXXX";
    struct disk *disk;
    assert_non_null(mkdtemp(path));
    assert_int_equal(disk_folder_open(path, &disk), STATUS_OK);
    return disk;
}

static void a_generation_is_one_until_it_is_written(void **state)
{
    (void)state;
    struct disk *disk = folder_make();
    uint64_t generation = 0;
    assert_int_equal(generation_read(disk, &generation), STATUS_OK);
    assert_int_equal(generation, 1);
    assert_int_equal(generation_write(disk, 7), STATUS_OK);
    assert_int_equal(generation_read(disk, &generation), STATUS_OK);
    assert_int_equal(generation, 7);
    assert_int_equal(
        disk_replace(disk, "x", "generation", "stampede-generation 1\nnumber 8\n", 31), STATUS_OK);
    assert_int_equal(generation_read(disk, &generation), STATUS_CORRUPT);
    disk_folder_close(disk);
}

static void a_folder_that_follows_or_is_fenced_does_not_sell(void **state)
{
    (void)state;
    char error[CONFIG_ERROR] = "";
    struct disk *disk = folder_make();
    struct following following = { .from = "host:7000", .secret_file = "/etc/secret" }, read;
    assert_int_equal(fence_check(disk, error), STATUS_OK);
    assert_int_equal(following_read(disk, &read), STATUS_NOT_FOUND);
    assert_int_equal(following_write(disk, &following), STATUS_OK);
    assert_int_equal(following_read(disk, &read), STATUS_OK);
    assert_string_equal(read.from, following.from);
    assert_string_equal(read.secret_file, following.secret_file);
    assert_int_equal(fence_check(disk, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "host:7000"));
    assert_int_equal(following_remove(disk), STATUS_OK);
    assert_int_equal(fence_check(disk, error), STATUS_OK);
    assert_int_equal(fenced_write(disk, 3), STATUS_OK);
    assert_int_equal(fence_check(disk, error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "generation 3"));
    assert_int_equal(disk_replace(disk, "x", "fenced", "", 0), STATUS_OK);
    assert_int_equal(fence_check(disk, error), STATUS_CORRUPT);
    disk_folder_close(disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_generation_is_one_until_it_is_written),
        cmocka_unit_test(a_folder_that_follows_or_is_fenced_does_not_sell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
