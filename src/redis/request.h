/* SPDX-License-Identifier: Apache-2.0 */
/* redis/request.h: a request as Redis reads it: "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n". By hand, since hiredis
 * allocates memory for each.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_REDIS_REQUEST_H
#define STAMPEDE_REDIS_REQUEST_H

#include "base/text.h"

struct redis_words {
    const struct span *list;
    uint32_t count;
};
#define REDIS_WORDS(...) \
    ((struct redis_words){ (const struct span[]){ __VA_ARGS__ }, \
        sizeof((const struct span[]){ __VA_ARGS__ }) / sizeof(struct span) })

size_t redis_request_bytes(struct redis_words words);
void redis_request_write(struct text *out, struct redis_words words);

#endif
