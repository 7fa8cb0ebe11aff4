/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/yuan.h"

enum { CENTS_DIGITS = 2 };

void yuan_write(struct text *text, uint64_t fen)
{
    text_format(text, "\"%llu.%02u\"", (unsigned long long)(fen / 100), (unsigned)(fen % 100));
}

bool yuan_read(struct span text, uint64_t *fen)
{
    struct span yuan, rest = text;
    uint64_t whole, part = 0;
    if (!span_take_until(&rest, '.', &yuan) || span_to_u64(yuan, &whole) != STATUS_OK)
        return false;
    if (yuan.size < text.size) {
        if (rest.size == 0 || rest.size > CENTS_DIGITS)
            return false;
        for (size_t i = 0; i < CENTS_DIGITS; i++) {
            const char digit = i < rest.size ? rest.data[i] : '0';
            if (digit < '0' || digit > '9')
                return false;
            part = part * 10 + (uint64_t)(digit - '0');
        }
    }
    return !__builtin_mul_overflow(whole, UINT64_C(100), fen)
        && !__builtin_add_overflow(*fen, part, fen);
}
