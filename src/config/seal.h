/* SPDX-License-Identifier: Apache-2.0 */
/* config/seal.h: a data folder whose shop moves to many machines, has moved, or comes from there (`stampede
 * migrate`), has the file `moved`. From the moment that it is there no server sells from the folder's journal
 * any more. The folder may still be data.folder of a process of many machines, which keeps pictures and keys
 * in it.
 *   stampede-moved 1
 *   move <16 hex digits>      the number of the move, which the target's database has, too
 *   target <16 hex digits>    a hash of its store.kind and store.url: the shop goes to no other place
 *   time <ms since 1970>
 *   done <0 or 1>             1: the target is open
 * In a folder that a shop comes into it begins with "stampede-comes 1", target is the source, and the file
 * goes when all is there.
 * Thread: start-up only. Errors: those of config/checked_file.h. */
#ifndef STAMPEDE_CONFIG_SEAL_H
#define STAMPEDE_CONFIG_SEAL_H

#include "config/config.h"

struct disk;
struct seal {
    uint64_t move; /* 0: it is not sealed */
    uint64_t target;
    uint64_t time_ms;
    bool done;
    bool comes; /* into this folder */
};

uint64_t seal_target(const struct config *target);
/* No file: all of it is 0. */
MUST_CHECK enum status seal_read(struct disk *folder, struct seal *seal);
MUST_CHECK enum status seal_write(struct disk *folder, const struct seal *seal);
MUST_CHECK enum status seal_remove(struct disk *folder);
/* What a server does before it sells from the folder. STATUS_CONFLICT: it is sealed. */
MUST_CHECK enum status seal_check(struct disk *folder, char error[CONFIG_ERROR]);

#endif
