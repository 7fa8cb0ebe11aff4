/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/paced_writes.h"

#include "base/thread.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, SLICE_PAGES = 64 };

/* Pages of the database that this thread has written since the last slice. Frames of the WAL are
 * written at other offsets, but for one in 512. */
static _Thread_local struct {
    int file;
    unsigned pages;
    off_t from, to;
} slice;

static _Atomic uint64_t slices;

static void slice_write_out(void)
{
    /* A hint: what must be on the disk is synced by SQLite. */
    (void)sync_file_range(slice.file, slice.from, slice.to - slice.from,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    slice.pages = 0;
    atomic_fetch_add_explicit(&slices, 1, memory_order_relaxed);
}

static ssize_t paced_pwrite(int file, const void *data, size_t bytes, off_t offset)
{
    thread_give_way();
    const ssize_t written = pwrite(file, data, bytes, offset);
    if (written != PAGE_BYTES || offset % PAGE_BYTES != 0)
        return written;
    if (slice.pages == 0 || slice.file != file) {
        slice.file = file;
        slice.pages = 0;
        slice.from = offset;
        slice.to = offset;
    }
    slice.from = offset < slice.from ? offset : slice.from;
    slice.to = offset + PAGE_BYTES > slice.to ? offset + PAGE_BYTES : slice.to;
    if (++slice.pages == SLICE_PAGES)
        slice_write_out();
    return written;
}

void paced_writes_start(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    if (vfs == NULL || vfs->iVersion < 3)
        return;
    (void)vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)paced_pwrite);
    (void)vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)paced_pwrite);
}

uint64_t paced_writes_slices(void)
{
    return atomic_load_explicit(&slices, memory_order_relaxed);
}
