/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/db.h: the database of the simulated cluster: partitions with their epochs, the
 * log of each, leases, orders and stock events; and what must be true of them, whatever Redis and workers do.
 * It is asked through contract/order_store.h, one connection for each who asks. A transaction is done in one
 * go. It may be away, the answer of a commit may be lost, and a commit whose answer is lost may come late. */
#ifndef STAMPEDE_TESTS_CLUSTER_DB_H
#define STAMPEDE_TESTS_CLUSTER_DB_H

#include "contract/cluster_store.h"
#include "contract/command.h"
#include "tests/simulation/cluster/process.h"

enum {
    DB_SALES_MAX = 2,
    DB_SHARDS_MAX = 4,
    DB_PARTS = DB_SALES_MAX * DB_SHARDS_MAX,
    DB_ORDERS_MAX = 1024,
    DB_ITEMS_MAX = 8,
    DB_EVENTS_MAX = 2048,
    DB_KEYS_MAX = 1024
};

struct db_order {
    ticket_number ticket;
    user_id user;
    uint64_t key;
    item_id item;
    uint32_t quantity;
    enum order_state state;  /* what became of it here */
    enum ticket_state units; /* and in the log */
};
struct db_entry {
    struct journal_entry entry;
    uint64_t last_seq;
};
struct db_part {
    struct part_state state;
    struct lease lease;
    struct db_entry *entries;
    uint32_t entry_count, entry_room;
    uint32_t tickets; /* wins so far */
    uint32_t sale_limit;
    struct command_transfer gifts[DB_SHARDS_MAX]; /* the last one to each shard */
    uint32_t taken[DB_SHARDS_MAX];                /* the number of the last one from each shard */
};
struct db_item {
    sale_id sale;
    uint32_t limit;
    int64_t given; /* to all shards of the sale */
    bool open;     /* it was preheated */
};
struct db_event {
    ticket_number ticket;
    enum settle_step step;
    channel_index to;
    bool let_go, confirmed;
};

struct db {
    uint32_t shards[DB_SALES_MAX + 1]; /* of each sale, as an operator has set it; 0: no such sale */
    struct db_part parts[DB_PARTS];
    uint32_t part_count;
    struct db_item items[DB_ITEMS_MAX];
    struct db_order orders[DB_ORDERS_MAX];
    uint32_t order_count;
    struct db_event events[DB_EVENTS_MAX];
    uint32_t event_count;
    struct {
        uint64_t key;
        uint32_t part;
    } operators[DB_KEYS_MAX]; /* commands that were done */
    uint32_t operator_count;
    uint64_t away_until_ms;
    bool faults;
    struct random *random;
    struct late *late;
    uint64_t commits, fenced;
    /* Each order that is new. */
    void (*kept)(const struct db_order *order);
};
extern struct db db;

struct db_connection {
    struct order_store store; /* first: a store is this */
    struct process *process;
};

void db_start(struct random *random);
void db_stop(void);
void db_connect(struct db_connection *connection, struct process *process);
void db_turn(void); /* what comes late */

struct db_part *db_part(uint32_t part); /* NULL: there is none */
const struct db_order *db_order(ticket_number ticket);
bool db_operator_done(uint64_t key);
/* Units of live orders, of one user or (0) of all. */
uint64_t db_units(item_id item, user_id user);
/* An order moves on, with its stock event. False: it can't. */
bool db_order_move(uint32_t index, enum order_event event, bool to_safety);
uint32_t db_events_open(void);
uint32_t db_transfers_open(void); /* given, and not taken */

#endif
