/* SPDX-License-Identifier: Apache-2.0 */
/* contract/remedy.h: a case: units were sold twice, because a channel reports more than it had. Some orders
 * can't be filled; each gets a remedy, and its customer a notice. What may be done is decided in
 * policy/remedy.h; a store keeps what was done.
 *
 *   OPEN ── each of its orders has a remedy ──► CLOSED
 *
 * A case is known by item, channel and reference: the same report again is the same case. A remedy is applied
 * once for each order of a case; its coupon stands in the same row, so there is one.
 * A mail waits in a table of its own. It is marked as being sent, and that is committed, before anybody sends
 * it; one that is found so after MAIL_LOST_MS may have been sent, and is sent again with a note that says so.
 *
 *   WAITING ──► SENDING ──► SENT
 *      ▲           ├──────► FAILED   the server refuses it, or it was tried too often
 *      └───────────┘
 *
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_REMEDY_H
#define STAMPEDE_CONTRACT_REMEDY_H

#include "contract/payment.h"

enum {
    CASE_ORDERS_MAX = 100, /* of one case */
    CASE_TEXT_MAX = 300,
    CASE_REFERENCE_MAX = 64,
    COUPON_CODE_MAX = 24,
    NOTE_WAY_MAX = 16,
    MAIL_ERROR_MAX = 160,
    MAIL_LOST_MS = 60 * 1000,
};

enum case_state { CASE_ANY, CASE_OPEN, CASE_CLOSED, CASE_STATES };
/* In the order of proposing. Numbers in the database never change their meaning. */
#define REMEDY_LIST(X) \
    X(NONE, "none")             /* nothing is decided yet */ \
    X(REFUND, "refund-coupon")  /* all money back, or closed if it is unpaid */ \
    X(WAIT, "wait-coupon")      /* until there is stock, or units of another pool are moved */ \
    X(SUBSTITUTE, "substitute") /* another product */ \
    X(SHIP_AT_LOSS, "ship-at-a-loss") /* bought elsewhere */ \
    X(DISMISS, "dismiss")             /* this order needs none */
enum remedy {
#define REMEDY_ENUM(name, text) REMEDY_##name,
    REMEDY_LIST(REMEDY_ENUM)
#undef REMEDY_ENUM
        REMEDIES
};

struct remedy_case {
    uint64_t id;
    item_id item;
    uint32_t missing; /* units */
    uint8_t state;    /* enum case_state */
    uint64_t created_ms, closed_ms;
    char channel[CHANNEL_NAME_MAX + 1];
    char reference[CASE_REFERENCE_MAX + 1]; /* the channel's name of its report */
    char reason[CASE_TEXT_MAX + 1];
    char assignee[NAME_BYTES_MAX + 1];
    char opened_by[NAME_BYTES_MAX + 1];
    char outcome[CASE_TEXT_MAX + 1]; /* when it was closed */
    /* Counted when it is read. */
    uint32_t orders, undecided;
};
struct remedy_order {
    uint64_t case_id;
    ticket_number ticket;
    uint8_t remedy; /* enum remedy */
    uint64_t added_ms, done_ms;
    uint64_t refund;       /* money that the remedy gives back */
    uint64_t coupon_value; /* 0: no coupon */
    uint64_t coupon_until_ms;
    uint64_t loss; /* what else it costs the shop */
    char currency[4];
    char coupon[COUPON_CODE_MAX + 1];
    char done_by[NAME_BYTES_MAX + 1];
    char note[CASE_TEXT_MAX + 1];
};
#define REMEDY_ACTOR_SERVER "server"
/* An entry of the contact log. */
struct remedy_note {
    uint64_t id, case_id;
    ticket_number ticket; /* 0: of the whole case */
    uint64_t time_ms;
    char actor[NAME_BYTES_MAX + 1];
    char way[NOTE_WAY_MAX + 1]; /* "call", "mail", "step", … */
    char text[CASE_TEXT_MAX + 1];
};
struct remedy_cost {
    char currency[4];
    uint64_t orders, refunds, coupons, losses;
};

enum mail_state { MAIL_NONE, MAIL_WAITING, MAIL_SENT, MAIL_FAILED, MAIL_SENDING, MAIL_STATES };
struct mail_row {
    uint64_t id, case_id;
    ticket_number ticket;
    uint8_t state; /* enum mail_state */
    uint32_t tries;
    uint64_t created_ms, next_ms, sent_ms;
    char address[DETAIL_EMAIL_MAX + 1];
    char error[MAIL_ERROR_MAX + 1];
};

struct remedy_store_ops {
    /* Fills the id, and all of it if it was there: *fresh false. */
    enum status (*open)(struct order_store *, struct remedy_case *, bool *fresh);
    enum status (*get)(struct order_store *, uint64_t id, struct remedy_case *);
    /* Rows with id > after, ascending. */
    enum status (*list)(struct order_store *, enum case_state, uint64_t after, struct remedy_case *,
        uint32_t max, uint32_t *count);
    /* STATUS_CONFLICT: it is closed. */
    enum status (*assign)(struct order_store *, uint64_t id, const char *assignee);
    /* STATUS_CONFLICT: an order has no remedy yet. A case that is closed stays so. */
    enum status (*close)(struct order_store *, uint64_t id, const char *outcome, uint64_t now_ms);
    /* Those that are in it stay. STATUS_FULL: CASE_ORDERS_MAX; nothing was added. */
    enum status (*orders_add)(struct order_store *, uint64_t id, const ticket_number *,
        uint32_t count, uint64_t now_ms, uint32_t *added);
    enum status (*orders)(
        struct order_store *, uint64_t id, struct remedy_order *, uint32_t max, uint32_t *count);
    enum status (*order)(struct order_store *, uint64_t id, ticket_number, struct remedy_order *);
    /* Orders of an item that have no goods yet and are in no open case, newest first: unpaid or paid. */
    enum status (*affected)(struct order_store *, item_id, struct order *, uint32_t max, uint32_t *count);
    /* Once: all of the row but case_id, ticket and added_ms; the order's version grows, and the shop is told.
     * STATUS_CONFLICT: it has a remedy. */
    enum status (*apply)(struct order_store *, const struct remedy_order *, struct order *order);
    /* The newest remedy of an order. */
    enum status (*of_ticket)(struct order_store *, ticket_number, struct remedy_order *);
    enum status (*note_add)(struct order_store *, const struct remedy_note *);
    enum status (*notes)(struct order_store *, uint64_t id, uint64_t after, struct remedy_note *,
        uint32_t max, uint32_t *count);
    /* By currency; id 0: of all cases. */
    enum status (*costs)(
        struct order_store *, uint64_t id, struct remedy_cost *, uint32_t max, uint32_t *count);

    enum status (*mail_put)(struct order_store *, const struct mail_row *); /* waiting, due at created_ms */
    /* Waiting or sending, next_ms <= now_ms; *next_ms: as outbox. */
    enum status (*mails_due)(struct order_store *, uint64_t now_ms, struct mail_row *, uint32_t max,
        uint32_t *count, uint64_t *next_ms);
    enum status (*mail_get)(struct order_store *, uint64_t id, struct mail_row *);
    /* Committed before it is sent; tries + 1. */
    enum status (*mail_sending)(struct order_store *, uint64_t id, uint64_t lost_ms);
    enum status (*mail_settle)(struct order_store *, const struct mail_row *); /* state, next, sent, error */
    enum status (*mails)(
        struct order_store *, uint64_t case_id, struct mail_row *, uint32_t max, uint32_t *count);
    /* Given up, and no person has written a note about the order since. */
    enum status (*mails_failed)(struct order_store *, uint64_t *count);
};

static inline const char *remedy_name(enum remedy remedy)
{
    static const char *const names[] = {
#define REMEDY_NAME(name, text) text,
        REMEDY_LIST(REMEDY_NAME)
#undef REMEDY_NAME
    };
    return names[remedy < REMEDIES ? remedy : REMEDY_NONE];
}

#endif
