/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that were made or revoked through the admin API: a file beside the operator's. */
#include "config/key_changes.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

#include <stdio.h>
#include <string.h>

static struct disk *disk;
static struct admin_keys file, keys;
static struct key_changes changes, back;

static void key_put(
    struct admin_keys *list, const char *name, enum admin_role role, bool password, uint8_t mark)
{
    struct admin_key *key = &list->keys[list->count++];
    *key = (struct admin_key){ .right = { .role = role }, .password = password };
    snprintf(key->name, sizeof key->name, "%s", name);
    memset(key->hash, mark, sizeof key->hash);
}

static int begin(void **state)
{
    (void)state;
    disk = memory_disk_open(1);
    file = keys = (struct admin_keys){ 0 };
    changes = back = (struct key_changes){ 0 };
    return 0;
}

static int end(void **state)
{
    (void)state;
    memory_disk_close(disk);
    return 0;
}

static bool counts(const char *name)
{
    assert_int_equal(key_changes_apply(&changes, &file, &keys), STATUS_OK);
    for (uint32_t i = 0; i < keys.count; i++)
        if (strcmp(keys.keys[i].name, name) == 0)
            return true;
    return false;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    assert_int_equal(key_changes_read(disk, &back), STATUS_OK);
    assert_int_equal(back.made.count + back.revoked_count, 0);
    for (unsigned i = 0; i < ADMIN_KEYS_MAX; i++) { /* the longest file there is */
        char name[ADMIN_NAME_MAX + 1];
        snprintf(name, sizeof name, "%02u%062u", i, i);
        key_put(&changes.made, name, ADMIN_OPERATOR, false, (uint8_t)(i + 1));
        memset(changes.revoked[changes.revoked_count++], 200 + (int)i % 50, HASH_SHA256_BYTES);
    }
    assert_int_equal(key_changes_write(disk, &changes), STATUS_OK);
    assert_int_equal(key_changes_read(disk, &back), STATUS_OK);
    assert_memory_equal(&back, &changes, sizeof back);
    changes.made.count = 1;
    assert_int_equal(key_changes_write(disk, &changes), STATUS_OK);
    assert_int_equal(key_changes_read(disk, &back), STATUS_OK);
    assert_int_equal(back.made.count, 1);
}

static void damage_is_found(void **state)
{
    char bytes[512];
    size_t size;
    disk_file open;
    (void)state;
    key_put(&changes.made, "anna", ADMIN_VIEWER, false, 7);
    assert_int_equal(key_changes_write(disk, &changes), STATUS_OK);
    assert_int_equal(disk->ops->open(disk, "admin-keys", DISK_WRITE, &open), STATUS_OK);
    assert_int_equal(disk->ops->read(disk, open, 0, bytes, sizeof bytes, &size), STATUS_OK);
    for (size_t at = 0; at < size; at++) {
        const char other = bytes[at] == 'x' ? 'y' : 'x';
        assert_int_equal(disk->ops->write(disk, open, at, &other, 1), STATUS_OK);
        assert_int_equal(key_changes_read(disk, &back), STATUS_CORRUPT);
        assert_int_equal(disk->ops->write(disk, open, at, &bytes[at], 1), STATUS_OK);
    }
    assert_int_equal(key_changes_read(disk, &back), STATUS_OK);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(disk->ops->truncate(disk, open, size - 1 - cut), STATUS_OK);
        assert_int_equal(key_changes_read(disk, &back), STATUS_CORRUPT);
    }
    disk->ops->close(disk, open);
}

static void keys_made_count_beside_those_of_the_file(void **state)
{
    (void)state;
    key_put(&file, "boss", ADMIN_ADMIN, false, 1);
    key_put(&changes.made, "anna", ADMIN_VIEWER, false, 2);
    assert_true(counts("boss") && counts("anna"));
    assert_int_equal(keys.count, 2);
    key_changes_revoke(&changes, &file, SPAN("anna"), false);
    assert_true(counts("boss") && !counts("anna"));
    assert_int_equal(changes.made.count + changes.revoked_count, 0);
}

static void a_revoked_line_of_the_file_counts_no_longer(void **state)
{
    (void)state;
    key_put(&file, "boss", ADMIN_ADMIN, false, 1);
    key_put(&file, "anna", ADMIN_VIEWER, false, 2);
    key_put(&file, "anna", ADMIN_VIEWER, false, 3); /* written by hand */
    key_put(&file, "anna", ADMIN_VIEWER, true, 4);
    key_changes_revoke(&changes, &file, SPAN("anna"), false);
    key_changes_revoke(&changes, &file, SPAN("anna"), false);
    assert_int_equal(changes.revoked_count, 2);
    assert_true(counts("anna")); /* the password is another thing */
    assert_int_equal(keys.count, 2);
    key_changes_revoke(&changes, &file, SPAN("anna"), true);
    assert_false(counts("anna"));
    file.count = 1; /* the operator has removed the lines */
    key_changes_trim(&changes, &file);
    assert_int_equal(changes.revoked_count, 0);
    assert_true(counts("boss"));
}

static void there_are_never_more_than_fit(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ADMIN_KEYS_MAX; i++)
        key_put(&file, "boss", ADMIN_ADMIN, false, (uint8_t)(i + 1));
    assert_true(counts("boss"));
    key_put(&changes.made, "anna", ADMIN_VIEWER, false, 99);
    assert_int_equal(key_changes_apply(&changes, &file, &keys), STATUS_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, begin, end),
        cmocka_unit_test_setup_teardown(damage_is_found, begin, end),
        cmocka_unit_test_setup_teardown(keys_made_count_beside_those_of_the_file, begin, end),
        cmocka_unit_test_setup_teardown(a_revoked_line_of_the_file_counts_no_longer, begin, end),
        cmocka_unit_test_setup_teardown(there_are_never_more_than_fit, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
