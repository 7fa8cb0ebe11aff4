/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/model_store_parts.h: what the parts of the model store share. */
#ifndef STAMPEDE_TESTS_MODEL_STORE_PARTS_H
#define STAMPEDE_TESTS_MODEL_STORE_PARTS_H

#include "contract/booking.h"
#include "contract/payment.h"
#include "tests/simulation/model_map.h"
#include "tests/simulation/model_store.h"

#include <stddef.h>

struct model_sale {
    struct sale sale;
    uint32_t logged_limit;
    uint8_t gate_before;
};
struct model_item {
    struct item item;
    uint32_t sold_before, written_off;
    uint64_t batch; /* that changed the stock last: one version per batch */
};
struct model_event {
    struct stock_event event;
    bool confirmed;
};
struct model_place {
    struct waitlist_place place; /* state: waiting, offered or left */
    ticket_number named;
    bool passed;
};
struct model_details {
    ticket_number ticket;
    struct order_details details;
};
struct model_letter {
    struct dead_letter letter;
    struct queue_record record;
};
enum { MODEL_PARTS = 4 };
struct model_totals {
    uint32_t products, sales, items, orders, events, payments, refunds, details, dead, audit,
        places, bookings;
    uint32_t events_open;       /* the first one that may be open */
    uint64_t seqs[MODEL_PARTS]; /* how far the log of each is in */
};
struct undo {
    void *where;
    uint32_t bytes;
};

struct model_store {
    struct order_store store;
    uint64_t data_id;
    struct model_totals at;
    struct product *products;
    struct model_sale *sales;
    struct model_item *items;
    struct order *orders;
    struct model_event *events;
    struct payment *payments; /* by id − 1 */
    struct refund *refunds;   /* by id − 1 */
    struct model_details *details;
    struct model_letter *dead;
    struct audit_entry *audit;
    struct model_place *places;
    struct booking *bookings; /* by id − 1; states of deposit and place are not kept */
    struct model_totals room;
    struct model_map tickets, slots, counters, eligible;
    struct model_store *group; /* everything as it was before the group; NULL: there is none */
    struct undo *undo;         /* of the last batch */
    uint8_t *undo_data;
    size_t undo_count, undo_room, undo_bytes, undo_data_room;
    uint64_t batch;
    enum model_fault fault;
    uint32_t fault_times;
    /* of the batch at work */
    struct refusal *refusal;
    uint32_t index;
    char dead_reason[sizeof((struct refusal *)0)->text];
};

static inline struct model_store *model_of(struct order_store *store)
{
    return (struct model_store *)store;
}

/* Room for `more` in one of the arrays. */
void *model_grown(void *array, uint32_t *room, uint32_t needed, size_t bytes_each);
#define MODEL_ROOM(model, name, more) \
    ((model)->name = model_grown( \
         (model)->name, &(model)->room.name, (model)->at.name + (more), sizeof *(model)->name))

/* model_store_apply.c */
enum status model_store_apply(struct order_store *, const struct queue_record *,
    const uint8_t *dispositions, uint32_t count, struct refusal *);
void model_store_undo(struct model_store *);        /* puts back what the last batch changed */
void model_store_undo_forget(struct model_store *); /* before anything moves in memory */
void model_store_note(struct model_store *, void *where, size_t bytes); /* before it changes */
void model_store_event(
    struct model_store *, const struct order *, enum settle_step, channel_index destination);
/* A live order is over. */
void model_store_end(
    struct model_store *, struct order *, enum order_state to, enum order_reason, enum settle_step);

struct order *model_store_order(const struct model_store *, ticket_number); /* NULL: there is none */

/* model_store_group.c */
void model_group_begin(struct order_store *);
bool model_group_is_open(const struct order_store *);
enum status model_group_end(struct order_store *);
void model_store_group_drop(struct model_store *, bool keep); /* accepts that there is none */
void model_store_arrays_free(struct model_store *);

/* model_store_statement.c */
enum status model_payment_ask(struct order_store *, uint64_t id, uint64_t now_ms);
enum status model_stated(struct order_store *, const uint64_t *payments, uint32_t payment_count,
    const uint64_t *refunds, uint32_t refund_count, uint64_t now_ms);
enum status model_unstated(struct order_store *, const struct unstated_query *,
    struct statement_missing *, uint32_t max, uint32_t *count);
enum status model_refund_of_payment(struct order_store *, uint64_t payment, struct refund *);

/* model_store_payment.c */
extern const struct payment_store_ops model_payment_ops;
struct payment *model_payment_find(const struct model_store *, const char *reference);
uint32_t model_payments_live(const struct model_store *, ticket_number);
/* Pending → paid, with its event, and its other payments are to be closed. */
void model_order_pay(struct model_store *, struct order *, uint64_t now_ms);

/* model_store_refund.c */
void model_refund_want(struct model_store *, const struct payment *, const char *currency,
    enum refund_why, uint64_t now_ms);
bool model_payer_known(const struct model_store *, ticket_number);
/* Of the payment that has paid this order, if one has. Room for one refund must be there. */
void model_refund_order(struct model_store *, ticket_number, uint64_t now_ms);
enum status model_refunds_due(struct order_store *, uint64_t now_ms, struct refund *, uint32_t max,
    uint32_t *count, uint64_t *next_ms);
enum status model_refund_again(
    struct order_store *, uint64_t id, uint64_t next_ms, const char *error, bool stuck);
enum status model_refund_done(struct order_store *, uint64_t id, const char *provider_id, uint64_t now_ms);
enum status model_refunds(struct order_store *, uint64_t after, enum refund_state, struct refund *,
    uint32_t max, uint32_t *count);
enum status model_refund_of_order(struct order_store *, ticket_number, struct refund *);
enum status model_details_set(struct order_store *, ticket_number, const struct order_details *,
    uint64_t now_ms, struct order *after);
enum status model_details(struct order_store *, ticket_number, struct order_details *);
bool model_details_missing(const struct model_store *, const struct order *);
enum status model_money_totals(struct order_store *, struct money_totals *);
/* One record, whatever the position is; a refusal is undone by the caller. */
enum status model_store_record(struct model_store *, const struct queue_record *, uint8_t disposition);
void model_store_room(struct model_store *, const struct queue_record *, uint32_t count);

/* model_store_dead.c */
enum status model_dead_letters(struct order_store *, uint64_t after, enum dead_state,
    struct dead_letter *, uint32_t max, uint32_t *count);
enum status model_dead_letter_get(
    struct order_store *, uint64_t id, struct dead_letter *, struct queue_record *);
enum status model_dead_letters_open(struct order_store *, uint64_t *count);
enum status model_dead_letter_decide(
    struct order_store *, const struct dead_decision *, struct refusal *);

/* model_store_waitlist.c */
extern const struct waitlist_store_ops model_waitlist_ops;
void model_waitlist_pick(struct model_store *, struct stock_event *, const struct order *);
void model_waitlist_offer(struct model_store *, uint64_t key, user_id, ticket_number);
void model_waitlist_settled(struct model_store *, const struct queue_record *);
void model_waitlist_terms(struct model_store *);

bool model_waitlist_waits(const struct model_store *, item_id, user_id, uint64_t *place);
void model_waitlist_put(struct model_store *, struct waitlist_place *);
uint8_t model_place_state(struct order_store *, uint64_t place, ticket_number *ticket);

/* model_store_policy.c */
extern const struct booking_store_ops model_booking_ops;
bool model_booking_is_over(const struct model_store *, uint64_t key); /* of an offer */
/* The booking that this order is the deposit of. *joins: it may go on with another order. */
struct booking *model_booking_late(struct order_store *, ticket_number first, bool *joins);
void model_booking_deposit(struct model_store *, uint64_t key, user_id, ticket_number);
void model_pool_return(struct model_store *, const struct item *, int64_t units);
enum status model_product_stock(struct order_store *, uint32_t id, int64_t stock);
enum status model_item_offer(struct order_store *, item_id, const struct sold_out_offer *);
enum status model_item_draw(struct order_store *, struct item *);
enum status model_items_pooled(struct order_store *, item_id after, uint64_t from_ms,
    uint64_t to_ms, struct item *, uint32_t max, uint32_t *count);

/* model_store_move.c */
enum status model_orders_move(struct order_store *, const struct order_move *, uint32_t count,
    struct order *after, uint8_t *answers);
enum status model_orders_due(struct order_store *, uint64_t now_ms, uint64_t created_from_ms,
    ticket_number *tickets, uint32_t max, uint32_t *count, uint64_t *next_ms);

#endif
