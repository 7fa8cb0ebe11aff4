/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/session.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/secret_file.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_BYTES = 256, PORT_BYTES = 6, LISTEN_BACKLOG = 64 };

enum status follow_secret_read(const char *path, struct follow_secret *secret)
{
    const enum status status =
        secret_file_read(path, secret->bytes, sizeof secret->bytes, &secret->size);
    if (status == STATUS_OK && secret->size >= WIRE_SECRET_MIN)
        return STATUS_OK;
    explicit_bzero(secret, sizeof *secret);
    return STATUS_BAD_INPUT;
}

static struct span secret_span(const struct follow_secret *secret)
{
    return span_of(secret->bytes, secret->size);
}

/* ---- addresses ---- */

struct place {
    char host[HOST_BYTES], port[PORT_BYTES];
};

static bool place_read(const char *address, struct place *place)
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address)
        return false;
    struct span host = span_of(address, (size_t)(colon - address));
    const struct span port = span_from_string(colon + 1);
    uint32_t number = 0;
    if (host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']')
        host = span_of(host.data + 1, host.size - 2);
    else if (memchr(host.data, ':', host.size) != NULL)
        return false;
    if (host.size == 0 || host.size >= HOST_BYTES || span_to_u32(port, &number) != STATUS_OK
        || number > UINT16_MAX)
        return false;
    snprintf(place->host, sizeof place->host, "%.*s", (int)host.size, host.data);
    snprintf(place->port, sizeof place->port, "%u", number);
    return true;
}

bool session_address_good(const char *address)
{
    struct place place;
    return place_read(address, &place);
}

static struct addrinfo *place_find(const char *address, bool listen)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | (listen ? AI_PASSIVE : 0) };
    struct addrinfo *found = NULL;
    struct place place;
    if (!place_read(address, &place) || getaddrinfo(place.host, place.port, &hints, &found) != 0) {
        errno = ENOENT;
        return NULL;
    }
    return found;
}

static void close_keeping_errno(int fd)
{
    const int before = errno;
    close(fd);
    errno = before;
}

static bool connects(int fd, const struct addrinfo *at, uint32_t timeout_ms)
{
    struct pollfd look = { .fd = fd, .events = POLLOUT };
    int trouble = 0;
    socklen_t size = sizeof trouble;
    if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
        return true;
    if (errno != EINPROGRESS)
        return false;
    const int ready = poll(&look, 1, (int)timeout_ms);
    if (ready == 0)
        errno = ETIMEDOUT;
    if (ready != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &trouble, &size) != 0)
        return false;
    errno = trouble;
    return trouble == 0;
}

static bool listens(int fd, const struct addrinfo *at, uint32_t timeout_ms)
{
    const int on = 1;
    (void)timeout_ms;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0;
}

/* The first of the addresses that it works with. */
static int place_open(struct addrinfo *found,
    bool (*works)(int fd, const struct addrinfo *at, uint32_t timeout_ms), uint32_t timeout_ms)
{
    int fd = -1;
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && !works(fd, at, timeout_ms)) {
            close_keeping_errno(fd);
            fd = -1;
        }
    }
    if (found != NULL)
        freeaddrinfo(found);
    return fd;
}

int session_listen(const char *address, uint16_t *port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = { .v6 = { .sin6_family = AF_UNSPEC } };
    socklen_t size = sizeof bound;
    const int fd = place_open(place_find(address, true), listens, 0);
    *port = 0;
    if (fd >= 0 && getsockname(fd, &bound.any, &size) == 0)
        *port = ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
    return fd;
}

int session_dial(const char *address, uint32_t timeout_ms)
{
    return place_open(place_find(address, false), connects, timeout_ms);
}

/* ---- bytes ---- */

/* All of them, in either direction, within the time: a peer that sends or takes them one by one gets no
 * more. */
static enum status bytes_move(const struct session *session, void *data, size_t bytes, bool sends)
{
    const uint64_t until_ms = clock_monotonic_ms() + session->timeout_ms;
    uint8_t *at = data;
    while (bytes > 0) {
        errno = 0;
        const ssize_t n = sends ? send(session->fd, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT)
                                : recv(session->fd, at, bytes, MSG_DONTWAIT);
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
            continue;
        }
        struct pollfd look = { .fd = session->fd, .events = sends ? POLLOUT : POLLIN };
        const uint64_t now_ms = clock_monotonic_ms();
        if (n == 0 || (errno != EINTR && errno != EAGAIN))
            return STATUS_AWAY;
        if (now_ms >= until_ms) {
            errno = ETIMEDOUT;
            return STATUS_AWAY;
        }
        (void)poll(&look, 1, (int)(until_ms - now_ms));
    }
    return STATUS_OK;
}

static enum status bytes_send(const struct session *session, void *data, size_t bytes)
{
    return bytes_move(session, data, bytes, true);
}

static enum status bytes_receive(const struct session *session, void *data, size_t bytes)
{
    return bytes_move(session, data, bytes, false);
}

void session_patience(struct session *session, uint32_t timeout_ms)
{
    session->timeout_ms = timeout_ms;
}

static void session_begin(struct session *session, int fd, uint32_t timeout_ms)
{
    const int on = 1;
    session->fd = fd;
    session->sent = 0;
    session->received = 0;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    session_patience(session, timeout_ms);
}

bool session_proof_fits(const struct follow_secret *secret, bool server,
    const uint8_t caller[WIRE_NONCE_BYTES], const uint8_t served[WIRE_NONCE_BYTES],
    const uint8_t proof[WIRE_PROOF_BYTES])
{
    uint8_t right[WIRE_PROOF_BYTES];
    wire_proof(secret_span(secret), server, caller, served, right);
    return span_equal_constant_time(span_of(proof, WIRE_PROOF_BYTES), span_of(right, WIRE_PROOF_BYTES));
}

static void keys_set(struct session *session, const struct follow_secret *secret, bool server,
    const uint8_t caller[WIRE_NONCE_BYTES], const uint8_t served[WIRE_NONCE_BYTES])
{
    struct wire_keys keys;
    wire_keys_make(secret_span(secret), caller, served, &keys);
    memcpy(session->send_key, server ? keys.to_caller : keys.to_server, WIRE_KEY_BYTES);
    memcpy(session->receive_key, server ? keys.to_server : keys.to_caller, WIRE_KEY_BYTES);
    explicit_bzero(&keys, sizeof keys);
}

enum status session_call(
    struct session *session, int fd, const struct follow_secret *secret, uint32_t timeout_ms)
{
    uint8_t caller[WIRE_NONCE_BYTES], served[WIRE_NONCE_BYTES], greeting[WIRE_GREETING_BYTES];
    uint8_t proof[WIRE_PROOF_BYTES];
    session_begin(session, fd, timeout_ms);
    random_secret(caller, sizeof caller);
    wire_greeting_put(greeting, caller);
    enum status status = bytes_send(session, greeting, sizeof greeting);
    if (status == STATUS_OK)
        status = bytes_receive(session, served, sizeof served);
    if (status == STATUS_OK) {
        wire_proof(secret_span(secret), false, caller, served, proof);
        status = bytes_send(session, proof, sizeof proof);
    }
    /* A server that has another secret hangs up here. */
    if (status == STATUS_OK && bytes_receive(session, proof, sizeof proof) != STATUS_OK)
        status = errno == ETIMEDOUT ? STATUS_AWAY : STATUS_BAD_INPUT;
    if (status == STATUS_OK && !session_proof_fits(secret, true, caller, served, proof))
        status = STATUS_BAD_INPUT;
    if (status == STATUS_OK)
        keys_set(session, secret, false, caller, served);
    else
        session_end(session);
    return status;
}

void session_answer(struct session *session, int fd, const struct follow_secret *secret,
    const uint8_t caller[WIRE_NONCE_BYTES], const uint8_t served[WIRE_NONCE_BYTES], uint32_t timeout_ms)
{
    session_begin(session, fd, timeout_ms);
    keys_set(session, secret, true, caller, served);
}

void session_end(struct session *session)
{
    if (session->fd >= 0)
        close(session->fd);
    session->fd = -1;
    explicit_bzero(session->send_key, sizeof session->send_key);
    explicit_bzero(session->receive_key, sizeof session->receive_key);
}

/* ---- records ---- */

static struct span record_nonce(uint8_t nonce[SIGN_SEAL_NONCE_BYTES], uint64_t number)
{
    memset(nonce, 0, SIGN_SEAL_NONCE_BYTES);
    bytes_put_u64(nonce, number);
    return span_of(nonce, SIGN_SEAL_NONCE_BYTES);
}

enum status session_send(struct session *session, const void *data, size_t bytes)
{
    uint8_t nonce[SIGN_SEAL_NONCE_BYTES];
    size_t size = SESSION_SEALED_MAX;
    invariant(bytes <= WIRE_RECORD_MAX);
    enum status status = sign_seal(session->send_key, record_nonce(nonce, session->sent++),
        SPAN_NONE, span_of(data, bytes), session->sealed + 4, &size);
    if (status != STATUS_OK)
        return status;
    bytes_put_u32(session->sealed, (uint32_t)size);
    return bytes_send(session, session->sealed, 4 + size);
}

enum status session_receive(struct session *session, struct span *record)
{
    uint8_t nonce[SIGN_SEAL_NONCE_BYTES], head[4];
    enum status status = bytes_receive(session, head, sizeof head);
    if (status != STATUS_OK)
        return status;
    const uint32_t size = bytes_get_u32(head);
    if (size < SIGN_SEAL_TAG_BYTES || size > SESSION_SEALED_MAX)
        return STATUS_BAD_INPUT;
    status = bytes_receive(session, session->sealed, size);
    if (status != STATUS_OK)
        return status;
    size_t bytes = sizeof session->plain;
    status = sign_unseal(session->receive_key, record_nonce(nonce, session->received++), SPAN_NONE,
        span_of(session->sealed, size), session->plain, &bytes);
    *record = span_of(session->plain, bytes);
    return status;
}

enum status session_word_send(struct session *session, const struct wire_word *word)
{
    uint8_t bytes[WIRE_WORD_BYTES];
    wire_word_put(bytes, word);
    return session_send(session, bytes, sizeof bytes);
}

enum status session_word_receive(struct session *session, struct wire_word *word)
{
    struct span record;
    const enum status status = session_receive(session, &record);
    return status == STATUS_OK ? wire_word_read(record, word) : status;
}

bool session_has_bytes(const struct session *session, uint32_t wait_ms)
{
    struct pollfd look = { .fd = session->fd, .events = POLLIN };
    return poll(&look, 1, (int)wait_ms) > 0;
}

enum status session_ask(const char *address, const struct follow_secret *secret,
    uint32_t timeout_ms, const struct wire_word *word, struct wire_word *answer)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return STATUS_AWAY;
    const int fd = session_dial(address, timeout_ms);
    enum status status = STATUS_AWAY;
    if (fd >= 0)
        status = session_call(session, fd, secret, timeout_ms);
    if (fd >= 0 && status == STATUS_OK) {
        status = session_word_send(session, word);
        if (status == STATUS_OK)
            status = session_word_receive(session, answer);
        session_end(session);
    }
    free(session);
    return status;
}
