/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/info.h"

bool redis_info_field(struct span text, struct span name, struct span *value)
{
    struct span line;
    while (span_take_until(&text, '\n', &line)) {
        if (line.size > name.size && line.data[name.size] == ':' && span_starts_with(line, name)) {
            *value =
                span_trim(span_of(line.data + name.size + 1, line.size - name.size - 1), SPAN("\r"));
            return true;
        }
    }
    return false;
}

static bool id_read(struct span text, struct span name, char out[REDIS_ID_CHARS + 1])
{
    struct span id;
    if (!redis_info_field(text, name, &id) || id.size != REDIS_ID_CHARS)
        return false;
    memcpy(out, id.data, REDIS_ID_CHARS);
    out[REDIS_ID_CHARS] = 0;
    return true;
}

static bool number_read(struct span text, struct span name, uint32_t *number)
{
    struct span value;
    return redis_info_field(text, name, &value) && span_to_u32(value, number) == STATUS_OK;
}

/* "7.0.15"; what follows a third number ("-rc1") does not count. */
static bool version_read(struct span text, uint32_t version[3])
{
    struct span value;
    if (!redis_info_field(text, SPAN("redis_version"), &value))
        return false;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && (value.size == 0 || value.data[0] != '.'))
            return false;
        if (i > 0)
            value = span_of(value.data + 1, value.size - 1);
        if (!span_take_u32(&value, &version[i]))
            return false;
    }
    return true;
}

static bool policy_read(struct span text, char policy[REDIS_POLICY_CHARS_MAX + 1])
{
    struct span value;
    if (!redis_info_field(text, SPAN("maxmemory_policy"), &value) || value.size > REDIS_POLICY_CHARS_MAX)
        return false;
    memcpy(policy, value.data, value.size);
    policy[value.size] = 0;
    return true;
}

static bool role_read(struct span text, struct redis_info *info)
{
    struct span role;
    if (!redis_info_field(text, SPAN("role"), &role)
        || !id_read(text, SPAN("master_replid"), info->replid))
        return false;
    info->master = span_equal(role, SPAN("master"));
    return info->master || span_equal(role, SPAN("slave"));
}

enum status redis_info_read(struct span text, struct redis_info *info)
{
    struct redis_info read = *info;
    uint32_t cluster = 0;
    if (!role_read(text, &read) || !id_read(text, SPAN("run_id"), read.run_id)
        || !version_read(text, read.version) || !policy_read(text, read.policy)
        || !number_read(text, SPAN("cluster_enabled"), &cluster) || cluster > 1
        || !number_read(text, SPAN("process_id"), &read.process_id))
        return STATUS_BAD_INPUT;
    read.cluster = cluster == 1;
    *info = read;
    return STATUS_OK;
}

enum status redis_info_read_again(struct span text, struct redis_info *info)
{
    struct redis_info read = *info;
    if (!role_read(text, &read))
        return STATUS_BAD_INPUT;
    *info = read;
    return STATUS_OK;
}
