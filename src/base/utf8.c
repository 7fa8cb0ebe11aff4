/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t utf8_sequence(struct span text)
{
    const uint8_t *at = (const uint8_t *)text.data, first = at[0];
    const uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    const size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4 || text.size < bytes || at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

bool utf8_is_valid(struct span text)
{
    while (text.size > 0) {
        const size_t bytes = utf8_sequence(text);
        if (bytes == 0)
            return false;
        text = span_of(text.data + bytes, text.size - bytes);
    }
    return true;
}
