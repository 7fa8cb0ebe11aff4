/* SPDX-License-Identifier: Apache-2.0 */
/* edge/assets.h: the pages inside the binary; the table and the compressed forms are made at build
 * time (tools/bundle.py, tools/embed.py). */
#ifndef STAMPEDE_EDGE_ASSETS_H
#define STAMPEDE_EDGE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *path; /* as in the address: "/index.html" */
    const unsigned char *data;
    size_t size;
    const unsigned char *brotli; /* NULL: it would not be smaller */
    size_t brotli_size;
    const unsigned char *gzip; /* NULL: it would not be smaller */
    size_t gzip_size;
};
extern const struct asset assets_embedded[];
extern const size_t assets_embedded_count;

#endif
