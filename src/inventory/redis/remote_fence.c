/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_fence.c: is the master of a partition still the one that was opened? A server that
 * was replaced and came back may have kept the script, but not the state; its replication id is another one
 * then (docs/redis.md#opening). Each half second it is compared with the one that the opening has noted, and
 * at once when the server could not be reached, or said that it is no master. Until they agree, by what the
 * server has told since then, this process sends nothing there. It only spares proposals that would be void:
 * the database is the fence.
 * And: does the partition rest (opening.h)? Then nobody has it open until something is asked of it.
 * And: whether the masters are what this program needs, and what time they think it is. */
#include "inventory/redis/opening.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"
#include "redis/slots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FENCE_LOOK_MS = 500, /* with inventory.timeout_ms: a silent master is noticed within a second */
    FENCE_SOON_MS = 50,
    FENCE_REST_MS = 10 * 1000,
    REDIS_VERSION_MIN = 7,
    JUDGE_MS = 200
};

static uint32_t look_next_ms(const struct partition *partition)
{
    if (partition->rests)
        return FENCE_REST_MS;
    return partition->seen_open && !partition->doubted ? FENCE_LOOK_MS : FENCE_SOON_MS;
}

void remote_fence_send(struct remote *remote)
{
    for (uint32_t i = 0; i < remote->partition_count; i++) {
        struct partition *partition = &remote->partitions[i];
        const struct span key = partition->keys.names[SCRIPT_KEY_PART];
        if (partition->epoch == 0 || remote->now_ms < partition->fence_ms)
            continue;
        partition->fence_ms = remote->now_ms + look_next_ms(partition);
        (void)!redis_client_send(remote->client, key, FENCE_TAG + i,
            remote->now_ms + remote->config.timeout_ms, /* not sent: the next look */
            REDIS_WORDS(SPAN("HMGET"), key, SPAN("replid"), SPAN("epoch")));
    }
}

void remote_doubt(struct remote *remote, struct partition *partition)
{
    partition->doubted = true;
    partition->doubted_ms = remote->now_ms;
    if (partition->fence_ms > remote->now_ms + FENCE_SOON_MS)
        partition->fence_ms = remote->now_ms + FENCE_SOON_MS;
}

static bool text_is(const struct redis_value *value, struct span text)
{
    return value->kind == REDIS_KIND_TEXT && span_equal(value->text, text);
}

void remote_fence_answered(struct remote *remote, uint32_t index, const struct redis_value *value)
{
    struct partition *partition = &remote->partitions[index];
    const uint16_t slot = redis_slot(partition->keys.names[SCRIPT_KEY_PART]);
    const struct redis_info *server = redis_client_info(remote->client, slot);
    char epoch[16];
    if (value == NULL || server == NULL || value->kind != REDIS_KIND_LIST || value->count != 2)
        return; /* nobody is there to be asked */
    snprintf(epoch, sizeof epoch, "%u", partition->epoch);
    partition->doubted = !text_is(&value->list[0], span_from_string(server->replid))
        || server->asked_ms < partition->doubted_ms;
    if (!partition->doubted && text_is(&value->list[1], span_from_string(epoch))) {
        partition->seen_open = true;
        partition->rests = false;
        partition->open_epoch = partition->epoch;
    } else {
        (void)!redis_client_send(remote->client, partition->keys.rest, REST_TAG + index,
            remote->now_ms + remote->config.timeout_ms, PARTITION_REST_WORDS(&partition->keys));
    }
}

void remote_rest_answered(struct remote *remote, uint32_t index, const struct redis_value *value)
{
    struct partition *partition = &remote->partitions[index];
    struct partition_rest rest;
    if (value == NULL)
        return;
    partition_rest_read(value, &rest);
    partition->rests = rest.epoch != 0 && rest.epoch == partition->epoch;
    partition->seen_open |= partition->rests; /* as open as it needs to be */
}

/* ---- what masters say about themselves must fit ---- */

/* At most so many tickets as units can be won at a time. */
static void units_count(struct remote *remote)
{
    for (uint32_t i = 0; i < remote->partition_count; i++)
        remote->partitions[i].units = 0;
    for (item_id item = 1; item < remote->config.engine.items_max; item++) {
        const struct shards *shards = remote_shards(remote, remote->item_sale[item]);
        for (uint32_t i = 0; shards != NULL && i < shards->count; i++)
            if (shards->list[i] != NULL)
                shards->list[i]->units += replica_units(shards->list[i]->replica, item);
    }
}

static uint64_t tickets_bytes(const struct remote *remote, const struct redis_info *server)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < remote->partition_count; i++) {
        const struct partition *partition = &remote->partitions[i];
        const uint16_t slot = redis_slot(partition->keys.names[SCRIPT_KEY_PART]);
        if (redis_client_info(remote->client, slot) == server)
            bytes += partition->units * REMOTE_TICKET_BYTES;
    }
    return bytes;
}

static void master_judge(void *context, const struct redis_node *node,
    const struct redis_info *info, const struct redis_look *look)
{
    struct remote *remote = context;
    const char *policy = look->memory_known ? look->policy : info->policy;
    const bool small = look->memory_known && look->memory_max != 0
        && look->memory_max < tickets_bytes(remote, info);
    const enum remote_redis wrong = info->version[0] < REDIS_VERSION_MIN ? REMOTE_REDIS_OLD
        : strcmp(policy, "noeviction") != 0                              ? REMOTE_REDIS_EVICTS
        : small                                                          ? REMOTE_REDIS_SMALL
                                                                         : REMOTE_REDIS_FITS;
    (void)node;
    if (wrong > remote->redis_wrong)
        remote->redis_wrong = wrong;
    if (look->clock_known && llabs(look->apart_ms) > llabs(remote->redis_apart_ms))
        remote->redis_apart_ms = look->apart_ms;
}

/* All of them, once for each time that some have spoken. */
void remote_informed(void *self, const struct redis_node *node, const struct redis_info *info)
{
    struct remote *remote = self;
    (void)node;
    (void)info;
    if (remote->judged_ms != 0 && remote->now_ms < remote->judged_ms + JUDGE_MS)
        return;
    remote->judged_ms = remote->now_ms;
    remote->redis_wrong = REMOTE_REDIS_FITS;
    remote->redis_apart_ms = 0;
    units_count(remote);
    redis_client_each(remote->client, master_judge, remote);
}
