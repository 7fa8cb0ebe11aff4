/* SPDX-License-Identifier: Apache-2.0 */
/* The admin keys that count, while somebody changes them. */
#include "api/key_ring.h"

#include "api/handover.h"
#include "base/disk.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct disk *disk;
static struct reader_turns turns;
static struct key_ring *ring;
static char path[] = "/tmp/stampede-key-ring-XXXXXX";
static char error[ADMIN_ERROR], key[ADMIN_KEY_CHARS + 1];
static struct admin_right right;

static void file_write(const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int begin(void **state)
{
    (void)state;
    disk = memory_disk_open(1);
    turns.readers = 1;
    reader_left(&turns, 0);
    key_ring_open(&ring, disk, &turns);
    file_write("boss:admin:" HASH_A "\nanna:viewer:" HASH_B "\n");
    assert_int_equal(key_ring_load(ring, path, error), STATUS_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    key_ring_close(ring);
    memory_disk_close(disk);
    return 0;
}

static uint32_t count(void)
{
    struct admin_keys keys;
    key_ring_copy(ring, &keys);
    return keys.count;
}

static void again(void)
{
    key_ring_close(ring);
    key_ring_open(&ring, disk, &turns);
    assert_int_equal(key_ring_load(ring, path, error), STATUS_OK);
}

static void a_new_key_opens_at_once_and_after_a_restart(void **state)
{
    (void)state;
    assert_int_equal(
        key_ring_add(ring, SPAN("till"), &(struct admin_right){ .role = ADMIN_OPERATOR }, key), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        const struct admin_key *found = admin_keys_find(key_ring_now(ring), span_from_string(key));
        assert_non_null(found);
        assert_string_equal(found->name, "till");
        assert_int_equal(found->right.role, ADMIN_OPERATOR);
        again();
    }
    assert_int_equal(key_ring_revoke(ring, SPAN("till"), false), STATUS_OK);
    assert_null(admin_keys_find(key_ring_now(ring), span_from_string(key)));
    again();
    assert_null(admin_keys_find(key_ring_now(ring), span_from_string(key)));
}

static void a_name_is_used_once_and_the_number_is_bounded(void **state)
{
    char name[16];
    (void)state;
    assert_int_equal(key_ring_may_add(ring, SPAN("anna")), STATUS_CONFLICT);
    assert_int_equal(key_ring_add(ring, SPAN("anna"), &(struct admin_right){ .role = ADMIN_VIEWER }, key),
        STATUS_CONFLICT);
    while (count() < ADMIN_KEYS_MAX) {
        snprintf(name, sizeof name, "key-%u", count());
        assert_int_equal(key_ring_add(ring, span_from_string(name),
                             &(struct admin_right){ .role = ADMIN_VIEWER }, key),
            STATUS_OK);
    }
    assert_int_equal(key_ring_may_add(ring, SPAN("one-more")), STATUS_FULL);
    assert_int_equal(
        key_ring_add(ring, SPAN("one-more"), &(struct admin_right){ .role = ADMIN_VIEWER }, key),
        STATUS_FULL);
    file_write("boss:admin:" HASH_A "\nanna:viewer:" HASH_B "\ncara:viewer:" HASH_B "\n");
    assert_int_equal(key_ring_load(ring, path, error), STATUS_FULL);
    assert_int_equal(count(), ADMIN_KEYS_MAX); /* as it was */
}

static void a_line_of_the_operators_file_is_revoked_for_good(void **state)
{
    (void)state;
    assert_int_equal(key_ring_may_revoke(ring, SPAN("anna"), false, &right), STATUS_OK);
    assert_int_equal(right.role, ADMIN_VIEWER);
    assert_int_equal(key_ring_revoke(ring, SPAN("anna"), false), STATUS_OK);
    assert_int_equal(key_ring_revoke(ring, SPAN("anna"), false), STATUS_NOT_FOUND);
    assert_int_equal(count(), 1);
    again();
    assert_int_equal(count(), 1);
    assert_int_equal(key_ring_add(ring, SPAN("anna"), &(struct admin_right){ .role = ADMIN_VIEWER }, key),
        STATUS_OK); /* a new one */
    assert_int_equal(count(), 2);
}

static void the_last_administrator_stays(void **state)
{
    (void)state;
    assert_int_equal(key_ring_may_revoke(ring, SPAN("boss"), false, &right), STATUS_REFUSED);
    assert_int_equal(key_ring_revoke(ring, SPAN("boss"), false), STATUS_REFUSED);
    assert_int_equal(key_ring_revoke(ring, SPAN("nobody"), false), STATUS_NOT_FOUND);
    assert_int_equal(key_ring_revoke(ring, SPAN("boss"), true), STATUS_NOT_FOUND); /* he has no password */
    assert_int_equal(
        key_ring_add(ring, SPAN("second"), &(struct admin_right){ .role = ADMIN_ADMIN }, key), STATUS_OK);
    assert_int_equal(key_ring_revoke(ring, SPAN("boss"), false), STATUS_OK);
    assert_int_equal(key_ring_revoke(ring, SPAN("second"), false), STATUS_REFUSED);
}

static void a_fault_of_the_disk_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t call = 1; call == 1 || memory_disk_has_failed(disk); call++) {
        memory_disk_fail(disk, MEMORY_ANY, call);
        const enum status status =
            key_ring_add(ring, SPAN("till"), &(struct admin_right){ .role = ADMIN_OPERATOR }, key);
        assert_true((status == STATUS_OK) != memory_disk_has_failed(disk));
        assert_int_equal(count(), status == STATUS_OK ? 3 : 2);
        assert_true((admin_keys_find(key_ring_now(ring), span_from_string(key)) != NULL)
            == (status == STATUS_OK));
    }
    for (uint64_t call = 1; call == 1 || memory_disk_has_failed(disk); call++) {
        memory_disk_fail(disk, MEMORY_ANY, call);
        const enum status status = key_ring_revoke(ring, SPAN("anna"), false);
        assert_true((status == STATUS_OK) != memory_disk_has_failed(disk));
        assert_int_equal(count(), status == STATUS_OK ? 2 : 3);
    }
}

static void what_can_not_be_read_leaves_the_keys_as_they_were(void **state)
{
    disk_file open;
    (void)state;
    file_write("nonsense\n");
    assert_int_equal(key_ring_load(ring, path, error), STATUS_BAD_INPUT);
    assert_int_equal(count(), 2);
    file_write("boss:admin:" HASH_A "\n");
    assert_int_equal(disk->ops->open(disk, "admin-keys", DISK_CREATE, &open), STATUS_OK);
    disk->ops->close(disk, open);
    assert_int_equal(key_ring_load(ring, path, error), STATUS_CORRUPT);
    assert_non_null(strstr(error, "admin-keys"));
    assert_int_equal(count(), 2);
    assert_int_equal(key_ring_load(ring, "", error), STATUS_OK); /* no file named: no admin API */
    assert_int_equal(count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_key_opens_at_once_and_after_a_restart, begin, end),
        cmocka_unit_test_setup_teardown(a_name_is_used_once_and_the_number_is_bounded, begin, end),
        cmocka_unit_test_setup_teardown(a_line_of_the_operators_file_is_revoked_for_good, begin, end),
        cmocka_unit_test_setup_teardown(the_last_administrator_stays, begin, end),
        cmocka_unit_test_setup_teardown(a_fault_of_the_disk_changes_nothing, begin, end),
        cmocka_unit_test_setup_teardown(what_can_not_be_read_leaves_the_keys_as_they_were, begin, end),
    };
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
