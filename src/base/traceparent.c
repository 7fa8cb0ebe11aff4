/* SPDX-License-Identifier: Apache-2.0 */
#include "base/traceparent.h"

#include "base/text.h"

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: a character is no lower-case digit, or all are zeros. */
static bool bytes_read(const char *text, uint8_t *bytes, size_t count, bool may_be_zero)
{
    uint8_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        const int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
        seen |= bytes[i];
    }
    return may_be_zero || seen != 0;
}

bool traceparent_read(struct span text, struct trace_context *context)
{
    const char *at = text.data;
    struct trace_context read;
    uint8_t flags;
    if (text.size != TRACEPARENT_CHARS || at[0] != '0' || at[1] != '0' || at[2] != '-'
        || at[35] != '-' || at[52] != '-' || !bytes_read(at + 3, read.trace, TRACE_BYTES, false)
        || !bytes_read(at + 36, read.parent, TRACE_SPAN_BYTES, false)
        || !bytes_read(at + 53, &flags, 1, true))
        return false;
    read.sampled = (flags & 1) != 0;
    *context = read;
    return true;
}

void traceparent_write(const struct trace_context *context, char out[TRACEPARENT_CHARS + 1])
{
    struct text text = text_in(out, TRACEPARENT_CHARS);
    text_literal(&text, "00-");
    text_hex(&text, span_of((const char *)context->trace, TRACE_BYTES));
    text_literal(&text, "-");
    text_hex(&text, span_of((const char *)context->parent, TRACE_SPAN_BYTES));
    text_string(&text, context->sampled ? "-01" : "-00");
    invariant(!text.overflow && text.size == TRACEPARENT_CHARS);
    out[TRACEPARENT_CHARS] = '\0';
}
