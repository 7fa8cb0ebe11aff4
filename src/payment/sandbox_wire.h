/* SPDX-License-Identifier: Apache-2.0 */
/* payment/sandbox_wire.h: what the sandbox's bank and its client say to each other: one flat JSON
 * object for everything, signed both ways with one secret.
 *
 *   Sandbox-Signature: t=<seconds>,v1=<hex HMAC-SHA256 over "t.METHOD.path.<hex SHA-256 of body>">
 *
 * METHOD and path are the request's; an answer is signed for the request that it answers; a callback
 * for POST and its own path. Pure functions, any thread. */
#ifndef STAMPEDE_PAYMENT_SANDBOX_WIRE_H
#define STAMPEDE_PAYMENT_SANDBOX_WIRE_H

#include "base/text.h"
#include "contract/payment.h"

enum {
    SANDBOX_SECRET_BYTES = 32,
    SANDBOX_ID_MAX = 40,
    SANDBOX_TITLE_MAX = 200,
    SANDBOX_PAYER_MAX = 47,
    SANDBOX_ADDRESS_MAX = 500,
    SANDBOX_SIGNATURE_BYTES = 2 + 20 + 4 + 64 + 1,
};
static const char SANDBOX_HEADER[] = "Sandbox-Signature";

struct sandbox_secret {
    uint8_t bytes[SANDBOX_SECRET_BYTES];
};
struct sandbox_message { /* "" and 0: not there */
    char state[12];      /* open, captured, closed, refunded */
    char id[SANDBOX_ID_MAX + 1];
    char reference[REFERENCE_BYTES_MAX + 1];
    char key[REFERENCE_BYTES_MAX + 1]; /* of a refund */
    char title[SANDBOX_TITLE_MAX + 1];
    char notify_url[SANDBOX_ADDRESS_MAX + 1];
    char return_url[SANDBOX_ADDRESS_MAX + 1];
    char url[SANDBOX_ADDRESS_MAX + 1];
    char currency[4];
    char payer[SANDBOX_PAYER_MAX + 1]; /* of money that was taken, if the payer has a name */
    uint64_t amount, expires_ms;
};

struct sandbox_signed { /* what a signature is for */
    struct span method, path, body;
};
void sandbox_sign(const struct sandbox_secret *secret, uint64_t now_ms,
    const struct sandbox_signed *what, char out[SANDBOX_SIGNATURE_BYTES]);
/* `header`: the value as it came. False: forged, malformed, or not within PROVIDER_FRESH_S. */
bool sandbox_signature_good(const struct sandbox_secret *secret, uint64_t now_ms,
    const struct sandbox_signed *what, struct span header);

void sandbox_message_write(const struct sandbox_message *message, struct text *out);
/* False: not such an object. */
MUST_CHECK bool sandbox_message_read(struct span json, struct sandbox_message *message);
/* Everything after the host of an address; "/" at least. */
struct span sandbox_path_of(const char *url);

#endif
