/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/due.h: which visitor acts next. A heap of (moment, visitor), the earliest first; of equal
 * moments the visitor with the lower number. Thread: one owner. Memory: of the caller, for as many as there
 * are visitors, because each is in it once at most. */
#ifndef STAMPEDE_REHEARSE_DUE_H
#define STAMPEDE_REHEARSE_DUE_H

#include <stdbool.h>
#include <stdint.h>

struct due_entry {
    uint64_t due_ns;
    uint32_t visitor;
};
struct due {
    struct due_entry *entries;
    uint32_t count, capacity;
};

void due_put(struct due *due, uint64_t due_ns, uint32_t visitor);
/* The earliest stays; false: there is none. */
bool due_next(const struct due *due, uint64_t *due_ns);
/* Takes the earliest if its moment has come. */
bool due_take(struct due *due, uint64_t now_ns, struct due_entry *entry);

#endif
