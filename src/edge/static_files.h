/* SPDX-License-Identifier: Apache-2.0 */
/* edge/static_files.h: the storefront's files, answered from memory. Each has a strong ETag per
 * encoding, and gzip and brotli forms where they are smaller. Names that carry a hash of their
 * content (app-3f2a9c1b.js) may be kept by browsers for ever; all others are asked for again each
 * time. Thread: open and close at start and stop; find from any thread. Memory:
 * its own, until close; bodies are left where they are (edge_reply.body), so close only after
 * the edges. */
#ifndef STAMPEDE_EDGE_STATIC_FILES_H
#define STAMPEDE_EDGE_STATIC_FILES_H

#include "edge/assets.h"
#include "edge/edge.h"

struct static_files; /* opaque */

enum static_answer {
    STATIC_NOT_FOUND,    /* nothing was written */
    STATIC_WRONG_METHOD, /* the path is a file, the method neither GET nor HEAD; nothing was written */
    STATIC_REPLIED, /* 200, 304, 404 or 406 is in `out`, the body in reply->body: EDGE_REPLIED */
};

/* `assets` need not be sorted; they and their data stay where they are. `image_origins`: whose pictures
 * the pages may show besides ours, separated by commas or spaces, CSP_ORIGINS_MAX bytes at most.
 * `widget_origins`: where the widget of the human check comes from, CSP_WIDGET_MAX bytes at most. */
enum { CSP_ORIGINS_MAX = 1024, CSP_WIDGET_MAX = 128 };
MUST_CHECK enum status static_files_open(struct static_files **files, const struct asset *assets,
    size_t count, const char *image_origins, const char *widget_origins);
void static_files_close(struct static_files *files); /* accepts NULL */
/* The line with the policy of the pages, for a page that is made elsewhere. */
struct span static_files_policy(const struct static_files *files);
/* "/" is /index.html, "/console/" is /console/index.html.
 * HEAD is answered like GET; the edge drops the body. For a path that is no file,
 * /404.html is the answer to who accepts text/html, with 404.
 * `secure`: the connection has TLS. Pages are not compressed then: the size of a page that is
 * compressed and encrypted may tell what is in it (BREACH). Ours hold no secret, but nobody has to
 * think of that when a page changes; it costs 1.5 kB and no round trip. */
MUST_CHECK enum static_answer static_files_find(const struct static_files *files,
    const struct http_request *request, bool secure, bool closing, struct text *out,
    struct edge_reply *reply);

#endif
