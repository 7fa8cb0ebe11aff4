/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/command_text.h: a command as the script takes it and as a record of the stream holds it
 * (docs/queue.md). Without its time: a call has one time for all its commands; and without
 * reserve.pending_from, which is the partition's own.
 * Thread: any. Memory: the caller's. */
#ifndef STAMPEDE_INVENTORY_REDIS_COMMAND_TEXT_H
#define STAMPEDE_INVENTORY_REDIS_COMMAND_TEXT_H

#include "base/text.h"
#include "contract/command.h"

enum { COMMAND_TEXT_MAX = 512 };

/* Times have fewer bits than the 53 that a number of the script holds, so that what is added fits too. */
#define COMMAND_TEXT_TIME_MAX ((UINT64_C(1) << 48) - 1)

/* STATUS_BAD_INPUT: the script can't take this one (RECLAIM, a time beyond the bound, an actor with blanks,
 * more users or waiters than a command has). STATUS_FULL: no room. */
MUST_CHECK enum status command_text_write(struct text *out, const struct command *command);
/* Strict: what command_text_write writes, and nothing else. STATUS_CORRUPT: it is not that. */
MUST_CHECK enum status command_text_read(struct span text, struct command *command);

#endif
