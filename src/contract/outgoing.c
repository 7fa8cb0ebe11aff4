/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/outgoing.h"

#include "base/text.h"

struct span outgoing_header(const struct outgoing_call *call, const char *name)
{
    struct span rest = { call->reply_headers, call->reply_headers_size };
    struct span line, found;
    while (span_take_until(&rest, '\n', &line)) {
        struct span value = line;
        if (!span_take_until(&value, ':', &found) || found.size == line.size)
            continue; /* no colon */
        if (span_equal_ignoring_case(found, span_from_string(name)))
            return span_trim(value, SPAN(" \t\r"));
    }
    return SPAN_NONE;
}

bool outgoing_header_add(struct outgoing_call *call, const char *name, struct span value)
{
    for (size_t i = 0; i < value.size; i++)
        if ((unsigned char)value.data[i] < ' ' || value.data[i] == 0x7f)
            return false;
    const size_t used = strnlen(call->headers, sizeof call->headers);
    invariant(used < sizeof call->headers);
    /* One byte is for the 0 at the end. */
    struct text out = text_in(call->headers + used, sizeof call->headers - used - 1);
    text_string(&out, name);
    text_literal(&out, ": ");
    text_add(&out, value);
    text_literal(&out, "\n");
    call->headers[used + (out.overflow ? 0 : out.size)] = '\0';
    return !out.overflow;
}
