/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/record_text.h: what the script answers, and the records that it appends to the stream
 * (docs/queue.md). Strict: what the script writes, and nothing else.
 * Thread: any. Memory: the caller's. Errors: STATUS_CORRUPT, and the output means nothing. */
#ifndef STAMPEDE_INVENTORY_REDIS_RECORD_TEXT_H
#define STAMPEDE_INVENTORY_REDIS_RECORD_TEXT_H

#include "base/span.h"
#include "contract/command.h"

/* The first line of each reply: where the partition is. */
struct script_head {
    uint32_t epoch;
    uint64_t seq;  /* the last record */
    uint64_t done; /* records up to this one are in the database */
    uint64_t told; /* and tickets up to this one */
    uint64_t time_ms;
};
MUST_CHECK enum status script_head_read(struct span text, struct script_head *head);

/* The answer to one command. */
MUST_CHECK enum status outcome_text_read(struct span text, struct outcome *outcome);

/* Instead of an outcome: what the door's questions in a purchase's call refuse. */
struct script_refusal {
    bool pass_spent;  /* the pass is valid once, and was used */
    uint32_t wait_ms; /* else: the user asks too often, and must wait so long at least */
};
/* STATUS_CORRUPT: it is no such refusal. */
MUST_CHECK enum status refusal_text_read(struct span text, struct script_refusal *refusal);

/* A line of a stream's entry: "<command> = <outcome>"; the time is the entry's. */
MUST_CHECK enum status record_text_read(
    struct span line, uint64_t time_ms, struct command *command, struct outcome *outcome);

#endif
