/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/webhook.h: how the shop is told, after the Standard Webhooks specification: what a message
 * is signed with, when it is tried again, and what an answer means. It makes requests and calls
 * nobody; the worker keeps the outbox (contract/outbox.h) and sends.
 *
 *   webhook-id: evt_…          the same for each try, so that the receiver can drop repeats
 *   webhook-timestamp: 1700…   of this try, in seconds
 *   webhook-signature: v1,base64(HMAC-SHA256(secret, id "." timestamp "." body))
 *
 * Thread: any, one at a time for an endpoint. Memory: none. */
#ifndef STAMPEDE_OUTGOING_WEBHOOK_H
#define STAMPEDE_OUTGOING_WEBHOOK_H

#include "base/random.h"
#include "base/status.h"
#include "contract/outgoing.h"

enum {
    WEBHOOK_SECRET_MIN = 24,
    WEBHOOK_SECRET_MAX = 128,
    WEBHOOK_ID_MAX = 64,
    WEBHOOK_SIGNATURE_BYTES = 3 + 44 + 1, /* "v1," and 32 bytes in base64, and a 0 */
    WEBHOOK_TIMEOUT_MS = 10000,
};

struct webhook_endpoint {
    char url[OUTGOING_URL_MAX + 1];
    bool allow_private;
    uint8_t secret[WEBHOOK_SECRET_MAX];
    size_t secret_size;
};

/* "whsec_" and base64 of 24 bytes or more, or any other 24 bytes or more as they are.
 * STATUS_BAD_INPUT: neither, or too long. */
MUST_CHECK enum status webhook_secret_set(struct webhook_endpoint *endpoint, struct span text);

void webhook_sign(const struct webhook_endpoint *endpoint, const char *id, uint64_t time_s,
    struct span body, char out[WEBHOOK_SIGNATURE_BYTES]);
/* A POST of what is in call->body. */
void webhook_request(const struct webhook_endpoint *endpoint, const char *id, uint64_t time_s,
    struct outgoing_call *call);

enum webhook_verdict {
    WEBHOOK_TAKEN, /* 2xx */
    WEBHOOK_AGAIN,
    WEBHOOK_GONE, /* 410: the receiver wants no more of it */
};
enum webhook_verdict webhook_judge(const struct outgoing_call *call);

/* How long to wait after `tries` that failed (1: after the first): the schedule and up to a fifth
 * more, so that what failed together does not come back together. False: it was the last one. */
MUST_CHECK bool webhook_delay(uint32_t tries, struct random *random, uint64_t *delay_ms);

#endif
