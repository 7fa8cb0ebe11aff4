/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/sandbox_parts.h"

#include "base/hash.h"

#include <string.h>

uint64_t bank_part_name(const char *key)
{
    static const struct hash_key fixed = { 1, 2 }; /* no secret */
    return hash_siphash(fixed, key, strlen(key)) | 1;
}

uint32_t bank_part_find(const struct bank_parts *parts, uint64_t name)
{
    uint32_t at = 0;
    while (at < REFUND_PARTS_MAX && parts->names[at] != name)
        at++;
    return at;
}

uint64_t bank_parts_sum(const struct bank_parts *parts)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REFUND_PARTS_MAX; i++)
        sum += parts->amounts[i];
    return sum;
}
