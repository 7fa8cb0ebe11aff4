/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_spend.c: what may be used once over all gateways, and is not part of a purchase:
 * solved challenges, tokens of the shop. One SET with NX: of many who ask, one is told that it was fresh. The
 * mark goes by itself when nobody accepts any more what it stands for. Redis may lose it before
 * (docs/redis.md#marks). */
#include "inventory/redis/remote_call.h"
#include "inventory/redis/remote_parts.h"

#include <inttypes.h>
#include <stdio.h>

/* Gateways and Redis may differ so much in what time it is. */
enum { SPEND_MARGIN_MS = 60 * 1000, SPEND_KEY_MAX = 64 };

bool remote_spend(struct remote *remote, const struct asker *asker, const struct command *command)
{
    const struct command_spend *spend = &command->spend;
    char key[SPEND_KEY_MAX], life[24];
    struct call *call = call_take(remote, true);
    if (call == NULL)
        return false;
    call->askers[0] = *asker;
    const uint64_t left_ms = spend->until_ms > remote->now_ms ? spend->until_ms - remote->now_ms : 0;
    snprintf(key, sizeof key, "st:%016" PRIx64 ":spent:{%016" PRIx64 "}", remote->config.data_id,
        spend->mark);
    snprintf(life, sizeof life, "%" PRIu64, left_ms + SPEND_MARGIN_MS);
    const struct span name = span_from_string(key);
    const enum status status = redis_client_send(remote->client, name,
        (uint64_t)(call - remote->calls), remote->now_ms + remote->config.timeout_ms,
        REDIS_WORDS(SPAN("SET"), name, SPAN("1"), SPAN("NX"), SPAN("PX"), span_from_string(life)));
    if (status != STATUS_OK)
        call_refuse(remote, call, ANSWER_UNAVAILABLE);
    return true;
}

void remote_spend_answered(struct remote *remote, struct call *call, enum redis_answer answer,
    const struct redis_value *value)
{
    const bool told = answer == REDIS_ANSWER_OK && value != NULL;
    const bool fresh = told && value->kind == REDIS_KIND_STATUS && span_equal(value->text, SPAN("OK"));
    const bool used = told && value->kind == REDIS_KIND_NIL;
    call_refuse(remote, call, fresh ? ANSWER_DONE : used ? ANSWER_UNCHANGED : ANSWER_UNAVAILABLE);
}
