/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http_scan.h: which byte may stand where in HTTP, one at a time by table and 16 at a time
 * with SSE2. No scan reads at or past `end`. Words are eight bytes of a line at once. Private to
 * the parser. */
#ifndef STAMPEDE_EDGE_HTTP_SCAN_H
#define STAMPEDE_EDGE_HTTP_SCAN_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    SCAN_MARGIN = 16, /* readable bytes before the place where a scan by 16 starts */
    SCAN_LONG = 48,   /* of a value that is looked at in one step: a pass */

    SCAN_TOKEN = 1,  /* RFC 9110 tchar: methods and field names */
    SCAN_HOST = 2,   /* reg-name, IP literal and port */
    SCAN_VALUE = 4,  /* field value without tab: visible, space, obs-text */
    SCAN_TARGET = 8, /* request target up to '?', '#' or its end */
};
#define SCAN_PLAIN (SCAN_VALUE | SCAN_TARGET)
#define SCAN_ALL (SCAN_PLAIN | SCAN_TOKEN | SCAN_HOST)

static const uint8_t scan_class[256] = {
    [' '] = SCAN_VALUE,
    ['"'] = SCAN_PLAIN,
    ['#'] = SCAN_VALUE | SCAN_TOKEN,
    ['?'] = SCAN_VALUE,
    ['!'] = SCAN_ALL,
    ['$'] = SCAN_ALL,
    ['%'] = SCAN_ALL,
    ['&'] = SCAN_ALL,
    ['\''] = SCAN_ALL,
    ['('] = SCAN_PLAIN | SCAN_HOST,
    [')'] = SCAN_PLAIN | SCAN_HOST,
    ['*'] = SCAN_ALL,
    ['+'] = SCAN_ALL,
    [','] = SCAN_PLAIN | SCAN_HOST,
    ['-'] = SCAN_ALL,
    ['.'] = SCAN_ALL,
    ['/'] = SCAN_PLAIN,
    ['0' ... '9'] = SCAN_ALL,
    [':'] = SCAN_PLAIN | SCAN_HOST,
    [';'] = SCAN_PLAIN | SCAN_HOST,
    ['<'] = SCAN_PLAIN,
    ['='] = SCAN_PLAIN | SCAN_HOST,
    ['>'] = SCAN_PLAIN,
    ['@'] = SCAN_PLAIN,
    ['A' ... 'Z'] = SCAN_ALL,
    ['['] = SCAN_PLAIN | SCAN_HOST,
    ['\\'] = SCAN_PLAIN,
    [']'] = SCAN_PLAIN | SCAN_HOST,
    ['^'] = SCAN_PLAIN | SCAN_TOKEN,
    ['_'] = SCAN_ALL,
    ['`'] = SCAN_PLAIN | SCAN_TOKEN,
    ['a' ... 'z'] = SCAN_ALL,
    ['{'] = SCAN_PLAIN,
    ['|'] = SCAN_PLAIN | SCAN_TOKEN,
    ['}'] = SCAN_PLAIN,
    ['~'] = SCAN_ALL,
    [0x80 ... 0xff] = SCAN_VALUE,
};

static inline bool scan_is(char byte, unsigned class)
{
    return (scan_class[(unsigned char)byte] & class) != 0;
}

/* The first byte that is not of the class, or end. */
static inline const char *scan_while(const char *at, const char *end, unsigned class)
{
    while (at < end && scan_is(*at, class))
        at++;
    return at;
}

#ifdef __SSE2__
static inline __m128i scan_load(const char *at)
{
    return _mm_loadu_si128((const void *)at);
}
/* The first byte in [at, end) whose bit is set by `stops_of` in its piece of 16, or end. The
 * last piece is read so that it ends at `end`: SCAN_MARGIN bytes before `at` must be readable,
 * and nothing past the end is read. */
#define SCAN_UNTIL(at, end, stops_of) \
    do { \
        const char *last_piece = (end)-SCAN_MARGIN; \
        for (; (at) <= last_piece; (at) += SCAN_MARGIN) { \
            unsigned stops = stops_of(scan_load(at)); \
            if (stops != 0) \
                return (at) + (unsigned)__builtin_ctz(stops); \
        } \
        unsigned last = stops_of(scan_load(last_piece)) >> ((at)-last_piece); \
        return last != 0 ? (at) + (unsigned)__builtin_ctz(last) : (end); \
    } while (0)

static inline unsigned scan_stops_value(__m128i bytes)
{
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(control, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))));
}
static inline unsigned scan_stops_target(__m128i bytes)
{
    __m128i outside = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21)); /* signed: also everything from 0x80 */
    outside = _mm_or_si128(outside, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
    outside = _mm_or_si128(outside, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('?')));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(outside, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#'))));
}
static inline unsigned scan_stops_colon(__m128i bytes)
{
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(':')));
}
/* The bytes from `first` on, `count` of them. */
static inline __m128i scan_range(__m128i bytes, char first, char count)
{
    const __m128i from = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(count - 1))), from);
}
/* All but letters, digits and -.: */
static inline unsigned scan_stops_plain(__m128i bytes)
{
    const __m128i letter = scan_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
    const __m128i other = _mm_andnot_si128(
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('/')), scan_range(bytes, '-', ':' - '-' + 1));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(letter, other)) ^ 0xffff;
}
#else
#define SCAN_UNTIL(at, end, stops_of) \
    do { \
        while ((at) < (end) && !stops_of(*(at))) \
            (at)++; \
        return (at); \
    } while (0)
static inline bool scan_stops_value(char byte)
{
    return !scan_is(byte, SCAN_VALUE);
}
static inline bool scan_stops_target(char byte)
{
    return !scan_is(byte, SCAN_TARGET);
}
static inline bool scan_stops_colon(char byte)
{
    return byte == ':';
}
static inline bool scan_stops_plain(char byte)
{
    return !scan_is(byte, SCAN_TOKEN & SCAN_HOST);
}
#endif

/* The first byte that can't be in a field value (a tab stops too), or end. */
static inline const char *scan_value(const char *at, const char *end)
{
    SCAN_UNTIL(at, end, scan_stops_value);
}

/* The first byte that can't be in a request target, or '?' or '#', or end. */
static inline const char *scan_target(const char *at, const char *end)
{
    SCAN_UNTIL(at, end, scan_stops_target);
}

/* The first colon, or end. */
static inline const char *scan_colon(const char *at, const char *end)
{
    SCAN_UNTIL(at, end, scan_stops_colon);
}

/* Where the first colon of the SCAN_MARGIN bytes from `at` on is, or SCAN_MARGIN. */
static inline size_t scan_first_colon(const char *at)
{
#ifdef __SSE2__
    return (unsigned)__builtin_ctz(scan_stops_colon(scan_load(at)) | 1u << SCAN_MARGIN);
#else
    return (size_t)(scan_colon(at, at + SCAN_MARGIN) - at);
#endif
}

/* The first byte that is not a letter, a digit or one of -.: (all fine in names and hosts); the
 * table knows the rest. */
static inline const char *scan_plain(const char *at, const char *end)
{
    SCAN_UNTIL(at, end, scan_stops_plain);
}

/* The same for a text of less than SCAN_MARGIN bytes with nothing readable before it; `limit` is
 * the end of what is readable after it. */
static inline const char *scan_plain_short(const char *at, const char *end, const char *limit)
{
#ifdef __SSE2__
    if (limit - at < SCAN_MARGIN)
        return at;
    unsigned stops = scan_stops_plain(scan_load(at)) & ((1u << (end - at)) - 1);
    return stops != 0 ? at + (unsigned)__builtin_ctz(stops) : end;
#else
    (void)limit;
    return scan_plain(at, end);
#endif
}

/* Whether all of SCAN_LONG bytes are visible ASCII, without looking where one is not. */
static inline bool scan_is_visible(const char *at)
{
#ifdef __SSE2__
    const __m128i a = scan_load(at), b = scan_load(at + 16), c = scan_load(at + 32);
    const __m128i low = _mm_min_epu8(_mm_min_epu8(a, b), c), high = _mm_max_epu8(_mm_max_epu8(a, b), c);
    const __m128i outside =
        _mm_or_si128(_mm_subs_epu8(_mm_set1_epi8('!'), low), _mm_subs_epu8(high, _mm_set1_epi8('~')));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(outside, _mm_setzero_si128())) == 0xffff;
#else
    for (size_t i = 0; i < SCAN_LONG; i++)
        if (at[i] <= ' ' || at[i] > '~')
            return false;
    return true;
#endif
}

static inline bool scan_is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

static inline uint64_t word_of(const char *eight)
{
    return bytes_get_u64(eight);
}

/* Whether the first `bytes` of the word are those of the literal. */
static inline __attribute__((always_inline)) bool word_starts(
    uint64_t word, const char *eight, unsigned bytes)
{
    uint64_t care = UINT64_MAX >> (64 - 8 * bytes);
    return (word & care) == (word_of(eight) & care);
}

/* The same, ignoring case; the literal is lower case. Only where it has a letter is 0x20 set:
 * elsewhere that would turn a CR into '-'. */
static inline __attribute__((always_inline)) bool word_names(
    uint64_t word, const char *eight, unsigned bytes)
{
    uint64_t letters = (word_of(eight) & 0x4040404040404040) >> 1;
    return word_starts(word | letters, eight, bytes);
}

#endif
