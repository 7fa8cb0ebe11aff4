/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/exchange.h: one request that the handler is working on. Lives on the stack of its edge thread. */
#ifndef STAMPEDE_GATEWAY_EXCHANGE_H
#define STAMPEDE_GATEWAY_EXCHANGE_H

#include "api/reply_to.h"

struct edge_reply;
struct http_request;
struct routes;
struct text;

struct exchange {
    struct routes *routes;
    const struct http_request *request;
    struct reply_to to;
    struct text *out;
    struct edge_reply *reply;
    bool head_only; /* HEAD, handled as GET */
};

#endif
