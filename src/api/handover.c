/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handover.h"

#include "base/status.h"

#include <poll.h>
#include <stddef.h>

void handover_create(struct handover *handover, void *first, void (*release)(void *))
{
    *handover = (struct handover){ .release = release };
    atomic_store_explicit(&handover->now, first, memory_order_release);
}

static bool everyone_moved_on(struct reader_turns *turns, const uint64_t *seen)
{
    for (uint32_t i = 0; i < turns->readers; i++) {
        const uint64_t count = atomic_load(&turns->turns[i].count);
        if (count == seen[i] && count != READER_LEFT)
            return false;
    }
    return true;
}

void handover_collect(struct handover *handover, struct reader_turns *turns)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < handover->old_count; i++) {
        if (everyone_moved_on(turns, handover->old[i].seen))
            handover->release(handover->old[i].value);
        else
            handover->old[kept++] = handover->old[i];
    }
    handover->old_count = kept;
}

void handover_put(struct handover *handover, struct reader_turns *turns, void *value)
{
    handover_collect(handover, turns);
    while (handover->old_count == HANDOVER_OLD_MAX) {
        poll(NULL, 0, 1);
        handover_collect(handover, turns);
    }
    void *old = atomic_exchange(&handover->now, value);
    if (old == NULL)
        return;
    handover->old[handover->old_count].value = old;
    for (uint32_t i = 0; i < turns->readers; i++)
        handover->old[handover->old_count].seen[i] = atomic_load(&turns->turns[i].count);
    handover->old_count++;
}

void handover_close(struct handover *handover)
{
    for (uint32_t i = 0; i < handover->old_count; i++)
        handover->release(handover->old[i].value);
    void *last = atomic_exchange(&handover->now, NULL);
    if (last != NULL)
        handover->release(last);
    handover->old_count = 0;
}
