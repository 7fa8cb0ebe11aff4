/* SPDX-License-Identifier: Apache-2.0 */
/* queue/message.h: an entry of a partition's stream as a broker carries it (docs/queue.md#kafka).
 *
 *   stampede1 <part> <epoch> <first seq> <count> <time, ms since 1970>\n
 *   <the records, a line each, \n between, as in the stream>
 *
 * Thread: any. Memory: none. Errors: STATUS_BAD_INPUT: not exactly of this form. */
#ifndef STAMPEDE_QUEUE_MESSAGE_H
#define STAMPEDE_QUEUE_MESSAGE_H

#include "inventory/redis/confirm.h"

enum { MESSAGE_HEAD_MAX = 100 };

struct message {
    uint32_t part, count;
    struct stream_entry entry; /* its lines are those of the bytes that were read */
};

/* The first line, with its end. The entry has records, and seq is not less than their number. */
size_t message_head_write(const struct message *message, char head[MESSAGE_HEAD_MAX]);
MUST_CHECK enum status message_read(struct span bytes, struct message *message);
uint32_t message_records(struct span lines); /* how many lines */

#endif
