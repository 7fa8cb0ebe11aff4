/* SPDX-License-Identifier: Apache-2.0 */
/* follow/sweep.h: reads the files of a data folder into the stream: all of them for a base, while others
 * write them; and small files (keys, marks, pictures), which nobody tells the stream of, when they change.
 *
 * A block is read and noted while its part is entered, so it stands in the stream where its file had it:
 * changes that come later follow it. A file that gets another name meanwhile is read again under that name.
 *
 * Thread: one. Errors: STATUS_IO, errno tells. */
#ifndef STAMPEDE_FOLLOW_SWEEP_H
#define STAMPEDE_FOLLOW_SWEEP_H

#include "follow/blocks.h"
#include "follow/stream.h"

struct sweep; /* opaque */
MUST_CHECK enum status sweep_open(struct sweep **sweep, const char *folder, struct stream *stream);
/* After the database was closed: to close its file here takes its locks away. Accepts NULL. */
void sweep_close(struct sweep *sweep);

/* `had`: blocks that the follower has, and that are not sent; NULL: none. *done: false: it was given up,
 * since another is asked for or the server stops. */
MUST_CHECK enum status sweep_base(
    struct sweep *sweep, uint64_t number, const struct block_set *had, bool *done);
uint64_t sweep_sent_bytes(const struct sweep *sweep); /* of files, in the last base: those that it had not */
/* Small files that have changed since the last call. */
MUST_CHECK enum status sweep_small_files(struct sweep *sweep, uint64_t number);

#endif
