/* SPDX-License-Identifier: Apache-2.0 */
/* contract/inventory.h: the first seam. One port per client thread: bounded requests in, answers
 * out. Embedded, a port is two rings to the inventory thread; on many machines it is a Redis
 * connection. An answer is given when everything it tells is durable. Every request that was
 * committed gets exactly one answer, unless the inventory fails (inventory_failed): then none
 * comes any more and the program must stop.
 * Thread: a port belongs to one thread. Order: answers may overtake each other; the tag tells
 * which is which. */
#ifndef STAMPEDE_CONTRACT_INVENTORY_H
#define STAMPEDE_CONTRACT_INVENTORY_H

#include "base/status.h"
#include "contract/command.h"

struct inventory_request {
    uint64_t tag; /* the asker's own, comes back with the answer */
    struct command command;
};
struct inventory_answer {
    uint64_t tag;
    struct outcome outcome;
};

struct inventory_port {
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

#endif
