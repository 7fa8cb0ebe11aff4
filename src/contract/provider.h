/* SPDX-License-Identifier: Apache-2.0 */
/* contract/provider.h: what a payment provider is asked to do, and what it says. */
#ifndef STAMPEDE_CONTRACT_PROVIDER_H
#define STAMPEDE_CONTRACT_PROVIDER_H

#include "contract/payment.h"

enum { PAYER_BYTES_MAX = 128 };

enum provider_act {
    PROVIDER_CREATE, /* again with the same payment: the same, not a second one */
    PROVIDER_QUERY,
    PROVIDER_CLOSE,
    PROVIDER_REFUND, /* again with the same refund: the same, not a second one */
    PROVIDER_REFUND_QUERY,
    PROVIDER_ACTS,
};
struct provider_task {
    enum provider_act act;
    const struct payment *payment;
    const struct refund *refund; /* REFUND, REFUND_QUERY */
    const char *title;           /* what is bought, UTF-8 */
    const char *notify_url, *return_url;
    uint64_t now_ms;     /* wall clock */
    uint64_t expires_ms; /* CREATE: when the order's time to pay is over; wall clock */
};

enum provider_word {
    WORD_OPEN,           /* created, or waiting for the payer */
    WORD_CAPTURED,       /* amount, currency, provider_id */
    WORD_CLOSED,         /* nobody can pay it any more */
    WORD_UNKNOWN,        /* the provider does not know it */
    WORD_REFUNDED,       /* the money is back, or surely on its way */
    WORD_REFUND_PENDING, /* ask again later (REFUND_QUERY) */
    WORD_REFUSED,        /* it won't do that; `error` says why */
    WORD_AGAIN,          /* no use now: no answer, overload, its own trouble; `error` */
    WORD_FORGED,         /* signature, freshness or form are wrong; `error`. Trust nothing of it. */
};
struct provider_said {
    enum provider_word word;
    char reference[REFERENCE_BYTES_MAX + 1];
    char provider_id[PROVIDER_ID_MAX + 1];
    char url[PAY_URL_MAX + 1]; /* OPEN after CREATE */
    uint64_t amount;
    char currency[4];
    char payer[PAYER_BYTES_MAX + 1]; /* CAPTURED: the provider's name for who paid; "": not told. It is
                                      * hashed under a key at once, and kept nowhere as it is */
    char error[PAYMENT_ERROR_MAX + 1];
};

#endif
