/* SPDX-License-Identifier: Apache-2.0 */
/* tls/stream.h: one TLS connection over a socket that does not block. It reads and writes as the
 * socket would, so that its owner needs no second way of thinking: fewer bytes than there is room for
 * mean that there is no more for now, here and in the socket.
 * Thread: one at a time; the thread that did the handshake may hand it to another. Memory: OpenSSL's
 * own; its buffers are given back when they are empty. */
#ifndef STAMPEDE_TLS_STREAM_H
#define STAMPEDE_TLS_STREAM_H

#include "base/span.h"

#include <sys/types.h>

struct certificates;
struct tls_stream;
enum tls_step { TLS_DONE, TLS_WAITS, TLS_FAILED };

/* NULL: no memory. The socket stays the caller's. */
struct tls_stream *tls_stream_open(struct certificates *certificates, int fd);
/* TLS_WAITS: call it again when the socket can be read or written. */
MUST_CHECK enum tls_step tls_stream_handshake(struct tls_stream *stream);
bool tls_stream_is_resumed(const struct tls_stream *stream);
/* The handshake is done: false if nothing came with its end, so that the socket tells of whatever comes. */
bool tls_stream_has_bytes(const struct tls_stream *stream);

/* As recv: 0 is the end. */
MUST_CHECK ssize_t tls_stream_receive(struct tls_stream *stream, void *data, size_t size);
/* The peer has said that it sends no more, perhaps right after what tls_stream_receive gave. */
bool tls_stream_is_ended(const struct tls_stream *stream);
/* As sendmsg of both parts. What was not taken must be offered again first, and no shorter. */
MUST_CHECK ssize_t tls_stream_send(struct tls_stream *stream, struct span first, struct span second);
/* Tells the peer that no more will come, once, if the socket takes it; nothing may be unsent. */
void tls_stream_end(struct tls_stream *stream);
void tls_stream_close(struct tls_stream *stream); /* accepts NULL; leaves the socket open */

#endif
