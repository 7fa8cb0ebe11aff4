#include "wiring/time_text.h"

#include <stdio.h>
#include <time.h>

enum { DAY_S = 24 * 60 * 60, ISO_DATE_BYTES = 19, YEARS_MAX = 9999 };
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

/* ".250Z" or "Z" */
static bool fraction_parse(struct span text, uint32_t *milliseconds)
{
    *milliseconds = 0;
    if (text.size == 0 || text.data[text.size - 1] != 'Z')
        return false;
    if (text.size == 1)
        return true;
    if (text.data[0] != '.' || text.size < 3 || text.size > 5)
        return false;
    if (!digits_take(text.data + 1, text.size - 2, milliseconds))
        return false;
    for (size_t given = text.size - 2; given < 3; given++)
        *milliseconds *= 10;
    return true;
}

static enum status iso_parse(struct span text, uint64_t *ms)
{
    uint32_t year, month, day, hour, minute, second, milliseconds;
    const char *at = text.data;
    if (text.size <= ISO_DATE_BYTES)
        return STATUS_BAD_INPUT;
    const bool separated =
        at[4] == '-' && at[7] == '-' && at[10] == 'T' && at[13] == ':' && at[16] == ':';
    if (!separated || !digits_take(at, 4, &year) || !digits_take(at + 5, 2, &month)
        || !digits_take(at + 8, 2, &day) || !digits_take(at + 11, 2, &hour)
        || !digits_take(at + 14, 2, &minute) || !digits_take(at + 17, 2, &second)
        || !fraction_parse(span_of(at + ISO_DATE_BYTES, text.size - ISO_DATE_BYTES), &milliseconds))
        return STATUS_BAD_INPUT;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)
        || hour > 23 || minute > 59 || second > 59)
        return STATUS_BAD_INPUT;
    const uint64_t seconds =
        days_since_1970(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second;
    *ms = seconds * 1000 + milliseconds;
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
