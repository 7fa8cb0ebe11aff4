/* SPDX-License-Identifier: Apache-2.0 */
/* follow/copy.h: the follower's copy of a data folder: changes are done to its files in order, and synced
 * where the server synced. So at every moment it is a folder as the server's could have been left by a
 * `kill -9`, and after a power cut as a power cut could have left it.
 *
 * The file `follow-state` (mapped, so that a killed process leaves it exact) says how far it has got:
 * position after the last change that was done. A process that is killed has done at most one change more,
 * and doing that again changes nothing. After a restart of the machine the position counts only if the
 * follower had ended cleanly; otherwise the copy stays as it is until a new base is whole.
 *
 * Thread: one; copy_state_look: any process. Errors: STATUS_FULL: the disk; STATUS_IO: errno tells;
 * STATUS_BAD_INPUT: a change that can't be done. */
#ifndef STAMPEDE_FOLLOW_COPY_H
#define STAMPEDE_FOLLOW_COPY_H

#include "contract/mirror.h"

#include <stddef.h>

struct copy_state {
    uint64_t data_id, generation, epoch, position;
    bool whole;
    uint64_t heard_ms; /* when the server was heard last, ms since 1970; 0: never */
    uint64_t pid;      /* of the follower; 0: it has ended */
};

struct copy; /* opaque */
/* `fresh`: the folder is made, empty. STATUS_BUSY: another process has it. */
MUST_CHECK enum status copy_open(struct copy **copy, const char *folder, bool fresh);
/* `clean`: everything is on the disk first, so that the position counts after a restart of the machine. */
void copy_close(struct copy *copy, bool clean); /* accepts NULL */
struct copy_state copy_state(const struct copy *copy);
void copy_begin(
    struct copy *copy, uint64_t data_id, uint64_t generation, uint64_t epoch, uint64_t position);
void copy_heard(struct copy *copy);
/* Where MIRROR_SAME takes its blocks from: a copy that does not change meanwhile, and stays open. NULL:
 * none. */
void copy_source(struct copy *copy, struct copy *source);

/* Does the change; `bytes` of the stream are behind it then. *synced: it must be acknowledged. */
MUST_CHECK enum status copy_change(
    struct copy *copy, const struct mirror_change *change, uint32_t bytes, bool *synced);
/* The base is complete: everything is synced, and the copy counts. */
MUST_CHECK enum status copy_complete(struct copy *copy);
struct disk *copy_root(struct copy *copy);

/* What the state file of a folder says. STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status copy_state_look(const char *folder, struct copy_state *state);
/* Removes a folder that a copy was in. */
MUST_CHECK enum status copy_remove(const char *folder);

#endif
