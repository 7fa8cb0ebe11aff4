/* SPDX-License-Identifier: Apache-2.0 */
/* contract/payment.h: money of an order, as the order store keeps it.
 *
 * A payment is one attempt to pay one order through one provider. It is stored before the provider
 * hears of it, under a reference of ours that the provider carries through everything. What the
 * provider tells (callback, query, answer) is news; all news go through one door, `learn`, so that
 * duplicates, reordering and replays are harmless:
 *
 *   STARTED ──► OPEN ──► CAPTURED            the money is there; what became of it is its `use`
 *      └──────────┴────► CLOSING ──► CLOSED  no money came; CAPTURED is still possible, and then late
 *
 * A payment that was closed without its provider's word is *unanswered*: CLOSED with a next_ms. It
 * stays due until the provider tells what became of it.
 *
 * Money that came is used once: it pays its order (USE_ORDER); or, when that is over, a new order
 * of the same user and item (USE_LATE until the unit is there, then USE_RELINKED); or it goes back
 * (USE_REFUND). A refund is an intent with its own key, stored before the provider is asked, at
 * most one for a payment, and asked for until the provider confirms it. Before it, parts of the money may
 * have been given back (part_refund): the refund is over what is left.
 * An order that the log calls paid or refunded, and that no payment has paid, takes the first right
 * one as its own: after a restore.
 * At rest: Σ captured − Σ refunded = Σ of paid orders, amount less the parts that were given back.
 *
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_PAYMENT_H
#define STAMPEDE_CONTRACT_PAYMENT_H

#include "contract/order_store.h"
#include "contract/restore.h"
#include "contract/statement.h"

enum {
    PROVIDER_NAME_MAX = 16,
    PROVIDER_ID_MAX = 128, /* the provider's own name for a payment or refund */
    PAY_URL_MAX = 2048,    /* where the user pays */
    PAYMENT_ERROR_MAX = 160,
    PAYMENTS_PER_ORDER = 8, /* attempts; more are refused */
    REFUND_PARTS_MAX = 32,  /* of one payment; providers allow 50 */
    PART_KEY_MAX = 64,      /* the asker's own name for a part */
    PART_REASON_MAX = 200,
};
static const char PROVIDER_SHOP[] = "shop"; /* money that the shop itself has reported */

enum payment_state {
    PAYMENT_NONE,
    PAYMENT_STARTED,  /* the provider may know it or not */
    PAYMENT_OPEN,     /* the provider has it */
    PAYMENT_CLOSING,  /* its order is to be closed: the provider is asked to close it first */
    PAYMENT_CAPTURED, /* the money is there */
    PAYMENT_CLOSED,   /* no money came */
    PAYMENT_STATES,
};
enum payment_use {
    USE_NONE,
    USE_ORDER,    /* paid the order that it was for */
    USE_LATE,     /* came too late, waits for a unit */
    USE_RELINKED, /* paid another order, paid_ticket */
    USE_REFUND,   /* goes back */
    PAYMENT_USES,
};

struct payment {
    uint64_t id;
    ticket_number ticket;      /* the order that it is for */
    ticket_number paid_ticket; /* the order that it has paid; 0: none */
    char provider[PROVIDER_NAME_MAX + 1];
    char reference[REFERENCE_BYTES_MAX + 1]; /* ours: unique, told to the provider */
    char provider_id[PROVIDER_ID_MAX + 1];
    char url[PAY_URL_MAX + 1];
    uint64_t amount; /* asked for; minor units */
    char currency[4];
    uint64_t captured; /* what really came */
    uint8_t state, use;
    uint32_t tries; /* of the present step */
    uint64_t created_ms, captured_ms;
    uint64_t next_ms;    /* the next query, close or attempt; CLOSED: 0, unless unanswered */
    uint64_t pay_by_ms;  /* of its order, when this was started */
    uint64_t closing_ms; /* since when CLOSING; 0: never */
    uint64_t stated_ms;  /* since when a statement of the provider has it; 0: none */
    bool late_before; /* was USE_LATE before schema 6: its unit is asked for under the key of then */
    bool searched;    /* nobody knows whether there is such a payment: see `search` */
    uint64_t payer;   /* a keyed hash of who paid, as the provider knows them; 0: not known */
};

/* A payment that is asked about by itself no more has this next_ms; it is unanswered all the same. */
static const uint64_t PAYMENT_ASK_NEVER_MS = INT64_MAX;
static inline bool payment_is_unanswered(const struct payment *payment)
{
    return payment->state == PAYMENT_CLOSED && payment->next_ms != 0;
}

enum refund_state { REFUND_NONE, REFUND_WANTED, REFUND_DONE, REFUND_STUCK, REFUND_STATES };
/* REFUND_STUCK: the provider refuses for good, a person must look; it is still tried, slowly. */
enum refund_why {
    REFUND_OF_ORDER,
    REFUND_OF_LATE,
    REFUND_OF_DOUBLE,
    REFUND_OF_AMOUNT,
    REFUND_OF_PART,  /* some of a paid order's money; the order stays paid */
    REFUND_OF_PAYER, /* this payment identity has bought as much as it may */
    REFUND_WHYS
};
/* Parts have numbers of their own: at this seam they begin here. */
static const uint64_t REFUND_PART_IDS = (uint64_t)1 << 50;
struct refund {
    uint64_t id;
    uint64_t payment;
    ticket_number ticket; /* the payment's */
    char provider[PROVIDER_NAME_MAX + 1];
    char key[REFERENCE_BYTES_MAX + 1]; /* ours: unique, told to the provider */
    char provider_id[PROVIDER_ID_MAX + 1];
    uint64_t amount;
    char currency[4];
    uint8_t state, why;
    uint32_t tries;
    uint64_t created_ms, done_ms, next_ms;
    uint64_t stated_ms; /* as a payment's */
    char error[PAYMENT_ERROR_MAX + 1];
    char note[PART_REASON_MAX + 1]; /* why a part went back, in an operator's words */
};

/* Some of the money of a paid order goes back. The same key is the same part, for ever. */
struct part_refund {
    ticket_number ticket;
    uint64_t amount;
    uint64_t now_ms;
    char currency[4]; /* "": the order's */
    char key[PART_KEY_MAX + 1];
    char reason[PART_REASON_MAX + 1];
};
enum part_answer {
    PART_DONE,
    PART_REPEATED,   /* this key has given this amount back: that one */
    PART_UNKNOWN,    /* no such order */
    PART_NOT_PAID,   /* see its state */
    PART_NO_PAYMENT, /* no payment of the order is known */
    PART_CURRENCY,   /* not the order's */
    PART_TOO_MUCH,   /* all that is left, or more: that is a refund of the order */
    PART_TOO_MANY,   /* REFUND_PARTS_MAX */
    PART_KEY_USED,   /* for another amount */
    PART_ANSWERS,
};

/* Address and note, as the user gave them. */
enum {
    DETAIL_NAME_MAX = 100,
    DETAIL_PHONE_MAX = 40,
    DETAIL_ADDRESS_MAX = 500,
    DETAIL_NOTE_MAX = 500,
    DETAIL_EMAIL_MAX = 200,
};
struct order_details {
    char name[DETAIL_NAME_MAX + 1];
    char phone[DETAIL_PHONE_MAX + 1];
    char address[DETAIL_ADDRESS_MAX + 1];
    char note[DETAIL_NOTE_MAX + 1];
    char email[DETAIL_EMAIL_MAX + 1]; /* "": not given */
};

struct payment_start {
    ticket_number ticket;
    uint64_t now_ms;
    uint64_t extend_ms; /* the order may be paid until now + this at least; given once per order */
    char provider[PROVIDER_NAME_MAX + 1];
    char reference[REFERENCE_BYTES_MAX + 1];
};
enum start_answer {
    START_DONE,
    START_REPEATED, /* a live payment through this provider is there: that one */
    START_UNKNOWN,  /* no such order */
    START_REFUSED,  /* the order is not pending any more; see its state */
    START_TOO_LATE, /* its time to pay is over, or it is being cancelled */
    START_DETAILS,  /* its sale wants details first */
    START_TOO_MANY, /* PAYMENTS_PER_ORDER */
    START_ANSWERS,
};

/* After a restore: an attempt to pay that may have been made. */
struct payment_search {
    ticket_number ticket;
    char provider[PROVIDER_NAME_MAX + 1];
    char reference[REFERENCE_BYTES_MAX + 1];
};

enum news_kind { NEWS_CAPTURED, NEWS_CLOSED };
struct payment_news {
    char provider[PROVIDER_NAME_MAX + 1];
    char reference[REFERENCE_BYTES_MAX + 1];
    char provider_id[PROVIDER_ID_MAX + 1]; /* "": not told */
    uint8_t kind;                          /* enum news_kind */
    uint64_t amount;                       /* NEWS_CAPTURED */
    char currency[4];
    bool asked; /* we asked the provider ourselves: what it says is true. A callback with a wrong
                 * amount changes nothing; the same as an answer is money that must go back. */
    /* NEWS_CLOSED: not 0: the provider did not say so. The payment is closed so that its order can go
     * on, is unanswered, and is asked about at this time. 0: the provider's word. */
    uint64_t ask_ms;
    /* NEWS_CAPTURED of a searched payment: the provider has given it back before, by our own key. It
     * pays nothing, and a refund with that key brings the books up. */
    bool refunded;
    uint64_t payer; /* NEWS_CAPTURED: as payment.payer */
    uint64_t now_ms;
};
enum learn_answer {
    LEARN_PAID,   /* the order is paid by this now; or it was, and nobody knew by what */
    LEARN_LATE,   /* captured, the order is over: it waits for a unit */
    LEARN_REFUND, /* captured, and a refund intent is stored: double, another amount, or too much for
                     * one payer */
    LEARN_CLOSED,   /* closed; *after tells whether its order was closed with it. An unanswered one:
                     * the answer to our question is that no money came */
    LEARN_REPEATED, /* known already */
    LEARN_UNKNOWN,  /* this provider has no payment with that reference */
    LEARN_AMOUNT, /* a callback with another amount or currency: the payment is due for a query, and
                     * unanswered if it was closed */
    LEARN_ASK,    /* a callback that does not say who paid, where that matters: due for a query */
    LEARN_ANSWERS,
};

struct money_totals {
    uint64_t captured; /* Σ captured of payments */
    uint64_t refunded; /* Σ amount of refunds that are done */
    uint64_t wanted;   /* Σ amount of refunds that are not */
    uint64_t late;     /* Σ captured of payments that wait for a unit */
    uint64_t paid;     /* Σ amount of paid orders that a payment has paid, less their parts */
};

/* A sum for JSON, whose readers have 63 bits: more than that is shown as the most. */
static inline uint64_t money_shown(uint64_t sum)
{
    return sum > INT64_MAX ? INT64_MAX : sum;
}

struct unstated_query {
    const char *provider;
    bool refunds;
    uint64_t from_ms, to_ms, after;
};

/* A part of the order store's operations. Each is one transaction. */
struct payment_store_ops {
    /* STATUS_REFUSED: the reference is taken. */
    enum status (*start)(struct order_store *, const struct payment_start *, struct payment *,
        struct order *after, uint8_t *answer);
    /* STARTED → OPEN, with where to pay; any other state stays, and that is no error: only a name
     * and an address that were missing are kept (a refund needs the name). */
    enum status (*opened)(struct order_store *, uint64_t id, const char *provider_id,
        const char *url, uint64_t next_ms);
    /* The one door for news. `after`: the payment's order as it is then (not for LEARN_UNKNOWN);
     * LEARN_CLOSED of the last live payment of an order that is being cancelled closes it in the
     * same transaction. */
    enum status (*learn)(struct order_store *, const struct payment_news *, struct payment *,
        struct order *after, uint8_t *answer);
    /* Live payments of the order become CLOSING, due at once; *live: how many. `reason` other than
     * REASON_NONE: the order is closed with it when the last of them is (0 live: nothing is done,
     * the caller moves the order). An order keeps the first reason that it was given. */
    enum status (*closing)(struct order_store *, ticket_number, enum order_reason reason,
        uint64_t now_ms, uint32_t *live);
    /* Payments that are STARTED, OPEN, CLOSING, late or unanswered, with next_ms <= now_ms or
     * (STARTED, OPEN) pay_by_ms <= now_ms, the longest due first. *next_ms: when the next after them
     * is due. */
    enum status (*due)(struct order_store *, uint64_t now_ms, struct payment *, uint32_t max,
        uint32_t *count, uint64_t *next_ms);
    /* tries + 1; only for those that `due` lists. */
    enum status (*again)(struct order_store *, uint64_t id, uint64_t next_ms);
    /* Late money got a unit: the order of `ticket` (pending) is paid by it. False in *done: that
     * order is not pending, or of another user, item or amount; a refund intent is stored instead.
     * STATUS_NOT_FOUND: not written yet. */
    enum status (*relink)(struct order_store *, uint64_t id, ticket_number ticket, uint64_t now_ms,
        struct order *after, bool *done);
    /* Late money gets no unit: a refund intent, once. */
    enum status (*give_back)(struct order_store *, uint64_t id, enum refund_why, uint64_t now_ms);
    enum status (*get)(struct order_store *, uint64_t id, struct payment *);
    enum status (*by_reference)(struct order_store *, const char *reference, struct payment *);
    /* The payment that has paid this order. */
    enum status (*of_paid)(struct order_store *, ticket_number, struct payment *);
    /* Newest first. */
    enum status (*of_order)(
        struct order_store *, ticket_number, struct payment *, uint32_t max, uint32_t *count);

    enum status (*refunds_due)(struct order_store *, uint64_t now_ms, struct refund *, uint32_t max,
        uint32_t *count, uint64_t *next_ms);
    enum status (*refund_again)(struct order_store *, uint64_t id, uint64_t next_ms,
        const char *error, bool stuck); /* tries + 1 */
    enum status (*refund_done)(
        struct order_store *, uint64_t id, const char *provider_id, uint64_t now_ms);
    /* Rows with id > after, ascending; state 0: any. */
    enum status (*refunds)(struct order_store *, uint64_t after, enum refund_state state,
        struct refund *, uint32_t max, uint32_t *count);
    enum status (*refund_of_payment)(struct order_store *, uint64_t payment, struct refund *);
    /* Its refund and its parts, in the order that they were asked for; at most 1 + REFUND_PARTS_MAX. */
    enum status (*refunds_of_payment)(
        struct order_store *, uint64_t payment, struct refund *, uint32_t max, uint32_t *count);
    /* Some of the money of a paid order goes back: an intent, and the order's version grows. `after`: the
     * order then (not for PART_UNKNOWN); `refund`: PART_DONE, PART_REPEATED; *left: what is left of the
     * money before that (not for PART_UNKNOWN, PART_NO_PAYMENT). */
    enum status (*refund_part)(struct order_store *, const struct part_refund *, struct refund *,
        struct order *after, uint64_t *left, uint8_t *answer);
    /* Σ of the parts that were given back of the order's money, or are to be. */
    enum status (*given_back)(struct order_store *, ticket_number, uint64_t *amount);
    /* That of the payment which paid the order, else the newest one of its payments. */
    enum status (*refund_of_order)(struct order_store *, ticket_number, struct refund *);

    /* Before the first payment is started, or until the order is paid. STATUS_CONFLICT: it is not
     * pending. */
    enum status (*details_set)(struct order_store *, ticket_number, const struct order_details *,
        uint64_t now_ms, struct order *after);
    enum status (*details)(struct order_store *, ticket_number, struct order_details *);

    /* Payments that may have been made, and are not known: each becomes CLOSING and `searched`, due
     * at once; one whose reference is there already stays as it is. At most RESTORE_SEARCH_MAX. */
    enum status (*search)(
        struct order_store *, const struct payment_search *, uint32_t count, uint64_t now_ms);
    /* This provider does not know it: the next one is asked. */
    enum status (*search_next)(struct order_store *, uint64_t id, const char *provider, uint64_t now_ms);
    /* No provider knows it: it is taken out again, unless there was news of it. `after`: its order,
     * which may have waited for this to be closed. */
    enum status (*search_end)(struct order_store *, uint64_t id, uint64_t now_ms, struct order *after);

    enum status (*totals)(struct order_store *, struct money_totals *);

    /* The provider's statement (statement.h). The payment is due for a question at once; one that
     * is closed is unanswered then. CAPTURED: nothing is done. */
    enum status (*ask)(struct order_store *, uint64_t id, uint64_t now_ms);
    /* These payments and refunds are in a statement, since now_ms or before. */
    enum status (*stated)(struct order_store *, const uint64_t *payments, uint32_t payment_count,
        const uint64_t *refunds, uint32_t refund_count, uint64_t now_ms);
    /* Payments of the provider that were captured from from_ms to to_ms, or its refunds that were
     * done then, which no statement has; ids above `after`, ascending. */
    enum status (*unstated)(struct order_store *, const struct unstated_query *,
        struct statement_missing *, uint32_t max, uint32_t *count);
};

#endif
