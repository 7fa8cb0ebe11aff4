/* SPDX-License-Identifier: Apache-2.0 */
/* contract/order_store.h: the third seam: the database of record. Everything that one batch of
 * queue records changes goes into one transaction together with the position: orders, stock with
 * version, user counters, stock events, dead letters. Prepared statements only.
 * Threads: a store belongs to one thread at a time, whatever is called; `interrupt` is for any. Each reader
 * (reader_open) and each further writer (writer_open) is a store of its own for a thread of its own. They all
 * run at once: any operation may run on any of them, but a reader changes nothing, and
 *   - apply: one of them at a time, each batch after the one before (the order writer's)
 *   - groups, and what an administrator's request does together: on one of them, the worker's
 *   - reconciliation, restore, buyers_list, outbox: the worker's
 * What two connections change at once waits for the other one or is repeated by the store.
 * Errors: STATUS_REFUSED: the database refused a row, nothing was written (`refusal` tells which
 * and why); STATUS_AWAY: it can't be reached, is full or busy, nothing was written, try again
 * later; STATUS_UNKNOWN: the same, but the commit failed in the middle, so it may be there after a
 * crash; STATUS_CORRUPT: stop. */
#ifndef STAMPEDE_CONTRACT_ORDER_STORE_H
#define STAMPEDE_CONTRACT_ORDER_STORE_H

#include "base/status.h"
#include "contract/ticket_queue.h"

#include <stddef.h>

enum order_state {
    ORDER_NONE,
    ORDER_PENDING,
    ORDER_PAID,
    ORDER_CLOSED,
    ORDER_REFUNDED,
    ORDER_STATES
};
enum order_reason { REASON_NONE, REASON_EXPIRED, REASON_CANCELLED, REASON_REJECTED, ORDER_REASONS };

struct order {
    ticket_number ticket;
    user_id user;
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint8_t state;  /* enum order_state */
    uint8_t reason; /* enum order_reason */
    uint64_t unit_price, amount;
    uint64_t created_ms, pay_by_ms;
    uint64_t version; /* grows with every change */
    uint8_t ending;   /* enum order_reason: it is closed with that as soon as its payments are */
    bool extended;    /* its time to pay was made longer, which happens once */
    uint8_t limited;  /* enum limit_kind: the limit that it was closed for */
};

/* Limits over a period (contract/limit_uses.h). Numbers in the database. */
enum limit_kind { LIMIT_NONE, LIMIT_PERIOD, LIMIT_PAYER, LIMIT_KINDS };
struct item_limits {
    uint32_t period_limit; /* units of a user in the period, over all sales; 0: none */
    uint32_t payer_limit; /* units of a payment identity in the period, where it is known; 0: none */
    uint32_t period_days;  /* 0: neither */
    uint32_t period_group; /* items with this number count together; 0: those of the product do */
};

/* Which orders; a member that is 0 asks for nothing. */
struct order_filter {
    user_id user;
    item_id item;
    sale_id sale;
    uint8_t state;           /* enum order_state */
    uint64_t from_ms, to_ms; /* created at from_ms or later, before to_ms */
    ticket_number before;    /* those that a list has after this order */
    bool by_ticket;          /* highest number first; not for those of one user */
};
enum { ORDERS_LOOK_MAX = 20000 };

/* What happens to an order; contract/order_state.c has the table of legal moves. */
enum order_event {
    ORDER_EVENT_PAY,
    ORDER_EVENT_EXPIRE,
    ORDER_EVENT_CANCEL,
    ORDER_EVENT_REJECT, /* the database refused the order itself; never asked for as a move */
    ORDER_EVENT_REFUND,
    ORDER_EVENTS,
};
enum refund_to { REFUND_TO_STOCK, REFUND_TO_SAFETY, REFUND_TO_WRITE_OFF };
struct order_move {
    ticket_number ticket;
    uint64_t now_ms;
    uint8_t event;       /* enum order_event */
    uint8_t refund_to;   /* enum refund_to; a refund */
    bool unless_shipped; /* a refund that the buyer asks for */
    /* a payment */
    char currency[4];
    uint64_t amount;
    char reference[REFERENCE_BYTES_MAX + 1];
};
enum move_answer {
    MOVE_DONE,
    MOVE_REPEATED,       /* it was so already, by the same move: nothing changed */
    MOVE_REFUSED,        /* not from the state that the order is in: somebody else was first */
    MOVE_UNKNOWN,        /* there is no such order (yet) */
    MOVE_EARLY,          /* it may still be paid */
    MOVE_AMOUNT,         /* amount or currency are not the order's */
    MOVE_REFERENCE_USED, /* this payment has paid another order */
    MOVE_PAYMENT_OPEN,   /* expire, cancel: a payment is under way; close that first */
    MOVE_NO_PAYMENT,     /* refund: no payment of the order is known, so no money can go back */
    MOVE_SHIPPED,        /* refund, unless_shipped: it is on its way, or was delivered */
    MOVE_ANSWERS,
};

/* What to do with a record of a batch; the order writer decides, the store does it. */
enum disposition {
    DISPOSE_APPLY,
    DISPOSE_REJECT, /* a ticket: the order is written closed, with a stock event that returns its units */
    DISPOSE_DEAD, /* a dead letter, for a person to decide; nothing else is changed by it */
};
enum refusal_kind {
    REFUSAL_NONE,
    REFUSAL_UNIQUE,  /* item + user + slot is taken by another ticket */
    REFUSAL_LIMIT,   /* user counter would pass its limit */
    REFUSAL_STOCK,   /* not enough stock in the database, or its version moved */
    REFUSAL_UNKNOWN, /* the record names what the database does not have, or it broke another rule */
};
struct refusal {
    uint32_t index; /* in the batch; UINT32_MAX: the database did not say */
    enum refusal_kind kind;
    char text[160];
};

enum { STOCK_NONE = -1 };
struct product {
    uint32_t id;
    char name[NAME_BYTES_MAX + 1];
    char description[DESCRIPTION_BYTES_MAX + 1];
    char images[IMAGES_BYTES_MAX + 1]; /* JSON array of strings */
    char currency[4];
    uint64_t list_price;
    int64_t stock; /* units that items take when they are preheated; STOCK_NONE: each item has its own */
    char texts[PRODUCT_TEXTS_BYTES_MAX + 1]; /* in further languages: a JSON object; "": none */
};
/* The public beacon of a waiting room's draw. Once it is decided it never changes: the draw follows
 * from it, and is worked out again after a restart. */
enum beacon_state {
    BEACON_OPEN,   /* nothing decided: no value yet, and no draw that could do without */
    BEACON_GIVEN,  /* the draw uses the value */
    BEACON_MISSED, /* the value did not come in time: the draw goes without it */
    BEACON_STATES,
};
struct sale {
    sale_id id;
    char title[NAME_BYTES_MAX + 1];
    uint64_t start_ms, end_ms;
    uint32_t limit_per_user;
    bool eligible_only;
    bool one_open_order; /* a user with an unpaid order of this sale can't buy another one yet */
    uint32_t cooldown_s, return_draw_ms, start_draw_ms; /* as in command_sale */
    bool details_required;                              /* address before payment */
    uint8_t human_check; /* enum human_check, before a pass is given */
    bool waiting_room;   /* a pass is given in turn */
    bool pass_once;      /* a pass is good for one request */
    uint32_t drop_percent; /* of all users are told "too popular" for the whole sale, by a keyed hash */
    uint32_t pace_per_s; /* purchases of each item that reach the inventory in a second; 0: all */
    uint32_t shards;     /* partitions that decide it, 1 to SHARDS_MAX; 0 in a new one: 1 */
    bool published;      /* visible to the public */
    bool archived;       /* over and put away: in no list any more */
    uint8_t gate;        /* enum gate, as last seen in the log */
    uint64_t preheat_at_ms; /* 0: by hand or on publish only */
    lsn_t terms_lsn; /* the log position that the terms are of: an older record does not write them */
    char beacon_name[BEACON_NAME_BYTES_MAX + 1]; /* a public source of chance; "": none is named */
    char room_message[ROOM_MESSAGE_BYTES_MAX + 1]; /* the operator's, for those who wait; "": none */
    char texts[SALE_TEXTS_BYTES_MAX + 1];          /* as a product's */
    /* Of the rest sale_beacon is the only writer. */
    char beacon_value[BEACON_VALUE_BYTES_MAX + 1]; /* "": not given */
    uint8_t beacon_state;                          /* enum beacon_state */
    uint64_t beacon_until_ms; /* until when the draw waits; 0: it does not wait yet */
    uint32_t timetable;       /* that made it (contract/timetable.h); 0: a person did */
    uint64_t day_ms;          /* the beginning of the day that it was made for */
};
/* What an item offers when it is sold out. Numbers in the database. */
enum when_sold_out {
    SOLD_OUT_END,
    SOLD_OUT_WAITLIST,
    SOLD_OUT_SUBSTITUTES,
    SOLD_OUT_PRESALE,
    SOLD_OUT_OFFERS
};
/* Whether the deposit of a booking that came to nothing stays with the shop. Numbers in the database.
 * What the shop ends itself, and what it could not deliver, always goes back. */
enum deposit_kept {
    DEPOSIT_KEPT_NEVER,  /* it always goes back */
    DEPOSIT_KEPT_UNPAID, /* if units were offered and the user did not pay, or cancelled the order */
    DEPOSIT_KEPT_GIVEN_UP, /* then, and if the user gives the booking up before */
    DEPOSIT_KEPT_TERMS
};
struct sold_out_offer {
    uint8_t kind;                                /* enum when_sold_out */
    char substitutes[SUBSTITUTES_BYTES_MAX + 1]; /* numbers of items: "12,13" */
    item_id presale_item;                        /* takes the bookings; 0: the item itself */
    /* Of an item that takes bookings: */
    uint32_t presale_cap; /* at most so many; 0: any number */
    item_id deposit_item; /* its purchase is the deposit; 0: none */
    uint32_t balance_ms;  /* time to pay an order that a booking becomes; 0: waitlist.window_ms */
    uint8_t deposit_kept; /* enum deposit_kept: of bookings from now on */
};
struct item {
    item_id id;
    sale_id sale;
    uint32_t product;
    uint64_t flash_price;
    uint32_t limit_per_user;
    uint32_t pay_window_ms;
    uint32_t total, locked, sold, safety; /* sellable = total − locked − sold */
    uint32_t channel_units[CHANNELS_MAX];
    uint64_t version;       /* of the stock */
    bool preheated;         /* as last seen in the log */
    bool deduct_on_payment; /* a unit is taken when payment starts, not when the order is placed */
    char currency[4];       /* the product's; only read */
    /* So long after the start of the sale the units that other channels have not sold go back to web;
     * 0: they stay. */
    uint64_t channel_return_ms;
    lsn_t terms_lsn; /* the log position that price, limit and time to pay are of; only written */
    struct sold_out_offer offer; /* written by item_offer only */
    struct item_limits limits;   /* written by item_limits only */
    bool pooled; /* its units were taken from the product's stock, and go back to it; only read */
};
struct stock_event {
    uint64_t id;
    struct command_settle settle;
};
/* A record that the database refused for good. A person decides what becomes of it. */
#define DEAD_STATE_LIST(X) \
    X(ANY, "any") \
    X(OPEN, "open") \
    X(RETRIED, "retried")     /* applied after all */ \
    X(RETURNED, "returned")   /* the order is closed as rejected, its units go back */ \
    X(DISMISSED, "dismissed") /* nothing is to be done; a ticket's units stay held */
enum dead_state {
#define DEAD_STATE_ENUM(name, text) DEAD_##name,
    DEAD_STATE_LIST(DEAD_STATE_ENUM)
#undef DEAD_STATE_ENUM
        DEAD_STATES
};
enum { DEAD_NOTE_MAX = 200 };
struct dead_letter {
    uint64_t id;
    struct position at;
    ticket_number ticket;
    uint64_t time_ms;
    uint8_t type;  /* enum command_type */
    uint8_t state; /* enum dead_state */
    uint64_t resolved_ms;
    char reason[160];
    char resolver[NAME_BYTES_MAX + 1];
    char note[DEAD_NOTE_MAX + 1];
};
struct dead_decision {
    uint64_t id;
    uint8_t to; /* enum dead_state: RETRIED, RETURNED, DISMISSED */
    uint64_t now_ms;
    char resolver[NAME_BYTES_MAX + 1];
    char note[DEAD_NOTE_MAX + 1];
};
struct audit_entry {
    uint64_t id;
    uint64_t time_ms;
    char actor[NAME_BYTES_MAX + 1];
    char action[64];
    char detail[512];
};

struct payment_store_ops;   /* contract/payment.h */
struct outbox_store_ops;    /* contract/outbox.h */
struct waitlist_store_ops;  /* contract/waitlist.h */
struct timetable_store_ops; /* contract/timetable.h */
struct booking_store_ops;   /* contract/booking.h */
struct reconcile_store_ops; /* contract/reconcile.h */
struct report_store_ops;    /* contract/report.h */
struct fulfil_store_ops;    /* contract/fulfilment.h */
struct remedy_store_ops;    /* contract/remedy.h */
struct sales_cursor {
    uint64_t end_ms;
    sale_id id;
};
/* All whose end comes after over_ms. */
static inline struct sales_cursor sales_cursor_after(uint64_t over_ms)
{
    return (struct sales_cursor){ over_ms, UINT32_MAX };
}
struct sales_tally {
    uint64_t ids;  /* the highest that was given */
    uint64_t live; /* sales that are not over */
    bool open;     /* one of them, or more, is open */
};

struct ban_store_ops;      /* contract/bans.h */
struct customer_store_ops; /* contract/customers.h */
struct restore_store_ops;  /* contract/restore.h */
struct archive_store_ops;  /* contract/archive.h */
struct admin_store_ops;    /* contract/admin_store.h */
struct channel_store_ops;  /* contract/channels.h */
struct limit_store_ops;    /* contract/limit_uses.h */

struct order_store {
    const struct order_store_ops *ops;
};
struct order_store_ops {
    const struct payment_store_ops *payment;
    const struct outbox_store_ops *outbox;
    const struct waitlist_store_ops *waitlist;
    const struct timetable_store_ops *timetables; /* NULL: this store keeps no timetables */
    const struct booking_store_ops *bookings;     /* NULL: this store has no presale */
    const struct reconcile_store_ops *reconcile;  /* NULL: this store can't be reconciled */
    const struct report_store_ops *report;        /* NULL: this store makes no reports */
    const struct fulfil_store_ops *fulfil;        /* NULL: this store ships nothing */
    const struct remedy_store_ops *remedy;        /* NULL: this store keeps no cases */
    const struct ban_store_ops *bans;             /* NULL: this store keeps no bans */
    const struct customer_store_ops *customers;   /* NULL: this store keeps no customers */
    const struct restore_store_ops *restore;      /* NULL: an older copy can't be put back */
    const struct archive_store_ops *archive;      /* NULL: nothing leaves this store */
    const struct admin_store_ops *admin;          /* NULL: this store knows no administrators */
    const struct channel_store_ops *channels;     /* NULL: this store knows no channels' figures */
    const struct cluster_store_ops *cluster;      /* NULL: this store is of one process */
    const struct limit_store_ops *limits;         /* NULL: this store has no limits over a period */
    void (*close)(struct order_store *);
    /* Another connection to the same database, for one thread of its own, that only reads: what is
     * committed, each call at one moment. It never makes this one wait. It is closed first. NULL: this store
     * has none. */
    enum status (*reader_open)(struct order_store *, struct order_store **reader);
    /* Of a reader, before its first call: a statement that takes longer than about this ends with
     * STATUS_AWAY. Else it may take as long as a report. */
    void (*patience)(struct order_store *reader, uint32_t ms);
    /* Another connection to the same database that may write at the same time, set up as this one is now.
     * It is closed first. *writer NULL: this database has one connection that writes. */
    enum status (*writer_open)(struct order_store *, struct order_store **writer);
    /* Of a reader: its calls up to moment_end see one moment, that of the first of them. A call that failed
     * is the last one: moment_end, and begin again. */
    enum status (*moment_begin)(struct order_store *reader);
    void (*moment_end)(struct order_store *reader);
    /* Any thread: a call that runs on this connection ends soon, with STATUS_AWAY or STATUS_UNKNOWN. */
    void (*interrupt)(struct order_store *);
    /* 0 for a new database. data_id ties journal and database together. */
    enum status (*identity)(struct order_store *, uint64_t *data_id);
    enum status (*identity_set)(struct order_store *, uint64_t data_id); /* only once, on a new database */
    /* A hash of the master secret, to notice that it is another one; 0: none is kept yet. */
    enum status (*secret_check)(struct order_store *, uint64_t *value);
    enum status (*secret_check_set)(struct order_store *, uint64_t value);
    /* How far the log of this partition is in: the last record of it; seq 0: nothing of it is. */
    enum status (*applied)(struct order_store *, uint32_t part, struct position *position);

    /* Groups: changes that share one commit. From group_begin to group_end every change belongs to one
     * transaction, which begins with the first of them; what is otherwise a transaction is a part of
     * it, and a part that fails takes back only itself. Reads see what the group has changed so far, but
     * for an item's units sold and what reports count: these follow with its end.
     * Nothing that was changed or read since group_is_open may be told before group_end has answered
     * STATUS_OK: any other answer means that nothing of the group was kept (STATUS_UNKNOWN: it may be
     * there after a crash). A group without changes ends with STATUS_OK. */
    void (*group_begin)(struct order_store *);
    bool (*group_is_open)(const struct order_store *); /* its transaction has begun */
    enum status (*group_end)(struct order_store *);    /* also without a group */

    /* Looks at every page, slowly. STATUS_CORRUPT: damaged, and `what` says how. */
    enum status (*whole_check)(struct order_store *, char *what, size_t what_bytes);
    /* Compares what is kept of the orders for order_totals and reports with the orders, slowly. *wrong: an
     * item where they differ; 0: there is none. */
    enum status (*sums_check)(struct order_store *, item_id *wrong);
    /* The same of the lists of buyers: an item with an order that the list of its user does not lead to. */
    enum status (*buyers_check)(struct order_store *, item_id *wrong);

    /* One transaction, at most ORDER_BATCH_MAX records, all of one partition. Records at or below its stored
     * position are skipped; each of the others has the seq after the one before it, the first of them that
     * after the stored position. Anything else is STATUS_CORRUPT, and nothing is written: a record that is
     * missing is never passed over. A record of an administrator (command.origin) gets its audit row here,
     * whatever its disposition. refusal->text on entry is the reason that DISPOSE_DEAD records are kept
     * with; on return it also tells why the store is away, or which record is missing. */
    enum status (*apply)(struct order_store *, const struct queue_record *records,
        const uint8_t *dispositions, uint32_t count, struct refusal *refusal);
    /* Stock events that the inventory has not confirmed yet (a SETTLE record of the ticket and
     * step confirms), with ids above `after`, which ascend. */
    enum status (*stock_events)(struct order_store *, uint64_t after, struct stock_event *events,
        uint32_t max, uint32_t *count);

    /* One transaction, at most ORDER_MOVES_MAX moves, one after the other. A move that is done
     * changes state, stock, counters and slot, keeps the payment, and writes the stock event of
     * its step; any other answer has changed nothing. after[i]: the order as it is then (not for
     * MOVE_UNKNOWN). A SETTLE record that comes later only confirms. */
    enum status (*orders_move)(struct order_store *, const struct order_move *moves, uint32_t count,
        struct order *after, uint8_t *answers);
    /* Pending orders whose time to pay is over at now_ms, those first that were due first; only
     * such as were created at created_from_ms or later. *next_ms: when the next one after them is
     * due; UINT64_MAX: none. */
    enum status (*orders_due)(struct order_store *, uint64_t now_ms, uint64_t created_from_ms,
        ticket_number *tickets, uint32_t max, uint32_t *count, uint64_t *next_ms);

    enum status (*order_by_ticket)(struct order_store *, ticket_number, struct order *);
    /* Newest first: by time, then by ticket. One call looks at ORDERS_LOOK_MAX orders at most, so a page
     * may be short though there is more: *next is the `before` of the page after this one; 0: there is
     * none. STATUS_NOT_FOUND: `before` is no order (by_ticket it need not be one). */
    enum status (*orders_list)(struct order_store *, const struct order_filter *, struct order *,
        uint32_t max, uint32_t *count, ticket_number *next);
    /* Orders of one user are found by lists of buyers; while a sale is on, by looking at each of its
     * items instead. One transaction writes a small part of the lists of items whose sale was over at
     * over_ms. *more: there is more to look at; else the next call begins with the first item again.
     * NULL: this store needs no such lists. */
    enum status (*buyers_list)(struct order_store *, uint64_t over_ms, bool *more);
    /* Rows with id > after, ascending. */
    enum status (*dead_letters)(struct order_store *, uint64_t after, enum dead_state state,
        struct dead_letter *, uint32_t max, uint32_t *count);
    enum status (*dead_letter_get)(
        struct order_store *, uint64_t id, struct dead_letter *, struct queue_record *);
    enum status (*dead_letters_open)(struct order_store *, uint64_t *count);
    /* One transaction: what the record says (RETRIED), or a rejected order (RETURNED), and the
     * decision. STATUS_REFUSED: the database refuses it again; the letter stays open, with the new
     * reason. STATUS_CONFLICT: it is decided already, or what can't be returned is no ticket. */
    enum status (*dead_letter_decide)(
        struct order_store *, const struct dead_decision *, struct refusal *);
    /* Of orders that were not rejected. */
    enum status (*order_totals)(struct order_store *, item_id, uint64_t *orders, uint64_t *units);
    /* Σ quantity of pending and paid orders: the item's sold − what was sold before, and at rest
     * the engine's held + sold. */
    enum status (*live_units)(struct order_store *, item_id, uint64_t *units);

    /* Catalog. insert fills the id. Lists answer rows with id > after, ascending. */
    enum status (*product_insert)(struct order_store *, struct product *);
    enum status (*product_get)(struct order_store *, uint32_t id, struct product *);
    enum status (*product_update)(struct order_store *, const struct product *); /* everything */
    /* The product's stock becomes this; STOCK_NONE: it has none. */
    enum status (*product_stock)(struct order_store *, uint32_t id, int64_t stock);
    enum status (*products)(
        struct order_store *, uint32_t after, struct product *, uint32_t max, uint32_t *count);
    enum status (*sale_insert)(struct order_store *, struct sale *);
    /* One transaction: a sale and its items; fills the ids. Anything but STATUS_OK: nothing is
     * inserted. */
    enum status (*sale_insert_with_items)(
        struct order_store *, struct sale *, struct item *items, uint32_t count);
    /* Title, schedule, limits, published, archived, shards, the name of the beacon. STATUS_CONFLICT: the
     * partitions of the sale were made with another number of shards, and nothing has changed. */
    enum status (*sale_update)(struct order_store *, const struct sale *);
    /* From BEACON_OPEN only; the beacon fields of the sale but its name. STATUS_CONFLICT: decided
     * already, or no beacon is named; nothing has changed. */
    enum status (*sale_beacon)(struct order_store *, const struct sale *);
    enum status (*sale_get)(struct order_store *, sale_id, struct sale *);
    enum status (*sales)(
        struct order_store *, sale_id after, struct sale *, uint32_t max, uint32_t *count);
    /* Of sales that were not ended, and whose end comes after the cursor's: those that start by
     * `start_ms`, were opened by hand, or want to be preheated by then. In the order of their end;
     * the cursor moves on. Past sales cost nothing. */
    enum status (*sales_due)(struct order_store *, struct sales_cursor *, uint64_t start_ms,
        struct sale *, uint32_t max, uint32_t *count);
    enum status (*sales_tally)(struct order_store *, uint64_t now_ms, struct sales_tally *);
    enum status (*item_insert)(struct order_store *, struct item *);
    /* Price, limit, time to pay, when a unit is deducted, when channels give back; `stock`: total, locked,
     * safety and channels, too, of an item that is not preheated. */
    enum status (*item_update)(struct order_store *, const struct item *, bool stock);
    /* What it offers when it is sold out. */
    enum status (*item_offer)(struct order_store *, item_id, const struct sold_out_offer *);
    /* STATUS_CONFLICT: it has orders, and these are other limits. */
    enum status (*item_limits)(struct order_store *, item_id, const struct item_limits *);
    /* One transaction: an item that is not preheated takes its units from the product's stock, if that has
     * one, and once. The item as it is then. */
    enum status (*item_draw)(struct order_store *, struct item *);
    /* Items > after whose units came from a product's stock, and whose sale ended between these times,
     * ascending. */
    enum status (*items_pooled)(struct order_store *, item_id after, uint64_t from_ms,
        uint64_t to_ms, struct item *, uint32_t max, uint32_t *count);
    /* STATUS_CONFLICT: it is preheated, or orders name it. */
    enum status (*item_remove)(struct order_store *, item_id);
    /* Eligible users of a sale, in an order that stays the same; those after `after` (NULL: all).
     * */
    enum status (*eligible_users)(struct order_store *, sale_id, const user_id *after,
        user_id *users, uint32_t max, uint32_t *count);
    /* One row, so that total, locked and sold agree. */
    enum status (*item_get)(struct order_store *, item_id, struct item *);
    enum status (*items)(struct order_store *, sale_id sale /* 0: all */, item_id after,
        struct item *, uint32_t max, uint32_t *count);

    /* The audit chain: each entry carries the SHA-256 over itself and the one before. */
    enum status (*audit_append)(struct order_store *, const struct audit_entry *);
    enum status (*audit_list)(
        struct order_store *, uint64_t after, struct audit_entry *, uint32_t max, uint32_t *count);
    /* first_bad 0: none. */
    enum status (*audit_verify)(struct order_store *, uint64_t *entries, uint64_t *first_bad);
};

#endif
