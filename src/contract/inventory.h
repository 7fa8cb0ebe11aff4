/* SPDX-License-Identifier: Apache-2.0 */
/* contract/inventory.h: the first seam. The inventory decides who wins; everything else asks it
 * through ports and looks at what it shows. Embedded, it is an engine with its journal in this
 * process and a port is two rings; on many machines it is Redis, a port is a connection, and what
 * is shown is a copy that follows.
 *
 * Ports. One per client thread: bounded requests in, answers out. An answer is given when
 * everything it tells is durable. Every request that was committed gets exactly one answer, unless
 * the inventory fails: then none comes any more and the program must stop. Answers may overtake
 * each other; the tag tells which is which.
 * What is shown. The board and the arrivals of waiting rooms: only what is durable, to be read by
 * any thread without a lock.
 * Whoever opens an inventory knows which one it is (server/host.h); nobody else does. */
#ifndef STAMPEDE_CONTRACT_INVENTORY_H
#define STAMPEDE_CONTRACT_INVENTORY_H

#include "base/status.h"
#include "base/thread.h"
#include "contract/board.h"
#include "contract/command.h"

struct inventory_request {
    uint64_t tag; /* the asker's own, comes back with the answer */
    struct command command;
};
struct inventory_answer {
    uint64_t tag;
    struct outcome outcome;
};

struct inventory_port { /* belongs to one thread */
    const struct inventory_port_ops *ops;
};
struct inventory_port_ops {
    /* A slot to fill in place, or NULL when the bounded queue is full ("too popular"). */
    struct inventory_request *(*reserve)(struct inventory_port *);
    void (*commit)(struct inventory_port *); /* the slot is filled; it goes with the next flush */
    void (*flush)(struct inventory_port *);
    /* The oldest answer not yet taken, or NULL; valid until the next call on the port. */
    const struct inventory_answer *(*collect)(struct inventory_port *);
};

/* Somebody who has entered the waiting room of a sale. */
struct arrival {
    user_id user;
    uint32_t number; /* from 0 in each sale, without gaps */
};

struct part_checks;
struct inventory {
    const struct inventory_ops *ops;
    const struct board *board;  /* any thread; as long as the inventory is open */
    struct part_checks *checks; /* contract/part_checks.h; NULL: one machine has none */
};
struct inventory_ops {
    /* Before the threads run. `client` is woken when the port has answers; NULL: nobody. Asking
     * again for the same port only changes who is woken. The number of ports is fixed at open. */
    struct inventory_port *(*port)(struct inventory *, uint32_t index, struct wake *client);
    /* Host thread: decides what the ports have brought, and shows what became durable. True: there
     * is more to do at once. */
    bool (*turn)(struct inventory *, uint64_t now_ms);
    void (*close)(struct inventory *); /* accepts NULL; nothing may be in flight any more */

    /* Any thread. */
    bool (*failed)(const struct inventory *); /* for good: no answer comes any more */
    /* Wins are decided up to this record of the log. Purchases that come later wait in their port until
     * it is moved on. If that takes longer than WINS_WAIT_MS, new wins are refused until it is; repeats and
     * all other commands go on, and the board shows WINS_ORDERS_LAG. No limit before the first call. */
    void (*wins_until)(struct inventory *, lsn_t last);
    /* The number of a user who has entered; false: nobody of that sale, as far as is durable. Whoever
     * was answered a number is found. */
    bool (*arrival_find)(const struct inventory *, sale_id sale, user_id user, uint32_t *number);
    /* Up to `max` arrivals of a sale in the order of their numbers, from *cursor on, which moves
     * behind them. 0 is the beginning; else a cursor is what an earlier call left, also in an earlier
     * process; a strange one finds few or none. Reads at most *budget rows, and takes what it read
     * off it. Fewer than `max` with budget left: these are all for now. Answers how many. */
    uint32_t (*arrivals)(const struct inventory *, sale_id sale, uint64_t *cursor, uint32_t *budget,
        struct arrival *arrivals, uint32_t max);
};
static inline bool inventory_failed(const struct inventory *inventory)
{
    return inventory->ops->failed(inventory);
}

#endif
