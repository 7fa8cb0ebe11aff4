/* SPDX-License-Identifier: Apache-2.0 */
/* edge/handshakes.h: the TLS listener of one edge, on a thread of its own that lets those that sell go
 * first. A handshake costs up to a thousand times what a request does; here it delays no buyer. The
 * thread accepts, reads the PROXY protocol header where a trusted peer must send one, does the
 * handshake, and hands the finished connection to its edge through a ring: when its client asks for
 * something, or after a second. So a flood of handshakes never meets those that sell.
 *
 * Bounds: half of the cores; HANDSHAKES_MAX at a time, and when there are more the oldest gives way,
 * since an honest one takes moments; for each address a number at a time and a number a second; for
 * each a deadline. Trusted proxies are not limited, but those whom they name are.
 * Thread: open and close any, before and after the thread; handshakes_take the edge's. Memory: at
 * open; OpenSSL's own for each handshake. */
#ifndef STAMPEDE_EDGE_HANDSHAKES_H
#define STAMPEDE_EDGE_HANDSHAKES_H

#include "base/address.h"
#include "base/thread.h"

struct caller_counts;
struct certificates;
struct tls_stream;
struct trusted;

enum { HANDSHAKES_MAX = 1024 };

struct handshakes_config {
    struct certificates *certificates;
    const char *address; /* as in edge_config */
    uint16_t port;
    int listen_fd;
    uint32_t timeout_ms;
    const struct trusted *trusted; /* NULL: none */
    struct caller_counts *callers; /* handshakes at a time of an address; NULL: any number */
    /* Whether this address may begin one more now. NULL: always. */
    bool (*may_begin)(void *context, const struct address *client, uint64_t now_ms);
    void *context;
};
struct secure_arrival {
    int fd;
    bool anonymous; /* a balancer carries it on and did not say for whom */
    struct tls_stream *stream;
    struct address client;
};

struct handshakes;
/* Errors: as listener_open. */
MUST_CHECK enum status handshakes_open(
    struct handshakes **handshakes, const struct handshakes_config *config);
void handshakes_close(struct handshakes *all); /* accepts NULL; the thread has ended */
uint16_t handshakes_port(const struct handshakes *all);
/* Whom to wake for arrivals; before the thread starts. */
void handshakes_lead_to(struct handshakes *all, struct wake *edge);
void handshakes_run(void *context); /* the thread, until handshakes_stop */
/* Any thread: no new ones; those under way may end within a second. */
void handshakes_stop(struct handshakes *all);
/* The edge: the next one that is done. False: there is none. */
MUST_CHECK bool handshakes_take(struct handshakes *all, struct secure_arrival *arrival);
/* The edge: the stream is not used any more. The thread that took its memory gives it back: one that
 * sells must not wait for a lock of the allocator that one in the background holds. */
void handshakes_bury(struct handshakes *all, struct tls_stream *stream);

#endif
