/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/courier.h: the thread that calls others over HTTP(S): payment providers, webhooks; and sends mails
 * over SMTP.
 * Calls go in by one ring and come back by another, in any order; each comes back exactly once.
 * libcurl, one multi handle, at most COURIER_FLIGHT_MAX calls at a time, the rest waits its turn.
 * Certificates are checked, redirects are not followed, an answer that is too long is a failure.
 * Unless the call allows it, an address that is private, local, link-local, multicast or reserved
 * is refused at the moment of connecting (after the name was resolved, so that a name can't lie).
 *
 * Thread: one asker (take, send, collect, give), one courier (courier_run); stop: any.
 * Memory: `calls` calls are made at open. Errors: told in the call (contract/outgoing.h). */
#ifndef STAMPEDE_OUTGOING_COURIER_H
#define STAMPEDE_OUTGOING_COURIER_H

#include "base/status.h"
#include "base/thread.h"
#include "contract/outgoing.h"

enum { COURIER_CALLS_MAX = 320, COURIER_FLIGHT_MAX = 288, COURIER_TIMEOUT_MS = 10000 };

struct courier;
/* `asker` is signalled when answers are there; it must outlive the courier. */
MUST_CHECK enum status courier_open(struct courier **courier, uint32_t calls, struct wake *asker);
void courier_close(struct courier *courier); /* accepts NULL; after courier_run has returned */
void courier_run(void *context);             /* the courier; the thread, until courier_stop */
void courier_stop(struct courier *courier);  /* calls under way are broken off */

/* The asker. */
struct outgoing_call *courier_take(struct courier *courier); /* empty; NULL: all are in use */
void courier_send(struct courier *courier, struct outgoing_call *call);
struct outgoing_call *courier_collect(struct courier *courier); /* answered; NULL: none now */
void courier_give(struct courier *courier, struct outgoing_call *call); /* done with it */

#endif
