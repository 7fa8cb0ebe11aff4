/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/json_cursor.h: reads small JSON of a known shape in place, field by field. Strict: printable
 * ASCII strings without escapes, digits for whole numbers, nothing after the end. What does not fit
 * makes the cursor bad for good, so callers ask once, at the end.
 * Thread: any. Memory: none; spans point into the text. */
#ifndef STAMPEDE_FUNNEL_JSON_CURSOR_H
#define STAMPEDE_FUNNEL_JSON_CURSOR_H

#include "base/span.h"

struct json_cursor {
    const char *at, *end;
    bool bad;
};

static inline struct json_cursor json_cursor_of(struct span text)
{
    return (struct json_cursor){ text.data, text.data + text.size, false };
}
/* Fields of the object at the cursor, one a call, with the cursor at the value; false at its end.
 * *count: 0 before the first call. */
bool cursor_field(struct json_cursor *in, unsigned *count, struct span *name);
/* Elements of the array at the cursor, the same way. */
bool cursor_element(struct json_cursor *in, unsigned *count);
void cursor_string(struct json_cursor *in, struct span *value);
void cursor_u32(struct json_cursor *in, uint32_t *value);
void cursor_number_skip(struct json_cursor *in); /* skips any JSON number */
/* The value at the cursor is a string. */
bool cursor_is_string(struct json_cursor *in);
void cursor_fail(struct json_cursor *in);
/* True: everything fitted, and nothing is left. */
bool cursor_done(struct json_cursor *in);

#endif
