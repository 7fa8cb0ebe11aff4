/* SPDX-License-Identifier: Apache-2.0 */
/* api/reply_to.h: the request that an answer belongs to, and the form of the answer. */
#ifndef STAMPEDE_API_REPLY_TO_H
#define STAMPEDE_API_REPLY_TO_H

#include <stdbool.h>
#include <stdint.h>

struct reply_to {
    uint64_t token; /* of the edge's request */
    uint8_t cors;   /* which origin may read it; 0: none */
    bool closing;   /* the connection ends with it */
    bool chinese;   /* the reader prefers it */
};

#endif
