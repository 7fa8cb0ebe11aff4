/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/blocks.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "follow/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_ROOM = 4096,  /* names */
    TELL_EVERY_MS = 100 /* or when a piece is full */
};

void block_name(enum mirror_part part, const char *file, uint64_t offset, const void *data,
    uint32_t bytes, uint8_t name[HASH_SHA256_BYTES])
{
    uint8_t about[16 + DISK_NAME_MAX + HASH_SHA256_BYTES] = { (uint8_t)part };
    const size_t size = strlen(file);
    invariant(size < DISK_NAME_MAX);
    about[1] = (uint8_t)size;
    bytes_put_u32(about + 4, bytes);
    bytes_put_u64(about + 8, offset);
    memcpy(about + 16, file, size);
    hash_sha256(data, bytes, about + 16 + size);
    hash_sha256(about, 16 + size + HASH_SHA256_BYTES, name);
}

bool block_is_zeros(const uint8_t *data, size_t bytes)
{
    return bytes > 8 && bytes_get_u64(data) == 0 && memcmp(data, data + 8, bytes - 8) == 0;
}

/* ---- the server's set ---- */

struct block_set {
    uint8_t (*names)[HASH_SHA256_BYTES];
    uint32_t count, room;
};

enum status block_set_open(struct block_set **blocks)
{
    *blocks = calloc(1, sizeof **blocks);
    return *blocks == NULL ? STATUS_FULL : STATUS_OK;
}

void block_set_close(struct block_set *blocks)
{
    if (blocks == NULL)
        return;
    free(blocks->names);
    free(blocks);
}

enum status block_set_add(struct block_set *blocks, struct span names)
{
    const size_t count = names.size / HASH_SHA256_BYTES;
    invariant(names.size % HASH_SHA256_BYTES == 0);
    if (count > BLOCKS_MAX - blocks->count)
        return STATUS_FULL;
    if (count > blocks->room - blocks->count) {
        size_t room = blocks->room == 0 ? FIRST_ROOM : blocks->room;
        while (room - blocks->count < count)
            room *= 2;
        void *more = realloc(blocks->names, room * HASH_SHA256_BYTES);
        if (more == NULL)
            return STATUS_FULL;
        blocks->names = more;
        blocks->room = (uint32_t)room;
    }
    if (count > 0)
        memcpy(blocks->names + blocks->count, names.data, names.size);
    blocks->count += (uint32_t)count;
    return STATUS_OK;
}

static int name_order(const void *a, const void *b)
{
    return memcmp(a, b, HASH_SHA256_BYTES);
}

void block_set_sort(struct block_set *blocks)
{
    if (blocks->count > 0)
        qsort(blocks->names, blocks->count, HASH_SHA256_BYTES, name_order);
}

bool block_set_has(const struct block_set *blocks, const uint8_t name[HASH_SHA256_BYTES])
{
    return blocks->count > 0
        && bsearch(name, blocks->names, blocks->count, HASH_SHA256_BYTES, name_order) != NULL;
}

uint32_t block_set_count(const struct block_set *blocks)
{
    return blocks->count;
}

/* ---- the follower's folder ---- */

struct walk {
    const struct blocks_teller *teller;
    uint64_t told_ms;
    uint32_t told, count; /* all; of the piece */
    uint8_t piece[WIRE_NAMES_MAX][HASH_SHA256_BYTES];
    uint8_t block[WIRE_DATA_MAX];
};

static enum status piece_tell(struct walk *walk, bool last)
{
    const struct span names = span_of(walk->piece, (size_t)walk->count * HASH_SHA256_BYTES);
    walk->told += walk->count;
    walk->count = 0;
    walk->told_ms = clock_monotonic_ms();
    return walk->teller->tell(walk->teller->context, names, last);
}

static enum status file_walk(struct walk *walk, enum mirror_part part, const char *name, int fd)
{
    enum status status = STATUS_OK;
    ssize_t got = WIRE_DATA_MAX;
    for (off_t offset = 0; status == STATUS_OK && got == WIRE_DATA_MAX; offset += WIRE_DATA_MAX) {
        got = pread(fd, walk->block, sizeof walk->block, offset);
        if (got > 0 && !block_is_zeros(walk->block, (size_t)got) && walk->told + walk->count < BLOCKS_MAX)
            block_name(part, name, (uint64_t)offset, walk->block, (uint32_t)got,
                walk->piece[walk->count++]);
        if (walk->count == WIRE_NAMES_MAX || clock_monotonic_ms() - walk->told_ms >= TELL_EVERY_MS)
            status = piece_tell(walk, false);
    }
    return status;
}

static enum status part_walk(struct walk *walk, int root, enum mirror_part part)
{
    const int folder =
        openat(root, wire_part_folder(part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *names = folder < 0 ? NULL : fdopendir(folder);
    struct dirent *entry;
    enum status status = STATUS_OK;
    if (names == NULL)
        return STATUS_OK; /* not there */
    while (status == STATUS_OK && (entry = readdir(names)) != NULL) {
        struct stat about;
        if (!wire_name_good(part, span_from_string(entry->d_name)))
            continue;
        const int fd = openat(folder, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
            status = file_walk(walk, part, entry->d_name, fd);
        close(fd);
    }
    closedir(names);
    return status;
}

enum status blocks_tell(const char *folder, const struct blocks_teller *teller)
{
    struct walk *walk = calloc(1, sizeof *walk);
    const int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum status status = walk == NULL || root < 0 ? STATUS_IO : STATUS_OK;
    if (status == STATUS_OK) {
        walk->teller = teller;
        walk->told_ms = clock_monotonic_ms();
    }
    for (int part = 0; status == STATUS_OK && part < MIRROR_PARTS; part++)
        status = part_walk(walk, root, (enum mirror_part)part);
    if (status == STATUS_OK)
        status = piece_tell(walk, true);
    if (root >= 0)
        close(root);
    free(walk);
    return status;
}
