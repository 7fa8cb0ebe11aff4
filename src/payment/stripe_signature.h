/* SPDX-License-Identifier: Apache-2.0 */
/* payment/stripe_signature.h: whether a callback comes from Stripe, and just now. */
#ifndef STAMPEDE_PAYMENT_STRIPE_SIGNATURE_H
#define STAMPEDE_PAYMENT_STRIPE_SIGNATURE_H

#include "payment/stripe.h"

enum {
    STRIPE_TIME_DIGITS_MAX = 20,
    STRIPE_SIGNED_MAX = STRIPE_TIME_DIGITS_MAX + 1 + STRIPE_CALLBACK_MAX,
};

/* Stripe-Signature: t=…,v1=…,v1=…,v0=…: one time, any number of signatures of which one must be right.
 * `signed_text` is room to work in. NULL: genuine; else what is wrong. */
MUST_CHECK const char *stripe_signature_check(struct span secret,
    const struct provider_callback *callback, char signed_text[STRIPE_SIGNED_MAX]);

#endif
