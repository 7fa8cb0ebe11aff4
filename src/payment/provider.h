/* SPDX-License-Identifier: Apache-2.0 */
/* payment/provider.h: what a payment provider is to us: it writes requests, reads answers, and checks
 * callbacks (what it is asked and what it says: contract/provider.h). It never calls anybody itself and
 * keeps no state: the cashier (orders/cashier.h) sends what `ask` has written and gives the answer to
 * `read`. So a provider is a file or a few, plus its line in
 * provider_table.c, and can be tested without a network.
 *
 * Trust. An answer or callback counts only after its signature was checked (where the provider signs
 * them; Stripe's answers are trusted by TLS), over the raw bytes, in constant time. A callback must
 * be fresh (PROVIDER_FRESH_S) where it carries its own time. Amount, currency and order are compared
 * by the store (contract/payment.h), not here.
 *
 * Thread: the store thread. Memory: open allocates once. Errors: see each. */
#ifndef STAMPEDE_PAYMENT_PROVIDER_H
#define STAMPEDE_PAYMENT_PROVIDER_H

#include "contract/outgoing.h"
#include "contract/provider.h"

enum {
    PROVIDER_FRESH_S = 300,
    PROVIDER_ERROR = 256,
};

/* A callback as it came. */
struct provider_callback {
    struct span head;              /* header lines, "Name: value\r\n" each */
    struct span path, query, body; /* the path as the request had it */
    uint64_t now_ms;               /* wall clock */
};
/* What is answered to a callback, so that the provider stops, or comes again. */
struct provider_receipt {
    int status;
    const char *type, *body;
};

struct provider_setting {
    const char *name;     /* INI: [provider] name; environment: STAMPEDE_PROVIDER_NAME(_FILE) */
    const char *standard; /* NULL: must be set */
};

struct provider; /* each file has its own, with `ops` first */
struct provider_ops {
    const char *name;
    /* Ends with a NULL name. Secrets are files: a setting ends in _file and names one. */
    const struct provider_setting *settings;
    /* values[i] belongs to settings[i]. STATUS_BAD_INPUT and `error`: a setting is wrong. */
    enum status (*open)(struct provider **, const char *const *values, char error[PROVIDER_ERROR]);
    void (*close)(struct provider *); /* wipes keys; accepts NULL */
    /* Writes the request (signed) to the call; true: send it. False: no call is needed or possible,
     * `said` has the answer. */
    bool (*ask)(struct provider *, const struct provider_task *, struct outgoing_call *,
        struct provider_said *said);
    /* The answer to it (any result, a failed call too). Fills all of `said`. */
    void (*read)(struct provider *, const struct provider_task *, const struct outgoing_call *,
        struct provider_said *said);
    /* WORD_CAPTURED, WORD_CLOSED, WORD_OPEN (of no interest) or WORD_FORGED. */
    void (*callback)(struct provider *, const struct provider_callback *, struct provider_said *said);
    struct provider_receipt taken;   /* it was genuine and is dealt with, or of no interest */
    struct provider_receipt refused; /* forged, or of no order of ours */
    struct provider_receipt later;   /* could not be dealt with now: come again */
};
struct provider {
    const struct provider_ops *ops;
};

/* provider_table.c: all that are built in; ends with NULL. */
extern const struct provider_ops *const provider_table[];
const struct provider_ops *provider_find(const char *name); /* NULL: none */

/* provider_kit.c: shared by the files. */
/* What an `open` does: `bytes` of memory, all zero but `ops`, which is first, and then `take`, which reads
 * the settings into it (NULL: it did; else what is wrong). Other than STATUS_OK: what was made is closed,
 * and `error` says what is wrong with which provider. */
typedef const char *(*provider_take)(struct provider *provider, const char *const *values);
MUST_CHECK enum status provider_make(struct provider **provider, const struct provider_ops *ops,
    size_t bytes, provider_take take, const char *const *values, char error[PROVIDER_ERROR]);
/* From the setting private_key_file. NULL: *key is the caller's; else what is wrong. */
struct sign_key;
MUST_CHECK const char *provider_private_key(const char *path, struct sign_key **key);
/* SPAN_NONE: not there, or there twice: which of the two is meant can't be known. */
struct span provider_header(struct span head, const char *name);
void provider_say(struct provider_said *said, enum provider_word word, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* word and error; the rest is cleared */
/* True: there is no answer to read (no reply, 429, 5xx), and `said` is WORD_AGAIN. */
bool provider_unanswered(const struct outgoing_call *call, struct provider_said *said);
/* A name that the provider has told: printable ASCII without spaces, and it fits; else false. */
bool provider_name_copy(char *out, size_t out_bytes, struct span name);
/* Who paid; a name that is malformed is not told. */
void provider_payer(struct provider_said *said, struct span name);
/* The title in at most max_bytes, cut between characters; "order" if there is none. */
struct span provider_title(const char *title, size_t max_bytes);
/* https, or http to this machine (a stand-in for tests), without a query; *local: the latter. */
bool provider_url_fits(const char *url, size_t max_bytes, bool *local);
/* True: not further from now than allowed, either way. */
bool provider_fresh(uint64_t then_s, uint64_t now_ms, uint64_t past_s, uint64_t future_s);

#endif
