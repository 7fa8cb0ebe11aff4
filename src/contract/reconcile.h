/* SPDX-License-Identifier: Apache-2.0 */
/* contract/reconcile.h: what reconciliation asks of the order store: rows to compare, of one moment
 * where sums are compared, and repairs, each one transaction. orders/reconcile.h has the rules.
 * LOOK_NOW reads what is committed; LOOK_MOMENT reads the database as it was at `moment_begin`,
 * while the writer goes on, until `moment_end`. Every list is read in slices.
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_RECONCILE_H
#define STAMPEDE_CONTRACT_RECONCILE_H

#include "contract/order_store.h"

enum look_at { LOOK_NOW, LOOK_MOMENT, LOOKS };
static const uint64_t COUNTER_OF_SALE = (uint64_t)1 << 32; /* scope of a sale: this + its id */

struct look_order {
    struct order order;
    uint64_t slot; /* of a live order */
    bool has_slot;
    uint32_t limit_per_user; /* of its item */
    uint8_t open, confirmed; /* stock events: a bit for each enum settle_step */
    uint8_t payments_paid;   /* payments that say that they paid it */
    bool refund_there;       /* of that payment */
};
/* The orders of one user and item. */
struct look_user {
    item_id item;
    user_id user;
    uint64_t live;    /* units of pending and paid orders */
    uint64_t counted; /* the same, and written off ones: what limits count */
    uint64_t on_way;  /* units that an open event brings back: the inventory may still count them */
    uint64_t dead;    /* units of dead letters: the inventory counts them, no order does */
    uint64_t channel_live[CHANNELS_MAX];
    bool item_counter, sale_counter; /* rows are there */
    uint64_t state_orders[ORDER_STATES];
    /* Of uses (contract/limit_uses.h): when the newest live order without one was made, 0: none; and how many
     * closed orders have one. */
    uint64_t unused_ms, stale_uses;
};
struct look_item {
    struct item item;
    uint32_t sold_before, written_off, sale_limit;
    uint32_t dead_units; /* tickets that are open or dismissed dead letters */
    uint32_t dead_other; /* open letters of other kinds */
    /* As the kept sums say. */
    uint64_t live; /* units of pending and paid orders */
    uint64_t state_orders[ORDER_STATES];
};
/* An order that was paid, returned or written off, and the event that says so. */
struct look_moved {
    struct look_order row;
    uint64_t event;
};
struct look_counter {
    uint64_t scope;
    user_id user;
    uint64_t used, counted;
};

enum finding_code {
    FINDING_NONE,
    FINDING_TICKET_WITHOUT_ORDER,
    FINDING_ORDER_WITHOUT_TICKET,
    FINDING_STATE_DIFFERS,
    FINDING_EVENT_MISSING,
    FINDING_EVENT_EARLY,
    FINDING_EVENT_STALE,
    FINDING_TICKET_DIFFERS,
    FINDING_PRICE,
    FINDING_SLOT,
    FINDING_SOLD,
    FINDING_COUNTER,
    FINDING_MARK,
    FINDING_COUNTS,
    FINDING_UNITS,
    FINDING_SALE,
    FINDING_PAID_WITHOUT_PAYMENT,
    FINDING_PAYMENT_WITHOUT_ORDER,
    FINDING_MONEY_UNUSED,
    FINDING_REFUND_MISSING,
    FINDING_PAYMENT_LIVE,
    FINDING_MONEY_TOTAL,
    FINDING_REFUND_STUCK,
    FINDING_UNANSWERED,
    FINDING_REFUNDED_WITHOUT_PAYMENT,
    FINDING_SUMS,
    FINDING_REDIS,
    FINDING_LIMIT_USE,
    FINDINGS,
};
enum { FINDING_TEXT_MAX = 200 };
struct finding {
    uint8_t code; /* enum finding_code */
    uint8_t step; /* EVENT_…: enum settle_step */
    bool repaired;
    item_id item;
    sale_id sale;
    ticket_number ticket;
    user_id user;
    uint64_t scope;   /* COUNTER */
    uint64_t payment; /* money */
    /* UNITS, SALE: what the inventory has */
    struct item_counts counts;
    uint64_t start_ms, end_ms;
    uint8_t gate;
    char text[FINDING_TEXT_MAX + 1];
};
/* A payment or refund that is not as it should be. */
struct look_money {
    uint8_t code; /* enum finding_code */
    uint64_t payment;
    ticket_number ticket;
    uint64_t amount;
};

struct reconcile_store_ops {
    enum status (*moment_begin)(struct order_store *);
    void (*moment_end)(struct order_store *); /* harmless without a begin */
    /* Tickets above `after`, ascending. */
    enum status (*orders)(struct order_store *, ticket_number after, struct look_order *,
        uint32_t max, uint32_t *count);
    enum status (*order)(struct order_store *, ticket_number, struct look_order *);
    /* Orders with stock events above `after`, by event, ascending. */
    enum status (*moved)(
        struct order_store *, uint64_t after, struct look_moved *, uint32_t max, uint32_t *count);
    /* All events up to this one are confirmed. */
    enum status (*moved_last)(struct order_store *, uint64_t *event);
    /* An open or dismissed dead letter has this ticket. */
    enum status (*dead)(struct order_store *, ticket_number, bool *there);
    /* LOOK_MOMENT: users of one item, after `after` (signed order); first: from the beginning. Fewer than
     * `max`: these are the last. */
    enum status (*users)(struct order_store *, item_id, bool first, user_id after,
        struct look_user *, uint32_t max, uint32_t *count);
    enum status (*user)(struct order_store *, item_id, user_id, struct look_user *); /* LOOK_NOW */
    enum status (*items)(struct order_store *, enum look_at, item_id after, struct look_item *,
        uint32_t max, uint32_t *count);
    /* LOOK_MOMENT, as `users`. */
    enum status (*counters)(struct order_store *, bool first, const struct look_counter *after,
        struct look_counter *, uint32_t max, uint32_t *count);
    /* LOOK_NOW: the user's counters that this item counts for; at most two. */
    enum status (*counters_of)(
        struct order_store *, item_id, user_id, struct look_counter *, uint32_t *count);
    /* LOOK_MOMENT: what is wrong among payments with ids above `after` up to `to`. */
    enum status (*money)(struct order_store *, uint64_t after, uint64_t to, struct look_money *,
        uint32_t max, uint32_t *count);
    /* LOOK_MOMENT: what waits for a provider or a person (FINDING_REFUND_STUCK, FINDING_UNANSWERED) among
     * those with ids up to `to`. */
    enum status (*money_waits)(
        struct order_store *, uint64_t to, struct look_money *, uint32_t max, uint32_t *count);
    /* LOOK_MOMENT: the last id; and the last one up to which all payments are captured or closed. */
    enum status (*money_last)(struct order_store *, uint64_t *last, uint64_t *over);
    /* LOOK_MOMENT: adds to two sums that must agree in the end. */
    enum status (*money_sums)(
        struct order_store *, uint64_t after, uint64_t to, uint64_t *captured, uint64_t *accounted);
    /* One transaction. STATUS_BAD_INPUT: nothing of this kind can be repaired; STATUS_CONFLICT: it
     * is no longer so. */
    enum status (*repair)(struct order_store *, const struct finding *, uint64_t now_ms);
};

#endif
