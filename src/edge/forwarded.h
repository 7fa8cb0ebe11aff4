/* SPDX-License-Identifier: Apache-2.0 */
/* edge/forwarded.h: who sent a request that came through proxies of ours: X-Forwarded-For from the right,
 * past the hops that are trusted, to the first that is not. What stands further left was written by
 * anybody and is ignored. An entry that is not an address ends the walk at the last valid hop.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_EDGE_FORWARDED_H
#define STAMPEDE_EDGE_FORWARDED_H

#include "base/address.h"

enum {
    TRUSTED_BLOCKS_MAX = 32,
    FORWARDED_HOPS_MAX = 32, /* looked at; then the last of them counts */
    FORWARDED_LINES_MAX = 8, /* header lines of that name, likewise, from the last on */
};

struct trusted { /* whom one believes */
    uint32_t count;
    bool proxy_protocol; /* they begin with a PROXY protocol header */
    struct address_block blocks[TRUSTED_BLOCKS_MAX];
};
/* Blocks separated by commas or spaces. On failure *bad is the entry that is wrong (or one too many). */
MUST_CHECK enum status trusted_parse(struct trusted *trusted, struct span list, struct span *bad);
bool trusted_holds(const struct trusted *trusted, const struct address *address);

/* `lines`: all header lines (http_header_lines). *client is the peer, which is trusted, and becomes
 * the client if the header tells of one. */
void forwarded_client(const struct trusted *trusted, struct span lines, struct address *client);

#endif
