/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

enum { STRANGER = 0x80 }; /* not in the alphabet; survives being OR-ed with any six bits */

static unsigned char url_values[256], standard_values[256];

/* Before main, so that no call has to ask whether the tables are there. */
__attribute__((constructor)) static void values_fill(void)
{
    memset(url_values, STRANGER, sizeof url_values);
    for (unsigned i = 0; i < 64; i++)
        url_values[(unsigned char)alphabet[i]] = (unsigned char)i;
    memcpy(standard_values, url_values, sizeof standard_values);
    standard_values['-'] = standard_values['_'] = STRANGER;
    standard_values['+'] = 62;
    standard_values['/'] = 63;
}

size_t base64_encode(const void *data, size_t bytes, char *out)
{
    const unsigned char *at = data;
    char *to = out;
    for (; bytes >= 3; at += 3, bytes -= 3, to += 4) {
        uint32_t group = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        to[0] = alphabet[group >> 18];
        to[1] = alphabet[group >> 12 & 63];
        to[2] = alphabet[group >> 6 & 63];
        to[3] = alphabet[group & 63];
    }
    if (bytes > 0) {
        uint32_t group = (uint32_t)at[0] << 16 | (bytes == 2 ? (uint32_t)at[1] << 8 : 0);
        *to++ = alphabet[group >> 18];
        *to++ = alphabet[group >> 12 & 63];
        if (bytes == 2)
            *to++ = alphabet[group >> 6 & 63];
    }
    return (size_t)(to - out);
}

/* Strangers are gathered and judged once after the loop: good input, the common case, never
 * branches on bytes. */
static inline enum status decode_by(
    const unsigned char values[256], struct span text, void *out, size_t *bytes)
{
    const unsigned char *at = (const unsigned char *)text.data;
    unsigned char *to = out;
    size_t groups = text.size / 4;
    size_t rest = text.size % 4;
    if (rest == 1)
        return STATUS_BAD_INPUT;
    size_t decoded = groups * 3 + (rest > 0 ? rest - 1 : 0);
    if (decoded > *bytes)
        return STATUS_FULL;
    unsigned strangers = 0;
    for (; groups > 0; groups--, at += 4, to += 3) {
        unsigned a = values[at[0]], b = values[at[1]], c = values[at[2]], d = values[at[3]];
        strangers |= a | b | c | d;
        to[0] = (unsigned char)(a << 2 | b >> 4);
        to[1] = (unsigned char)(b << 4 | c >> 2);
        to[2] = (unsigned char)(c << 6 | d);
    }
    /* Bits past the last byte would be a second spelling of the same bytes, so they are refused. */
    unsigned stray = 0;
    if (rest > 0) {
        unsigned a = values[at[0]], b = values[at[1]], c = rest == 3 ? values[at[2]] : 0;
        strangers |= a | b | c;
        to[0] = (unsigned char)(a << 2 | b >> 4);
        stray = b & 15;
        if (rest == 3) {
            to[1] = (unsigned char)(b << 4 | c >> 2);
            stray = c & 3;
        }
    }
    if ((strangers & STRANGER) != 0 || stray != 0)
        return STATUS_BAD_INPUT;
    *bytes = decoded;
    return STATUS_OK;
}

enum status base64_decode(struct span text, void *out, size_t *bytes)
{
    return decode_by(url_values, text, out, bytes);
}

size_t base64_standard_encode(const void *data, size_t bytes, char *out)
{
    size_t size = base64_encode(data, bytes, out);
    for (size_t i = 0; i < size; i++) {
        if (out[i] == '-')
            out[i] = '+';
        else if (out[i] == '_')
            out[i] = '/';
    }
    while (size % 4 != 0)
        out[size++] = '=';
    return size;
}

enum status base64_standard_decode(struct span text, void *out, size_t *bytes)
{
    if (text.size % 4 != 0)
        return STATUS_BAD_INPUT;
    for (int padding = 0; padding < 2 && text.size > 0 && text.data[text.size - 1] == '='; padding++)
        text.size--;
    return decode_by(standard_values, text, out, bytes);
}
