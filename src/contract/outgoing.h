/* SPDX-License-Identifier: Apache-2.0 */
/* contract/outgoing.h: one HTTP request or mail that this program sends, and its answer. Whoever asks fills
 * the upper part, the outgoing thread (outgoing/courier.h) the lower. */
#ifndef STAMPEDE_CONTRACT_OUTGOING_H
#define STAMPEDE_CONTRACT_OUTGOING_H

#include "base/span.h"

#include <stdint.h>

enum {
    OUTGOING_URL_MAX = 4096,
    OUTGOING_HEADERS_MAX = 4096,
    OUTGOING_BODY_MAX = 16 * 1024,
    OUTGOING_REPLY_HEADERS_MAX = 8192,
    OUTGOING_REPLY_MAX = 64 * 1024, /* a longer answer is a failed call */
    OUTGOING_ERROR_MAX = 160,
    OUTGOING_LOGIN_MAX = 128,
    OUTGOING_MAIL_MAX = 256,
};

enum outgoing_result {
    OUTGOING_ANSWERED,       /* with a status, whatever it is */
    OUTGOING_FAILED,         /* no whole answer: whether it was heard is not known */
    OUTGOING_ADDRESS_REFUSED /* a private or local address, and that is not allowed: nothing was sent */
};

struct outgoing_login {
    char user[OUTGOING_LOGIN_MAX + 1], password[OUTGOING_LOGIN_MAX + 1];
};

struct outgoing_call {
    /* The asker's own; comes back as it is. */
    uint64_t tag;
    uint64_t detail;
    uint64_t sent_ns; /* clock_monotonic_ns */
    /* The request. Redirects are never followed. */
    char method[8]; /* "GET", "POST"; "SMTP": a mail, whose text is the body, with its headers */
    char url[OUTGOING_URL_MAX + 1];
    char headers[OUTGOING_HEADERS_MAX]; /* "Name: value\n" for each; no Host, no Content-Length */
    char body[OUTGOING_BODY_MAX];
    uint32_t body_size;
    uint32_t timeout_ms;    /* 0: the courier's own */
    uint64_t not_before_ms; /* held back until then (clock_now_ms) */
    bool allow_private;
    /* A mail. */
    char mail_from[OUTGOING_MAIL_MAX], mail_to[OUTGOING_MAIL_MAX];
    const struct outgoing_login *login; /* outlives the call; NULL: none */
    bool tls_required;                  /* or it is not sent */
    /* The answer. */
    enum outgoing_result result;
    int status;
    char reply_headers[OUTGOING_REPLY_HEADERS_MAX]; /* as they came, without the status line */
    uint32_t reply_headers_size;
    char reply[OUTGOING_REPLY_MAX + 1]; /* with a 0 after it */
    uint32_t reply_size;
    char error[OUTGOING_ERROR_MAX]; /* why there is no answer */
};

/* A header of the answer, without spaces around it; SPAN_NONE: not there. */
struct span outgoing_header(const struct outgoing_call *call, const char *name);
/* Adds "name: value\n" to the request; false: no room, or the value has control characters. */
bool outgoing_header_add(struct outgoing_call *call, const char *name, struct span value);

#endif
