/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot_stream.h: a file that is written or read front to back through one buffer; when
 * it is written, its checksum ends it. Thread: the caller's. Memory: the buffer is the caller's.
 * Errors: the first one stays in `status`, and what follows it does nothing. */
#ifndef STAMPEDE_INVENTORY_SNAPSHOT_STREAM_H
#define STAMPEDE_INVENTORY_SNAPSHOT_STREAM_H

#include "base/disk.h"

#include <stdbool.h>

enum {
    SNAPSHOT_BUFFER_BYTES = 64 * 1024,
    /* So often while it is written: the journal's sync on the same disk waits behind a slice only. */
    SNAPSHOT_SYNC_BYTES = 512 * 1024,
};

struct snapshot_stream {
    struct disk *disk;
    disk_file file;
    uint64_t offset;
    uint64_t synced;       /* what is written below this is on the disk */
    uint32_t crc;          /* of what is written; what is still in the buffer is not in it */
    uint32_t used, filled; /* used: bytes taken or put; filled: bytes read */
    enum status status;
    uint8_t *buffer;
};

void snapshot_stream_flush(struct snapshot_stream *stream);
void snapshot_stream_put(struct snapshot_stream *stream, const void *data, size_t bytes);
void snapshot_stream_end(struct snapshot_stream *stream); /* writes the checksum of all that was put */
/* False: `status` says why; STATUS_CORRUPT: the file ends before. */
MUST_CHECK bool snapshot_stream_take(struct snapshot_stream *stream, void *data, size_t bytes);
/* Reads the whole file once: STATUS_OK when its last four bytes are the checksum of the others. */
MUST_CHECK enum status snapshot_stream_judge(struct snapshot_stream *stream);

#endif
