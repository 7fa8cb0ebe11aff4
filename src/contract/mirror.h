/* SPDX-License-Identifier: Apache-2.0 */
/* contract/mirror.h: who is told of every change of the files that a data folder consists of, in order, so
 * that a second machine can do the same to a copy (docs/follow.md). The journal's disk and the database's
 * files tell it; follow/stream.c is the only one that listens.
 *
 * A change and its note are one for whoever copies files meanwhile: both happen between enter and leave.
 * What is told to buyers waits: `note` of a MIRROR_SYNC answers a position, and `wait` returns when the copy
 * has everything up to there.
 * Thread: any; a file has one writer at a time. */
#ifndef STAMPEDE_CONTRACT_MIRROR_H
#define STAMPEDE_CONTRACT_MIRROR_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Folders of a data folder. */
enum mirror_part { MIRROR_ROOT, MIRROR_JOURNAL, MIRROR_MEDIA, MIRROR_SANDBOX, MIRROR_PARTS };

enum mirror_kind {
    MIRROR_WRITE = 1,   /* bytes at an offset; the file is made if it is missing */
    MIRROR_ZEROS,       /* zeros at an offset; data: u64 how many */
    MIRROR_TRUNCATE,    /* offset: the file's size from now on; it is made if it is missing */
    MIRROR_SYNC,        /* the file */
    MIRROR_RENAME,      /* data: the new name */
    MIRROR_REMOVE,      /* the file */
    MIRROR_SYNC_FOLDER, /* the part; no name */
    MIRROR_BASE_BEGIN,  /* a whole copy follows, mixed with changes; no name */
    MIRROR_BASE_END,    /* it is whole; no name */
    MIRROR_SAME, /* within a base: a block is as in the old copy; data: u32 bytes, the name there */
    MIRROR_KINDS,
};

struct mirror_change {
    enum mirror_kind kind;
    enum mirror_part part;
    const char *name; /* without a folder; NULL where the kind has none */
    uint64_t offset;
    const void *data;
    uint32_t bytes;
};

struct mirror {
    const struct mirror_ops *ops;
};
struct mirror_ops {
    void (*enter)(struct mirror *, enum mirror_part);
    void (*leave)(struct mirror *, enum mirror_part);
    /* Answers the position after it; 0: nobody listens yet. Long writes are noted in pieces. */
    uint64_t (*note)(struct mirror *, const struct mirror_change *);
    /* STATUS_AWAY: the copy has not got it, and can't for some time (not if `endless`). STATUS_IO: the
     * server stops. */
    enum status (*wait)(struct mirror *, uint64_t position, bool endless);
};

#endif
