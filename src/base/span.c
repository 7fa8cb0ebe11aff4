/* SPDX-License-Identifier: Apache-2.0 */
#include "base/span.h"

enum { U64_DIGITS_MAX = 20, HEX64_DIGITS = 16 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool span_equal_ignoring_case(struct span a, struct span b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++) {
        if (a.data[i] != b.data[i] && lower(a.data[i]) != lower(b.data[i]))
            return false;
    }
    return true;
}

bool span_starts_with(struct span text, struct span prefix)
{
    return text.size >= prefix.size && span_equal(span_of(text.data, prefix.size), prefix);
}

bool span_ends_with(struct span text, struct span suffix)
{
    if (text.size < suffix.size)
        return false;
    if (suffix.size == 0)
        return true;
    return memcmp(text.data + (text.size - suffix.size), suffix.data, suffix.size) == 0;
}

bool span_equal_constant_time(struct span a, struct span b)
{
    if (a.size != b.size)
        return false;
    /* volatile: else the compiler may see that one difference decides, and leave the loop early */
    volatile unsigned char difference = 0;
    for (size_t i = 0; i < a.size; i++)
        difference = (unsigned char)(difference | (a.data[i] ^ b.data[i]));
    return difference == 0;
}

enum status span_to_u64(struct span text, uint64_t *value)
{
    if (text.size == 0 || text.size > U64_DIGITS_MAX)
        return STATUS_BAD_INPUT;
    if (text.data[0] == '0' && text.size > 1)
        return STATUS_BAD_INPUT;
    /* Nineteen digits always fit; only the twentieth can overflow. */
    size_t safe = text.size < U64_DIGITS_MAX ? text.size : U64_DIGITS_MAX - 1;
    uint64_t number = 0;
    for (size_t i = 0; i < safe; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9)
            return STATUS_BAD_INPUT;
        number = number * 10 + digit;
    }
    if (text.size == U64_DIGITS_MAX) {
        unsigned digit = (unsigned)(unsigned char)text.data[safe] - '0';
        if (digit > 9 || __builtin_mul_overflow(number, (uint64_t)10, &number)
            || __builtin_add_overflow(number, (uint64_t)digit, &number))
            return STATUS_BAD_INPUT;
    }
    *value = number;
    return STATUS_OK;
}

enum status span_to_u32(struct span text, uint32_t *value)
{
    uint64_t wide;
    if (span_to_u64(text, &wide) != STATUS_OK || wide > UINT32_MAX)
        return STATUS_BAD_INPUT;
    *value = (uint32_t)wide;
    return STATUS_OK;
}

enum status span_to_i64(struct span text, int64_t *value)
{
    bool negative = text.size > 0 && text.data[0] == '-';
    if (negative)
        text = span_of(text.data + 1, text.size - 1);
    uint64_t size;
    if (span_to_u64(text, &size) != STATUS_OK)
        return STATUS_BAD_INPUT;
    if (!negative) {
        if (size > INT64_MAX)
            return STATUS_BAD_INPUT;
        *value = (int64_t)size;
        return STATUS_OK;
    }
    if (size == 0 || size > (uint64_t)INT64_MAX + 1)
        return STATUS_BAD_INPUT;
    *value = -(int64_t)(size - 1) - 1; /* INT64_MIN has no positive twin */
    return STATUS_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum status span_to_bytes(struct span text, void *out, size_t bytes)
{
    uint8_t *to = out;
    if (text.size != 2 * bytes)
        return STATUS_BAD_INPUT;
    for (size_t i = 0; i < bytes; i++) {
        const int high = hex_digit(text.data[2 * i]), low = hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return STATUS_BAD_INPUT;
        to[i] = (uint8_t)(high * 16 + low);
    }
    return STATUS_OK;
}

enum status span_to_hex64(struct span text, uint64_t *value)
{
    if (text.size != HEX64_DIGITS)
        return STATUS_BAD_INPUT;
    uint64_t number = 0;
    for (size_t i = 0; i < HEX64_DIGITS; i++) {
        unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
        if (digit > 9) {
            digit = (unsigned)(unsigned char)text.data[i] - 'a';
            if (digit > 5)
                return STATUS_BAD_INPUT;
            digit += 10;
        }
        number = number << 4 | digit;
    }
    *value = number;
    return STATUS_OK;
}

bool span_take_until(struct span *text, char separator, struct span *part)
{
    if (text->size == 0)
        return false;
    const char *at = memchr(text->data, separator, text->size);
    if (at == NULL) {
        *part = *text;
        *text = span_of(text->data + text->size, 0);
        return true;
    }
    size_t taken = (size_t)(at - text->data);
    *part = span_of(text->data, taken);
    *text = span_of(at + 1, text->size - taken - 1);
    return true;
}

static bool has_byte(struct span bytes, char byte)
{
    return memchr(bytes.data, byte, bytes.size) != NULL;
}

struct span span_trim(struct span text, struct span what)
{
    while (text.size > 0 && has_byte(what, text.data[0]))
        text = span_of(text.data + 1, text.size - 1);
    while (text.size > 0 && has_byte(what, text.data[text.size - 1]))
        text.size--;
    return text;
}

bool span_take_u32(struct span *text, uint32_t *number)
{
    size_t digits = 0;
    while (digits < text->size && text->data[digits] >= '0' && text->data[digits] <= '9')
        digits++;
    if (span_to_u32(span_of(text->data, digits), number) != STATUS_OK)
        return false;
    *text = span_of(text->data + digits, text->size - digits);
    return true;
}
