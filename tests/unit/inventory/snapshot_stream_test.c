/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/inventory/snapshot_stream_test.c: bytes come back as they were written, and a file is whole
 * only with its checksum. */
#include "inventory/snapshot_stream.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

#include <string.h>

enum { PIECE = 1000, PIECES = 3 * SNAPSHOT_BUFFER_BYTES / PIECE };
static const char name[] = "stream";
static struct disk *disk;
static uint8_t buffer[SNAPSHOT_BUFFER_BYTES];

static int setup(void **state)
{
    (void)state;
    disk = memory_disk_open(1);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    memory_disk_close(disk);
    return 0;
}

static struct snapshot_stream stream_on(enum disk_mode mode)
{
    struct snapshot_stream stream = { .disk = disk, .file = -1, .buffer = buffer };
    assert_int_equal(disk->ops->open(disk, name, mode, &stream.file), STATUS_OK);
    return stream;
}

/* Several buffers, and the checksum behind them. */
static void write_pieces(uint32_t pieces)
{
    struct snapshot_stream stream = stream_on(DISK_CREATE);
    uint8_t piece[PIECE];
    for (uint32_t i = 0; i < pieces; i++) {
        memset(piece, (int)i, sizeof piece);
        snapshot_stream_put(&stream, piece, sizeof piece);
    }
    snapshot_stream_end(&stream);
    assert_int_equal(stream.status, STATUS_OK);
    disk->ops->close(disk, stream.file);
}

static enum status judged(void)
{
    struct snapshot_stream stream = stream_on(DISK_READ);
    const enum status status = snapshot_stream_judge(&stream);
    disk->ops->close(disk, stream.file);
    return status;
}

static enum status (*disk_sync)(struct disk *, disk_file);
static uint32_t syncs;
static enum status sync_counted(struct disk *one, disk_file file)
{
    syncs++;
    return disk_sync(one, file);
}

/* The journal shares the disk: its sync must not wait for a whole snapshot. */
static void a_large_file_goes_to_the_disk_in_slices(void **state)
{
    (void)state;
    const struct disk_ops *const ops = disk->ops;
    struct disk_ops counting = *ops;
    disk_sync = ops->sync;
    counting.sync = sync_counted;
    disk->ops = &counting;
    syncs = 0;
    write_pieces(3 * SNAPSHOT_SYNC_BYTES / PIECE + 1);
    disk->ops = ops;
    assert_in_range(syncs, 2, 3);
    assert_int_equal(judged(), STATUS_OK);
}

static void what_was_written_comes_back_and_then_the_file_is_over(void **state)
{
    (void)state;
    uint8_t piece[PIECE], wanted[PIECE];
    uint32_t crc;
    write_pieces(PIECES);
    struct snapshot_stream stream = stream_on(DISK_READ);
    for (uint32_t i = 0; i < PIECES; i++) {
        memset(wanted, (int)i, sizeof wanted);
        assert_true(snapshot_stream_take(&stream, piece, sizeof piece));
        assert_memory_equal(piece, wanted, sizeof piece);
    }
    assert_true(snapshot_stream_take(&stream, &crc, sizeof crc));
    assert_false(snapshot_stream_take(&stream, piece, 1));
    assert_int_equal(stream.status, STATUS_CORRUPT);
    disk->ops->close(disk, stream.file);
}

static void a_file_is_whole_when_its_checksum_fits(void **state)
{
    (void)state;
    write_pieces(PIECES);
    assert_int_equal(judged(), STATUS_OK);
    const uint64_t size = memory_disk_size(disk, name);
    for (uint64_t at = 0; at < size; at += size / 7) {
        uint8_t byte;
        memory_disk_peek(disk, name, at, &byte, 1);
        byte ^= 1;
        memory_disk_poke(disk, name, at, &byte, 1);
        assert_int_equal(judged(), STATUS_CORRUPT);
        byte ^= 1;
        memory_disk_poke(disk, name, at, &byte, 1);
    }
    assert_int_equal(judged(), STATUS_OK);
}

static void an_empty_file_is_damaged_and_one_of_nothing_is_whole(void **state)
{
    (void)state;
    struct snapshot_stream stream = stream_on(DISK_CREATE);
    disk->ops->close(disk, stream.file);
    assert_int_equal(judged(), STATUS_CORRUPT);
    assert_int_equal(disk->ops->remove(disk, name), STATUS_OK);
    write_pieces(0);
    assert_int_equal(judged(), STATUS_OK);
}

static void the_first_fault_of_the_disk_stays(void **state)
{
    (void)state;
    uint8_t piece[PIECE] = { 0 };
    struct snapshot_stream stream = stream_on(DISK_CREATE);
    memory_disk_fail(disk, MEMORY_WRITE, 1);
    snapshot_stream_put(&stream, piece, sizeof piece);
    snapshot_stream_flush(&stream);
    const uint64_t size = memory_disk_size(disk, name);
    snapshot_stream_put(&stream, piece, sizeof piece);
    snapshot_stream_flush(&stream);
    assert_int_equal(stream.status, STATUS_IO);
    assert_int_equal(memory_disk_size(disk, name), size); /* nothing more was written */
    disk->ops->close(disk, stream.file);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(what_was_written_comes_back_and_then_the_file_is_over),
        RULE(a_large_file_goes_to_the_disk_in_slices),
        RULE(a_file_is_whole_when_its_checksum_fits),
        RULE(an_empty_file_is_damaged_and_one_of_nothing_is_whole),
        RULE(the_first_fault_of_the_disk_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
