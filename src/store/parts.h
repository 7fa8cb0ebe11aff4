/* SPDX-License-Identifier: Apache-2.0 */
/* store/parts.h: what the parts of the store share. Nobody else includes it. */
#ifndef STAMPEDE_STORE_PARTS_H
#define STAMPEDE_STORE_PARTS_H

#include "contract/outbox.h"
#include "contract/payment.h"
#include "store/query.h"
#include "store/stock.h"

#include <string.h>

/* Tables that count by their rows. */
enum store_counted { STORE_PRODUCTS, STORE_SALES, STORE_ITEMS, STORE_COUNTED };

/* Where the lists of buyers have come to. */
struct store_listing {
    item_id item;    /* the next one to look at */
    bool under_way;  /* its buyers up to here are listed: */
    uint32_t lot;    /* of the item: those before are listed */
    int64_t user;    /* the next one, in the order of the signed numbers */
    uint64_t orders; /* of the item, when its list began */
};

struct journal_entry;
struct store {
    struct order_store store; /* first: the seam's handle is this one's address */
    struct sql_connection *connection;
    struct stock stock;             /* of the batch that is being applied */
    struct group_stock group;       /* of the group that is open */
    uint64_t floors[STORE_COUNTED]; /* their rows get numbers above these */
    bool recovering;         /* a record makes the sale or item that it names and that is lost */
    bool begun;              /* a transaction of its own is open (store_begin) */
    uint64_t begun_ns;       /* when; also a group's or an administrator's */
    bool in_the_way;         /* another connection was: store_again */
    bool grouping;           /* the next transaction begins a group */
    bool grouped;            /* a group's transaction is open: others are parts of it */
    bool together;           /* an administrator's transaction is open: others are parts of it */
    uint64_t changes;        /* rows that were changed so far */
    uint64_t changes_before; /* and when the administrator's transaction was begun */
    char channel_names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1]; /* for audit rows */
    bool outbox_on;                  /* changes of orders are written down for the shop */
    struct store_gathered *gathered; /* gather.c; NULL: not used yet */
    struct store_look *look;         /* look.c; NULL: not used yet */
    struct store_listing listing;
    struct store_lots *lots; /* lots.h; NULL: this database keeps no orders by lot */
};

static inline struct store *store_of(struct order_store *store)
{
    return (struct store *)store;
}

/* store.c */
/* When the next row after now_ms is due, by such a statement; UINT64_MAX: none. */
MUST_CHECK enum status store_next_due(struct store *, const char *, uint64_t now_ms, uint64_t *next_ms);
/* The item that a statement finds wrong; 0: none. */
MUST_CHECK enum status store_wrong_item(struct order_store *, item_id *wrong, const char *sql);
MUST_CHECK enum status store_begin(struct store *);
MUST_CHECK enum status store_commit(struct store *); /* on failure: the caller rolls back */
void store_rollback(struct store *);                 /* harmless outside a transaction */
/* While a group's or an administrator's transaction is open, these three begin, keep and drop a part of
 * it. */
/* The database has given up what is open (a full disk, a failed write, a lost connection): no part of it
 * may be kept, and nothing is read or written until it has ended. */
bool store_is_lost(const struct store *);
bool store_is_alone(const struct store *); /* no transaction is open: a statement is one by itself */
const char *store_message(const struct store *); /* of the last failure */
/* repeat.c: several connections write at once. What another one was in the way of (a deadlock, a row that
 * changed although it was read) is rolled back and made again, from its beginning, a few times. Within a
 * group or a request of an administrator only its part is, if the database has kept the rest.
 * `repeatable`: also what may have been kept, because a second time it changes nothing and tells the same.
 * It locks what it changed, so it waits for a first time that is still being kept. */
struct store_tries {
    bool repeatable;
    bool unknown; /* an earlier try may have been kept */
    uint32_t made;
};
/* After each try, which has ended. True: once more. Otherwise *status is what is to be told. */
MUST_CHECK bool store_again(struct store *, struct store_tries *, enum status *status);
/* Like `for`: the statement after it is one try. */
#define STORE_TRIES(store, tries, status) \
    for (bool is_first_try = true; is_first_try || store_again(store, tries, status); \
         is_first_try = false)
/* One transaction, made again as above: `work` within it. */
typedef enum status store_work(struct store *, void *context);
MUST_CHECK enum status store_transact(struct store *, bool repeatable, store_work *work, void *context);
/* All rows of a list in one transaction, each by `write`; `with` is for that, too. */
typedef enum status store_row_write(struct store *, const void *rows, uint32_t index, uint64_t with);
MUST_CHECK enum status store_rows_write(
    struct store *, store_row_write *write, const void *rows, uint32_t count, uint64_t with);
/* Another connection has changed what was read: answers STATUS_AWAY, for store_again. */
enum status store_conflict(struct store *);

/* lock.c: what locks what, and in which order. A transaction locks
 *   1. parts            the row of a partition for what its log says: one batch at a time; all for repairs
 *   2. items, by id     their stock and sums, who waits for them, who has bought them
 *   3. orders, by ticket   their state; their payments and refunds; their details
 *   4. a user's counter, as it is written; a repair locks it before
 *   5. audit_head       the chain
 * and then reads. The row of a sale is locked before its partitions are made, and before its number of shards
 * changes: both look then whether there are partitions. A group locks its items at its end, because it does
 * not know them before, but for those that somebody waits for. Single statements lock what they change; they
 * need no other lock. Where two meet in another order, the database ends one of them and store_again repeats
 * it.
 * All do nothing where one connection writes (SQLite). An order or payment that the lock did not find counts
 * as not there, even if it is by now: STATUS_NOT_FOUND, or 0 in a list. */
bool store_locks(const struct store *);
/* Locks the row of a partition, which is made if there is none, and tells where its log stands; tells
 * it also where nothing is locked. STATUS_NOT_FOUND: its sale has fewer shards. */
MUST_CHECK enum status store_part_take(struct store *, uint32_t part, struct position *);
MUST_CHECK enum status store_parts_lock(struct store *); /* of all */
MUST_CHECK enum status store_item_lock(struct store *, item_id);
/* Those of a list, which is sorted; 0 is none. */
MUST_CHECK enum status store_items_lock(struct store *, uint64_t *items, uint32_t count);
/* One whose state stays as it is. */
MUST_CHECK enum status store_order_lock(struct store *, ticket_number);
/* Those that may be moved, with their items; sorts the list, and those that are not there become 0. */
MUST_CHECK enum status store_orders_lock(struct store *, ticket_number *tickets, uint32_t count);
/* The order that the payment is for; `moves`: it may be moved. */
MUST_CHECK enum status store_payment_lock(struct store *, uint64_t id, bool moves);
MUST_CHECK enum status store_reference_lock(struct store *, const char *reference);
MUST_CHECK enum status store_counter_lock(struct store *, uint64_t scope, user_id);
MUST_CHECK enum status store_audit_lock(struct store *);

/* partition.c: inside of a transaction. Makes the partitions of this one's sale, if it has none; of a sale
 * that is not there only this one. */
MUST_CHECK enum status store_parts_make(struct store *, uint32_t part);
/* Locks the row of a sale, before its shards become so many. STATUS_CONFLICT: its partitions were made with
 * another number. STATUS_NOT_FOUND: no such sale. */
MUST_CHECK enum status store_shards_take(struct store *, sale_id, uint32_t shards);

/* group.c */
MUST_CHECK enum status store_group_enter(struct store *); /* before a part, while grouping */
/* Begins a batch that writes items itself: what an open group has come to is written first. */
MUST_CHECK enum status store_batch_begin(struct store *);
void store_group_begin(struct order_store *);
bool store_group_is_open(const struct order_store *);
enum status store_group_end(struct order_store *);

/* Values or columns of all channels. */
#define CHANNELS(units) \
    U64((units)[0]), U64((units)[1]), U64((units)[2]), U64((units)[3]), U64((units)[4]), \
        U64((units)[5]), U64((units)[6]), U64((units)[7])
#define CHANNEL_COLUMNS \
    "channel_0, channel_1, channel_2, channel_3, channel_4, channel_5, channel_6, channel_7"
static_assert(CHANNELS_MAX == 8, "items has a column for each");

/* reads.c, catalog.c: what statements that read whole orders or items begin with. */
#define ORDER_COLUMNS \
    "orders.ticket, user_id, item, quantity, channel, state, reason, unit_price, amount, " \
    "created_ms," \
    " pay_by_ms, orders.version, ending, extended, limited"
extern const struct sql_columns store_order_columns;
#define ITEM_COLUMNS \
    "id, sale, product, flash_price, limit_per_user, pay_window_ms, total, locked, sold, safety," \
    " version, preheated, " CHANNEL_COLUMNS ", deduct_on_payment, channel_return_ms," \
    " (SELECT currency FROM products WHERE products.id = items.product), pooled," \
    " when_sold_out, substitutes, presale_item, presale_cap, deposit_item, balance_ms," \
    " deposit_kept," \
    " period_limit, payer_limit, period_days, period_group"
extern const struct sql_columns store_item_columns;

/* apply.c */
enum status store_identity(struct order_store *, uint64_t *data_id);
enum status store_applied(struct order_store *, uint32_t part, struct position *);
enum status store_identity_set(struct order_store *, uint64_t data_id);
enum status store_secret_check(struct order_store *, uint64_t *value);
enum status store_secret_check_set(struct order_store *, uint64_t value);
enum status store_apply(struct order_store *, const struct queue_record *,
    const uint8_t *dispositions, uint32_t count, struct refusal *);

/* Users that a request loaded, in records side by side: one audit row. */
struct store_users {
    sale_id sale;
    uint32_t loaded; /* or removed */
    bool removed;
    uint64_t time_ms;
    struct command_origin origin;
};

/* What one batch is doing. */
struct store_batch {
    struct store *store;
    struct refusal *refusal;
    uint32_t index;                    /* the record at work; UINT32_MAX: the batch as a whole */
    struct position position;          /* the last record that is in */
    const struct journal_entry *entry; /* kept with the records; NULL: their log is in files */
    bool gathers;                      /* new orders and counters are written together (gather.h) */
    struct store_users users;
    bool line_seen;               /* whether these are known: */
    bool line_named, line_passed; /* somebody may be named, or passed over, in some waitlist */
    char dead_reason[sizeof((struct refusal *)0)->text];
};
/* Fills the refusal and answers STATUS_REFUSED. */
enum status store_refuse(struct store_batch *, enum refusal_kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A failed statement inside a batch: a broken rule becomes a refusal, the rest stays what it is. */
enum status store_batch_failed(struct store_batch *, enum status);
/* A statement that answers no rows, inside a batch. */
MUST_CHECK enum status store_batch_do(struct store_batch *, const char *sql, struct sql_values);
/* The items that the records change; after store_part_take. */
MUST_CHECK enum status store_apply_lock(struct store *, const struct queue_record *, uint32_t count);
/* One record, whatever the position is. */
MUST_CHECK enum status store_apply_record(
    struct store_batch *, const struct queue_record *, uint8_t disposition);

/* dead.c */
MUST_CHECK enum status store_dead_put(struct store_batch *, const struct queue_record *);
enum status store_dead_letters(struct order_store *, uint64_t after, enum dead_state,
    struct dead_letter *, uint32_t max, uint32_t *count);
enum status store_dead_letter_get(
    struct order_store *, uint64_t id, struct dead_letter *, struct queue_record *);
enum status store_dead_letters_open(struct order_store *, uint64_t *count);
enum status store_dead_letter_decide(
    struct order_store *, const struct dead_decision *, struct refusal *);

/* order.c: the life of an order as the log tells it. */
struct store_ticket {
    ticket_number ticket;
    user_id user;
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint64_t unit_price, created_ms, pay_by_ms;
};
MUST_CHECK enum status store_order_write(struct store_batch *, const struct store_ticket *, bool reject);
MUST_CHECK enum status store_order_settle(struct store_batch *, const struct queue_record *, bool reject);

/* A live order is over: state, slot, stock; and the user's counters, unless it is written off. */
MUST_CHECK enum status store_order_end(struct store_batch *, struct stock_row *,
    const struct order *, enum order_state to, enum order_reason, enum settle_step);
MUST_CHECK enum status store_order_paid(struct store_batch *, const struct order *); /* pending */
/* `order`: its ticket, item and quantity. */
MUST_CHECK enum status store_event_put(
    struct store_batch *, const struct order *, enum settle_step, channel_index destination);

/* move.c: the life of an order as the order side decides it. */
enum status store_orders_move(struct order_store *, const struct order_move *, uint32_t count,
    struct order *after, uint8_t *answers);
enum status store_orders_due(struct order_store *, uint64_t now_ms, uint64_t created_from_ms,
    ticket_number *tickets, uint32_t max, uint32_t *count, uint64_t *next_ms);

/* One transaction that moves orders: begin, move, end. The end commits when `status` is STATUS_OK and
 * something was changed; otherwise nothing was. */
struct store_change {
    struct refusal refusal;
    struct store_batch batch;
};
MUST_CHECK enum status store_change_begin(struct store_change *, struct store *);
MUST_CHECK enum status store_change_end(struct store_change *, enum status status, bool changed);
/* Order, stock, counters, event, and the order's other payments; `order` is brought up to date. */
/* What becomes of the move, and all that it changes; the order's rows are locked. */
MUST_CHECK enum status store_move_one(
    struct store_batch *, const struct order_move *, struct order *after, enum move_answer *answer);
MUST_CHECK enum status store_move_make(
    struct store_batch *, const struct order_move *, struct order *, enum order_state to);
MUST_CHECK enum status store_currency(struct store *, item_id, char currency[4]);

/* payment.c: payments until there is news. These two are conditions of indexes: said in the same words they
 * find them. */
#define UNDER_WAY "(state < 4 OR used_for = 2)"
#define UNANSWERED "(state = 5 AND next_ms > 0)"
extern const char store_payment_tables[];
extern const struct payment_store_ops store_payment_ops;
enum status store_payment_get(struct order_store *, uint64_t id, struct payment *);
enum status store_payment_by_reference(struct order_store *, const char *reference, struct payment *);
enum status store_payment_of_paid(struct order_store *, ticket_number, struct payment *);
/* How many of the order's are STARTED, OPEN or CLOSING. */
MUST_CHECK enum status store_payments_live(struct store *, ticket_number, uint32_t *live);
/* Those that are STARTED or OPEN become CLOSING, due at once. */
MUST_CHECK enum status store_payments_close(struct store *, ticket_number, uint64_t now_ms);
/* Fills the id. */
MUST_CHECK enum status store_payment_insert(struct store *, struct payment *);
/* What contract/payment_rules.h may have changed of it. */
MUST_CHECK enum status store_payment_write(struct store *, const struct payment *);

/* learn.c: what comes in, and what becomes of it. */
enum status store_payment_learn(struct order_store *, const struct payment_news *, struct payment *,
    struct order *after, uint8_t *answer);
/* Whether a payment that we know has paid the order. */
MUST_CHECK enum status store_payer_known(struct store *, ticket_number, bool *known);
/* The last payment of an order that waits for that has ended without paying it. */
MUST_CHECK enum status store_order_close_waiting(struct store_batch *, struct order *, uint64_t now_ms);
/* search.c */
enum status store_payment_search(
    struct order_store *, const struct payment_search *, uint32_t count, uint64_t now_ms);
enum status store_payment_search_next(
    struct order_store *, uint64_t id, const char *provider, uint64_t now_ms);
enum status store_payment_search_end(
    struct order_store *, uint64_t id, uint64_t now_ms, struct order *after);
enum status store_payment_relink(struct order_store *, uint64_t id, ticket_number, uint64_t now_ms,
    struct order *after, bool *done);
enum status store_payment_give_back(struct order_store *, uint64_t id, enum refund_why, uint64_t now_ms);

/* refund.c */
extern const char store_refund_tables[];
/* An intent over what the payment has captured. */
MUST_CHECK enum status store_refund_want(
    struct store *, const struct payment *, const char *currency, enum refund_why, uint64_t now_ms);
/* For the payment that has paid this order, if one has. */
MUST_CHECK enum status store_refund_order(struct store *, ticket_number, uint64_t now_ms);
enum status store_refunds_due(struct order_store *, uint64_t now_ms, struct refund *, uint32_t max,
    uint32_t *count, uint64_t *next_ms);
enum status store_refund_again(
    struct order_store *, uint64_t id, uint64_t next_ms, const char *error, bool stuck);
enum status store_refund_done(struct order_store *, uint64_t id, const char *provider_id, uint64_t now_ms);
enum status store_refunds(struct order_store *, uint64_t after, enum refund_state, struct refund *,
    uint32_t max, uint32_t *count);
enum status store_refund_of_payment(struct order_store *handle, uint64_t payment, struct refund *refund);
enum status store_refunds_of_payment(
    struct order_store *, uint64_t payment, struct refund *, uint32_t max, uint32_t *count);
MUST_CHECK enum status store_refund_stated(struct store *, uint64_t id, uint64_t now_ms);
enum status store_given_back(struct order_store *, ticket_number, uint64_t *amount);
enum status store_refund_part(struct order_store *, const struct part_refund *, struct refund *,
    struct order *after, uint64_t *left, uint8_t *answer);
/* statement.c */
enum status store_payment_ask(struct order_store *handle, uint64_t id, uint64_t now_ms);
enum status store_stated(struct order_store *handle, const uint64_t *payments,
    uint32_t payment_count, const uint64_t *refunds, uint32_t refund_count, uint64_t now_ms);
enum status store_unstated(struct order_store *handle, const struct unstated_query *query,
    struct statement_missing *rows, uint32_t max, uint32_t *count);
enum status store_refund_of_order(struct order_store *, ticket_number, struct refund *);

/* details.c */
extern const char store_details_tables[];
enum status store_details_set(struct order_store *, ticket_number, const struct order_details *,
    uint64_t now_ms, struct order *after);
enum status store_details(struct order_store *, ticket_number, struct order_details *);
/* The order's sale wants details and there are none. */
MUST_CHECK enum status store_details_missing(struct store *, const struct order *, bool *missing);
enum status store_money_totals(struct order_store *, struct money_totals *);

/* outbox.c */
extern const char store_outbox_tables[];
extern const struct outbox_store_ops store_outbox_ops;
/* Inside the transaction that has just brought the order to this state; nothing while it is off. */
MUST_CHECK enum status store_outbox_put(
    struct store *, ticket_number, uint64_t version, enum order_state to);

/* Something else of the order has changed, inside the transaction: its version grows, the shop is told. */
MUST_CHECK enum status store_order_news(
    struct store *, struct order *, enum outbox_topic topic, uint64_t subject);

/* fulfilment.c */
extern const char store_fulfilment_tables[];
extern const struct fulfil_store_ops store_fulfil_ops;
/* remedy.c */
extern const char store_remedy_tables[];
extern const struct remedy_store_ops store_remedy_ops;
/* remedy_mails.c */
struct mail_row;
enum status store_mail_put(struct order_store *, const struct mail_row *);
enum status store_mails_due(struct order_store *, uint64_t now_ms, struct mail_row *, uint32_t max,
    uint32_t *count, uint64_t *next_ms);
enum status store_mail_get(struct order_store *, uint64_t id, struct mail_row *);
enum status store_mail_sending(struct order_store *, uint64_t id, uint64_t lost_ms);
enum status store_mail_settle(struct order_store *, const struct mail_row *);
enum status store_mails(
    struct order_store *, uint64_t case_id, struct mail_row *, uint32_t max, uint32_t *count);
enum status store_mails_failed(struct order_store *, uint64_t *count);

/* waitlist.c */
extern const char store_timetable_tables[];
extern const struct timetable_store_ops store_timetable_ops;
extern const char store_booking_tables[];
extern const struct booking_store_ops store_booking_ops;
MUST_CHECK enum status store_booking_deposit(struct store_batch *, uint64_t key, user_id, ticket_number);
/* The key is that of an offer for a booking with a deposit which is over: it must not be made. */
MUST_CHECK enum status store_booking_is_over(struct store *, uint64_t key, bool *over);
/* A new place at the end of the line; within a transaction. */
struct waitlist_place;
MUST_CHECK enum status store_waitlist_put(struct store *, struct waitlist_place *);
MUST_CHECK enum status store_waitlist_leave(struct store *, item_id, user_id, bool *left);
extern const char store_waitlist_tables[];
extern const struct waitlist_store_ops store_waitlist_ops;
/* Names those of the line who are to be served from the return of this ticket; its order is in. */
MUST_CHECK enum status store_waitlist_pick(struct store_batch *, const struct order *);
/* Fills in those who are named for the returns among these. */
MUST_CHECK enum status store_waitlist_named(struct store *, struct stock_event *events, uint32_t count);
/* A ticket was made for the place of this key, if it is one. */
MUST_CHECK enum status store_waitlist_offer(struct store_batch *, uint64_t key, user_id, ticket_number);
/* The return is in the log: served users get their offer, the others stay in the waitlist. */
MUST_CHECK enum status store_waitlist_settled(struct store_batch *, const struct queue_record *);
/* The terms of a sale have changed: users who were skipped are checked again. */
MUST_CHECK enum status store_waitlist_terms(struct store_batch *);

/* look.c: reconciliation. */
extern const struct reconcile_store_ops store_reconcile_ops;
void store_look_close(struct store *); /* accepts a store that was never looked at */
/* stock.c: what the orders of an item come to, kept with every change of one. */
extern const char store_sums_tables[];
#define SUMS_OF_ORDERS \
    "SELECT item, state, reason, count(*), sum(quantity), sum(amount >> 32)," \
    " sum(amount & 4294967295) FROM orders"
/* report.c */
extern const char store_report_tables[];
extern const struct report_store_ops store_report_ops;
/* bans.c */
extern const char store_bans_tables[];
extern const struct ban_store_ops store_bans_ops;
#define STORE_BANS_ABOUT \
    "CREATE INDEX bans_of_user ON bans(user_id, until_ms){lifted_ms, user_id, until_ms}" \
    " WHERE (lifted_ms = 0 AND user_id IS NOT NULL);" \
    "CREATE INDEX bans_of_block ON bans(block, until_ms){lifted_ms, block, until_ms}" \
    " WHERE (lifted_ms = 0 AND block IS NOT NULL);"
/* channels.c */
extern const char store_channel_tables[];
extern const struct channel_store_ops store_channel_ops;
/* customers.c */
extern const char store_customers_tables[];
extern const struct customer_store_ops store_customer_ops;
/* archive.c */
extern const char store_archive_tables[];
#define STORE_ITEMS_ARCHIVED \
    "(SELECT items.id FROM items JOIN archives ON archives.sale = items.sale)"
extern const struct archive_store_ops store_archive_ops;
MUST_CHECK enum status store_archive_skip(struct store_batch *, const struct queue_record *);
MUST_CHECK enum status store_item_left(struct store *, item_id, bool *left); /* for a bundle */
/* buyers.c: who has orders of an item whose sale is over. */
extern const char store_buyers_tables[];
enum status store_buyers_list(struct order_store *, uint64_t over_ms, bool *more);
/* With an order of this user, in its transaction. */
MUST_CHECK enum status store_buyer_put(struct store_batch *, const struct stock_row *, user_id);
/* The sale may be on again. */
MUST_CHECK enum status store_buyers_unlist(struct store_batch *, sale_id, uint64_t now_ms);
enum status store_buyers_check(struct order_store *, item_id *wrong);
/* repair.c */
struct finding;
enum status store_repair(struct order_store *, const struct finding *, uint64_t now_ms);

/* reads.c */
enum status store_stock_events(
    struct order_store *, uint64_t after, struct stock_event *, uint32_t max, uint32_t *count);
enum status store_order_by_ticket(struct order_store *, ticket_number, struct order *);
enum status store_orders_list(struct order_store *, const struct order_filter *, struct order *,
    uint32_t max, uint32_t *count, ticket_number *next);
enum status store_order_totals(struct order_store *, item_id, uint64_t *orders, uint64_t *units);
enum status store_live_units(struct order_store *, item_id, uint64_t *units);

/* corrections.c */
enum status store_product_update(struct order_store *, const struct product *);
enum status store_item_update(struct order_store *, const struct item *, bool stock);
enum status store_item_offer(struct order_store *, item_id, const struct sold_out_offer *);
enum status store_product_stock(struct order_store *, uint32_t id, int64_t stock);
/* pool.c */
enum status store_item_draw(struct order_store *, struct item *);
enum status store_items_pooled(struct order_store *, item_id after, uint64_t from_ms,
    uint64_t to_ms, struct item *, uint32_t max, uint32_t *count);
/* Units that an ADJUST has taken from an item go back to its product's stock, if they came from there. */
MUST_CHECK enum status store_pool_return(struct store_batch *, item_id, int64_t units);
enum status store_item_remove(struct order_store *, item_id);
enum status store_eligible_users(struct order_store *, sale_id, const user_id *after,
    user_id *users, uint32_t max, uint32_t *count);

/* catalog.c */
enum status store_product_insert(struct order_store *, struct product *);
enum status store_product_get(struct order_store *, uint32_t id, struct product *);
enum status store_products(
    struct order_store *, uint32_t after, struct product *, uint32_t max, uint32_t *count);
enum status store_sale_insert(struct order_store *, struct sale *);
/* Within a transaction. */
MUST_CHECK enum status store_sale_and_items(
    struct order_store *, struct sale *, struct item *items, uint32_t count);
enum status store_sale_insert_with_items(
    struct order_store *, struct sale *, struct item *items, uint32_t count);
enum status store_sale_update(struct order_store *, const struct sale *);
enum status store_sale_beacon(struct order_store *, const struct sale *);
enum status store_sale_get(struct order_store *, sale_id, struct sale *);
enum status store_sales(struct order_store *, sale_id after, struct sale *, uint32_t max, uint32_t *count);
enum status store_sales_due(struct order_store *, struct sales_cursor *, uint64_t start_ms,
    struct sale *, uint32_t max, uint32_t *count);
enum status store_sales_tally(struct order_store *, uint64_t now_ms, struct sales_tally *);
enum status store_item_insert(struct order_store *, struct item *);
/* Of the rows that are there; 0: none. */
MUST_CHECK enum status store_last_id(struct store *, enum store_counted, uint64_t *last);
MUST_CHECK enum status store_next_id(struct store *, enum store_counted, uint64_t *id);
enum status store_item_get(struct order_store *, item_id, struct item *);
enum status store_items(
    struct order_store *, sale_id, item_id after, struct item *, uint32_t max, uint32_t *count);

/* admin.c */
extern const char store_admin_tables[];
extern const struct admin_store_ops store_admin_ops;
/* The audit row of a record that names its actor; flush after the last one. */
MUST_CHECK enum status store_audit_record(struct store_batch *, const struct queue_record *);
MUST_CHECK enum status store_audit_users_flush(struct store_batch *);

/* audit.c */
/* Inside the caller's transaction; the id is given here. */
MUST_CHECK enum status store_audit_add(struct store *, const struct audit_entry *);
enum status store_audit_append(struct order_store *, const struct audit_entry *);
enum status store_audit_list(
    struct order_store *, uint64_t after, struct audit_entry *, uint32_t max, uint32_t *count);
enum status store_audit_verify(struct order_store *, uint64_t *entries, uint64_t *first_bad);

#endif
