/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/sweep.h"

#include "base/bytes.h"
#include "follow/wire.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SMALL_FILES_MAX = 70000, /* of all parts: snapshots, pictures */
    SWEPT_SLOTS = 1 << 20,
    PASSES_MAX = 64, /* over a part whose files get other names meanwhile */
    SMALL_BYTES_MAX = 8 * 1024 * 1024,
    FRESH_NAME_BYTES = 8, /* ".follow" */
};
static_assert(SWEPT_SLOTS == 1 << (64 - 44) && (int)SWEPT_SLOTS > 2 * (int)DISK_FILES_MAX,
    "a slot has 20 bits of the hash, and one is always free");
static const char database_name[] = "stampede.db";

struct seen {
    enum mirror_part part;
    char name[DISK_NAME_MAX];
    ino_t inode;
    off_t bytes;
    struct timespec changed;
    bool here;
};

struct sweep {
    struct stream *stream;
    struct mirror *mirror;
    int folders[MIRROR_PARTS]; /* -1: not there (yet) */
    char path[4096];
    int database; /* stays open: SQLite's locks would go with it */
    struct seen *small;
    uint32_t small_count, small_next; /* where the next name is, if the folder lists them as before */
    const struct block_set *had; /* while a base is made: what the follower has; NULL: nothing is known */
    uint64_t sent_bytes;
    ino_t *swept; /* of the part in hand: files that are in the stream as a whole; 0: a free slot */
    uint32_t swept_count;
    uint8_t block[WIRE_DATA_MAX];
};

static int part_folder(struct sweep *sweep, enum mirror_part part)
{
    if (sweep->folders[part] < 0)
        sweep->folders[part] = openat(part == MIRROR_ROOT ? AT_FDCWD : sweep->folders[MIRROR_ROOT],
            part == MIRROR_ROOT ? sweep->path : wire_part_folder(part),
            O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return sweep->folders[part];
}

enum status sweep_open(struct sweep **opened, const char *folder, struct stream *stream)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);
    *opened = NULL;
    if (sweep == NULL)
        return STATUS_FULL;
    sweep->stream = stream;
    sweep->mirror = stream_mirror(stream);
    sweep->database = -1;
    for (int part = 0; part < MIRROR_PARTS; part++)
        sweep->folders[part] = -1;
    sweep->small = calloc(SMALL_FILES_MAX, sizeof *sweep->small);
    sweep->swept = calloc(SWEPT_SLOTS, sizeof *sweep->swept);
    const int size = snprintf(sweep->path, sizeof sweep->path, "%s", folder);
    if (sweep->small == NULL || sweep->swept == NULL || size < 0
        || (size_t)size >= sizeof sweep->path || part_folder(sweep, MIRROR_ROOT) < 0) {
        sweep_close(sweep);
        return STATUS_IO;
    }
    *opened = sweep;
    return STATUS_OK;
}

void sweep_close(struct sweep *sweep)
{
    if (sweep == NULL)
        return;
    for (int part = 0; part < MIRROR_PARTS; part++)
        if (sweep->folders[part] >= 0)
            close(sweep->folders[part]);
    if (sweep->database >= 0)
        close(sweep->database);
    free(sweep->small);
    free(sweep->swept);
    free(sweep);
}

static bool note(struct sweep *sweep, uint64_t number, struct mirror_change change)
{
    return stream_note_base(sweep->stream, number, &change);
}

/* Of the database there is one descriptor that is never closed. */
static int file_open(struct sweep *sweep, enum mirror_part part, const char *name)
{
    const bool database = part == MIRROR_ROOT && strcmp(name, database_name) == 0;
    if (database && sweep->database >= 0)
        return sweep->database;
    const int fd = openat(sweep->folders[part], name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (database)
        sweep->database = fd;
    return fd;
}

static void file_close(struct sweep *sweep, int fd)
{
    if (fd != sweep->database)
        close(fd);
}

static bool is_had(const struct sweep *sweep, enum mirror_part part, const char *name, off_t offset,
    uint32_t bytes)
{
    uint8_t block[HASH_SHA256_BYTES];
    if (sweep->had == NULL || offset % WIRE_DATA_MAX != 0)
        return false;
    block_name(part, name, (uint64_t)offset, sweep->block, bytes, block);
    return block_set_has(sweep->had, block);
}

/* The change that makes the block in hand: by its bytes, by their number if they are zeros, or by where the
 * follower has it. `room` is for the latter. */
static struct mirror_change block_change(struct sweep *sweep, enum mirror_part part,
    const char *name, off_t offset, uint32_t bytes, uint8_t room[4 + DISK_NAME_MAX])
{
    struct mirror_change change = { .part = part, .offset = (uint64_t)offset, .data = room };
    if (block_is_zeros(sweep->block, bytes)) {
        bytes_put_u64(room, bytes);
        change.kind = MIRROR_ZEROS;
        change.bytes = 8;
    } else if (is_had(sweep, part, name, offset, bytes)) {
        bytes_put_u32(room, bytes);
        memcpy(room + 4, name, strlen(name));
        change.kind = MIRROR_SAME;
        change.bytes = 4 + (uint32_t)strlen(name);
    } else {
        change.kind = MIRROR_WRITE;
        change.data = sweep->block;
        change.bytes = bytes;
        sweep->sent_bytes += bytes;
    }
    return change;
}

/* The block at `offset`, under the name that the file still must have. */
enum block { BLOCK_MORE, BLOCK_LAST, BLOCK_RENAMED, BLOCK_GIVEN_UP, BLOCK_FAULT };
static enum block block_note(struct sweep *sweep, uint64_t number, enum mirror_part part,
    const char *name, const char *as, int fd, ino_t inode, off_t offset)
{
    struct stat about;
    uint8_t room[4 + DISK_NAME_MAX];
    if (fstatat(sweep->folders[part], name, &about, AT_SYMLINK_NOFOLLOW) != 0 || about.st_ino != inode)
        return BLOCK_RENAMED;
    const ssize_t got = pread(fd, sweep->block, sizeof sweep->block, offset);
    if (got < 0)
        return BLOCK_FAULT;
    if (got == 0)
        return note(sweep, number,
                   (struct mirror_change){
                       .kind = MIRROR_TRUNCATE, .part = part, .name = as, .offset = (uint64_t)about.st_size })
            ? BLOCK_LAST
            : BLOCK_GIVEN_UP;
    struct mirror_change change = block_change(sweep, part, name, offset, (uint32_t)got, room);
    change.name = as;
    return note(sweep, number, change) ? BLOCK_MORE : BLOCK_GIVEN_UP;
}

/* All blocks of a file, as the file `as`. */
static enum block file_note(struct sweep *sweep, uint64_t number, enum mirror_part part,
    const char *name, const char *as, ino_t inode)
{
    enum block block = BLOCK_MORE;
    const int fd = file_open(sweep, part, name);
    if (fd < 0)
        return errno == ENOENT ? BLOCK_RENAMED : BLOCK_FAULT;
    for (off_t offset = 0; block == BLOCK_MORE; offset += WIRE_DATA_MAX) {
        if (!stream_room_wait(sweep->stream, number))
            block = BLOCK_GIVEN_UP;
        if (block == BLOCK_MORE) {
            sweep->mirror->ops->enter(sweep->mirror, part);
            block = block_note(sweep, number, part, name, as, fd, inode, offset);
            sweep->mirror->ops->leave(sweep->mirror, part);
        }
        if (block == BLOCK_MORE) { /* a shorter one was the last: its end is looked at there */
            struct stat about;
            if (fstat(fd, &about) == 0 && about.st_size < offset + WIRE_DATA_MAX)
                offset = about.st_size - WIRE_DATA_MAX;
        }
    }
    file_close(sweep, fd);
    if (block == BLOCK_LAST
        && !note(sweep, number, (struct mirror_change){ .kind = MIRROR_SYNC, .part = part, .name = as }))
        block = BLOCK_GIVEN_UP;
    return block;
}

/* The file's slot, or the free one that it gets. */
static ino_t *swept_slot(const struct sweep *sweep, ino_t inode)
{
    uint32_t slot = (uint32_t)((uint64_t)inode * UINT64_C(0x9E3779B97F4A7C15) >> 44);
    while (sweep->swept[slot] != 0 && sweep->swept[slot] != inode)
        slot = (slot + 1) % SWEPT_SLOTS;
    return &sweep->swept[slot];
}

static bool is_database(const char *name)
{
    return strcmp(name, database_name) == 0 || strcmp(name, "stampede.db-wal") == 0
        || strcmp(name, "stampede.db-journal") == 0;
}

/* Which files are read block by block while they are written; small ones go as a whole. */
static bool is_swept_kind(enum mirror_part part, const char *name)
{
    return part == MIRROR_JOURNAL || is_database(name);
}

/* One pass; *left: files that are not in the stream as a whole yet. */
static enum block pass_note(struct sweep *sweep, uint64_t number, enum mirror_part part, uint32_t *left)
{
    const int fd = openat(sweep->folders[part], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    enum block block = BLOCK_LAST;
    *left = 0;
    if (names == NULL)
        return BLOCK_FAULT;
    while ((block == BLOCK_LAST || block == BLOCK_RENAMED) && (entry = readdir(names)) != NULL) {
        struct stat about;
        if (!wire_name_good(part, span_from_string(entry->d_name)) || !is_swept_kind(part, entry->d_name)
            || fstatat(sweep->folders[part], entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0
            || !S_ISREG(about.st_mode) || *swept_slot(sweep, about.st_ino) != 0)
            continue;
        block = file_note(sweep, number, part, entry->d_name, entry->d_name, about.st_ino);
        if (block == BLOCK_LAST && sweep->swept_count < DISK_FILES_MAX) {
            *swept_slot(sweep, about.st_ino) = about.st_ino;
            sweep->swept_count++;
        } else {
            (*left)++;
        }
    }
    closedir(names);
    return block;
}

static enum block part_note(struct sweep *sweep, uint64_t number, enum mirror_part part)
{
    enum block block = BLOCK_LAST;
    uint32_t left = 1;
    memset(sweep->swept, 0, SWEPT_SLOTS * sizeof *sweep->swept);
    sweep->swept_count = 0;
    /* A pass that finds nothing to read has seen every file under the name that it has. */
    for (int pass = 0; pass < PASSES_MAX; pass++) {
        const uint32_t before = sweep->swept_count;
        block = pass_note(sweep, number, part, &left);
        if (block == BLOCK_FAULT || block == BLOCK_GIVEN_UP)
            return block;
        if (left == 0 && sweep->swept_count == before)
            return note(sweep, number, (struct mirror_change){ .kind = MIRROR_SYNC_FOLDER, .part = part })
                ? BLOCK_LAST
                : BLOCK_GIVEN_UP;
    }
    errno = EBUSY;
    return BLOCK_FAULT;
}

static enum status base_note(struct sweep *sweep, uint64_t number, bool *done)
{
    sweep->small_count = 0; /* all of them again */
    if (!note(sweep, number, (struct mirror_change){ .kind = MIRROR_BASE_BEGIN }))
        return STATUS_OK;
    /* The database first and the log after it, as in a backup; changes of both go on meanwhile. */
    static const enum mirror_part parts[] = { MIRROR_ROOT, MIRROR_JOURNAL };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (part_folder(sweep, parts[i]) < 0)
            return STATUS_IO;
        const enum block block = part_note(sweep, number, parts[i]);
        if (block == BLOCK_GIVEN_UP)
            return STATUS_OK;
        if (block == BLOCK_FAULT)
            return STATUS_IO;
    }
    const enum status status = sweep_small_files(sweep, number);
    if (status == STATUS_OK)
        *done = note(sweep, number, (struct mirror_change){ .kind = MIRROR_BASE_END });
    return status;
}

enum status sweep_base(struct sweep *sweep, uint64_t number, const struct block_set *had, bool *done)
{
    *done = false;
    sweep->had = had;
    sweep->sent_bytes = 0;
    const enum status status = base_note(sweep, number, done);
    sweep->had = NULL; /* the copy changes from now on */
    return status;
}

uint64_t sweep_sent_bytes(const struct sweep *sweep)
{
    return sweep->sent_bytes;
}

/* ---- small files ---- */

/* A folder lists its names in the same order as the last time, but for those that are new. */
static struct seen *small_find(struct sweep *sweep, enum mirror_part part, const char *name)
{
    for (uint32_t i = 0; i < sweep->small_count; i++) {
        const uint32_t at = (sweep->small_next + i) % sweep->small_count;
        if (sweep->small[at].part == part && strcmp(sweep->small[at].name, name) == 0) {
            sweep->small_next = at + 1;
            return &sweep->small[at];
        }
    }
    return NULL;
}

static bool is_small(enum mirror_part part, const char *name)
{
    const size_t size = strlen(name);
    const bool passing =
        size > 4 && (strcmp(name + size - 4, ".tmp") == 0 || strcmp(name + size - 4, "part") == 0);
    return wire_name_good(part, span_of(name, size)) && size + FRESH_NAME_BYTES < DISK_NAME_MAX && !passing
        && !(part == MIRROR_ROOT && strncmp(name, database_name, strlen(database_name)) == 0);
}

/* Under another name first, so that the copy has the old one or the new one. */
static enum block small_note(struct sweep *sweep, uint64_t number, enum mirror_part part,
    const char *name, const struct stat *about)
{
    char fresh[DISK_NAME_MAX];
    snprintf(fresh, sizeof fresh, "%.*s.follow", DISK_NAME_MAX - FRESH_NAME_BYTES, name);
    enum block block = file_note(sweep, number, part, name, fresh, about->st_ino);
    const bool noted = block == BLOCK_LAST
        && note(sweep, number,
            (struct mirror_change){ .kind = MIRROR_RENAME,
                .part = part,
                .name = fresh,
                .data = name,
                .bytes = (uint32_t)strlen(name) })
        && note(sweep, number, (struct mirror_change){ .kind = MIRROR_SYNC_FOLDER, .part = part });
    return block == BLOCK_LAST && !noted ? BLOCK_GIVEN_UP : block;
}

static enum block small_look(struct sweep *sweep, uint64_t number, enum mirror_part part, const char *name)
{
    struct stat about;
    if (!is_small(part, name) || fstatat(sweep->folders[part], name, &about, AT_SYMLINK_NOFOLLOW) != 0
        || !S_ISREG(about.st_mode) || about.st_size > SMALL_BYTES_MAX)
        return BLOCK_LAST;
    struct seen *seen = small_find(sweep, part, name);
    if (seen != NULL && seen->inode == about.st_ino && seen->bytes == about.st_size
        && memcmp(&seen->changed, &about.st_mtim, sizeof seen->changed) == 0) {
        seen->here = true;
        return BLOCK_LAST;
    }
    const enum block block = small_note(sweep, number, part, name, &about);
    if (block != BLOCK_LAST)
        return block == BLOCK_RENAMED ? BLOCK_LAST : block; /* the next call sees what it is now */
    if (seen == NULL && sweep->small_count < SMALL_FILES_MAX)
        seen = &sweep->small[sweep->small_count++];
    if (seen == NULL)
        return BLOCK_LAST;
    *seen = (struct seen){
        .part = part, .inode = about.st_ino, .bytes = about.st_size, .changed = about.st_mtim, .here = true
    };
    memcpy(seen->name, name, strlen(name) + 1);
    return BLOCK_LAST;
}

static enum block small_part(struct sweep *sweep, uint64_t number, enum mirror_part part)
{
    const int fd = openat(sweep->folders[part], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    enum block block = BLOCK_LAST;
    if (names == NULL)
        return BLOCK_FAULT;
    for (uint32_t i = 0; i < sweep->small_count; i++)
        sweep->small[i].here = sweep->small[i].here && sweep->small[i].part != part;
    while (block == BLOCK_LAST && (entry = readdir(names)) != NULL)
        block = small_look(sweep, number, part, entry->d_name);
    closedir(names);
    for (uint32_t i = 0; block == BLOCK_LAST && i < sweep->small_count;) {
        struct seen *seen = &sweep->small[i];
        if (seen->part != part || seen->here) {
            i++;
            continue;
        }
        if (!note(sweep, number,
                (struct mirror_change){ .kind = MIRROR_REMOVE, .part = part, .name = seen->name }))
            block = BLOCK_GIVEN_UP;
        *seen = sweep->small[--sweep->small_count];
    }
    return block;
}

enum status sweep_small_files(struct sweep *sweep, uint64_t number)
{
    static const enum mirror_part parts[] = { MIRROR_ROOT, MIRROR_MEDIA, MIRROR_SANDBOX };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (part_folder(sweep, parts[i]) < 0)
            continue; /* not made yet */
        if (small_part(sweep, number, parts[i]) == BLOCK_FAULT)
            return STATUS_IO;
    }
    return STATUS_OK;
}
