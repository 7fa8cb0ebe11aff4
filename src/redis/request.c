/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/request.h"

static size_t digits_of(size_t number)
{
    size_t digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

size_t redis_request_bytes(struct redis_words words)
{
    enum { MARK_AND_END = 3, END = 2 };
    size_t bytes = MARK_AND_END + digits_of(words.count);
    for (uint32_t i = 0; i < words.count; i++)
        bytes += MARK_AND_END + digits_of(words.list[i].size) + words.list[i].size + END;
    return bytes;
}

void redis_request_write(struct text *out, struct redis_words words)
{
    text_literal(out, "*");
    text_u64(out, words.count);
    text_literal(out, "\r\n");
    for (uint32_t i = 0; i < words.count; i++) {
        text_literal(out, "$");
        text_u64(out, words.list[i].size);
        text_literal(out, "\r\n");
        text_add(out, words.list[i]);
        text_literal(out, "\r\n");
    }
}
