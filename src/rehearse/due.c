/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/due.h"

#include "base/status.h"

static bool before(const struct due_entry *one, const struct due_entry *other)
{
    return one->due_ns != other->due_ns ? one->due_ns < other->due_ns : one->visitor < other->visitor;
}

void due_put(struct due *due, uint64_t due_ns, uint32_t visitor)
{
    const struct due_entry entry = { due_ns, visitor };
    invariant(due->count < due->capacity);
    uint32_t at = due->count++;
    while (at > 0 && before(&entry, &due->entries[(at - 1) / 2])) {
        due->entries[at] = due->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    due->entries[at] = entry;
}

bool due_next(const struct due *due, uint64_t *due_ns)
{
    if (due->count == 0)
        return false;
    *due_ns = due->entries[0].due_ns;
    return true;
}

bool due_take(struct due *due, uint64_t now_ns, struct due_entry *entry)
{
    if (due->count == 0 || due->entries[0].due_ns > now_ns)
        return false;
    *entry = due->entries[0];
    const struct due_entry last = due->entries[--due->count];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < due->count; at = child) {
        if (child + 1 < due->count && before(&due->entries[child + 1], &due->entries[child]))
            child++;
        if (!before(&due->entries[child], &last))
            break;
        due->entries[at] = due->entries[child];
    }
    if (due->count > 0)
        due->entries[at] = last;
    return true;
}
