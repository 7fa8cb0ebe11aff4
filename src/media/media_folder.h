/* SPDX-License-Identifier: Apache-2.0 */
/* media/media_folder.h: the pictures of products, as files of a folder that are named after their
 * content: 32 hex digits of its SHA-256, and its format. A file is written whole, synced and then
 * given its name, so a name is there with all of its bytes or not at all; it never changes.
 *
 * All of them are in memory, since whoever serves them must not wait for the disk. What is removed
 * stays there until the end (somebody may be sending it), so the quota bounds memory as well: it
 * counts what was loaded or added since the start.
 * Thread: one owner (the worker); media_set is for any thread and never altered. */
#ifndef STAMPEDE_MEDIA_MEDIA_FOLDER_H
#define STAMPEDE_MEDIA_MEDIA_FOLDER_H

#include "base/disk.h"
#include "media/picture_format.h"

enum {
    MEDIA_FILES_MAX = 1000,
    MEDIA_HASH_CHARS = 32,
    MEDIA_NAME_CHARS_MAX = MEDIA_HASH_CHARS + 5, /* and ".webp" */
};

struct media_file {
    char name[MEDIA_NAME_CHARS_MAX + 1];
    enum picture_format format;
    struct span body; /* valid until media_folder_close */
};
struct media_set { /* what is there at a moment, by name, ascending */
    uint32_t count;
    struct media_file files[];
};

struct media_folder; /* opaque */
/* Loads what is there. A file that does not fit its name is left out and logged; so is what is over
 * MEDIA_FILES_MAX. `disk` is the folder's, and is closed with it. */
MUST_CHECK enum status media_folder_open(
    struct media_folder **folder, struct disk *disk, uint64_t quota_bytes);
void media_folder_close(struct media_folder *folder); /* accepts NULL */

/* `name` is filled on STATUS_OK, also if it was there already (then nothing is written).
 * STATUS_FULL: the quota, MEDIA_FILES_MAX or the disk; STATUS_IO: the disk. */
MUST_CHECK enum status media_folder_add(struct media_folder *folder, enum picture_format format,
    struct span bytes, char name[MEDIA_NAME_CHARS_MAX + 1]);
MUST_CHECK enum status media_folder_remove(struct media_folder *folder, struct span name);
uint64_t media_folder_used(const struct media_folder *folder); /* bytes, of the quota */

struct media_set *media_set_make(const struct media_folder *folder); /* free() it */
const struct media_file *media_set_find(const struct media_set *set, struct span name); /* NULL: not there */

#endif
