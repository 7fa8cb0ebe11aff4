/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/edge/edge_harness.h"

#include "base/clock.h"
#include "edge/http_reply.h"
#include "edge/websocket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PLAIN SPAN("text/plain")

enum { DEFER_MS = 5 };

static bool overlaps(void *self, const struct http_request *request)
{
    (void)self;
    return span_equal(request->path, SPAN("/answer")) || span_equal(request->path, SPAN("/defer"))
        || span_equal(request->path, SPAN("/hold"));
}

static uint32_t number_of(const struct http_request *request)
{
    uint32_t number = 0;
    return span_to_u32(request->query, &number) == STATUS_OK ? number : 0;
}

static enum edge_verdict defer(struct harness *harness, const struct http_request *request, uint64_t token)
{
    invariant(harness->waiter_count < HARNESS_WAITING_MAX);
    harness->waiters[harness->waiter_count++] = (struct harness_waiter){
        .token = token,
        .since_ms = test_now_ms(),
        .number = number_of(request),
        .bytes = span_equal(request->path, SPAN("/bytes")),
        .hold = span_equal(request->path, SPAN("/hold")),
    };
    atomic_fetch_add(&harness->waiting, 1);
    return EDGE_DEFERRED;
}

static enum edge_verdict request_handle(void *self, const struct http_request *request,
    uint64_t token, bool closing, struct text *out, struct edge_reply *reply)
{
    struct harness *harness = self;
    atomic_fetch_add(&harness->handled, 1);
    if (span_equal(request->path, SPAN("/answer"))) {
        reply->answer = (struct edge_answer){ .kind = 1, .a = number_of(request) };
        return EDGE_ANSWERED;
    }
    struct websocket_offer offer;
    if (span_equal(request->path, SPAN("/socket"))
        && websocket_offer_read(request, &offer) == WEBSOCKET_WELCOME) {
        websocket_accept(out, &offer, SPAN_NONE);
        return EDGE_UPGRADED;
    }
    if (span_equal(request->path, SPAN("/never")))
        return EDGE_DEFERRED;
    if (overlaps(self, request) || span_equal(request->path, SPAN("/bytes")))
        return defer(harness, request, token);
    if (span_equal(request->path, SPAN("/big"))) {
        http_reply_head(out, 200, PLAIN, SPAN_NONE, HARNESS_BIG_BYTES, closing);
        reply->body = span_of(harness->big, HARNESS_BIG_BYTES);
    } else if (span_equal(request->path, SPAN("/flood"))) {
        while (!out->overflow)
            text_add(out, span_of(harness->big, HARNESS_PAGE_BYTES));
    } else if (span_equal(request->path, SPAN("/page"))) {
        http_reply(out, 200, PLAIN, SPAN_NONE, span_of(harness->big, HARNESS_PAGE_BYTES), closing);
    } else if (span_equal(request->path, SPAN("/client"))) {
        char name[ADDRESS_CHARS_MAX];
        struct text text = text_in(name, sizeof(name));
        address_text(&text, request->client);
        http_reply(out, 200, PLAIN, SPAN_NONE, text_span(&text), closing);
    } else {
        bool echo = span_equal(request->path, SPAN("/echo"));
        http_reply(out, 200, PLAIN, SPAN_NONE, echo ? request->body : SPAN("now"), closing);
    }
    return EDGE_REPLIED;
}

static void render(void *self, const struct edge_answer *answer, bool closing, struct text *out)
{
    (void)self;
    char body[32];
    struct text text = text_in(body, sizeof(body));
    text_format(&text, "answer %u", answer->a);
    http_reply(out, 200, PLAIN, SPAN_NONE, text_span(&text), closing);
}

static void refuse(void *self, int status, const char *why, struct text *out)
{
    (void)self;
    http_reply(out, status, PLAIN, SPAN_NONE, span_from_string(why), true);
}

static void waiter_complete(struct harness *harness, const struct harness_waiter *waiter)
{
    if (!waiter->bytes) {
        struct edge_answer answer = { .kind = 1, .a = waiter->number };
        edge_complete(harness->edge, waiter->token, &answer);
        return;
    }
    char bytes[512];
    struct text text = text_in(bytes, sizeof(bytes));
    http_reply(&text, 200, PLAIN, SPAN_NONE, SPAN("bytes"), false);
    edge_complete_bytes(harness->edge, waiter->token, text_span(&text));
}

static bool turn(void *self, uint64_t now_ms)
{
    (void)now_ms;
    struct harness *harness = self;
    uint64_t now = test_now_ms();
    for (uint32_t i = harness->waiter_count; i-- > 0;) { /* newest first: out of order */
        struct harness_waiter waiter = harness->waiters[i];
        bool due = waiter.hold ? atomic_load(&harness->released) : now >= waiter.since_ms + DEFER_MS;
        if (!due)
            continue;
        harness->waiters[i] = harness->waiters[--harness->waiter_count];
        atomic_fetch_sub(&harness->waiting, 1);
        waiter_complete(harness, &waiter);
    }
    return false;
}

static void socket_message(void *self, uint64_t socket, struct span text)
{
    struct harness *harness = self;
    char bytes[WEBSOCKET_HEAD_MAX + WEBSOCKET_MESSAGE_MAX];
    struct text frame = text_in(bytes, sizeof bytes);
    uint32_t count;
    if (span_equal(text, SPAN("close"))) {
        edge_socket_close(harness->edge, socket, WEBSOCKET_NORMAL, "as you wish");
        return;
    }
    if (span_equal(text, SPAN("page"))) {
        static char page[HARNESS_PAGE_BYTES + WEBSOCKET_HEAD_MAX];
        struct text whole = text_in(page, sizeof page);
        websocket_frame(&whole, WEBSOCKET_TEXT, span_of(harness->big, HARNESS_PAGE_BYTES));
        (void)edge_socket_send(harness->edge, socket, text_span(&whole));
        return;
    }
    if (span_to_u32(text, &count) != STATUS_OK) {
        websocket_frame(&frame, WEBSOCKET_TEXT, text);
        (void)edge_socket_send(harness->edge, socket, text_span(&frame));
        return;
    }
    websocket_frame(&frame, WEBSOCKET_TEXT, span_of(harness->big, HARNESS_FRAME_BYTES));
    while (count-- > 0)
        (void)edge_socket_send(harness->edge, socket, text_span(&frame));
}

static void socket_gone(void *self, uint64_t socket, enum edge_socket_end end)
{
    struct harness *harness = self;
    (void)socket;
    atomic_fetch_add(&harness->gone[end], 1);
}

static void run(void *context)
{
    edge_run(((struct harness *)context)->edge);
}

void harness_start(struct harness *harness, struct edge_config config)
{
    *harness = (struct harness){ .edge = NULL };
    clock_start(0);
    harness->big = malloc(HARNESS_BIG_BYTES);
    invariant(harness->big != NULL);
    for (size_t i = 0; i < HARNESS_BIG_BYTES; i++)
        harness->big[i] = (char)('a' + i % 26);
    if (config.address == NULL)
        config.address = "127.0.0.1";
    if (config.connections_max == 0)
        config.connections_max = 256;
    if (config.listen_fd == 0)
        config.listen_fd = -1;
    config.cpu = -1;
    const struct edge_handler handler = { .self = harness,
        .overlaps = overlaps,
        .request = request_handle,
        .render = render,
        .refuse = refuse,
        .turn = turn,
        .message = socket_message,
        .gone = socket_gone };
    enum status status = edge_open(&harness->edge, &config, &handler);
    invariant(status == STATUS_OK);
    status = thread_start(&harness->thread, "edge", run, harness);
    invariant(status == STATUS_OK);
}

void harness_join(struct harness *harness)
{
    thread_join(&harness->thread);
    edge_close(harness->edge);
    free(harness->big);
}

void harness_stop(struct harness *harness)
{
    edge_stop(harness->edge);
    harness_join(harness);
}

void harness_release(struct harness *harness)
{
    atomic_store(&harness->released, true);
    wake_signal(edge_wake(harness->edge));
}

int client_connect(const struct harness *harness)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
        .sin_port = htons(edge_port(harness->edge)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    invariant(fd >= 0);
    int rc = connect(fd, (struct sockaddr *)&address, sizeof(address));
    invariant(rc == 0);
    return fd;
}

void client_send_bytes(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* closed by the edge; the reader will see */
        at += sent;
        size -= (size_t)sent;
    }
}

void client_send(int fd, const char *text)
{
    client_send_bytes(fd, text, strlen(text));
}

static size_t length_of(const char *head)
{
    const char *at = strstr(head, "Content-Length: ");
    size_t length = 0;
    for (at = at == NULL ? "" : at + 16; *at >= '0' && *at <= '9'; at++)
        length = length * 10 + (size_t)(*at - '0');
    return length;
}

int client_read(int fd, char *text, size_t capacity, bool head_only)
{
    size_t size = 0, wanted = 0;
    for (;;) {
        char *end = size >= 4 ? memmem(text, size, "\r\n\r\n", 4) : NULL;
        if (end != NULL && wanted == 0) {
            text[size] = 0;
            wanted = (size_t)(end + 4 - text) + (head_only ? 0 : length_of(text));
        }
        if (wanted > 0 && size == wanted)
            break;
        /* One byte at a time in the head, so that the next response is left alone. */
        size_t step = wanted == 0 ? 1 : wanted - size;
        invariant(size + step < capacity);
        ssize_t got = recv(fd, text + size, step, 0);
        if (got <= 0)
            return size == 0 ? 0 : -1;
        size += (size_t)got;
    }
    text[size] = 0;
    return (text[9] - '0') * 100 + (text[10] - '0') * 10 + (text[11] - '0');
}

bool client_is_closed(int fd, uint32_t within_ms)
{
    uint64_t until = test_now_ms() + within_ms;
    char dropped[65536];
    for (uint64_t now = test_now_ms(); now < until; now = test_now_ms()) {
        struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
        if (poll(&poll_fd, 1, (int)(until - now)) > 0
            && recv(fd, dropped, sizeof(dropped), MSG_DONTWAIT) <= 0 && errno != EAGAIN)
            return true;
    }
    return false;
}

uint64_t test_now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

void test_sleep_ms(uint32_t ms)
{
    struct timespec duration = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&duration, NULL);
}
