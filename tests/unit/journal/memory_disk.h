/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/memory_disk.h: a disk in memory that forgets what was not synced.
 *
 * Each file has what the system shows (current) and what would survive a power cut (stable),
 * page by page. A write makes pages dirty, a sync makes dirty pages stable. A sync that fails
 * makes some of them stable and calls all of them clean, as Linux does: syncing again answers
 * success and saves nothing. Names become stable with sync_folder.
 * Thread: any (one lock). */
#ifndef STAMPEDE_TESTS_MEMORY_DISK_H
#define STAMPEDE_TESTS_MEMORY_DISK_H

#include "base/disk.h"

enum memory_call {
    MEMORY_WRITE = 1,
    MEMORY_SYNC = 2,
    MEMORY_RENAME = 4,
    MEMORY_SYNC_FOLDER = 8,
    MEMORY_OPEN = 16,
    MEMORY_READ = 32,
    MEMORY_ANY = 63,
};

struct disk *memory_disk_open(uint64_t seed);
void memory_disk_close(struct disk *disk);

/* The k-th of these calls from now on fails with STATUS_IO (k counts from 1; 0: none fails any
 * more). */
void memory_disk_fail(struct disk *disk, unsigned calls, uint64_t k);
bool memory_disk_has_failed(const struct disk *disk); /* since the last memory_disk_fail */
/* Writes that would make all files together larger answer STATUS_FULL. */
void memory_disk_capacity(struct disk *disk, uint64_t bytes);

/* Power cut: of each page that was dirty, the old, the new, or a mixture of their sectors stays;
 * of the changes to names, the first few. Files that are open are closed. */
void memory_disk_power_cut(struct disk *disk);
/* Another disk with the same content, as it stands and as it is stable. */
struct disk *memory_disk_copy(const struct disk *disk, uint64_t seed);

bool memory_disk_has(const struct disk *disk, const char *name);
uint32_t memory_disk_open_files(const struct disk *disk);
uint64_t memory_disk_size(const struct disk *disk, const char *name);
/* Behind everybody's back, at once stable. */
void memory_disk_peek(
    const struct disk *disk, const char *name, uint64_t offset, void *data, size_t bytes);
void memory_disk_poke(
    struct disk *disk, const char *name, uint64_t offset, const void *data, size_t bytes);
bool memory_disk_equal(const struct disk *a, const struct disk *b); /* same names, same current content */

#endif
