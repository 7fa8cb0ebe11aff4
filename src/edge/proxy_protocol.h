/* SPDX-License-Identifier: Apache-2.0 */
/* edge/proxy_protocol.h: the line (version 1) or block (version 2) in which a load balancer says, ahead
 * of the first request, whose connection it carries on. Read only from peers that the
 * configuration trusts, and then it must be there.
 * Strict: one spelling, TCP over IPv4 or IPv6, or "nobody in particular" (UNKNOWN, LOCAL: health
 * checks of the balancer itself). What else version 2 can carry (TLVs) is skipped, up to a bound.
 * Pure, like the HTTP parser: PARTIAL until enough is there, then one answer for good. */
#ifndef STAMPEDE_EDGE_PROXY_PROTOCOL_H
#define STAMPEDE_EDGE_PROXY_PROTOCOL_H

#include "base/address.h"

enum {
    PROXY_LINE_MAX = 107,   /* with its end of line */
    PROXY_BLOCK_MAX = 2048, /* refused beyond */
};
enum proxy_result { PROXY_PARTIAL, PROXY_COMPLETE, PROXY_REFUSED };

/* COMPLETE: *bytes to skip; *client is the address that was told, or as it was if none was. PARTIAL:
 * *bytes is the least size of `input` that can change the answer. REFUSED: *why is a literal. */
MUST_CHECK enum proxy_result proxy_parse(
    struct span input, struct address *client, size_t *bytes, const char **why);

#endif
