/* SPDX-License-Identifier: Apache-2.0 */
/* config/fence.h: which of two machines may sell a shop (docs/follow.md). Small files of a data folder:
 *   generation   a number that goes up with each takeover; without the file it is 1
 *   following    the folder is a follower's copy: no server sells from it before `stampede follow takeover`
 *   fenced       another machine has taken over with this generation: no server sells from it any more
 * Thread: start-up, or the one that is named where they are written. Errors: those of
 * config/checked_file.h. */
#ifndef STAMPEDE_CONFIG_FENCE_H
#define STAMPEDE_CONFIG_FENCE_H

#include "config/config.h"

struct disk;

#define FENCE_FOLLOWING_NAME "following"

struct following {
    char from[CONFIG_TEXT];        /* HOST:PORT of the server */
    char secret_file[CONFIG_TEXT]; /* the path */
};

MUST_CHECK enum status generation_read(struct disk *folder, uint64_t *generation);
MUST_CHECK enum status generation_write(struct disk *folder, uint64_t generation);

/* STATUS_NOT_FOUND: it is not a follower's copy. */
MUST_CHECK enum status following_read(struct disk *folder, struct following *following);
MUST_CHECK enum status following_write(struct disk *folder, const struct following *following);
MUST_CHECK enum status following_remove(struct disk *folder);

MUST_CHECK enum status fenced_write(struct disk *folder, uint64_t generation);
/* *generation 0: it is not fenced. */
MUST_CHECK enum status fenced_read(struct disk *folder, uint64_t *generation);

/* What a server does before it sells from the folder. STATUS_CONFLICT: it must not. */
MUST_CHECK enum status fence_check(struct disk *folder, char error[CONFIG_ERROR]);

#endif
