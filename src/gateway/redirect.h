/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/redirect.h: with tls.redirect, a request that came without TLS is sent to the same address
 * with it: 308, so that its method and body stay. Left alone are the probes (/livez, /readyz,
 * /metrics), what a trusted proxy sends, which may have taken TLS off, and requests that name this
 * machine itself (127.0.0.1, ::1, localhost, server.address): the commands of operators, for which no
 * certificate could be right.
 * Thread: the edge's. */
#ifndef STAMPEDE_GATEWAY_REDIRECT_H
#define STAMPEDE_GATEWAY_REDIRECT_H

#include "edge/edge.h"

struct routes;

/* Puts itself before the handler's request. `port`: where TLS listens. */
void redirect_install(struct routes *routes, struct edge_handler *handler, uint16_t port);

/* Pure: whether a plain request is to be sent elsewhere, and where. `own`: server.address. */
bool redirect_applies(const struct http_request *request, const char *own);
void redirect_write(const struct http_request *request, uint16_t port, bool closing, struct text *out);

#endif
