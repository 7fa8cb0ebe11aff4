/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/replica.h: one partition as this process follows it: an engine that has applied the records
 * which the database keeps, and nothing else. From it come what the process shows of the partition's items
 * and rooms, whose ticket it is, and what became of a proposal.
 *
 * Numbers of tickets: the engine counts the wins of the partition; outside, a number has partition and epoch,
 * too (contract/ticket_number.h). Functions here take and give the outside's.
 * Thread: the host's (remote.h), but replica_arrival_find and replica_arrivals: any. A replica lives as long
 * as the inventory. Memory: its engine's, at open.
 * Errors: STATUS_CORRUPT, STATUS_CONFLICT: an entry does not fit; the replica stands still from then on. */
#ifndef STAMPEDE_INVENTORY_REDIS_REPLICA_H
#define STAMPEDE_INVENTORY_REDIS_REPLICA_H

#include "contract/cluster_store.h"
#include "contract/inventory.h"

struct engine;
struct engine_config;
struct replica;
struct replica_config {
    uint32_t part;
    uint64_t data_id;
    const struct engine_config *engine; /* read by replica_open */
    struct board *board;                /* where its room and buyers are shown */
    /* An order was made, or a step of it was taken; user 0: not known here. NULL: nobody wants to know. */
    void (*changed)(void *context, ticket_number ticket, user_id user);
    /* The item belongs to this sale from now on. */
    void (*item)(void *context, item_id item, sale_id sale);
    /* Something of the item has changed. at_ms: when, if this is the present; 0: it was read at the start. */
    void (*show)(void *context, item_id item, uint64_t at_ms);
    /* The record that replica_watch has named is applied, and the next one is not. NULL: nobody watches. */
    void (*reached)(void *context, uint64_t time_ms);
    void *context;
};

/* STATUS_FULL: no memory. *replica is closed as after success. */
MUST_CHECK enum status replica_open(struct replica **replica, const struct replica_config *config);
void replica_close(struct replica *replica); /* accepts NULL */

/* The next entry of the log: applied, and shown. */
MUST_CHECK enum status replica_take(struct replica *replica, const struct journal_entry *entry);
/* How far the partition is; all entries up to there were taken. */
void replica_state(struct replica *replica, const struct part_state *state);
void replica_gone(struct replica *replica); /* it has left with its sale: its records count no more */
const char *replica_trouble(const struct replica *replica); /* empty: none */

void replica_watch(struct replica *replica, uint64_t seq); /* a later record; 0: none */
const struct engine *replica_engine(const struct replica *replica);
uint64_t replica_time_ms(const struct replica *replica); /* of the last record */

uint32_t replica_part(const struct replica *replica);
uint64_t replica_seq(const struct replica *replica);   /* of the last record */
uint32_t replica_epoch(const struct replica *replica); /* of the present opening; 0: never opened */
/* The ticket that the engine calls n; 0: it is not kept (yet). */
ticket_number replica_number(const struct replica *replica, ticket_number n);
/* Whose a ticket of the engine is said to be. */
struct ticket_claim {
    user_id user;
    item_id item; /* 0: any of the user's; else by a purchase with this key, of so many units */
    uint32_t quantity;
    uint64_t key;
};
bool replica_is_ticket(const struct replica *replica, ticket_number n, const struct ticket_claim *claim);
/* COMMAND_ASK_…: what one machine would answer; ASK_TICKET also ANSWER_DECIDING and ANSWER_VOID. */
void replica_ask(struct replica *replica, const struct command *command, struct outcome *outcome);
/* What the partition has of an item; false: nothing. */
bool replica_item(const struct replica *replica, item_id item, struct board_update *view);
/* How many units there were in all, and how many of these are locked; false: it has nothing of the item. */
bool replica_totals(const struct replica *replica, item_id item, uint32_t *total, uint32_t *locked);
/* Until when a draw decides about the units of this pool; 0: there is none. */
uint64_t replica_draw_ms(const struct replica *replica, item_id item, channel_index channel);
/* How far its transfers with another shard are; and the last one that it gave to it (number 0: none), with
 * the units that really left. */
uint32_t replica_given(const struct replica *replica, uint32_t shard);
uint32_t replica_taken(const struct replica *replica, uint32_t shard);
const struct command_transfer *replica_gift(const struct replica *replica, uint32_t shard);
struct replica_fill {
    uint64_t tickets; /* that are used */
    uint32_t buyers_percent;
};
struct replica_fill replica_fill(const struct replica *replica);
uint32_t replica_units(const struct replica *replica, item_id item); /* that the item was given to sell */

/* As in contract/inventory.h. */
bool replica_arrival_find(const struct replica *replica, sale_id sale, user_id user, uint32_t *number);
uint32_t replica_arrivals(const struct replica *replica, sale_id sale, uint64_t *cursor,
    uint32_t *budget, struct arrival *arrivals, uint32_t max);

#endif
