/* SPDX-License-Identifier: Apache-2.0 */
#include "base/disk.h"

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder[64], path[80];
static struct disk *disk;

static int disk_setup(void **state)
{
    (void)state;
    static const char pattern[] = "/tmp/stampede_disk_test_XXXXXX";
    memcpy(folder, pattern, sizeof pattern);
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/data", folder);
    return disk_folder_open(path, &disk) == STATUS_OK ? 0 : -1;
}

static void remove_it(void *context, const char *name)
{
    (void)context;
    assert_int_equal(disk->ops->remove(disk, name), STATUS_OK);
}

static int disk_teardown(void **state)
{
    (void)state;
    if (disk->ops->list(disk, "", remove_it, NULL) != STATUS_OK)
        return -1;
    disk_folder_close(disk);
    return rmdir(path) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static disk_file file_with(const char *name, const char *content)
{
    disk_file file = -1;
    assert_int_equal(disk->ops->open(disk, name, DISK_CREATE, &file), STATUS_OK);
    assert_int_equal(disk->ops->write(disk, file, 0, content, strlen(content)), STATUS_OK);
    return file;
}

static void assert_content(disk_file file, const char *expected)
{
    char data[64];
    size_t got = 99;
    uint64_t size = 99;
    assert_int_equal(disk->ops->size(disk, file, &size), STATUS_OK);
    assert_int_equal(size, strlen(expected));
    assert_int_equal(disk->ops->read(disk, file, 0, data, sizeof data, &got), STATUS_OK);
    assert_int_equal(got, strlen(expected));
    assert_memory_equal(data, expected, got);
}

static void a_missing_folder_is_made_for_us_alone_and_an_existing_one_is_kept(void **state)
{
    (void)state;
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    disk_file file = file_with("kept", "x");
    disk->ops->close(disk, file);
    struct disk *again;
    assert_int_equal(disk_folder_open(path, &again), STATUS_OK);
    assert_int_equal(again->ops->open(again, "kept", DISK_READ, &file), STATUS_OK);
    again->ops->close(again, file);
    disk_folder_close(again);
}

static void a_folder_that_cant_be_is_a_fault(void **state)
{
    (void)state;
    struct disk *other;
    char deep[128];
    snprintf(deep, sizeof deep, "%s/missing/deep", path);
    assert_int_equal(disk_folder_open(deep, &other), STATUS_NOT_FOUND);
    assert_null(other);
    disk->ops->close(disk, file_with("file", ""));
    snprintf(deep, sizeof deep, "%s/file", path);
    assert_int_equal(disk_folder_open(deep, &other), STATUS_IO);
    assert_int_equal(errno, ENOTDIR);
    assert_null(other);
    disk_folder_close(NULL);
}

static void create_wants_none_and_the_others_want_one(void **state)
{
    (void)state;
    disk_file file = -7;
    assert_int_equal(disk->ops->open(disk, "a", DISK_READ, &file), STATUS_NOT_FOUND);
    assert_int_equal(disk->ops->open(disk, "a", DISK_WRITE, &file), STATUS_NOT_FOUND);
    assert_int_equal(file, -7);
    disk->ops->close(disk, file_with("a", "one"));
    assert_int_equal(disk->ops->open(disk, "a", DISK_CREATE, &file), STATUS_CONFLICT);
    assert_int_equal(file, -7);
    assert_int_equal(disk->ops->open(disk, "a", DISK_WRITE, &file), STATUS_OK);
    assert_int_equal(fcntl(file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_content(file, "one");
    disk->ops->close(disk, file);
    assert_int_equal(disk->ops->open(disk, "a", DISK_READ, &file), STATUS_OK);
    assert_int_equal(disk->ops->write(disk, file, 0, "x", 1), STATUS_IO);
    assert_content(file, "one");
    disk->ops->close(disk, file);
}

static void names_stay_inside_the_folder_and_within_their_size(void **state)
{
    (void)state;
    char longest[DISK_NAME_MAX], too_long[DISK_NAME_MAX + 1];
    memset(longest, 'n', sizeof longest);
    longest[DISK_NAME_MAX - 1] = '\0';
    memset(too_long, 'n', sizeof too_long);
    too_long[DISK_NAME_MAX] = '\0';
    const char *const refused[] = { "", ".", "..", "../x", "/etc/passwd", "a/b", too_long };
    disk_file file;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(disk->ops->open(disk, refused[i], DISK_CREATE, &file), STATUS_BAD_INPUT);
        assert_int_equal(disk->ops->remove(disk, refused[i]), STATUS_BAD_INPUT);
        assert_int_equal(disk->ops->rename(disk, refused[i], "x"), STATUS_BAD_INPUT);
        assert_int_equal(disk->ops->rename(disk, "x", refused[i]), STATUS_BAD_INPUT);
        assert_int_equal(disk_folder_lock(disk, refused[i]), STATUS_BAD_INPUT);
    }
    disk->ops->close(disk, file_with(longest, ""));
}

static void reads_stop_at_the_end_of_the_file_only(void **state)
{
    (void)state;
    disk_file file = file_with("a", "0123456789");
    char data[16];
    size_t got = 99;
    assert_int_equal(disk->ops->read(disk, file, 8, data, 2, &got), STATUS_OK);
    assert_int_equal(got, 2);
    assert_memory_equal(data, "89", 2);
    assert_int_equal(disk->ops->read(disk, file, 8, data, 3, &got), STATUS_OK);
    assert_int_equal(got, 2);
    assert_int_equal(disk->ops->read(disk, file, 10, data, 1, &got), STATUS_OK);
    assert_int_equal(got, 0);
    assert_int_equal(disk->ops->read(disk, file, 1000, data, 1, &got), STATUS_OK);
    assert_int_equal(got, 0);
    disk->ops->close(disk, file);
}

static void writes_go_where_they_are_told_and_truncate_sets_the_end(void **state)
{
    (void)state;
    disk_file file = file_with("a", "0123456789");
    assert_int_equal(disk->ops->write(disk, file, 9, "xyz", 3), STATUS_OK);
    assert_int_equal(disk->ops->write(disk, file, 0, "ab", 2), STATUS_OK);
    assert_int_equal(disk->ops->write(disk, file, 5, NULL, 0), STATUS_OK);
    assert_content(file, "ab2345678xyz");
    assert_int_equal(disk->ops->truncate(disk, file, 3), STATUS_OK);
    assert_content(file, "ab2");
    uint64_t size;
    assert_int_equal(disk->ops->truncate(disk, file, 4096), STATUS_OK);
    assert_int_equal(disk->ops->size(disk, file, &size), STATUS_OK);
    assert_int_equal(size, 4096);
    assert_int_equal(disk->ops->sync(disk, file), STATUS_OK);
    assert_int_equal(disk->ops->sync_folder(disk), STATUS_OK);
    disk->ops->close(disk, file);
}

static void a_full_disk_is_full_and_not_a_fault_of_the_device(void **state)
{
    (void)state;
    char device[128];
    snprintf(device, sizeof device, "%s/full", path);
    assert_int_equal(symlink("/dev/full", device), 0);
    disk_file file;
    assert_int_equal(disk->ops->open(disk, "full", DISK_WRITE, &file), STATUS_OK);
    assert_int_equal(disk->ops->write(disk, file, 0, "x", 1), STATUS_FULL);
    assert_int_equal(errno, ENOSPC);
    disk->ops->close(disk, file);
}

/* The limit on file size cuts a write short and the rest fails: short must not pass for done. */
static void a_write_that_only_half_fits_is_a_fault(void **state)
{
    (void)state;
    disk_file file = file_with("a", "");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = { 1000, 1000 };
        char data[2000] = { 0 };
        bool right = setrlimit(RLIMIT_FSIZE, &limit) == 0
            && disk->ops->write(disk, file, 0, data, 1000) == STATUS_OK
            && disk->ops->write(disk, file, 0, data, 1001) == STATUS_IO && errno == EFBIG;
        _exit(right ? 0 : 1);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    disk->ops->close(disk, file);
}

static void faults_of_the_system_come_back_with_errno(void **state)
{
    (void)state;
    char data[1];
    size_t got;
    uint64_t size;
    errno = 0;
    assert_int_equal(disk->ops->read(disk, -1, 0, data, 1, &got), STATUS_IO);
    assert_int_equal(errno, EBADF);
    assert_int_equal(disk->ops->write(disk, -1, 0, data, 1), STATUS_IO);
    assert_int_equal(disk->ops->sync(disk, -1), STATUS_IO);
    assert_int_equal(disk->ops->size(disk, -1, &size), STATUS_IO);
    assert_int_equal(disk->ops->truncate(disk, -1, 0), STATUS_IO);
}

static void rename_replaces_and_remove_removes(void **state)
{
    (void)state;
    disk->ops->close(disk, file_with("new", "new content"));
    disk->ops->close(disk, file_with("old", "old content"));
    assert_int_equal(disk->ops->rename(disk, "new", "old"), STATUS_OK);
    disk_file file;
    assert_int_equal(disk->ops->open(disk, "new", DISK_READ, &file), STATUS_NOT_FOUND);
    assert_int_equal(disk->ops->open(disk, "old", DISK_READ, &file), STATUS_OK);
    assert_content(file, "new content");
    disk->ops->close(disk, file);
    assert_int_equal(disk->ops->rename(disk, "new", "old"), STATUS_NOT_FOUND);
    assert_int_equal(disk->ops->remove(disk, "old"), STATUS_OK);
    assert_int_equal(disk->ops->remove(disk, "old"), STATUS_NOT_FOUND);
}

static void collect(void *context, const char *name)
{
    char *end = (char *)context + strlen(context);
    memcpy(end, name, strlen(name));
    memcpy(end + strlen(name), ";", 2);
}

static void listing_names_what_starts_with_the_prefix_each_time_again(void **state)
{
    (void)state;
    disk->ops->close(disk, file_with("log-1", ""));
    disk->ops->close(disk, file_with("lo", ""));
    disk->ops->close(disk, file_with("snap-log-", ""));
    for (int i = 0; i < 2; i++) {
        char names[256] = "";
        assert_int_equal(disk->ops->list(disk, "log-", collect, names), STATUS_OK);
        assert_string_equal(names, "log-1;");
        names[0] = '\0';
        assert_int_equal(disk->ops->list(disk, "", collect, names), STATUS_OK);
        assert_int_equal(strlen(names), strlen("log-1;lo;snap-log-;")); /* and no "." */
    }
    char names[256] = "";
    assert_int_equal(disk->ops->list(disk, "none", collect, names), STATUS_OK);
    assert_string_equal(names, "");
}

static void the_disk_follows_its_folder_when_that_is_renamed(void **state)
{
    (void)state;
    char moved[80];
    snprintf(moved, sizeof moved, "%s/moved", folder);
    assert_int_equal(rename(path, moved), 0);
    disk_file file = file_with("a", "x");
    assert_content(file, "x");
    disk->ops->close(disk, file);
    assert_int_equal(rename(moved, path), 0);
}

static void one_holder_per_folder_until_it_closes(void **state)
{
    (void)state;
    struct disk *other;
    assert_int_equal(disk_folder_open(path, &other), STATUS_OK);
    assert_int_equal(disk_folder_lock(disk, "lock"), STATUS_OK);
    assert_int_equal(disk_folder_lock(disk, "lock"), STATUS_BUSY);
    assert_int_equal(disk_folder_lock(other, "lock"), STATUS_BUSY);
    disk_folder_close(disk);
    assert_int_equal(disk_folder_lock(other, "lock"), STATUS_OK);
    disk = other;
}

#define DISK_TEST(test) cmocka_unit_test_setup_teardown(test, disk_setup, disk_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DISK_TEST(a_missing_folder_is_made_for_us_alone_and_an_existing_one_is_kept),
        DISK_TEST(a_folder_that_cant_be_is_a_fault),
        DISK_TEST(create_wants_none_and_the_others_want_one),
        DISK_TEST(names_stay_inside_the_folder_and_within_their_size),
        DISK_TEST(reads_stop_at_the_end_of_the_file_only),
        DISK_TEST(writes_go_where_they_are_told_and_truncate_sets_the_end),
        DISK_TEST(a_full_disk_is_full_and_not_a_fault_of_the_device),
        DISK_TEST(a_write_that_only_half_fits_is_a_fault),
        DISK_TEST(faults_of_the_system_come_back_with_errno),
        DISK_TEST(rename_replaces_and_remove_removes),
        DISK_TEST(listing_names_what_starts_with_the_prefix_each_time_again),
        DISK_TEST(the_disk_follows_its_folder_when_that_is_renamed),
        DISK_TEST(one_holder_per_folder_until_it_closes),
    };
    return cmocka_run_group_tests_name("base/disk", tests, NULL, NULL);
}
