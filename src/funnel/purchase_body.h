/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/purchase_body.h: reads {"quantity":N,"channel":"name"} and nothing else. Both fields are
 * optional and may come in any order; unknown and repeated fields are refused, so that a typing
 * error never buys the default. Strings are taken as they stand: an escape in one is refused.
 * Thread: any. Memory: none; `channel` points into the text. */
#ifndef STAMPEDE_FUNNEL_PURCHASE_BODY_H
#define STAMPEDE_FUNNEL_PURCHASE_BODY_H

#include "base/span.h"
#include "contract/limits.h"

enum { PURCHASE_BODY_BYTES_MAX = 256 };

enum body_answer {
    BODY_OK,
    BODY_MALFORMED,    /* not this kind of object, or too long */
    BODY_BAD_QUANTITY, /* anything but digits, 1 … QUANTITY_MAX, no leading zero */
    BODY_BAD_CHANNEL,  /* not a string of 1 … CHANNEL_NAME_MAX plain characters */
};

struct purchase_body {
    uint32_t quantity;   /* 1 if not given */
    struct span channel; /* SPAN_NONE if not given */
};

/* An empty text is a purchase of one without a channel. */
MUST_CHECK enum body_answer purchase_body_read(struct span text, struct purchase_body *body);

#endif
