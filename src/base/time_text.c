/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DAY_S = 24 * 60 * 60, DATE_BYTES = 16, YEARS_MAX = 9999 };
#define TIME_MAX_MS (UINT64_C(253402300800) * 1000) /* the year 10000 */

static bool digits_take(const char *text, size_t count, uint32_t *value)
{
    *value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (uint32_t)(text[i] - '0');
    }
    return true;
}

/* Days from 1970-01-01 in the Gregorian calendar, counted in years that begin in March. */
static uint64_t days_since_1970(uint32_t year, uint32_t month, uint32_t day)
{
    const uint64_t years = month <= 2 ? year - 1 : year;
    const uint64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return years * 365 + years / 4 - years / 100 + years / 400 + day_of_year - 719468;
}

static uint32_t days_of_month(uint32_t year, uint32_t month)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

/* ".250" at the front, if it is there; what follows stays. */
static bool fraction_take(struct span *text, uint32_t *milliseconds)
{
    size_t digits = 0;
    *milliseconds = 0;
    if (text->size == 0 || text->data[0] != '.')
        return true;
    while (digits + 1 < text->size && text->data[digits + 1] >= '0' && text->data[digits + 1] <= '9')
        digits++;
    if (digits < 1 || digits > 3 || !digits_take(text->data + 1, digits, milliseconds))
        return false;
    for (size_t given = digits; given < 3; given++)
        *milliseconds *= 10;
    *text = span_of(text->data + 1 + digits, text->size - 1 - digits);
    return true;
}

/* "Z" or "+08:00": seconds east of Greenwich. */
static bool offset_parse(struct span text, int64_t *seconds)
{
    uint32_t hours, minutes;
    *seconds = 0;
    if (span_equal(text, SPAN("Z")))
        return true;
    if (text.size != 6 || (text.data[0] != '+' && text.data[0] != '-') || text.data[3] != ':'
        || !digits_take(text.data + 1, 2, &hours) || !digits_take(text.data + 4, 2, &minutes)
        || hours > 14 || minutes > 59)
        return false;
    *seconds = (int64_t)hours * 3600 + minutes * 60;
    if (text.data[0] == '-')
        *seconds = -*seconds;
    return true;
}

/* The zone of this machine. A time that its clocks leave out is none. */
static bool local_seconds(const struct tm *parts, int64_t *seconds)
{
    struct tm asked = *parts;
    asked.tm_isdst = -1;
    const time_t moment = mktime(&asked);
    *seconds = moment;
    return moment != (time_t)-1 && asked.tm_hour == parts->tm_hour && asked.tm_min == parts->tm_min;
}

/* "2026-11-16T20:00" at the front, with or without seconds; what follows stays. */
static bool date_take(struct span *text, struct tm *parts)
{
    uint32_t year, month, day, hour, minute, second = 0;
    const char *at = text->data;
    if (text->size < DATE_BYTES || at[4] != '-' || at[7] != '-' || at[10] != 'T' || at[13] != ':'
        || !digits_take(at, 4, &year) || !digits_take(at + 5, 2, &month) || !digits_take(at + 8, 2, &day)
        || !digits_take(at + 11, 2, &hour) || !digits_take(at + 14, 2, &minute))
        return false;
    size_t size = DATE_BYTES;
    if (text->size >= DATE_BYTES + 3 && at[DATE_BYTES] == ':') {
        if (!digits_take(at + DATE_BYTES + 1, 2, &second))
            return false;
        size += 3;
    }
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)
        || hour > 23 || minute > 59 || second > 59)
        return false;
    *parts = (struct tm){ .tm_year = (int)year - 1900,
        .tm_mon = (int)month - 1,
        .tm_mday = (int)day,
        .tm_hour = (int)hour,
        .tm_min = (int)minute,
        .tm_sec = (int)second };
    *text = span_of(at + size, text->size - size);
    return true;
}

static int64_t utc_seconds(const struct tm *parts)
{
    const uint64_t days = days_since_1970(
        (uint32_t)parts->tm_year + 1900, (uint32_t)parts->tm_mon + 1, (uint32_t)parts->tm_mday);
    return (int64_t)(days * DAY_S) + parts->tm_hour * 3600 + parts->tm_min * 60 + parts->tm_sec;
}

static enum status iso_parse(struct span text, uint64_t *ms)
{
    struct tm parts;
    uint32_t milliseconds;
    int64_t seconds, offset;
    if (!date_take(&text, &parts) || !fraction_take(&text, &milliseconds))
        return STATUS_BAD_INPUT;
    if (text.size == 0) {
        if (!local_seconds(&parts, &seconds))
            return STATUS_BAD_INPUT;
    } else {
        if (!offset_parse(text, &offset))
            return STATUS_BAD_INPUT;
        seconds = utc_seconds(&parts) - offset;
    }
    if (seconds < 0)
        return STATUS_BAD_INPUT;
    *ms = (uint64_t)seconds * 1000 + milliseconds;
    return STATUS_OK;
}

static enum status relative_parse(struct span text, uint64_t now_ms, uint64_t *ms)
{
    static const struct {
        struct span name;
        uint64_t ms;
    } units[] = { { { "ms", 2 }, 1 }, { { "s", 1 }, 1000 }, { { "m", 1 }, 60 * 1000 },
        { { "h", 1 }, 3600 * 1000 }, { { "d", 1 }, (uint64_t)DAY_S * 1000 } };
    size_t digits = 1;
    while (digits < text.size && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    const struct span unit = span_of(text.data + digits, text.size - digits);
    uint64_t count;
    if (span_to_u64(span_of(text.data + 1, digits - 1), &count) != STATUS_OK)
        return STATUS_BAD_INPUT;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!span_equal(unit, units[i].name))
            continue;
        if (count > TIME_MAX_MS / units[i].ms)
            return STATUS_BAD_INPUT;
        *ms = now_ms + count * units[i].ms;
        return STATUS_OK;
    }
    return STATUS_BAD_INPUT;
}

enum status time_text_parse(struct span text, uint64_t now_ms, uint64_t *ms)
{
    uint64_t number;
    if (text.size > 1 && text.data[0] == '+' && now_ms != 0)
        return relative_parse(text, now_ms, ms);
    if (span_to_u64(text, &number) != STATUS_OK)
        return iso_parse(text, ms);
    if (number >= TIME_MAX_MS)
        return STATUS_BAD_INPUT;
    *ms = number;
    return STATUS_OK;
}

void time_text_format(uint64_t ms, char out[TIME_TEXT_BYTES])
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    if (ms >= TIME_MAX_MS || gmtime_r(&seconds, &parts) == NULL) {
        snprintf(out, TIME_TEXT_BYTES, "%llu", (unsigned long long)ms);
        return;
    }
    snprintf(out, TIME_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ",
        (parts.tm_year + 1900) % (YEARS_MAX + 1), (parts.tm_mon + 1) % 100, parts.tm_mday % 100,
        parts.tm_hour % 100, parts.tm_min % 100, parts.tm_sec % 100, (unsigned)(ms % 1000));
}

void time_text_format_local(uint64_t ms, char out[TIME_TEXT_BYTES])
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    if (ms >= TIME_MAX_MS || localtime_r(&seconds, &parts) == NULL || parts.tm_gmtoff == 0) {
        time_text_format(ms, out);
        return;
    }
    const int east = (int)(parts.tm_gmtoff / 60), minutes = abs(east);
    snprintf(out, TIME_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03u%c%02d:%02d",
        (parts.tm_year + 1900) % (YEARS_MAX + 1), (parts.tm_mon + 1) % 100, parts.tm_mday % 100,
        parts.tm_hour % 100, parts.tm_min % 100, parts.tm_sec % 100, (unsigned)(ms % 1000),
        east < 0 ? '-' : '+', minutes / 60 % 24, minutes % 60);
}
