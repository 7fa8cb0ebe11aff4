/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/manifest.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

#include <string.h>

static struct backup_folders folders;

static void file_make(enum backup_part part, const char *name, const char *text)
{
    struct disk *disk = folders.part[part];
    assert_int_equal(disk_replace(disk, "t.tmp", name, text, strlen(text)), STATUS_OK);
}

static int setup(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BACKUP_PARTS; i++)
        folders.part[i] = memory_disk_open(i + 1);
    file_make(BACKUP_ROOT, "identity", "secret");
    file_make(BACKUP_JOURNAL, "segment-0000000000000001", "records");
    file_make(BACKUP_MEDIA, "a.png", "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BACKUP_PARTS; i++)
        memory_disk_close(folders.part[i]);
    return 0;
}

static void written(void)
{
    struct manifest manifest = {
        .data_id = 7, .position = 3, .journal_end = 5, .time_ms = 1000, .end_ms = 900
    };
    assert_int_equal(manifest_add(&manifest, &folders, BACKUP_ROOT, "identity"), STATUS_OK);
    assert_int_equal(
        manifest_add(&manifest, &folders, BACKUP_JOURNAL, "segment-0000000000000001"), STATUS_OK);
    assert_int_equal(manifest_add(&manifest, &folders, BACKUP_MEDIA, "a.png"), STATUS_OK);
    assert_int_equal(manifest_write(folders.part[BACKUP_ROOT], &manifest), STATUS_OK);
    manifest_free(&manifest);
}

static void what_was_written_is_read_and_holds(void **state)
{
    struct manifest manifest;
    const struct backup_file *wrong = NULL;
    (void)state;
    written();
    assert_int_equal(manifest_read(folders.part[BACKUP_ROOT], &manifest), STATUS_OK);
    assert_int_equal(manifest.data_id, 7);
    assert_int_equal(manifest.position, 3);
    assert_int_equal(manifest.journal_end, 5);
    assert_int_equal(manifest.end_ms, 900);
    assert_int_equal(manifest.count, 3);
    assert_int_equal(manifest.files[1].part, BACKUP_JOURNAL);
    assert_int_equal(manifest_check(&manifest, &folders, &wrong), STATUS_OK);
    manifest_free(&manifest);
}

static void a_changed_and_a_missing_file_are_named(void **state)
{
    struct manifest manifest;
    const struct backup_file *wrong = NULL;
    (void)state;
    written();
    assert_int_equal(manifest_read(folders.part[BACKUP_ROOT], &manifest), STATUS_OK);
    file_make(BACKUP_JOURNAL, "segment-0000000000000001", "recordz");
    assert_int_equal(manifest_check(&manifest, &folders, &wrong), STATUS_CORRUPT);
    assert_string_equal(wrong->name, "segment-0000000000000001");
    assert_int_equal(
        folders.part[BACKUP_ROOT]->ops->remove(folders.part[BACKUP_ROOT], "identity"), STATUS_OK);
    assert_int_equal(manifest_check(&manifest, &folders, &wrong), STATUS_NOT_FOUND);
    assert_string_equal(wrong->name, "identity");
    manifest_free(&manifest);
}

static void any_changed_byte_of_the_manifest_is_found(void **state)
{
    struct disk *root = folders.part[BACKUP_ROOT];
    struct manifest manifest;
    char bytes[4096], changed[4096];
    disk_file file;
    size_t size = 0;
    (void)state;
    assert_int_equal(manifest_read(root, &manifest), STATUS_NOT_FOUND);
    written();
    assert_int_equal(root->ops->open(root, MANIFEST_NAME, DISK_READ, &file), STATUS_OK);
    assert_int_equal(root->ops->read(root, file, 0, bytes, sizeof bytes, &size), STATUS_OK);
    root->ops->close(root, file);
    for (size_t i = 0; i < size; i++) {
        memcpy(changed, bytes, size);
        changed[i] ^= 1;
        assert_int_equal(disk_replace(root, "t.tmp", MANIFEST_NAME, changed, size), STATUS_OK);
        assert_int_equal(manifest_read(root, &manifest), STATUS_CORRUPT);
    }
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(disk_replace(root, "t.tmp", MANIFEST_NAME, bytes, cut), STATUS_OK);
        assert_int_equal(manifest_read(root, &manifest), STATUS_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read_and_holds, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_and_a_missing_file_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(any_changed_byte_of_the_manifest_is_found, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
