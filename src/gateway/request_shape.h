/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/request_shape.h: which methods and which members of a query the public paths take. Thread: any. */
#ifndef STAMPEDE_GATEWAY_REQUEST_SHAPE_H
#define STAMPEDE_GATEWAY_REQUEST_SHAPE_H

#include "base/span.h"
#include "edge/edge.h"

struct exchange;

/* False after writing the refusal: the query has a member that the route does not take. `path`: under /v1. */
bool routes_query_taken(struct exchange *exchange, struct span path);
/* The methods of an address, as the header Allow lists them; NULL: there is no such address. */
const char *routes_allow(struct span path);
/* A preflight: which page may ask for what. Everything else about OPTIONS is the same for every address. */
enum edge_verdict routes_options(struct exchange *exchange);

#endif
