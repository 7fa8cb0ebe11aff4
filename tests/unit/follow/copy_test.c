/* SPDX-License-Identifier: Apache-2.0 */
/* A copy does what it is told, in order, and knows how far it has got. */
#include "follow/copy.h"

#include "base/bytes.h"
#include "base/disk.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <signal.h>

#include <cmocka.h>

static char folder[64];

static struct copy *copy_make(void)
{
    struct copy *copy;
    snprintf(folder, sizeof folder, "/tmp/stampede-copy-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(copy_open(&copy, folder, true), STATUS_OK);
    copy_begin(copy, 5, 1, 9, 100);
    return copy;
}

static enum status change(struct copy *copy, enum mirror_kind kind, enum mirror_part part,
    const char *name, uint64_t offset, const void *data, uint32_t bytes)
{
    bool synced;
    const struct mirror_change change = {
        .kind = kind, .part = part, .name = name, .offset = offset, .data = data, .bytes = bytes
    };
    return copy_change(copy, &change, 10, &synced);
}

static size_t content(const char *name, char *out, size_t bytes)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return SIZE_MAX;
    const size_t got = fread(out, 1, bytes, file);
    fclose(file);
    return got;
}

static void changes_are_done_in_order_and_counted(void **state)
{
    (void)state;
    char bytes[64];
    const uint8_t five[8] = { 5 };
    struct copy *copy = copy_make();
    assert_int_equal(change(copy, MIRROR_TRUNCATE, MIRROR_JOURNAL, "a", 0, NULL, 0), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_WRITE, MIRROR_JOURNAL, "a", 2, "xyz", 3), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_ZEROS, MIRROR_JOURNAL, "a", 3, five, 8), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_SYNC, MIRROR_JOURNAL, "a", 0, NULL, 0), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_RENAME, MIRROR_JOURNAL, "a", 0, "b", 1), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_WRITE, MIRROR_JOURNAL, "b", 4, "q", 1), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_SYNC_FOLDER, MIRROR_JOURNAL, NULL, 0, NULL, 0), STATUS_OK);
    assert_int_equal(content("journal/b", bytes, sizeof bytes), 8);
    assert_memory_equal(bytes, "\0\0x\0q\0\0\0", 8);
    assert_true(content("journal/a", bytes, sizeof bytes) == SIZE_MAX);
    assert_int_equal(change(copy, MIRROR_REMOVE, MIRROR_JOURNAL, "b", 0, NULL, 0), STATUS_OK);
    assert_true(content("journal/b", bytes, sizeof bytes) == SIZE_MAX);
    assert_int_equal(copy_state(copy).position, 180);
    copy_close(copy, true);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

static void a_change_that_was_done_already_changes_nothing(void **state)
{
    (void)state;
    char bytes[8];
    struct copy *copy = copy_make();
    for (int i = 0; i < 2; i++)
        assert_int_equal(change(copy, MIRROR_WRITE, MIRROR_ROOT, "a", 0, "x", 1), STATUS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(change(copy, MIRROR_RENAME, MIRROR_ROOT, "a", 0, "b", 1), STATUS_OK);
    assert_int_equal(content("b", bytes, sizeof bytes), 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(change(copy, MIRROR_REMOVE, MIRROR_ROOT, "b", 0, NULL, 0), STATUS_OK);
    copy_close(copy, false);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

/* The file is larger than the process may write: as on a full disk. */
static void a_change_that_fails_is_not_counted(void **state)
{
    (void)state;
    struct copy *copy = copy_make();
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 64 * 1024;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const enum status status = change(copy, MIRROR_WRITE, MIRROR_ROOT, "a", 1024 * 1024, "x", 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_not_equal(status, STATUS_OK);
    assert_int_equal(copy_state(copy).position, 100);
    assert_int_equal(change(copy, MIRROR_WRITE, MIRROR_ROOT, "a", 1024 * 1024, "x", 1), STATUS_OK);
    assert_int_equal(copy_state(copy).position, 110);
    copy_close(copy, false);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

/* A base takes what is the same from the old copy, which stays as it is. */
static void a_block_that_is_the_same_comes_from_the_old_copy(void **state)
{
    (void)state;
    char bytes[16], old_folder[64];
    struct copy *old = copy_make();
    memcpy(old_folder, folder, sizeof folder);
    assert_int_equal(change(old, MIRROR_WRITE, MIRROR_MEDIA, "a", 0, "abcdef", 6), STATUS_OK);
    struct copy *copy = copy_make();
    /* Nobody said where from; then: more than there is; a file that is not there. */
    assert_int_equal(change(copy, MIRROR_SAME, MIRROR_MEDIA, "b", 0, "\6\0\0\0a", 5), STATUS_BAD_INPUT);
    copy_source(copy, old);
    assert_int_not_equal(change(copy, MIRROR_SAME, MIRROR_MEDIA, "b", 0, "\7\0\0\0a", 5), STATUS_OK);
    assert_int_not_equal(change(copy, MIRROR_SAME, MIRROR_MEDIA, "b", 0, "\6\0\0\0x", 5), STATUS_OK);
    assert_int_equal(copy_state(copy).position, 100);
    assert_int_equal(change(copy, MIRROR_SAME, MIRROR_MEDIA, "b", 0, "\6\0\0\0a", 5), STATUS_OK);
    assert_int_equal(change(copy, MIRROR_WRITE, MIRROR_MEDIA, "b", 1, "X", 1), STATUS_OK);
    assert_int_equal(copy_state(copy).position, 120);
    assert_int_equal(content("media/b", bytes, sizeof bytes), 6);
    assert_memory_equal(bytes, "aXcdef", 6);
    copy_close(copy, false);
    assert_int_equal(copy_remove(folder), STATUS_OK);
    memcpy(folder, old_folder, sizeof folder);
    assert_int_equal(content("media/a", bytes, sizeof bytes), 6);
    assert_memory_equal(bytes, "abcdef", 6);
    copy_close(old, false);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

static void state_of_another_boot(void)
{
    char path[160];
    uint64_t word = 77;
    snprintf(path, sizeof path, "%s/follow-state", folder);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, &word, sizeof word, 40), sizeof word); /* boot */
    close(fd);
}

static void the_position_counts_after_a_kill_and_after_a_clean_end_only(void **state)
{
    (void)state;
    struct copy *copy = copy_make();
    copy_close(copy, false); /* as a kill leaves it */
    assert_int_equal(copy_open(&copy, folder, false), STATUS_OK);
    assert_int_equal(copy_state(copy).epoch, 9);
    copy_close(copy, true);
    state_of_another_boot();
    assert_int_equal(copy_open(&copy, folder, false), STATUS_OK);
    assert_int_equal(copy_state(copy).epoch, 9);
    copy_close(copy, false); /* a power cut after this one: */
    state_of_another_boot();
    assert_int_equal(copy_open(&copy, folder, false), STATUS_OK);
    assert_int_equal(copy_state(copy).epoch, 0);
    struct copy *second;
    assert_int_equal(copy_open(&second, folder, false), STATUS_BUSY);
    copy_close(copy, false);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_done_in_order_and_counted),
        cmocka_unit_test(a_change_that_was_done_already_changes_nothing),
        cmocka_unit_test(a_change_that_fails_is_not_counted),
        cmocka_unit_test(a_block_that_is_the_same_comes_from_the_old_copy),
        cmocka_unit_test(the_position_counts_after_a_kill_and_after_a_clean_end_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
