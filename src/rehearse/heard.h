/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/heard.h: one answer of a server, as far as a visitor looks at it. Reads the caller's bytes
 * and keeps pointers into them. Pure, any thread. */
#ifndef STAMPEDE_REHEARSE_HEARD_H
#define STAMPEDE_REHEARSE_HEARD_H

#include "rehearse/words.h"

enum heard_state { HEARD_WHOLE, HEARD_MORE, HEARD_BROKEN };

struct heard {
    enum word word;
    uint32_t status;
    uint32_t retry_after_s;
    bool closes;       /* the server closes the connection after this answer */
    size_t head_bytes; /* where the body begins */
    size_t body_bytes; /* as announced */
    struct span body;  /* as far as it is there */
};

/* HEARD_MORE: the head is not whole, or the body is not there and would still fit into `capacity`. A
 * body that does not fit is cut: `body` has its beginning, and the caller passes over the rest. */
MUST_CHECK enum heard_state heard_parse(struct span bytes, size_t capacity, struct heard *heard);

/* The text of a JSON member, without its quotes. `name`: with quotes and colon. Empty: there is none. */
struct span heard_text(const struct heard *heard, const char *name);
/* Copies a text of exactly `size` characters; false: it is not there, or has another size. */
bool heard_take(const struct heard *heard, const char *name, char *out, size_t size);
/* A number of the JSON; `missing` if it is not there. */
uint64_t heard_number(const struct heard *heard, const char *name, uint64_t missing);

#endif
