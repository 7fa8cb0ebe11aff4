/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/drop.h"

#include "base/bytes.h"

bool drop_hits(const struct funnel_keys *keys, sale_id sale, user_id user, uint32_t percent)
{
    uint8_t text[2 * sizeof(uint64_t)];
    if (percent == 0)
        return false;
    bytes_put_u64(text, sale);
    bytes_put_u64(text + sizeof(uint64_t), user);
    /* The upper half of the hash as a fraction of 100: hundredths of a hundredth don't matter. */
    const uint64_t share = (hash_siphash(keys->drop, text, sizeof text) >> 32) * 100 >> 32;
    return share < percent;
}
