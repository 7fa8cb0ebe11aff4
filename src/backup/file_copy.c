/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/file_copy.h"

#include "base/clock.h"

#include <stdlib.h>
#include <unistd.h>

enum { PART_BYTES = 1024 * 1024, PAUSE_US_MAX = 200 * 1000 };

void file_pace_wait(void *context, uint64_t bytes)
{
    struct file_pace *pace = context;
    const uint64_t now_ns = clock_monotonic_ns();
    pace->bytes += bytes;
    if (pace->last_ns != 0) {
        const uint64_t took_us = (now_ns - pace->last_ns) / 1000;
        usleep((useconds_t)(took_us < PAUSE_US_MAX ? took_us : PAUSE_US_MAX));
    }
    pace->last_ns = clock_monotonic_ns();
}

static enum status parts_copy(struct disk *from, disk_file source, struct disk *to, disk_file copy)
{
    uint8_t *buffer = malloc(PART_BYTES);
    struct file_pace pace = { 0 };
    uint64_t offset = 0;
    size_t got = PART_BYTES;
    enum status status = buffer == NULL ? STATUS_FULL : STATUS_OK;
    while (status == STATUS_OK && got == PART_BYTES) {
        status = from->ops->read(from, source, offset, buffer, PART_BYTES, &got);
        if (status == STATUS_OK)
            status = to->ops->write(to, copy, offset, buffer, got);
        if (status == STATUS_OK)
            status = to->ops->sync(to, copy);
        offset += got;
        if (status == STATUS_OK && got == PART_BYTES)
            file_pace_wait(&pace, got);
    }
    free(buffer);
    return status;
}

enum status file_copy(struct disk *from, struct disk *to, const char *name)
{
    disk_file source = -1, copy = -1;
    enum status status = from->ops->open(from, name, DISK_READ, &source);
    if (status != STATUS_OK)
        return status;
    status = to->ops->open(to, name, DISK_CREATE, &copy);
    if (status == STATUS_OK) {
        status = parts_copy(from, source, to, copy);
        to->ops->close(to, copy);
    }
    from->ops->close(from, source);
    return status;
}
