/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

/* How many bytes follow a first byte, and the bounds of the next one (RFC 3629 §4). */
static bool sequence_begin(uint8_t first, unsigned *follow, uint8_t *low, uint8_t *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    *follow = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    return first >= 0xc2 && first <= 0xf4;
}

bool utf8_is_valid(struct span text)
{
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.size;
    while (at < end) {
        unsigned follow;
        uint8_t low, high;
        if (*at < 0x80) {
            at++;
            continue;
        }
        if (!sequence_begin(*at, &follow, &low, &high) || (size_t)(end - at) <= follow)
            return false;
        if (at[1] < low || at[1] > high)
            return false;
        for (unsigned i = 2; i <= follow; i++)
            if ((at[i] & 0xc0) != 0x80)
                return false;
        at += 1 + follow;
    }
    return true;
}
