/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/bytes.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    U64_DIGITS_MAX = 20,
    HEX64_DIGITS = 16,
    FORMAT_EXACT_MAX = 1024, /* longest formatted text that may fill the room to its last byte */
};

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
    static const uint64_t powers[U64_DIGITS_MAX] = { 0, 10, 100, 1000, 10000, 100000, 1000000,
        10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
        100000000000000, 1000000000000000, 10000000000000000, 100000000000000000,
        1000000000000000000, 10000000000000000000u };
    const unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    const size_t about = bits * 1233 >> 12; /* log10(2) is 1233 / 4096: this many digits, or one more */
    return about + (value >= powers[about]);
}

/* Eight digits at once, those of a small number with zeros in front; the first one is the lowest byte.
 * Splits into halves, pairs and digits, all parts of the word at the same time. */
static uint64_t decimal_of_u32(uint32_t value)
{
    uint64_t x = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds = x * 10486 >> 20 & 0x0000007f0000007fu;
    x = hundreds | (x - hundreds * 100) << 16;
    const uint64_t tens = x * 103 >> 10 & 0x000f000f000f000fu;
    x = tens | (x - tens * 10) << 8;
    return x | 0x3030303030303030u;
}

/* The last `digits` (1 … 8) of a number below 10^8, and not a byte more. */
static inline void decimal_put(char *at, uint32_t value, size_t digits)
{
    const uint64_t word = decimal_of_u32(value) >> (64 - 8 * digits);
    if (digits >= 4) { /* two stores that overlap */
        bytes_put_u32(at, (uint32_t)word);
        bytes_put_u32(at + digits - 4, (uint32_t)(word >> 8 * (digits - 4)));
        return;
    }
    for (size_t i = 0; i < digits; i++)
        at[i] = (char)(word >> 8 * i);
}

void text_u64(struct text *text, uint64_t value)
{
    enum { PART_DIGITS = 8, PART = 100000000 };
    size_t digits = decimal_digits(value);
    char *at = text_room(text, digits);
    if (at == NULL)
        return;
    if (value < 10) {
        *at = (char)('0' + value);
        return;
    }
    for (; value >= PART; value /= PART) {
        digits -= PART_DIGITS;
        bytes_put_u64(at + digits, decimal_of_u32((uint32_t)(value % PART)));
    }
    decimal_put(at, (uint32_t)value, digits);
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

/* Sixteen hex digits: the nibbles spread over the bytes, and those above 9 lifted from ':' to 'a'. */
#ifdef __SSE2__
static inline void hex_put(char *at, uint64_t value)
{
    const __m128i bytes = _mm_cvtsi64_si128((long long)__builtin_bswap64(value));
    const __m128i nibble = _mm_set1_epi8(15);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble);
    const __m128i digits = _mm_unpacklo_epi8(high, _mm_and_si128(bytes, nibble));
    const __m128i lift =
        _mm_and_si128(_mm_cmpgt_epi8(digits, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '9' - 1));
    _mm_storeu_si128((__m128i *)(void *)at, _mm_add_epi8(_mm_add_epi8(digits, _mm_set1_epi8('0')), lift));
}
#else
static inline void hex_put(char *at, uint64_t value)
{
    for (int i = 0; i < HEX64_DIGITS; i++)
        at[i] = hex_digits[value >> (60 - 4 * i) & 15];
}
#endif

void text_hex64(struct text *text, uint64_t value)
{
    char *at = text_room(text, HEX64_DIGITS);
    if (at != NULL)
        hex_put(at, value);
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
