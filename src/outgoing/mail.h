/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/mail.h: a mail as the courier sends it (SMTP), when it is tried again, and what an answer means.
 * It makes messages and calls nobody; the worker keeps the rows (contract/remedy.h) and sends.
 *
 *   smtp://host:port    STARTTLS is required, unless the host is this machine
 *   smtps://host:port   TLS from the first byte
 * The same mail has the same Message-ID each time, so that a receiver can drop a repeat.
 * Thread: any, one at a time for a server. Memory: none. */
#ifndef STAMPEDE_OUTGOING_MAIL_H
#define STAMPEDE_OUTGOING_MAIL_H

#include "base/random.h"
#include "base/status.h"
#include "contract/outgoing.h"

enum { MAIL_ADDRESS_MAX = 200, MAIL_TIMEOUT_MS = 30000, MAIL_TRIES_MAX = 8 };

struct mail_server {
    char url[OUTGOING_URL_MAX + 1];
    char from[MAIL_ADDRESS_MAX + 1];
    struct outgoing_login login; /* user "": none */
};

/* smtp:// or smtps://, a host, perhaps a port, and nothing else. */
MUST_CHECK bool mail_url_is_good(const char *url);
bool mail_host_is_local(const char *url); /* this machine: localhost, 127.0.0.0/8, ::1 */

struct mail_message {
    const char *to, *subject; /* UTF-8; one line each */
    struct span text;         /* UTF-8, lines end with \n */
    const char *id;           /* of the mail; letters, digits and points */
    uint64_t now_ms;
};
/* STATUS_FULL: it does not fit. */
MUST_CHECK enum status mail_request(const struct mail_server *server,
    const struct mail_message *message, struct outgoing_call *call);

enum mail_verdict {
    MAIL_TAKEN,
    MAIL_AGAIN,
    MAIL_UNSURE, /* the connection was lost after the text was sent: it may have been taken. Again */
    MAIL_REFUSED, /* for good */
};
enum mail_verdict mail_judge(const struct outgoing_call *call);
/* As webhook_delay. */
MUST_CHECK bool mail_delay(uint32_t tries, struct random *random, uint64_t *delay_ms);

#endif
