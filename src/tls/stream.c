/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. OpenSSL reads and writes through a BIO of ours. It reads as much as there is (read ahead) and
 * remembers a short read, so that a request costs one recv and an answer one send, as without TLS. */
#include "tls/stream.h"

#include "base/socket_call.h"
#include "tls/certificate_set.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    RECORD_BYTES = SSL3_RT_MAX_PLAIN_LENGTH,
    /* Receives in one call that bring no byte for us: a peer that goes on with alerts, tickets and key
     * updates is cut. */
    EMPTY_RECEIVES_MAX = 4,
    /* Of a ClientHello. OpenSSL takes memory for what is announced, up to 128 KiB; real ones have 4 KiB
     * at most. */
    HELLO_BYTES_MAX = 16 * 1024,
    RECORD_HEAD = 5,
    MESSAGE_HEAD = 4,
};

/* How far the head of the first message has come; it may be spread over many records. */
struct hello {
    uint32_t record_left, announced;
    uint8_t record_head, message_head; /* bytes seen */
};

struct tls_stream {
    SSL *ssl;
    struct certificate_set *set; /* until the handshake is done */
    struct hello hello;
    int fd;
    int receives; /* of this call */
    bool drained; /* the socket gave less than was asked for, in this call */
    bool ended;   /* the peer's side is closed */
    bool broken;
};

/* ---- the BIO */

/* False: the first message announces more than anybody needs. */
static bool hello_fits(struct hello *hello, const unsigned char *data, ssize_t size)
{
    for (ssize_t i = 0; i < size && hello->message_head < MESSAGE_HEAD; i++) {
        if (hello->record_left == 0 && hello->record_head == RECORD_HEAD)
            hello->record_head = 0;
        if (hello->record_head < RECORD_HEAD) {
            if (hello->record_head++ >= RECORD_HEAD - 2)
                hello->record_left = (hello->record_left << 8 | data[i]) & 0xffff;
            continue;
        }
        hello->record_left--;
        if (hello->message_head++ > 0)
            hello->announced = hello->announced << 8 | data[i];
    }
    return hello->message_head < MESSAGE_HEAD || hello->announced <= HELLO_BYTES_MAX;
}

static int bio_read(BIO *bio, char *data, int size)
{
    struct tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (stream->drained || stream->receives == EMPTY_RECEIVES_MAX) {
        BIO_set_retry_read(bio);
        return -1;
    }
    stream->receives++;
    const ssize_t got = socket_receive(stream->fd, data, (size_t)size);
    stream->drained = got < size;
    if (!hello_fits(&stream->hello, (const unsigned char *)data, got))
        return -1; /* no retry: the handshake fails */
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_read(bio);
    return (int)got;
}

static int bio_write(BIO *bio, const char *data, int size)
{
    const struct tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    const ssize_t sent = socket_send(stream->fd, data, (size_t)size);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method; /* made once, read by all */
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static void method_make(void)
{
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket of an edge");
    invariant(method != NULL && BIO_meth_set_read(method, bio_read) == 1
        && BIO_meth_set_write(method, bio_write) == 1 && BIO_meth_set_ctrl(method, bio_control) == 1);
}

/* ---- open, handshake, close */

struct tls_stream *tls_stream_open(struct certificates *certificates, int fd)
{
    struct tls_stream *stream = calloc(1, sizeof *stream);
    invariant(pthread_once(&method_once, method_make) == 0);
    if (stream == NULL)
        return NULL;
    stream->fd = fd;
    stream->set = certificate_set_take(certificates);
    stream->ssl = SSL_new(stream->set->list[0].context);
    BIO *bio = BIO_new(method);
    if (stream->ssl == NULL || bio == NULL) {
        BIO_free(bio);
        tls_stream_close(stream);
        return NULL;
    }
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    SSL_set_bio(stream->ssl, bio, bio);
    SSL_set_accept_state(stream->ssl);
    return stream;
}

static void call_begin(struct tls_stream *stream)
{
    ERR_clear_error();
    stream->drained = false;
    stream->receives = 0;
}

enum tls_step tls_stream_handshake(struct tls_stream *stream)
{
    call_begin(stream);
    const int result = SSL_do_handshake(stream->ssl);
    if (result == 1) {
        certificate_set_give(stream->set);
        stream->set = NULL;
        return TLS_DONE;
    }
    const int why = SSL_get_error(stream->ssl, result);
    if ((why == SSL_ERROR_WANT_READ && stream->drained) || why == SSL_ERROR_WANT_WRITE)
        return TLS_WAITS;
    stream->broken = true;
    return TLS_FAILED;
}

bool tls_stream_is_resumed(const struct tls_stream *stream)
{
    return SSL_session_reused(stream->ssl) == 1;
}

bool tls_stream_has_bytes(const struct tls_stream *stream)
{
    return !stream->drained || SSL_has_pending(stream->ssl) == 1;
}

void tls_stream_end(struct tls_stream *stream)
{
    if (stream->broken || (SSL_get_shutdown(stream->ssl) & SSL_SENT_SHUTDOWN) != 0)
        return;
    call_begin(stream);
    if (SSL_shutdown(stream->ssl) < 0)
        stream->broken = true;
}

void tls_stream_close(struct tls_stream *stream)
{
    if (stream == NULL)
        return;
    SSL_free(stream->ssl);
    certificate_set_give(stream->set);
    ERR_clear_error();
    free(stream);
}

/* ---- bytes */

/* As recv and send say it. A key update that the socket does not take is no reason to wait: nobody would
 * see when it does. */
static ssize_t failure(struct tls_stream *stream, int result, int waits_for)
{
    const int why = SSL_get_error(stream->ssl, result);
    if (why == waits_for && (why != SSL_ERROR_WANT_READ || stream->drained)) {
        errno = EAGAIN;
        return -1;
    }
    if (why == SSL_ERROR_ZERO_RETURN) {
        stream->ended = true;
        return 0;
    }
    stream->broken = true;
    errno = ECONNRESET;
    return -1;
}

ssize_t tls_stream_receive(struct tls_stream *stream, void *data, size_t size)
{
    size_t have = 0;
    call_begin(stream);
    while (have < size) {
        const int got = SSL_read(stream->ssl, (char *)data + have, (int)(size - have));
        if (got <= 0) {
            const ssize_t result = failure(stream, got, SSL_ERROR_WANT_READ);
            return have > 0 ? (ssize_t)have : result;
        }
        have += (size_t)got;
        stream->receives = 0;
        if (stream->drained && SSL_has_pending(stream->ssl) == 0)
            break;
    }
    return (ssize_t)have;
}

bool tls_stream_is_ended(const struct tls_stream *stream)
{
    return stream->ended || stream->broken;
}

/* The next record, from `at` on: out of one of the parts, or gathered from both. */
static struct span record_at(struct span first, struct span second, size_t at, char gathered[RECORD_BYTES])
{
    if (at >= first.size) {
        const size_t rest = second.size - (at - first.size);
        return span_of(second.data + (at - first.size), rest < RECORD_BYTES ? rest : RECORD_BYTES);
    }
    const size_t rest = first.size - at;
    if (rest >= RECORD_BYTES || second.size == 0)
        return span_of(first.data + at, rest < RECORD_BYTES ? rest : RECORD_BYTES);
    const size_t more = second.size < RECORD_BYTES - rest ? second.size : RECORD_BYTES - rest;
    memcpy(gathered, first.data + at, rest);
    memcpy(gathered + rest, second.data, more);
    return span_of(gathered, rest + more);
}

ssize_t tls_stream_send(struct tls_stream *stream, struct span first, struct span second)
{
    char gathered[RECORD_BYTES];
    size_t sent = 0;
    call_begin(stream);
    while (sent < first.size + second.size) {
        const struct span record = record_at(first, second, sent, gathered);
        const int taken = SSL_write(stream->ssl, record.data, (int)record.size);
        if (taken <= 0) {
            const ssize_t result = failure(stream, taken, SSL_ERROR_WANT_WRITE);
            return sent > 0 && !stream->broken ? (ssize_t)sent : result == 0 ? -1 : result;
        }
        sent += (size_t)taken;
    }
    return (ssize_t)sent;
}
