/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/lease.h"

#include <stdio.h>

void part_lease_init(struct part_lease *lease, uint32_t part)
{
    *lease = (struct part_lease){ 0 };
    snprintf(lease->name, sizeof lease->name, LEASE_PART, part);
}

enum lease_news part_lease_ask(struct part_lease *lease, const struct lease_asker *asker, uint64_t now_ms)
{
    struct order_store *store = asker->store;
    struct lease found;
    const enum status status =
        store->ops->cluster->lease_take(store, lease->name, asker->holder, asker->lease_ms, &found);
    if (status == STATUS_CONFLICT) {
        lease->token = lease->until_ms = 0;
        lease->due_ms = now_ms + asker->lease_ms / 2;
        return LEASE_LOST;
    }
    if (status != STATUS_OK) {
        lease->due_ms = now_ms + LEASE_AGAIN_MS;
        return LEASE_NOT_KNOWN;
    }
    const bool is_same = found.token == lease->token;
    lease->token = found.token;
    lease->until_ms = now_ms + asker->lease_ms; /* from before it was asked: rather too short */
    lease->due_ms = now_ms + asker->lease_ms / 3;
    return is_same ? LEASE_KEPT : LEASE_GOT;
}

bool part_lease_is_held(const struct part_lease *lease, uint64_t now_ms)
{
    return lease->token != 0 && now_ms < lease->until_ms;
}

void part_lease_give(struct part_lease *lease, const struct lease_asker *asker)
{
    if (lease->token != 0)
        (void)!asker->store->ops->cluster->lease_give(asker->store, lease->name, asker->holder);
    lease->token = lease->until_ms = lease->due_ms = 0;
}
