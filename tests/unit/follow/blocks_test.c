/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks a follower has: the same bytes in the same place, and nothing else. */
#include "follow/blocks.h"

#include "follow/copy.h"
#include "follow/wire.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static uint8_t block[WIRE_DATA_MAX];

static void folder_make(void)
{
    char path[160];
    snprintf(folder, sizeof folder, "/tmp/stampede-blocks-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/journal", folder);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void file_put(const char *name, uint64_t offset, const void *data, size_t bytes)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, bytes, (off_t)offset), (ssize_t)bytes);
    close(fd);
}

struct told {
    struct block_set *set;
    uint32_t pieces, lasts;
    enum status answer;
};
static enum status tell(void *context, struct span names, bool last)
{
    struct told *told = context;
    told->pieces++;
    told->lasts += last;
    assert_true(names.size <= WIRE_NAMES_MAX * HASH_SHA256_BYTES);
    assert_int_equal(block_set_add(told->set, names), STATUS_OK);
    return told->answer;
}

static struct told folder_tell(enum status answer)
{
    struct told told = { .answer = answer };
    const struct blocks_teller teller = { .tell = tell, .context = &told };
    assert_int_equal(block_set_open(&told.set), STATUS_OK);
    assert_int_equal(blocks_tell(folder, &teller), answer);
    block_set_sort(told.set);
    return told;
}

static bool has(const struct block_set *set, enum mirror_part part, const char *file,
    uint64_t offset, const void *data, uint32_t bytes)
{
    uint8_t name[HASH_SHA256_BYTES];
    block_name(part, file, offset, data, bytes, name);
    return block_set_has(set, name);
}

static void a_block_is_had_only_with_its_bytes_in_its_place(void **state)
{
    (void)state;
    folder_make();
    memset(block, 'b', sizeof block);
    file_put("stampede.db", 0, block, sizeof block);
    file_put("stampede.db", WIRE_DATA_MAX, "tail", 4);
    file_put("journal/segment-1", 0, "seg", 3);
    struct told told = folder_tell(STATUS_OK);
    assert_int_equal(told.lasts, 1);
    assert_int_equal(block_set_count(told.set), 3);
    assert_true(has(told.set, MIRROR_ROOT, "stampede.db", 0, block, sizeof block));
    assert_true(has(told.set, MIRROR_ROOT, "stampede.db", WIRE_DATA_MAX, "tail", 4));
    assert_true(has(told.set, MIRROR_JOURNAL, "segment-1", 0, "seg", 3));
    assert_false(has(told.set, MIRROR_ROOT, "stampede.db", WIRE_DATA_MAX, block, sizeof block));
    assert_false(has(told.set, MIRROR_ROOT, "stampede.db", WIRE_DATA_MAX, "tai", 3));
    assert_false(has(told.set, MIRROR_ROOT, "stampede.db", 2 * WIRE_DATA_MAX, "tail", 4));
    assert_false(has(told.set, MIRROR_ROOT, "segment-1", 0, "seg", 3));
    assert_false(has(told.set, MIRROR_JOURNAL, "segment-2", 0, "seg", 3));
    block[17] = 'c';
    assert_false(has(told.set, MIRROR_ROOT, "stampede.db", 0, block, sizeof block));
    block_set_close(told.set);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

static void zeros_own_files_and_links_are_not_told(void **state)
{
    (void)state;
    char path[160];
    folder_make();
    memset(block, 0, sizeof block);
    file_put("journal/next-segment", 0, block, sizeof block);
    file_put("follow-state", 0, "state", 5);
    file_put("lock", 0, "1", 1);
    snprintf(path, sizeof path, "%s/elsewhere", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    struct told told = folder_tell(STATUS_OK);
    assert_int_equal(block_set_count(told.set), 0);
    assert_int_equal(told.lasts, 1);
    block_set_close(told.set);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

static void names_go_in_bounded_pieces_and_end_when_nobody_listens(void **state)
{
    (void)state;
    folder_make();
    memset(block, 1, sizeof block);
    for (int i = 0; i < 2 * WIRE_NAMES_MAX + 1; i++)
        file_put("stampede.db", (uint64_t)i * WIRE_DATA_MAX, block, sizeof block);
    struct told told = folder_tell(STATUS_OK);
    assert_int_equal(block_set_count(told.set), 2 * WIRE_NAMES_MAX + 1);
    assert_true(told.pieces >= 3);
    block_set_close(told.set);
    told = folder_tell(STATUS_AWAY);
    assert_int_equal(told.pieces, 1);
    assert_int_equal(told.lasts, 0);
    block_set_close(told.set);
    assert_int_equal(copy_remove(folder), STATUS_OK);
}

static void a_set_takes_so_many_and_no_more(void **state)
{
    (void)state;
    enum { PIECE = 4096 };
    struct block_set *set;
    uint8_t *names = calloc(PIECE, HASH_SHA256_BYTES);
    assert_non_null(names);
    assert_int_equal(block_set_open(&set), STATUS_OK);
    assert_false(block_set_has(set, names));
    for (int i = 0; i < BLOCKS_MAX / PIECE; i++)
        assert_int_equal(block_set_add(set, span_of(names, (size_t)PIECE * HASH_SHA256_BYTES)), STATUS_OK);
    assert_int_equal(block_set_add(set, span_of(names, HASH_SHA256_BYTES)), STATUS_FULL);
    assert_int_equal(block_set_count(set), BLOCKS_MAX);
    block_set_close(set);
    free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_had_only_with_its_bytes_in_its_place),
        cmocka_unit_test(zeros_own_files_and_links_are_not_told),
        cmocka_unit_test(names_go_in_bounded_pieces_and_end_when_nobody_listens),
        cmocka_unit_test(a_set_takes_so_many_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
