/* SPDX-License-Identifier: Apache-2.0 */
/* queue/journal_queue.h: the ticket queue of one machine: the journal itself, read after its
 * writer. Nothing is copied and nothing can get lost between: a record is in the queue when it
 * is durable in the log. */
#ifndef STAMPEDE_QUEUE_JOURNAL_QUEUE_H
#define STAMPEDE_QUEUE_JOURNAL_QUEUE_H

#include "contract/ticket_queue.h"
#include "journal/journal.h"

/* Stands at the oldest record that is kept until `seek`. `writer` gives the durable end; it must
 * outlive the queue, as `imported` must: the numbers of tickets of a shop that was moved back from many
 * machines (contract/ticket_ranges.h); NULL: it was not. Records speak of the numbers that were told.
 * Thread: one at a time (the order side's); `end` from any.
 * Errors: poll answers STATUS_IO (try again) or STATUS_CORRUPT (every time from then on; the log
 * says where). Records before a bad one are given first. commit answers STATUS_BAD_INPUT for a
 * position that was never given. */
struct ticket_ranges;
MUST_CHECK enum status journal_queue_open(struct ticket_queue **queue, const struct journal_config *config,
    const struct journal *writer, const struct ticket_ranges *imported);

#endif
