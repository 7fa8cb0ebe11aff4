/* SPDX-License-Identifier: Apache-2.0 */
#include "media/media_folder.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/media/pictures.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/stampede-media-XXXXXX";

static int folder_make(void **state)
{
    (void)state;
    memcpy(strchr(path, 'X') == NULL ? path + strlen(path) - 6 : strchr(path, 'X'), "XXXXXX", 6);
    return mkdtemp(path) == NULL;
}

static int folder_drop(void **state)
{
    (void)state;
    return picture_folder_remove(path);
}

static struct media_folder *opened(uint64_t quota)
{
    struct disk *disk;
    struct media_folder *folder;
    assert_int_equal(disk_folder_open(path, &disk), STATUS_OK);
    assert_int_equal(media_folder_open(&folder, disk, quota), STATUS_OK);
    return folder;
}

static uint32_t count_of(const struct media_folder *folder)
{
    struct media_set *set = media_set_make(folder);
    const uint32_t count = set->count;
    free(set);
    return count;
}

static void file_put(const char *name, struct span bytes)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    const int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
    close(fd);
}

static void a_picture_is_named_after_its_content_and_is_there_again(void **state)
{
    char name[MEDIA_NAME_CHARS_MAX + 1], again[MEDIA_NAME_CHARS_MAX + 1];
    (void)state;
    for (int format = PICTURE_JPEG; format < PICTURE_FORMATS; format++) {
        struct made made = picture_draw((enum picture_format)format, 10 + format, 10);
        struct media_folder *folder = opened(1 << 20);
        assert_int_equal(
            media_folder_add(folder, (enum picture_format)format, made_span(made), name), STATUS_OK);
        assert_int_equal(strcspn(name, "."), MEDIA_HASH_CHARS);
        assert_string_equal(strchr(name, '.') + 1, picture_extension((enum picture_format)format));
        const uint64_t used = media_folder_used(folder);
        assert_int_equal(
            media_folder_add(folder, (enum picture_format)format, made_span(made), again), STATUS_OK);
        assert_string_equal(again, name);
        assert_int_equal(media_folder_used(folder), used);
        media_folder_close(folder);
        folder = opened(1 << 20);
        struct media_set *set = media_set_make(folder);
        const struct media_file *file = media_set_find(set, span_from_string(name));
        assert_non_null(file);
        assert_int_equal(file->format, format);
        assert_true(span_equal(file->body, made_span(made)));
        assert_null(media_set_find(set, SPAN("")));
        assert_null(media_set_find(set, span_of(name, strlen(name) - 1)));
        assert_int_equal(set->count, format - PICTURE_JPEG + 1);
        free(set);
        media_folder_close(folder);
        free(made.bytes);
    }
}

static void what_does_not_fit_its_name_is_not_shown(void **state)
{
    char name[MEDIA_NAME_CHARS_MAX + 1];
    (void)state;
    struct made made = picture_draw(PICTURE_PNG, 9, 9);
    struct media_folder *folder = opened(1 << 20);
    const uint32_t before = count_of(folder);
    assert_int_equal(media_folder_add(folder, PICTURE_PNG, made_span(made), name), STATUS_OK);
    media_folder_close(folder);
    made.bytes[made.size / 2] ^= 1;
    file_put(name, made_span(made)); /* a flipped bit */
    file_put("0123456789abcdef0123456789abcdef.jpg", SPAN("<svg/>"));
    file_put("notes.txt", SPAN("mine"));
    folder = opened(1 << 20);
    assert_int_equal(count_of(folder), before);
    media_folder_close(folder);
    free(made.bytes);
}

static void a_file_without_its_name_yet_is_cleared_away(void **state)
{
    char whole[128];
    (void)state;
    file_put("0123456789abcdef0123456789abcdef.jpg.new", SPAN("half of a pict"));
    media_folder_close(opened(1 << 20));
    snprintf(whole, sizeof whole, "%s/0123456789abcdef0123456789abcdef.jpg.new", path);
    assert_int_equal(access(whole, F_OK), -1);
}

static void the_quota_holds_and_what_is_removed_counts_until_the_next_start(void **state)
{
    char name[MEDIA_NAME_CHARS_MAX + 1], other[MEDIA_NAME_CHARS_MAX + 1];
    (void)state;
    struct made first = picture_draw(PICTURE_PNG, 40, 40), second = picture_draw(PICTURE_PNG, 41, 40);
    struct media_folder *folder = opened(1 << 20);
    const uint64_t quota = media_folder_used(folder) + first.size + second.size - 1;
    media_folder_close(folder);
    folder = opened(quota);
    const uint32_t before = count_of(folder);
    assert_int_equal(media_folder_add(folder, PICTURE_PNG, made_span(first), name), STATUS_OK);
    assert_int_equal(media_folder_add(folder, PICTURE_PNG, made_span(second), other), STATUS_FULL);
    assert_int_equal(media_folder_remove(folder, span_from_string(other)), STATUS_NOT_FOUND);
    assert_int_equal(media_folder_remove(folder, span_from_string(name)), STATUS_OK);
    assert_int_equal(media_folder_remove(folder, span_from_string(name)), STATUS_NOT_FOUND);
    assert_int_equal(count_of(folder), before);
    assert_int_equal(media_folder_add(folder, PICTURE_PNG, made_span(second), other), STATUS_FULL);
    media_folder_close(folder);
    folder = opened(quota);
    assert_int_equal(media_folder_add(folder, PICTURE_PNG, made_span(second), other), STATUS_OK);
    media_folder_close(folder);
    free(first.bytes);
    free(second.bytes);
}

/* A disk that watches the order of its calls. */
static struct disk_ops watched;
static const struct disk_ops *real;
static bool synced, named_unsynced;

static enum status sync_watch(struct disk *disk, disk_file file)
{
    synced = true;
    return real->sync(disk, file);
}

static enum status rename_watch(struct disk *disk, const char *from, const char *to)
{
    named_unsynced |= !synced;
    return real->rename(disk, from, to);
}

static void a_picture_gets_its_name_when_its_bytes_are_on_the_disk(void **state)
{
    char name[MEDIA_NAME_CHARS_MAX + 1];
    struct disk *disk;
    struct media_folder *folder;
    (void)state;
    assert_int_equal(disk_folder_open(path, &disk), STATUS_OK);
    real = disk->ops;
    watched = *real;
    watched.sync = sync_watch;
    watched.rename = rename_watch;
    disk->ops = &watched;
    assert_int_equal(media_folder_open(&folder, disk, 1 << 20), STATUS_OK);
    struct made made = picture_draw(PICTURE_PNG, 33, 33);
    assert_int_equal(media_folder_add(folder, PICTURE_PNG, made_span(made), name), STATUS_OK);
    assert_true(synced);
    assert_false(named_unsynced);
    media_folder_close(folder);
    free(made.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_is_named_after_its_content_and_is_there_again),
        cmocka_unit_test(what_does_not_fit_its_name_is_not_shown),
        cmocka_unit_test(a_file_without_its_name_yet_is_cleared_away),
        cmocka_unit_test(a_picture_gets_its_name_when_its_bytes_are_on_the_disk),
        cmocka_unit_test(the_quota_holds_and_what_is_removed_counts_until_the_next_start),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_drop);
}
