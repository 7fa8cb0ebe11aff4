/* SPDX-License-Identifier: Apache-2.0 */
/* edge/assets.h: the files of web/ inside the binary; the tables are generated at build time
 * (tools/embed.py). */
#ifndef STAMPEDE_EDGE_ASSETS_H
#define STAMPEDE_EDGE_ASSETS_H

#include <stddef.h>

struct asset {
    const char *path; /* as in the address: "/index.html" */
    const unsigned char *data;
    size_t size;
};
extern const struct asset assets_embedded[];
extern const size_t assets_embedded_count;

#endif
