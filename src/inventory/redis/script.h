/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/script.h: the script that decides purchases in Redis: a fast guess of engine_apply, which
 * confirms each record (docs/redis.md). Its source is script/ beside this file; here it gets the numbers
 * of our headers, the partition and the epoch. The text, and with it its SHA-1, differs for each partition
 * and epoch: EVALSHA of an old one finds nothing in a server that was not opened for it.
 * Thread: any. Memory: the caller's. */
#ifndef STAMPEDE_INVENTORY_REDIS_SCRIPT_H
#define STAMPEDE_INVENTORY_REDIS_SCRIPT_H

#include "base/hash.h"
#include "base/text.h"

enum {
    SCRIPT_PURCHASES_MAX = 64,  /* in one call */
    SCRIPT_REQUESTS_MAX = 60,   /* of a user in a window */
    SCRIPT_SKEW_MS = 60 * 1000, /* a time that is further ahead is of a clock that was set back */
    SCRIPT_PREFIX_MAX = 64,
    SCRIPT_BYTES_MAX = 64 * 1024,
    SCRIPT_SHA_DIGITS = 2 * HASH_SHA1_BYTES,
};

/* The hashes and the stream of a partition, in the order of KEYS. */
enum script_key {
    SCRIPT_KEY_PART,    /* <prefix>:m */
    SCRIPT_KEY_USERS,   /* <prefix>:u */
    SCRIPT_KEY_TICKETS, /* <prefix>:t */
    SCRIPT_KEY_KEYS,    /* <prefix>:k */
    SCRIPT_HASHES,
    SCRIPT_KEY_LOG = SCRIPT_HASHES, /* <prefix>:log, a stream */
    SCRIPT_KEYS,
};
extern const char *const script_key_names[SCRIPT_KEYS]; /* with the colon */

extern const char script_template[]; /* built from script/ by tools/embed_script.py */

/* Appends the script of a partition and epoch. The prefix is that of its keys, like "st:1f…:{7}": at most
 * SCRIPT_PREFIX_MAX of a-z, 0-9 and ":{}.-". STATUS_BAD_INPUT: it is none; STATUS_FULL: no room. */
MUST_CHECK enum status script_write(struct text *out, struct span prefix, uint32_t epoch);
/* What EVALSHA calls it. */
void script_sha(struct span script, char digits[SCRIPT_SHA_DIGITS + 1]);

#endif
