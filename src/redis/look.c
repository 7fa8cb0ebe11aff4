/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/look.h"

#include "base/clock.h"

static bool number_of(const struct redis_value *value, uint64_t *number)
{
    return value->kind == REDIS_KIND_TEXT && span_to_u64(value->text, number) == STATUS_OK;
}

/* Seconds, and microseconds of the second. */
enum status redis_look_time(
    struct redis_look *look, const struct redis_value *reply, uint64_t asked_ms, uint64_t heard_ms)
{
    uint64_t seconds, microseconds;
    if (reply->kind != REDIS_KIND_LIST || reply->count != 2 || !number_of(&reply->list[0], &seconds)
        || !number_of(&reply->list[1], &microseconds) || seconds > UINT32_MAX || microseconds > 999999)
        return STATUS_BAD_INPUT;
    look->apart_ms = clock_apart_ms(asked_ms, heard_ms, seconds * 1000 + microseconds / 1000);
    look->clock_known = true;
    return STATUS_OK;
}

enum status redis_look_memory(struct redis_look *look, const struct redis_value *reply)
{
    struct span maximum, policy;
    uint64_t bytes;
    if (reply->kind != REDIS_KIND_TEXT || !redis_info_field(reply->text, SPAN("maxmemory"), &maximum)
        || span_to_u64(maximum, &bytes) != STATUS_OK
        || !redis_info_field(reply->text, SPAN("maxmemory_policy"), &policy)
        || policy.size > REDIS_POLICY_CHARS_MAX)
        return STATUS_BAD_INPUT;
    look->memory_max = bytes;
    memcpy(look->policy, policy.data, policy.size);
    look->policy[policy.size] = 0;
    look->memory_known = true;
    return STATUS_OK;
}
