/* SPDX-License-Identifier: Apache-2.0 */
/* server/tls_service.h: TLS of all edges: the certificates, the limits of handshakes, and a thread for
 * each edge that does them (edge/handshakes.h). Without tls.certificates nothing of it exists, and
 * every call does nothing.
 * Thread: main. */
#ifndef STAMPEDE_SERVER_TLS_SERVICE_H
#define STAMPEDE_SERVER_TLS_SERVICE_H

#include "base/span.h"
#include "base/thread.h"
#include "config/config.h"

struct caller_counts;
struct certificates;
struct handshakes;
struct limits;
struct listening;
struct trusted;

enum { TLS_HEADER_BYTES = 64 };
struct tls_service {
    struct config *config;             /* set by the owner, before all calls */
    struct certificates *certificates; /* NULL: no TLS */
    struct caller_counts *callers;
    struct limits *rates;
    const struct trusted *trusted;
    struct handshakes *handshakes[EDGES_MAX];
    struct thread threads[EDGES_MAX];
    char header[TLS_HEADER_BYTES]; /* Strict-Transport-Security; empty: none */
    uint64_t looked_ms;
};

/* Errors: STATUS_BAD_INPUT for settings and files that are wrong; `error` says what. */
MUST_CHECK enum status tls_service_open(struct tls_service *tls, uint32_t edges,
    const struct trusted *trusted, char error[CONFIG_ERROR]);
/* The listener of one edge, before the edge; tls_port of the settings becomes the real one. */
MUST_CHECK enum status tls_service_listen(struct tls_service *tls, uint32_t edge,
    const struct listening *listening, char error[CONFIG_ERROR]);
MUST_CHECK bool tls_service_start(struct tls_service *tls); /* the threads */
void tls_service_stop(struct tls_service *tls); /* no new connections; the threads end, the edges go on */
void tls_service_close(struct tls_service *tls); /* after the edges; accepts a zeroed one */
struct span tls_service_header(const struct tls_service *tls);
/* Often: has an eye on the files, on expiry and their alarms. */
void tls_service_watch(struct tls_service *tls, uint64_t now_ms);
/* SIGHUP: reads the files of the list (tls.certificates) anew. */
void tls_service_reload(struct tls_service *tls, const char *list, uint64_t now_ms);

#endif
