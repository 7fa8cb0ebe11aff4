/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/tickets.h: every win, in order, and the index from idempotency key to win. A ticket
 * number is its place in the table plus one: nothing to store, nothing to reuse.
 * Thread: inventory thread only. Memory: from the arena at create; 28 bytes a ticket and 5.4 for
 * its key.
 * Errors: adding to a full table is a bug; ask tickets_full first. */
#ifndef STAMPEDE_INVENTORY_TICKETS_H
#define STAMPEDE_INVENTORY_TICKETS_H

#include "base/arena.h"
#include "contract/command.h"

#include <stddef.h>

struct ticket_row {
    user_id user;
    uint64_t key;
    uint64_t pay_by_ms : 48;
    uint64_t item : 16;
    uint16_t quantity;
    uint8_t channel;
    uint8_t state; /* enum ticket_state */
} __attribute__((packed, aligned(4)));

struct tickets {
    struct ticket_row *rows;
    uint32_t *key_slots; /* ticket number, 0: empty */
    uint64_t key_slot_count;
    uint64_t count;
    uint64_t capacity;
};

size_t tickets_bytes(uint64_t capacity); /* what tickets_create takes from the arena */
void tickets_create(struct tickets *tickets, struct arena *arena, uint64_t capacity);
static inline bool tickets_full(const struct tickets *tickets)
{
    return tickets->count == tickets->capacity;
}
ticket_number tickets_add(struct tickets *tickets, const struct ticket_row *row);
/* NULL: no such ticket. */
struct ticket_row *tickets_get(const struct tickets *tickets, ticket_number number);
ticket_number tickets_find_key(const struct tickets *tickets, uint64_t key); /* 0: none */

#endif
