/* SPDX-License-Identifier: Apache-2.0 */
/* worker/outgoing_calls.h: the courier (outgoing/courier.h), shared by those who call others over
 * HTTP: each gets the answers to its own calls.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_OUTGOING_CALLS_H
#define STAMPEDE_WORKER_OUTGOING_CALLS_H

#include "base/status.h"

#include <stdint.h>

struct arena;
struct courier;
struct outgoing_call;
struct task;
struct wake;

/* Which task made a call: the upper byte of its tag; label in stampede_outgoing_call_seconds. */
#define CALL_CLIENT_LIST(X) \
    X(WEBHOOKS, "shop") \
    X(CASHIER, "provider") \
    X(SANDBOX, "sandbox") \
    X(MAILS, "mail") \
    X(ALARMS, "alarms") \
    X(TRACES, "traces")
enum call_client {
#define CALL_CLIENT(client, label) CALL_##client,
    CALL_CLIENT_LIST(CALL_CLIENT)
#undef CALL_CLIENT
        CALL_CLIENTS,
};
enum { CALL_CLIENT_SHIFT = 56 };

struct outgoing_calls;
MUST_CHECK enum status outgoing_calls_open(
    struct outgoing_calls **calls, struct arena *arena, struct wake *wake, struct task *task);
struct courier *outgoing_calls_courier(struct outgoing_calls *calls); /* its thread is the server's to run */
/* `answered` gets each call of this client once, with the id that it was sent with, and keeps
 * nothing of it. */
void outgoing_calls_listen(struct outgoing_calls *calls, enum call_client client,
    void (*answered)(void *self, uint64_t id, const struct outgoing_call *call), void *self);

struct outgoing_call *outgoing_call_take(struct outgoing_calls *calls); /* NULL: all are in use */
void outgoing_call_send(
    struct outgoing_calls *calls, enum call_client client, uint64_t id, struct outgoing_call *call);
void outgoing_call_give(struct outgoing_calls *calls, struct outgoing_call *call); /* not sent */

#endif
