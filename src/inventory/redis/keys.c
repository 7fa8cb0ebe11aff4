/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/keys.h"

#include <inttypes.h>
#include <stdio.h>

void partition_keys_make(struct partition_keys *keys, uint64_t data_id, uint32_t part)
{
    enum { PREFIX = SCRIPT_KEYS, NOTES, PROPOSED, REST, ALL };
    char prefix[SCRIPT_PREFIX_MAX + 1];
    snprintf(prefix, sizeof prefix, "st:%016" PRIx64 ":{%u}", data_id, part);
    for (uint32_t i = 0; i < ALL; i++)
        snprintf(keys->bytes[i], sizeof keys->bytes[i], "%s%s", prefix,
            i == PREFIX         ? ""
                : i == NOTES    ? ":notes"
                : i == PROPOSED ? ":proposed"
                : i == REST     ? ":rest"
                                : script_key_names[i]);
    keys->prefix = span_from_string(keys->bytes[PREFIX]);
    keys->notes = span_from_string(keys->bytes[NOTES]);
    keys->proposed = span_from_string(keys->bytes[PROPOSED]);
    keys->rest = span_from_string(keys->bytes[REST]);
    for (uint32_t i = 0; i < SCRIPT_KEYS; i++)
        keys->names[i] = span_from_string(keys->bytes[i]);
}
