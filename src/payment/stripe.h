/* SPDX-License-Identifier: Apache-2.0 */
/* payment/stripe.h: Stripe Checkout, as payment/provider.h asks.
 *
 * One payment is one Checkout Session. Creating it carries the reference as Idempotency-Key, so that
 * asking again gives the same session; all parameters come from the payment and its order, because
 * Stripe refuses the key with others. It has no expires_at of ours (Stripe allows no less than half
 * an hour, counted anew by each attempt); the cashier closes it in time.
 *
 * payment.provider_id is "cs_…", and from the moment that the money is there "cs_… pi_…": the
 * session, a space, the payment intent, which refunds need. WORD_CAPTURED always has both.
 * A query or close of a payment without provider_id is answered WORD_UNKNOWN without a call: create
 * it again. A close that is refused (somebody has just paid) is WORD_REFUSED: query it.
 *
 * Answers are trusted by TLS. Callbacks carry Stripe-Signature: t=…,v1=… over "t.body". */
#ifndef STAMPEDE_PAYMENT_STRIPE_H
#define STAMPEDE_PAYMENT_STRIPE_H

#include "payment/provider.h"

enum { STRIPE_CALLBACK_MAX = 64 * 1024 }; /* a longer body is refused */

extern const struct provider_ops stripe_provider;

#endif
