/* SPDX-License-Identifier: Apache-2.0 */
/* tls/server_name.h: which certificate a client gets for the name that it asks for (SNI).
 * Thread: any; pure. */
#ifndef STAMPEDE_TLS_SERVER_NAME_H
#define STAMPEDE_TLS_SERVER_NAME_H

#include "base/span.h"

#include <stdint.h>

enum { SERVER_NAMES_MAX = 100, SERVER_NAME_BYTES = 254 };

struct server_names { /* the DNS names of one certificate */
    uint32_t count;
    char list[SERVER_NAMES_MAX][SERVER_NAME_BYTES];
};

/* Letters of either case are equal. "*.shop.example" stands for one label: a.shop.example, and neither
 * shop.example nor a.b.shop.example. */
bool server_name_matches(struct span pattern, struct span name);
/* The first certificate that has exactly this name, else the first with a "*." that stands for it, else 0. */
uint32_t server_name_choose(
    const struct server_names *const *certificates, uint32_t count, struct span name);

#endif
