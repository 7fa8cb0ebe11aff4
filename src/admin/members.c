/* SPDX-License-Identifier: Apache-2.0 */
/* admin/members.c: the processes of a shop on many machines, and its partitions: who has which, how often it
 * was opened, and how far its log is. From the database, so every process answers the same. One machine has
 * neither. */
#include "admin/admin.h"
#include "contract/cluster_store.h"
#include "contract/ticket_number.h"

#include <stdio.h>

enum { PAGE_ROWS = 100 };

/* The process that holds this lease now; 0: none does. */
static enum status lease_holder(struct order_store *store, const char *name, uint64_t *holder)
{
    struct lease lease;
    const enum status status = store->ops->cluster->lease_look(store, name, &lease);
    *holder = lease.until_ms > lease.now_ms ? lease.holder : 0;
    return status;
}

void admin_members(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    struct member members[PAGE_ROWS];
    uint64_t leader, now_ms;
    uint32_t count = 0;
    (void)id;
    if (!job_ok(job, store->ops->cluster->now(store, &now_ms))
        || !job_ok(job, lease_holder(store, LEASE_LEADER, &leader))
        || !job_ok(job, store->ops->cluster->member_list(store, members, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "members");
    for (uint32_t i = 0; i < count; i++) {
        const struct member *member = &members[i];
        struct text *out = page_object(&page, i + 1);
        json_hex(out, "process", member->process);
        json_text(out, "role", member->role);
        json_text(out, "name", member->name);
        json_text(out, "version", member->version);
        json_bool(out, "live", member_is_live(member, now_ms));
        json_bool(out, "leads", member->process == leader);
        json_u64(out, "seen_ms", member->seen_ms);
    }
    page_end(job, &page, 0);
}

static enum status owner_of(struct order_store *store, uint32_t part, uint64_t *owner)
{
    char name[LEASE_NAME_MAX + 1];
    snprintf(name, sizeof name, LEASE_PART, part);
    return lease_holder(store, name, owner);
}

void admin_partitions(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    struct part_state parts[PAGE_ROWS];
    uint64_t after = UINT64_MAX; /* partition 0 is one of them, if a shop has moved with it */
    uint32_t count = 0;
    (void)id;
    if (!job_query_u64(job, "after", PART_MAX, &after)
        || !job_ok(job,
            store->ops->cluster->parts(store, (uint32_t)(after + 1), parts, PAGE_ROWS, &count)))
        return;
    struct page page = page_begin(job, "partitions");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t owner;
        if (!job_ok(job, owner_of(store, parts[i].part, &owner)))
            return;
        struct text *out = page_object(&page, parts[i].part);
        json_u64(out, "sale", part_sale(parts[i].part));
        json_u64(out, "shard", part_shard(parts[i].part));
        json_u64(out, "epoch", parts[i].epoch);
        json_u64(out, "records", parts[i].seq);
        if (owner != 0)
            json_hex(out, "owner", owner);
        else
            text_literal(out, ",\"owner\":null");
    }
    page_end(job, &page, page_next(&page, PAGE_ROWS));
}
