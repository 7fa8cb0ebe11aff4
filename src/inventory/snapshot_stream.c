/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot_stream.c: the bytes of a snapshot through one buffer, and their checksum. */
#include "inventory/snapshot_stream.h"

#include "base/bytes.h"
#include "base/hash.h"

#include <string.h>

void snapshot_stream_flush(struct snapshot_stream *stream)
{
    stream->crc = hash_crc32c(stream->crc, stream->buffer, stream->used);
    if (stream->status == STATUS_OK && stream->used > 0)
        stream->status = stream->disk->ops->write(
            stream->disk, stream->file, stream->offset, stream->buffer, stream->used);
    stream->offset += stream->used;
    stream->used = 0;
    if (stream->status == STATUS_OK && stream->offset >= stream->synced + SNAPSHOT_SYNC_BYTES) {
        stream->status = stream->disk->ops->sync(stream->disk, stream->file);
        stream->synced = stream->offset;
    }
}

void snapshot_stream_put(struct snapshot_stream *stream, const void *data, size_t bytes)
{
    if (stream->used + bytes > SNAPSHOT_BUFFER_BYTES)
        snapshot_stream_flush(stream);
    memcpy(stream->buffer + stream->used, data, bytes);
    stream->used += (uint32_t)bytes;
}

void snapshot_stream_end(struct snapshot_stream *stream)
{
    snapshot_stream_flush(stream);
    const uint32_t crc = stream->crc;
    snapshot_stream_put(stream, &crc, sizeof crc);
    snapshot_stream_flush(stream);
}

bool snapshot_stream_take(struct snapshot_stream *stream, void *data, size_t bytes)
{
    uint8_t *out = data;
    for (size_t done = 0; done < bytes && stream->status == STATUS_OK;) {
        if (stream->used == stream->filled) {
            size_t got = 0;
            stream->status = stream->disk->ops->read(stream->disk, stream->file, stream->offset,
                stream->buffer, SNAPSHOT_BUFFER_BYTES, &got);
            if (stream->status == STATUS_OK && got == 0)
                stream->status = STATUS_CORRUPT;
            stream->offset += got;
            stream->filled = (uint32_t)got;
            stream->used = 0;
            continue;
        }
        const size_t there = stream->filled - stream->used;
        const size_t part = bytes - done < there ? bytes - done : there;
        memcpy(out + done, stream->buffer + stream->used, part);
        stream->used += (uint32_t)part;
        done += part;
    }
    return stream->status == STATUS_OK;
}

enum status snapshot_stream_judge(struct snapshot_stream *stream)
{
    uint8_t tail[sizeof stream->crc];
    uint32_t crc = 0, held = 0; /* bytes in the tail, the last ones read so far */
    for (;;) {
        size_t got = 0;
        const enum status status = stream->disk->ops->read(stream->disk, stream->file,
            stream->offset, stream->buffer, SNAPSHOT_BUFFER_BYTES, &got);
        if (status != STATUS_OK || got == 0)
            return status != STATUS_OK                              ? status
                : held == sizeof tail && bytes_get_u32(tail) == crc ? STATUS_OK
                                                                    : STATUS_CORRUPT;
        stream->offset += got;
        const size_t whole = held + got < sizeof tail ? 0 : held + got - sizeof tail;
        const size_t from_tail = whole < held ? whole : held;
        crc = hash_crc32c(crc, tail, from_tail);
        memmove(tail, tail + from_tail, held - from_tail);
        held -= (uint32_t)from_tail;
        crc = hash_crc32c(crc, stream->buffer, whole - from_tail);
        const size_t rest = got - (whole - from_tail);
        memcpy(tail + held, stream->buffer + (whole - from_tail), rest);
        held += (uint32_t)rest;
    }
}
