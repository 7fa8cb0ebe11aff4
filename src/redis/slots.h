/* SPDX-License-Identifier: Apache-2.0 */
/* redis/slots.h: which master has a key. A key belongs to one of 16,384 slots: CRC16 of what stands in
 * its first braces, or of the whole key. The map of a cluster comes from CLUSTER SLOTS; a server without
 * cluster has all slots.
 * Thread: one at a time. Memory: none of its own. */
#ifndef STAMPEDE_REDIS_SLOTS_H
#define STAMPEDE_REDIS_SLOTS_H

#include "base/address.h"
#include "redis/reply.h"

enum {
    REDIS_SLOTS = 16384,
    REDIS_NODES_MAX = 64, /* masters */
    REDIS_NODE_NONE = 255,
    REDIS_NODE_CHARS_MAX = ADDRESS_CHARS_MAX + 8, /* brackets, colon, port */
};

struct redis_node {
    struct address address;
    uint16_t port;
};
static inline bool redis_node_equal(const struct redis_node *a, const struct redis_node *b)
{
    return a->port == b->port && address_equal(&a->address, &b->address);
}
void redis_node_text(struct text *out, const struct redis_node *node); /* 10.0.0.1:6379, [::1]:6379 */
/* "HOST:PORT" or "[HOST]:PORT", up to `max` of them with commas between. Names are asked of the system,
 * which may take seconds: for the start only. STATUS_BAD_INPUT: *bad is the one that can't be read or
 * found; STATUS_FULL: there are more. */
MUST_CHECK enum status redis_nodes_read(
    struct span text, struct redis_node *nodes, uint32_t max, uint32_t *count, struct span *bad);

uint16_t redis_slot(struct span key);

struct redis_slots {
    uint32_t count; /* nodes */
    struct redis_node nodes[REDIS_NODES_MAX];
    uint8_t node_of[REDIS_SLOTS]; /* an index of nodes, or REDIS_NODE_NONE */
};
void redis_slots_clear(struct redis_slots *slots);
/* The node's index; it is added if it is new. REDIS_NODE_NONE: there are too many. */
uint8_t redis_slots_node(struct redis_slots *slots, const struct redis_node *node);
void redis_slots_all(struct redis_slots *slots, const struct redis_node *node); /* nobody else has any */
/* The reply to CLUSTER SLOTS of `asked`, which also stands for a master whose address the reply leaves
 * out. STATUS_BAD_INPUT: it is not such a reply, or a slot has two masters; STATUS_FULL: too many
 * masters. `slots` is then of no use. */
MUST_CHECK enum status redis_slots_read(
    struct redis_slots *slots, const struct redis_value *reply, const struct redis_node *asked);
/* "MOVED 3999 10.0.0.1:6379" or "ASK …" of `asked`. STATUS_BAD_INPUT: it is not. */
MUST_CHECK enum status redis_moved_read(
    struct span error, const struct redis_node *asked, uint16_t *slot, struct redis_node *node);

#endif
