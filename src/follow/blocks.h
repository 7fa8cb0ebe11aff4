/* SPDX-License-Identifier: Apache-2.0 */
/* follow/blocks.h: which blocks a follower has already, so that a base need not send them again. A block is
 * WIRE_DATA_MAX bytes of a file, the last one of a file perhaps fewer. Its name is SHA-256 over where it is
 * (part, file, offset), how long it is and what is in it. So a set of names is all that the server needs to
 * know: a block whose name is in it is at the follower, in the same place, with the same bytes.
 *
 * * Why that is enough: two blocks with one name would be a collision of SHA-256. Nobody has found one, not
 * even on purpose, so no customer who chooses what is in a block (a picture, an address) can make one
 * either.
 *
 * * Thread: one at a time. Memory: 32 bytes for each block, BLOCKS_MAX at most; what is beyond is sent. */
#ifndef STAMPEDE_FOLLOW_BLOCKS_H
#define STAMPEDE_FOLLOW_BLOCKS_H

#include "base/hash.h"
#include "base/span.h"
#include "contract/mirror.h"

enum { BLOCKS_MAX = 2 * 1024 * 1024 }; /* 128 GiB of files; 64 MiB of memory */

void block_name(enum mirror_part part, const char *file, uint64_t offset, const void *data,
    uint32_t bytes, uint8_t name[HASH_SHA256_BYTES]);
bool block_is_zeros(const uint8_t *data, size_t bytes); /* these are sent as a count */

/* ---- the server's set ---- */

struct block_set; /* opaque */
MUST_CHECK enum status block_set_open(struct block_set **blocks);
void block_set_close(struct block_set *blocks); /* accepts NULL */
/* Names one after another. STATUS_FULL: there are too many, or there is no memory for them. */
MUST_CHECK enum status block_set_add(struct block_set *blocks, struct span names);
void block_set_sort(struct block_set *blocks); /* after the last one, before the first question */
bool block_set_has(const struct block_set *blocks, const uint8_t name[HASH_SHA256_BYTES]);
uint32_t block_set_count(const struct block_set *blocks);

/* ---- the follower's folder ---- */

/* Tells the names of all blocks of a copy, in pieces of up to WIRE_NAMES_MAX, with perhaps none in one,
 * several times a second; `last` with the last. A file that can't be read is left out: it is sent. Ends at
 * the first status of `tell` that is not STATUS_OK, and answers it. */
struct blocks_teller {
    enum status (*tell)(void *context, struct span names, bool last);
    void *context;
};
MUST_CHECK enum status blocks_tell(const char *folder, const struct blocks_teller *teller);

#endif
