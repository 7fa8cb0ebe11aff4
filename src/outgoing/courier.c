/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/courier.c: one libcurl multi handle and a loop around curl_multi_poll.
 *
 *   courier_send ──ring──► waiting (sorted by time) ──► flights ──► ring ──► courier_collect
 *
 * A call is at any moment in exactly one of these places, or free, or with the asker; so all of
 * them have room for all calls and none can be full. libcurl allocates while it works; that is
 * this thread's business alone, and what it may hold is bounded by the flights and the pool.
 *
 * Connections of calls that may reach private addresses are never kept for reuse: a kept one would
 * be used by the next call to that host without asking for its address again. */
#include "outgoing/courier.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/ring.h"
#include "outgoing/addresses.h"
#include "outgoing/courier_mail.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    COURIER_POLL_MS = 1000,       /* look at the clock at least this often */
    COURIER_KEPT_CONNECTIONS = 16 /* idle ones, to be used again */
};

#define CALL_METRIC(result, label) \
    [result] = METRIC_ROW(METRIC_COUNTER, "stampede_outgoing_calls_total", "result=\"" label "\"", \
        "HTTP calls of the server to others, by what became of them.")
static struct metric call_metrics[] = {
    CALL_METRIC(OUTGOING_ANSWERED, "answered"),
    CALL_METRIC(OUTGOING_FAILED, "failed"),
    CALL_METRIC(OUTGOING_ADDRESS_REFUSED, "refused"),
};
METRIC_TABLE(call_metrics);

struct flight {
    CURL *easy;
    struct curl_slist *headers;
    struct outgoing_call *call; /* NULL: free */
    struct courier_mail mail;
    bool refused; /* an address was */
    bool too_long;
    char error[CURL_ERROR_SIZE];
};

struct courier {
    struct arena arena;
    struct wake *asker;
    uint32_t call_count;
    struct ring in, out; /* struct outgoing_call * */
    /* the asker's */
    struct outgoing_call **free;
    uint32_t free_count;
    /* the courier's */
    struct outgoing_call **waiting; /* the next one first */
    uint32_t waiting_count;
    struct flight flights[COURIER_FLIGHT_MAX];
    uint32_t flight_count;
    CURLM *multi; /* curl_multi_wakeup: any thread */
    _Atomic bool stop;
};

static uint32_t power_of_two(uint32_t least)
{
    uint32_t slots = 1;
    while (slots < least)
        slots *= 2;
    return slots;
}

static enum status memory_open(struct courier *courier, uint32_t calls)
{
    const uint32_t slots = power_of_two(calls);
    const size_t bytes = (size_t)calls * (sizeof(struct outgoing_call) + 64 + 2 * sizeof(void *))
        + 2 * (size_t)slots * sizeof(void *) + 4096;
    if (arena_open(&courier->arena, bytes) != STATUS_OK)
        return STATUS_IO;
    ring_create(&courier->in, &courier->arena, slots, sizeof(struct outgoing_call *));
    ring_create(&courier->out, &courier->arena, slots, sizeof(struct outgoing_call *));
    courier->free = arena_take(&courier->arena, calls, sizeof *courier->free);
    courier->waiting = arena_take(&courier->arena, calls, sizeof *courier->waiting);
    for (uint32_t i = 0; i < calls; i++)
        courier->free[i] = arena_take(&courier->arena, 1, sizeof(struct outgoing_call));
    courier->free_count = calls;
    courier->call_count = calls;
    return STATUS_OK;
}

static enum status curl_open(struct courier *courier)
{
    courier->multi = curl_multi_init();
    if (courier->multi == NULL)
        return STATUS_IO;
    curl_multi_setopt(courier->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    curl_multi_setopt(courier->multi, CURLMOPT_MAXCONNECTS, (long)COURIER_KEPT_CONNECTIONS);
    for (uint32_t i = 0; i < COURIER_FLIGHT_MAX; i++) {
        courier->flights[i].easy = curl_easy_init();
        if (courier->flights[i].easy == NULL)
            return STATUS_IO;
    }
    return STATUS_OK;
}

enum status courier_open(struct courier **out, uint32_t calls, struct wake *asker)
{
    invariant(calls > 0 && calls <= COURIER_CALLS_MAX);
    *out = NULL;
    /* calloc gives 16 bytes of alignment, the rings want a line of the cache each. */
    struct courier *courier = aligned_alloc(64, (sizeof *courier + 63) / 64 * 64);
    if (courier == NULL)
        return STATUS_IO;
    memset(courier, 0, sizeof *courier);
    courier->asker = asker;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(courier);
        return STATUS_IO;
    }
    enum status status = memory_open(courier, calls);
    if (status == STATUS_OK)
        status = curl_open(courier);
    if (status == STATUS_OK)
        *out = courier;
    else
        courier_close(courier);
    return status;
}

void courier_close(struct courier *courier)
{
    if (courier == NULL)
        return;
    for (uint32_t i = 0; i < COURIER_FLIGHT_MAX; i++) {
        invariant(courier->flights[i].call == NULL);
        curl_easy_cleanup(courier->flights[i].easy); /* accepts NULL */
    }
    curl_multi_cleanup(courier->multi); /* accepts NULL */
    curl_global_cleanup();
    arena_close(&courier->arena);
    free(courier);
}

/* ---- the asker ---- */

struct outgoing_call *courier_take(struct courier *courier)
{
    if (courier->free_count == 0)
        return NULL;
    struct outgoing_call *call = courier->free[--courier->free_count];
    /* Not the whole: most of its pages were perhaps never touched. */
    call->tag = call->detail = call->not_before_ms = 0;
    call->method[0] = call->url[0] = call->headers[0] = call->body[0] = '\0';
    call->body_size = call->timeout_ms = 0;
    call->allow_private = call->tls_required = false;
    call->mail_from[0] = call->mail_to[0] = '\0';
    call->login = NULL;
    call->result = OUTGOING_FAILED;
    call->status = 0;
    call->reply_headers_size = call->reply_size = 0;
    call->reply[0] = call->error[0] = '\0';
    return call;
}

void courier_send(struct courier *courier, struct outgoing_call *call)
{
    invariant(call->body_size <= OUTGOING_BODY_MAX);
    const bool pushed = ring_push(&courier->in, &call);
    invariant(pushed); /* it has room for all calls */
    curl_multi_wakeup(courier->multi);
}

struct outgoing_call *courier_collect(struct courier *courier)
{
    struct outgoing_call **slot = ring_peek(&courier->out);
    if (slot == NULL)
        return NULL;
    struct outgoing_call *call = *slot;
    ring_pop(&courier->out);
    ring_release(&courier->out);
    return call;
}

void courier_give(struct courier *courier, struct outgoing_call *call)
{
    invariant(courier->free_count < courier->call_count);
    courier->free[courier->free_count++] = call;
}

void courier_stop(struct courier *courier)
{
    atomic_store_explicit(&courier->stop, true, memory_order_release);
    curl_multi_wakeup(courier->multi);
}

/* ---- one call, as libcurl sees it ---- */

/* 0 ends the call. */
static size_t bytes_keep(
    struct flight *flight, struct span data, char *room, uint32_t room_bytes, uint32_t *used)
{
    if (data.size > room_bytes - *used) {
        flight->too_long = true;
        return 0;
    }
    memcpy(room + *used, data.data, data.size);
    *used += (uint32_t)data.size;
    return data.size;
}

static size_t reply_take(const char *data, size_t one, size_t bytes, void *context)
{
    (void)one;
    struct flight *flight = context;
    struct outgoing_call *call = flight->call;
    return bytes_keep(flight, span_of(data, bytes), call->reply, OUTGOING_REPLY_MAX, &call->reply_size);
}

static size_t header_take(const char *data, size_t one, size_t bytes, void *context)
{
    (void)one;
    struct flight *flight = context;
    struct outgoing_call *call = flight->call;
    const struct span line = { data, bytes };
    if (span_starts_with(line, SPAN("HTTP/"))) {
        call->reply_headers_size = 0; /* what came before belongs to a 1xx answer */
        return bytes;
    }
    return bytes_keep(
        flight, line, call->reply_headers, OUTGOING_REPLY_HEADERS_MAX, &call->reply_headers_size);
}

/* After the name was resolved, before anything is sent. */
static curl_socket_t socket_open(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct flight *flight = context;
    if (purpose != CURLSOCKTYPE_IPCXN)
        return CURL_SOCKET_BAD;
    if (!flight->call->allow_private && !address_is_public(&address->addr, address->addrlen)) {
        flight->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static bool headers_make(struct flight *flight)
{
    flight->headers = curl_slist_append(NULL, "Expect:"); /* one round trip, not two */
    struct span rest = span_from_string(flight->call->headers);
    struct span line;
    while (flight->headers != NULL && span_take_until(&rest, '\n', &line)) {
        char text[OUTGOING_HEADERS_MAX];
        snprintf(text, sizeof text, "%.*s", (int)line.size, line.data);
        struct curl_slist *longer = curl_slist_append(flight->headers, text);
        if (longer == NULL)
            curl_slist_free_all(flight->headers);
        flight->headers = longer;
    }
    return flight->headers != NULL;
}

static bool is_mail(const struct outgoing_call *call)
{
    return strcmp(call->method, "SMTP") == 0;
}

static void request_set(CURL *easy, struct outgoing_call *call)
{
    curl_easy_setopt(easy, CURLOPT_URL, call->url);
    if (!is_mail(call) && strcmp(call->method, "GET") != 0) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)call->body_size);
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
    }
    const uint32_t timeout_ms = call->timeout_ms == 0 ? COURIER_TIMEOUT_MS : call->timeout_ms;
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, call->allow_private ? 1L : 0L);
}

static bool flight_set(struct flight *flight)
{
    CURL *easy = flight->easy;
    curl_easy_reset(easy);
    if (!headers_make(flight))
        return false;
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, flight->headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "stampede");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* nor one from the environment */
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a slow name server does not hold up the end */
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, flight->error);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, flight);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, reply_take);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, flight);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_take);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, flight);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, flight);
    request_set(easy, flight->call);
    return !is_mail(flight->call) || courier_mail_set(easy, &flight->mail, flight->call);
}

/* ---- the courier ---- */

static void call_answer(struct courier *courier, struct outgoing_call *call)
{
    call->reply[call->reply_size] = '\0';
    const bool pushed = ring_push(&courier->out, &call);
    invariant(pushed); /* it has room for all calls */
    wake_signal(courier->asker);
}

static void call_fail(struct courier *courier, struct outgoing_call *call, const char *why)
{
    call->result = OUTGOING_FAILED;
    snprintf(call->error, sizeof call->error, "%s", why);
    call_answer(courier, call);
}

static void flight_end(struct courier *courier, struct flight *flight)
{
    curl_slist_free_all(flight->headers);
    flight->headers = NULL;
    courier_mail_end(&flight->mail);
    flight->call = NULL;
    courier->flight_count--;
}

static struct flight *flight_free(struct courier *courier)
{
    for (uint32_t i = 0; i < COURIER_FLIGHT_MAX; i++)
        if (courier->flights[i].call == NULL)
            return &courier->flights[i];
    return NULL;
}

static void flight_start(struct courier *courier, struct outgoing_call *call)
{
    struct flight *flight = flight_free(courier);
    invariant(flight != NULL);
    flight->call = call;
    flight->refused = flight->too_long = false;
    flight->error[0] = '\0';
    courier->flight_count++;
    if (flight_set(flight) && curl_multi_add_handle(courier->multi, flight->easy) == CURLM_OK)
        return;
    flight_end(courier, flight);
    call_fail(courier, call, "out of memory");
}

static void flight_land(struct courier *courier, struct flight *flight, CURLcode code)
{
    struct outgoing_call *call = flight->call;
    long status = 0;
    curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(courier->multi, flight->easy);
    call->status = (int)status;
    if (code == CURLE_OK) {
        call->result = OUTGOING_ANSWERED;
    } else if (code == CURLE_COULDNT_CONNECT && flight->refused) {
        call->result = OUTGOING_ADDRESS_REFUSED;
        snprintf(call->error, sizeof call->error, "the address is private or reserved");
    } else {
        call->result = OUTGOING_FAILED;
        const char *why = flight->error[0] != '\0' ? flight->error : curl_easy_strerror(code);
        snprintf(call->error, sizeof call->error, "%.*s", OUTGOING_ERROR_MAX - 1,
            flight->too_long ? "the answer is too long" : why);
    }
    metric_add(&call_metrics[call->result], 1);
    flight_end(courier, flight);
    call_answer(courier, call);
}

/* Sorted by time; equal times stay in the order of arrival. */
static void waiting_insert(struct courier *courier, struct outgoing_call *call)
{
    uint32_t at = courier->waiting_count;
    for (; at > 0 && courier->waiting[at - 1]->not_before_ms > call->not_before_ms; at--)
        courier->waiting[at] = courier->waiting[at - 1];
    courier->waiting[at] = call;
    courier->waiting_count++;
    invariant(courier->waiting_count <= courier->call_count);
}

static struct outgoing_call *waiting_take(struct courier *courier)
{
    struct outgoing_call *call = courier->waiting[0];
    courier->waiting_count--;
    memmove(courier->waiting, courier->waiting + 1, courier->waiting_count * sizeof *courier->waiting);
    return call;
}

static void calls_accept(struct courier *courier)
{
    struct outgoing_call **slot;
    while ((slot = ring_peek(&courier->in)) != NULL) {
        waiting_insert(courier, *slot);
        ring_pop(&courier->in);
    }
    ring_release(&courier->in);
}

/* Starts what may start; answers how long it may sleep for the others. */
static uint32_t calls_start(struct courier *courier)
{
    const uint64_t now_ms = clock_now_ms();
    while (courier->waiting_count > 0 && courier->flight_count < COURIER_FLIGHT_MAX) {
        const uint64_t at_ms = courier->waiting[0]->not_before_ms;
        if (at_ms > now_ms)
            return at_ms - now_ms < COURIER_POLL_MS ? (uint32_t)(at_ms - now_ms) : COURIER_POLL_MS;
        flight_start(courier, waiting_take(courier));
    }
    return COURIER_POLL_MS;
}

static bool flights_land(struct courier *courier)
{
    CURLMsg *message;
    int left;
    bool landed = false;
    while ((message = curl_multi_info_read(courier->multi, &left)) != NULL) {
        struct flight *flight = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&flight);
        flight_land(courier, flight, message->data.result);
        landed = true;
    }
    return landed;
}

static void calls_break_off(struct courier *courier)
{
    for (uint32_t i = 0; i < COURIER_FLIGHT_MAX; i++) {
        struct flight *flight = &courier->flights[i];
        struct outgoing_call *call = flight->call;
        if (call == NULL)
            continue;
        curl_multi_remove_handle(courier->multi, flight->easy);
        flight_end(courier, flight);
        call_fail(courier, call, "aborted: the program stops");
    }
    calls_accept(courier);
    while (courier->waiting_count > 0)
        call_fail(courier, waiting_take(courier), "not sent: the program stops");
}

void courier_run(void *context)
{
    struct courier *courier = context;
    while (!atomic_load_explicit(&courier->stop, memory_order_acquire)) {
        calls_accept(courier);
        const uint32_t sleep_ms = calls_start(courier);
        int running;
        CURLMcode code = curl_multi_perform(courier->multi, &running);
        if (code == CURLM_OK && flights_land(courier))
            continue; /* there is room for others now */
        if (code == CURLM_OK)
            code = curl_multi_poll(courier->multi, NULL, 0, (int)sleep_ms, NULL);
        if (code != CURLM_OK) {
            log_error("courier", "libcurl: %s", curl_multi_strerror(code));
            usleep(COURIER_POLL_MS * 1000);
        }
    }
    calls_break_off(courier);
}
