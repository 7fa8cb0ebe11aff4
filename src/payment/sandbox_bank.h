/* SPDX-License-Identifier: Apache-2.0 */
/* payment/sandbox_bank.h: a bank to rehearse with. It takes any payment, remembers it through a
 * crash (one file, a row for each payment, written and synced before it is told), and can be told
 * to behave as badly as real networks do: callbacks late, lost, doubled, out of order, with a wrong
 * amount; answers that never come.
 *
 * The bank decides; who calls whom is the worker's business (worker/sandbox_api.c).
 * Thread: the store thread. Memory: rows for BANK_PAYMENTS_MAX, taken from the system as they are
 * used. Errors: BANK_… answers; a disk that fails: the change is not made. */
#ifndef STAMPEDE_PAYMENT_SANDBOX_BANK_H
#define STAMPEDE_PAYMENT_SANDBOX_BANK_H

#include "base/random.h"
#include "payment/sandbox_wire.h"

enum { BANK_PAYMENTS_MAX = 65536, BANK_CALLBACKS_MAX = 16384 };

enum bank_state { BANK_NONE, BANK_OPEN, BANK_CAPTURED, BANK_CLOSED };
enum bank_answer { BANK_DONE, BANK_UNKNOWN, BANK_REFUSED, BANK_FULL, BANK_BROKEN };

struct bank_switches { /* percent, of callbacks unless said otherwise */
    uint32_t lost, doubled, reordered, wrong_amount;
    uint32_t unreached;  /* of requests: not even looked at */
    uint32_t unanswered; /* of requests: done, but answered with an error */
    uint32_t short_paid; /* of payments: a unit less of money is really taken */
    uint32_t delay_ms;   /* longest delay of a callback */
};

struct bank;
/* In the folder, which is made. */
MUST_CHECK enum status bank_open(struct bank **bank, const char *folder);
void bank_close(struct bank *bank);                     /* accepts NULL */
struct bank_switches *bank_switches(struct bank *bank); /* to read and to set */
/* Roll the dice for one request, and for one answer. */
bool bank_is_unreached(struct bank *bank);
bool bank_is_unanswered(struct bank *bank);

/* Each fills *out with the payment as it is then. `asked` for create: reference, amount, currency,
 * title, addresses, expiry; the same reference again is the same payment. */
enum bank_answer bank_create(
    struct bank *bank, const struct sandbox_message *asked, struct sandbox_message *out);
enum bank_answer bank_show(struct bank *bank, const char *reference, struct sandbox_message *out);
enum bank_answer bank_close_payment(
    struct bank *bank, const char *reference, uint64_t now_ms, struct sandbox_message *out);
enum bank_answer bank_refund(struct bank *bank, const char *reference, const char *key,
    uint64_t amount, struct sandbox_message *out);
/* The refund of this key; "": that of all that was left. */
enum bank_answer bank_refund_show(
    struct bank *bank, const char *reference, const char *key, struct sandbox_message *out);
/* The payer, who knows the id. */
enum bank_answer bank_show_id(struct bank *bank, struct span id, struct sandbox_message *out);
enum bank_how {
    BANK_PAY,
    BANK_PAY_LOST,
    BANK_PAY_TWICE,
    BANK_PAY_LATE,
    BANK_PAY_WRONG,
    BANK_DECLINE
};
/* `payer`: the card or account that pays, which the shop is told of; "": it has no name. */
enum bank_answer bank_pay(struct bank *bank, struct span id, enum bank_how how, const char *payer,
    uint64_t now_ms, struct sandbox_message *out);

/* The next callback that is due; false: none now. It is given once, and the caller sends it. */
bool bank_callback(struct bank *bank, uint64_t now_ms, struct sandbox_message *out);
/* Σ over all payments, for tests that count the money from the bank's side. */
void bank_totals(const struct bank *bank, uint64_t *captured, uint64_t *refunded);

#endif
