/* SPDX-License-Identifier: Apache-2.0 */
/* base/text.h: a bounded writer into memory that somebody else owns.
 * Writing past the end sets `overflow` and changes nothing more; check it once at the end. */
#ifndef STAMPEDE_BASE_TEXT_H
#define STAMPEDE_BASE_TEXT_H

#include "base/span.h"

struct text {
    char *data;
    size_t size;
    size_t capacity;
    bool overflow;
};

static inline struct text text_in(void *data, size_t capacity)
{
    return (struct text){ .data = data, .capacity = capacity };
}
static inline struct span text_span(const struct text *text)
{
    return (struct span){ text->data, text->size };
}
static inline void text_add(struct text *text, struct span bytes)
{
    if (__builtin_expect(text->overflow || bytes.size > text->capacity - text->size, 0)) {
        text->overflow = true;
        return;
    }
    if (bytes.size == 0)
        return; /* nothing may come as NULL, which memcpy must not see */
    memcpy(text->data + text->size, bytes.data, bytes.size);
    text->size += bytes.size;
}
#define text_literal(text, literal) text_add((text), SPAN(literal))
void text_string(struct text *text, const char *string);
void text_u64(struct text *text, uint64_t value);
void text_i64(struct text *text, int64_t value);
void text_hex64(struct text *text, uint64_t value); /* 16 lower-case digits */
void text_hex(struct text *text, struct span bytes);
/* The string with its quotes, escaped for JSON; bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, struct span string);
/* The same without '<', which would end a script element that the JSON stands in. */
void text_json_script(struct text *text, struct span string);
/* The string as HTML shows it, in an element or within quotes. */
void text_html(struct text *text, struct span string);
/* A text of 1024 characters or more needs one byte of spare room (for the NUL of vsnprintf). */
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
