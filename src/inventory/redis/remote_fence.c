/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_fence.c: is the master of a partition still the one that was opened? A server that
 * was replaced and came back may have kept the script, but not the state; its replication id is another one
 * then (docs/redis.md#opening). Each second it is compared with the one that the opening has noted. Until
 * they agree, this process sends nothing there. It only spares proposals that would be void: the database
 * is the fence. And: does the partition rest (opening.h)? Then nobody has it open until something is asked
 * of it. */
#include "inventory/redis/opening.h"
#include "inventory/redis/remote_parts.h"
#include "redis/slots.h"

#include <stdio.h>
#include <string.h>

enum {
    FENCE_LOOK_MS = 1000,
    FENCE_FIRST_MS = 50,
    FENCE_REST_MS = 10 * 1000,
    REDIS_VERSION_MIN = 7
};

static uint32_t look_next_ms(const struct partition *partition)
{
    if (partition->rests)
        return FENCE_REST_MS;
    return partition->seen_open && !partition->doubted ? FENCE_LOOK_MS : FENCE_FIRST_MS;
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
    partition->doubted = !text_is(&value->list[0], span_from_string(server->replid));
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

/* What a server says about itself must fit. */
void remote_informed(void *self, const struct redis_node *node, const struct redis_info *info)
{
    struct remote *remote = self;
    (void)node;
    remote->redis_wrong = info->version[0] < REDIS_VERSION_MIN ? REMOTE_REDIS_OLD
        : strcmp(info->policy, "noeviction") != 0              ? REMOTE_REDIS_EVICTS
                                                               : REMOTE_REDIS_FITS;
}
