/* SPDX-License-Identifier: Apache-2.0 */
/* base/span.h: bytes that somebody else owns, as (pointer, size). Never NUL-terminated by contract.
 * The take functions read from the front; on failure the span does not move. */
#ifndef STAMPEDE_BASE_SPAN_H
#define STAMPEDE_BASE_SPAN_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const char *data;
    size_t size;
};

#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })
#define SPAN_NONE ((struct span){ NULL, 0 })

static inline struct span span_of(const void *data, size_t size)
{
    return (struct span){ data, size };
}
static inline struct span span_from_string(const char *text)
{
    return (struct span){ text, text == NULL ? 0 : strlen(text) };
}
static inline bool span_equal(struct span a, struct span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
bool span_equal_ignoring_case(struct span a, struct span b); /* ASCII only */
bool span_starts_with(struct span text, struct span prefix);
struct span span_trim(struct span text, struct span what); /* without these bytes at both ends */
bool span_ends_with(struct span text, struct span suffix);
/* Equal or not in a time that depends on the sizes only. */
bool span_equal_constant_time(struct span a, struct span b);

/* Whole span as a decimal number: digits only, no sign, no leading zero except "0", no overflow. */
MUST_CHECK enum status span_to_u64(struct span text, uint64_t *value);
MUST_CHECK enum status span_to_u32(struct span text, uint32_t *value);
/* The same with an optional leading '-' ("-0" is refused). */
MUST_CHECK enum status span_to_i64(struct span text, int64_t *value);
/* Whole span as exactly 16 lower-case hex digits. */
MUST_CHECK enum status span_to_hex64(struct span text, uint64_t *value);
/* Exactly so many bytes, in lower-case hex digits. */
MUST_CHECK enum status span_to_bytes(struct span text, void *out, size_t bytes);
/* Takes up to the next `separator` (which is dropped), or everything. False when the span is
 * empty. */
bool span_take_until(struct span *text, char separator, struct span *part);
/* Takes the digits at the front as a number. False: there are none, or it is too large; nothing is taken. */
bool span_take_u32(struct span *text, uint32_t *number);

#endif
