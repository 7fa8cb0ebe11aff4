/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <assert.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

static __attribute__((noinline, cold)) bool decode_48_by_table(const char *text, uint8_t *out)
{
    size_t bytes = BASE64_48_BYTES;
    return decode_by(url_values, span_of(text, BASE64_48_CHARS), out, &bytes) == STATUS_OK;
}

#ifdef __x86_64__
/* Sixteen characters to twelve bytes. The high half of a character says which run of the alphabet it is
 * in, and so what to add; `bad` gets a bit where its low half does not belong to that run. '_' is the one
 * character that shares its high half with another run. */
__attribute__((target("avx"))) static inline __m128i decode_16(__m128i text, __m128i *bad)
{
    const __m128i run_of_high = _mm_setr_epi8(32, 32, 1, 2, 4, 8, 4, 16, 32, 32, 32, 32, 32, 32, 32, 32);
    const __m128i runs_without_low =
        _mm_setr_epi8(37, 33, 33, 33, 33, 33, 33, 33, 33, 33, 35, 59, 59, 58, 59, 51);
    const __m128i add_to_high = _mm_setr_epi8(
        0, 0, 62 - '-', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 63 - '_', 0, 0);
    const __m128i half = _mm_set1_epi8(15);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(text, 4), half);
    const __m128i low = _mm_and_si128(text, half);
    *bad = _mm_or_si128(*bad,
        _mm_and_si128(_mm_shuffle_epi8(run_of_high, high), _mm_shuffle_epi8(runs_without_low, low)));
    const __m128i underscore =
        _mm_and_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('_')), _mm_set1_epi8(8));
    const __m128i six =
        _mm_add_epi8(text, _mm_shuffle_epi8(add_to_high, _mm_or_si128(high, underscore)));
    const __m128i twelve = _mm_maddubs_epi16(six, _mm_set1_epi32(0x01400140));
    const __m128i three_bytes = _mm_madd_epi16(twelve, _mm_set1_epi32(0x00011000));
    return _mm_shuffle_epi8(
        three_bytes, _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
}

__attribute__((target("avx"))) static bool decode_48_by_instructions(const char *text, uint8_t *out)
{
    static_assert(BASE64_48_BYTES + 4 == BASE64_48_ROOM, "the last store reaches so far");
    __m128i bad = _mm_setzero_si128();
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        const __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
        _mm_storeu_si128((__m128i *)(void *)(out + 12 * i), decode_16(part, &bad));
    }
    return _mm_testz_si128(bad, bad) != 0;
}

static bool has_avx;
__attribute__((constructor)) static void processor_ask(void)
{
    has_avx = __builtin_cpu_supports("avx") > 0;
}

bool base64_decode_48(const char text[BASE64_48_CHARS], uint8_t out[BASE64_48_ROOM])
{
    return __builtin_expect(has_avx, 1) ? decode_48_by_instructions(text, out)
                                        : decode_48_by_table(text, out);
}
#else
bool base64_decode_48(const char text[BASE64_48_CHARS], uint8_t out[BASE64_48_ROOM])
{
    return decode_48_by_table(text, out);
}
#endif

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
