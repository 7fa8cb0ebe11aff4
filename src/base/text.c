/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/bytes.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    U64_DIGITS_MAX = 20,
    HEX64_DIGITS = 16,
    FORMAT_EXACT_MAX = 1024, /* longest formatted text that may fill the room to its last byte */
};

static const char digit_pairs[201] = "00010203040506070809"
                                     "10111213141516171819"
                                     "20212223242526272829"
                                     "30313233343536373839"
                                     "40414243444546474849"
                                     "50515253545556575859"
                                     "60616263646566676869"
                                     "70717273747576777879"
                                     "80818283848586878889"
                                     "90919293949596979899";
static const char hex_digits[] = "0123456789abcdef";

static char *text_room(struct text *text, size_t bytes)
{
    if (__builtin_expect(text->overflow || bytes > text->capacity - text->size, 0)) {
        text->overflow = true;
        return NULL;
    }
    char *at = text->data + text->size;
    text->size += bytes;
    return at;
}

void text_string(struct text *text, const char *string)
{
    text_add(text, span_from_string(string));
}

static size_t decimal_digits(uint64_t value)
{
    size_t digits = 1;
    for (;; value /= 10000, digits += 4) {
        if (value < 10)
            return digits;
        if (value < 100)
            return digits + 1;
        if (value < 1000)
            return digits + 2;
        if (value < 10000)
            return digits + 3;
    }
}

void text_u64(struct text *text, uint64_t value)
{
    size_t digits = decimal_digits(value);
    char *at = text_room(text, digits);
    if (at == NULL)
        return;
    char *end = at + digits;
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(end - 2, digit_pairs + value * 2, 2);
    else
        end[-1] = (char)('0' + value);
}

void text_i64(struct text *text, int64_t value)
{
    if (value >= 0) {
        text_u64(text, (uint64_t)value);
        return;
    }
    uint64_t size = 0 - (uint64_t)value;
    /* Both or nothing: a lone '-' at the end would be a half-written number. */
    if (text->overflow || decimal_digits(size) + 1 > text->capacity - text->size) {
        text->overflow = true;
        return;
    }
    text_literal(text, "-");
    text_u64(text, size);
}

/* Eight hex digits at once: spread the nibbles over the bytes, then lift those above 9 from ':'
 * to 'a'. */
static uint64_t hex_of_u32(uint32_t value)
{
    uint64_t x = __builtin_bswap32(value); /* first digit goes to the lowest address */
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x >> 4 & 0x000f000f000f000fu) | (x & 0x000f000f000f000fu) << 8;
    uint64_t above_nine = (x + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    return x + 0x3030303030303030u + above_nine * ('a' - '9' - 1);
}

void text_hex64(struct text *text, uint64_t value)
{
    char *at = text_room(text, HEX64_DIGITS);
    if (at == NULL)
        return;
    bytes_put_u64(at, hex_of_u32((uint32_t)(value >> 32)));
    bytes_put_u64(at + 8, hex_of_u32((uint32_t)value));
}

void text_hex(struct text *text, struct span bytes)
{
    if (bytes.size > SIZE_MAX / 2) {
        text->overflow = true;
        return;
    }
    char *at = text_room(text, bytes.size * 2);
    if (at == NULL)
        return;
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        at[2 * i] = hex_digits[byte >> 4];
        at[2 * i + 1] = hex_digits[byte & 15];
    }
}

void text_html(struct text *text, struct span string)
{
    size_t kept = 0;
    for (size_t i = 0; i < string.size; i++) {
        const char c = string.data[i];
        const char *as = c == '&' ? "&amp;"
            : c == '<'            ? "&lt;"
            : c == '>'            ? "&gt;"
            : c == '"'            ? "&quot;"
            : c == '\''           ? "&#39;"
                                  : NULL;
        if (as == NULL)
            continue;
        text_add(text, span_of(string.data + kept, i - kept));
        text_string(text, as);
        kept = i + 1;
    }
    text_add(text, span_of(string.data + kept, string.size - kept));
}

static void text_json_escape(struct text *text, unsigned char c)
{
    static const char plain[] = "\"\\\n\r\t", short_form[] = "\"\\nrt";
    const char *found = memchr(plain, c, sizeof plain - 1);
    if (found != NULL) {
        text_add(text, span_of((const char[]){ '\\', short_form[found - plain] }, 2));
        return;
    }
    char escape[6] = { '\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 15] };
    text_add(text, span_of(escape, sizeof escape));
}

void text_json(struct text *text, struct span string)
{
    const unsigned char *data = (const unsigned char *)string.data;
    size_t run = 0; /* start of the bytes that need no change and are not copied yet */
    size_t i = 0;
    text_literal(text, "\"");
    while (i < string.size) {
        unsigned char c = data[i];
        size_t plain = c >= 0x80 ? utf8_sequence(span_of(data + i, string.size - i))
                                 : (size_t)(c >= 0x20 && c != '"' && c != '\\');
        if (plain > 0) {
            i += plain;
            continue;
        }
        text_add(text, span_of(data + run, i - run));
        if (c >= 0x80)
            text_literal(text, "\xef\xbf\xbd");
        else
            text_json_escape(text, c);
        run = ++i;
    }
    if (i > run)
        text_add(text, span_of(data + run, i - run));
    text_literal(text, "\"");
}

void text_format(struct text *text, const char *format, ...)
{
    if (text->overflow)
        return;
    size_t room = text->capacity - text->size;
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(room == 0 ? NULL : text->data + text->size, room, format, arguments);
    va_end(arguments);
    if (size >= 0 && (size_t)size < room) {
        text->size += (size_t)size;
        return;
    }
    if (size < 0 || (size_t)size > room || size >= FORMAT_EXACT_MAX) {
        text->overflow = true;
        return;
    }
    /* It fits exactly, but vsnprintf gave the last byte to its NUL. */
    char exact[FORMAT_EXACT_MAX];
    va_start(arguments, format);
    vsnprintf(exact, sizeof exact, format, arguments);
    va_end(arguments);
    text_add(text, span_of(exact, (size_t)size));
}

void text_json_script(struct text *text, struct span string)
{
    const size_t from = text->size;
    text_json(text, string);
    for (size_t i = from; i < text->size && !text->overflow; i++) {
        if (text->data[i] != '<')
            continue;
        if (text_room(text, 5) == NULL)
            return;
        memmove(text->data + i + 6, text->data + i + 1, text->size - i - 6);
        memcpy(text->data + i, "\\u003c", 6);
    }
}
