/* SPDX-License-Identifier: Apache-2.0 */
/* redis/reply.h: what a Redis server says (RESP2), as values; and which of a few classes an answer is of.
 *
 * hiredis reads the bytes, the values are ours: they lie in memory that is taken when the reader is
 * opened, so a reply costs no allocation. hiredis itself keeps the bytes of a reply that is not whole
 * yet: its buffer grows to what the longest reply has needed, twice (bytes_max and one piece) at most,
 * and is kept.
 *
 * Thread: a reader belongs to one. Memory: a value lives until the next call on its reader. */
#ifndef STAMPEDE_REDIS_REPLY_H
#define STAMPEDE_REDIS_REPLY_H

#include "base/span.h"

enum redis_kind {
    REDIS_KIND_NIL,
    REDIS_KIND_TEXT,
    REDIS_KIND_STATUS, /* a text like "OK" */
    REDIS_KIND_ERROR,
    REDIS_KIND_NUMBER,
    REDIS_KIND_LIST,
};
struct redis_value {
    enum redis_kind kind;
    uint32_t count; /* of a list */
    union {
        struct span text; /* of a text, status or error */
        int64_t number;
        struct redis_value *list;
    };
};

/* What became of a request. */
enum redis_answer {
    REDIS_ANSWER_OK,       /* a reply that is no error */
    REDIS_ANSWER_NOSCRIPT, /* the server does not have this script */
    REDIS_ANSWER_FENCED,   /* the script runs, and another epoch is the right one */
    REDIS_ANSWER_MOVED,    /* the slot has another master; the reply names it */
    REDIS_ANSWER_ASK,      /* the slot is on its way to another master; the reply names it */
    REDIS_ANSWER_AGAIN, /* nothing was done, and soon it will be possible: loading, busy, half a slot moved */
    REDIS_ANSWER_AWAY,    /* nothing was done: no master can be reached for this slot */
    REDIS_ANSWER_FULL,    /* nothing was done: the server has no memory left */
    REDIS_ANSWER_DENIED,  /* nothing was done: the user may not do this, or is not who it says */
    REDIS_ANSWER_UNKNOWN, /* it was sent, and no answer came: it may have been done */
    REDIS_ANSWER_REFUSED, /* any other error */
};
/* Of a reply that has arrived. */
enum redis_answer redis_answer_of(const struct redis_value *value);
/* The command that the user may not run, as an error of REDIS_ANSWER_DENIED names it ("evalsha"); empty:
 * it names none. */
struct span redis_denied_command(struct span error);

struct redis_reader;
/* STATUS_FULL: no memory; *reader is closed as after success. A reply has at most so many bytes of text, and
 * so many values. */
MUST_CHECK enum status redis_reader_open(
    struct redis_reader **reader, uint32_t bytes_max, uint32_t values_max);
void redis_reader_close(struct redis_reader *reader); /* accepts NULL */
/* Forgets all bytes: for a new connection. STATUS_FULL: no memory. */
MUST_CHECK enum status redis_reader_reset(struct redis_reader *reader);
/* STATUS_FULL: no memory, or more than bytes_max bytes of a reply that is not whole. */
MUST_CHECK enum status redis_reader_feed(struct redis_reader *reader, struct span bytes);
/* The next reply. STATUS_NOT_FOUND: it is not whole yet. STATUS_BAD_INPUT: these bytes are not Redis.
 * STATUS_FULL: the reply is too long. After the last two the reader has to be reset. */
MUST_CHECK enum status redis_reader_next(struct redis_reader *reader, const struct redis_value **value);

#endif
