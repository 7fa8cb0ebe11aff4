/* SPDX-License-Identifier: Apache-2.0 */
#include "config/checked_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder_name[64], path[96];

static struct disk *folder_make(void)
{
    struct disk *disk = NULL;
    snprintf(folder_name, sizeof folder_name, "/tmp/stampede-checked-XXXXXX");
    assert_non_null(mkdtemp(folder_name));
    snprintf(path, sizeof path, "%s/file", folder_name);
    assert_int_equal(disk_folder_open(folder_name, &disk), STATUS_OK);
    return disk;
}

static void folder_remove(struct disk *disk)
{
    disk_folder_close(disk);
    unlink(path);
    rmdir(folder_name);
}

static void what_was_written_is_read(void **state)
{
    struct disk *disk = folder_make();
    char bytes[100], room[100];
    struct span body = SPAN_NONE;
    (void)state;
    assert_int_equal(checked_file_read(disk, "file", room, sizeof room, &body), STATUS_NOT_FOUND);
    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        struct text text = text_in(bytes, sizeof bytes);
        text_format(&text, "line %d\n", i);
        assert_int_equal(checked_file_write(disk, "file.tmp", "file", &text), STATUS_OK);
    }
    assert_int_equal(checked_file_read(disk, "file", room, sizeof room, &body), STATUS_OK);
    assert_true(span_equal(body, SPAN("line 1\n")));
    folder_remove(disk);
}

static void any_other_byte_is_noticed(void **state)
{
    struct disk *disk = folder_make();
    char bytes[100], room[100];
    struct text text = text_in(bytes, sizeof bytes);
    struct span body;
    (void)state;
    text_literal(&text, "made ann:admin\n");
    assert_int_equal(checked_file_write(disk, "file.tmp", "file", &text), STATUS_OK);
    const size_t size = text.size;
    for (size_t i = 0; i < size; i++) {
        char damaged[100];
        memcpy(damaged, bytes, size);
        damaged[i] ^= 4;
        assert_int_equal(disk_replace(disk, "file.tmp", "file", damaged, size), STATUS_OK);
        assert_int_equal(checked_file_read(disk, "file", room, sizeof room, &body), STATUS_CORRUPT);
    }
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(disk_replace(disk, "file.tmp", "file", bytes, i), STATUS_OK);
        assert_int_equal(checked_file_read(disk, "file", room, sizeof room, &body), STATUS_CORRUPT);
    }
    assert_int_equal(disk_replace(disk, "file.tmp", "file", bytes, size), STATUS_OK);
    assert_int_equal(checked_file_read(disk, "file", room, size, &body), STATUS_CORRUPT); /* too long */
    folder_remove(disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(any_other_byte_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
