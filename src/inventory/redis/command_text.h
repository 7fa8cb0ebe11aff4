/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/command_text.h: a command as the script takes it and as a record of the stream holds it
 * (docs/queue.md). Without its time: a call has one time for all its commands; and without
 * reserve.pending_from, which is the partition's own.
 * Thread: any. Memory: the caller's. */
#ifndef STAMPEDE_INVENTORY_REDIS_COMMAND_TEXT_H
#define STAMPEDE_INVENTORY_REDIS_COMMAND_TEXT_H

#include "base/text.h"
#include "contract/command.h"
#include "inventory/redis/script.h"

enum { COMMAND_TEXT_MAX = 512 };

/* Times have fewer bits than the 53 that a number of the script holds, so that what is added fits too. */
#define COMMAND_TEXT_TIME_MAX ((UINT64_C(1) << 48) - 1)

/* STATUS_BAD_INPUT: the script can't take this one (RECLAIM, a time beyond the bound, an actor with blanks,
 * more users or waiters than a command has). STATUS_FULL: no room. */
MUST_CHECK enum status command_text_write(struct text *out, const struct command *command);

/* A purchase as the words of a call: user, key, the rest. `door`: the questions of the door; NULL: none. The
 * words lie in `out`. STATUS_BAD_INPUT: it is no purchase, a time beyond the bound, more than
 * SCRIPT_REQUESTS_MAX requests. STATUS_FULL: no room. */
enum { PURCHASE_WORDS = 3 };
MUST_CHECK enum status purchase_text_write(struct text *out, const struct command *command,
    const struct purchase_door *door, struct span words[PURCHASE_WORDS]);

/* Strict: what command_text_write writes, and nothing else. STATUS_CORRUPT: it is not that. */
MUST_CHECK enum status command_text_read(struct span text, struct command *command);

#endif
