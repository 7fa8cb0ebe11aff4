/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/ports.h: the ports of an inventory that decides on one thread, its host: for each client thread a
 * ring of requests and a ring of answers (contract/inventory.h). What purchases ask for is counted on the
 * board as on its way, until it is answered.
 * Threads: a port belongs to its client, its `requests` to the host from ring_peek on; functions say whose
 * they are.
 * Memory: from the arena at create. */
#ifndef STAMPEDE_INVENTORY_PORTS_H
#define STAMPEDE_INVENTORY_PORTS_H

#include "base/ring.h"
#include "base/thread.h"
#include "contract/inventory.h"

struct ports;
struct port_state {
    struct inventory_port port; /* first: a port is this */
    struct ports *ports;
    struct ring requests;              /* client → host */
    struct ring answers;               /* host → client */
    struct inventory_request *filling; /* client only: reserved, not committed yet */
    struct wake *client;
    uint32_t in_flight; /* client only: committed and not collected; keeps the answer ring from overflowing */
    uint32_t in_flight_max;
    uint32_t taken; /* client only: collected, their slots not given back yet; they count as in flight */
    bool answered; /* host only: has answers to show at the end of the turn */
};

struct ports {
    struct port_state *list;
    uint32_t count;
    struct board *board;
    struct wake *host; /* woken by clients; NULL: nobody */
};

size_t ports_bytes(uint32_t count, uint32_t slots);
/* `slots` of each port: a power of two, at most RING_SLOTS. */
void ports_create(
    struct ports *ports, struct arena *arena, uint32_t count, uint32_t slots, struct board *board);
/* Before the threads run: who is woken when the port has answers (NULL: nobody). */
struct inventory_port *ports_port(struct ports *ports, uint32_t index, struct wake *client);

/* Units of a purchase that the board counts as on their way; none for other commands. */
struct flow_units {
    item_id item;
    uint32_t units;
    channel_index channel;
};
static inline struct flow_units flow_of(const struct command *command)
{
    if (command->type != COMMAND_RESERVE || (command->reserve.flags & RESERVE_REPEAT) != 0)
        return (struct flow_units){ .units = 0 };
    return (struct flow_units){ .item = command->reserve.item,
        .units = command->reserve.quantity,
        .channel = command->reserve.channel };
}

/* Host: an answer, seen by the client after ports_show. */
static inline void ports_answer(struct ports *ports, uint32_t port, const struct flow_units *flow,
    const struct inventory_answer *answer)
{
    if (flow->units > 0)
        board_decided(ports->board, flow->item, flow->channel, flow->units);
    struct port_state *state = &ports->list[port];
    struct inventory_answer *slot = ring_reserve(&state->answers);
    invariant(slot != NULL); /* in_flight keeps it so */
    *slot = *answer;
    ring_commit(&state->answers);
    state->answered = true;
}
void ports_show(struct ports *ports);       /* host: at the end of a turn */
bool ports_idle(const struct ports *ports); /* host: no request waits */

#endif
