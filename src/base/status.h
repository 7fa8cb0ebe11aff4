/* SPDX-License-Identifier: Apache-2.0 */
/* base/status.h: the three kinds of trouble.
 * Answers (sold out, limit reached) are values of their own types. Faults (disk, peer, bad
 * bytes) are an `enum status` that the caller must check. Bugs stop the program through
 * invariant(), in release builds too: stopping is cheaper than overselling. */
#ifndef STAMPEDE_BASE_STATUS_H
#define STAMPEDE_BASE_STATUS_H

#define MUST_CHECK __attribute__((warn_unused_result))

enum status {
    STATUS_OK = 0,
    STATUS_IO,        /* the system refused a read, a write or a sync; errno tells */
    STATUS_FULL,      /* no room: disk full, table full, buffer full */
    STATUS_CORRUPT,   /* bytes that can't be what we wrote */
    STATUS_BAD_INPUT, /* bytes from outside that break the rules */
    STATUS_NOT_FOUND,
    STATUS_CONFLICT, /* the row or file is there already, or belongs to something else */
    STATUS_BUSY,     /* held by somebody else right now */
    STATUS_AWAY,     /* a peer (database) can't be reached or can't write now; not a refusal */
    STATUS_REFUSED,  /* a peer (database) refused this very row */
    STATUS_UNKNOWN,  /* it was asked for, and no answer came: it may have been done */
};

const char *status_name(enum status status);

#define invariant(x) \
    (__builtin_expect(!!(x), 1) ? (void)0 : invariant_failed(#x, __FILE__, __LINE__))
_Noreturn void invariant_failed(const char *what, const char *file, int line);

#endif
