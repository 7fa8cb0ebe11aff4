/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/timetable_rules.h"

#include <stdio.h>

enum { MINUTE_MS = 60 * 1000, THURSDAY = 3, YEAR_LAST = 9999 };

uint32_t timetable_day_at(const struct timetable *timetable, uint64_t ms)
{
    const int64_t there = (int64_t)ms + (int64_t)timetable->offset_min * MINUTE_MS;
    return there < 0 ? 0 : (uint32_t)((uint64_t)there / DAY_MS);
}

struct timetable_day timetable_day_plain(const struct timetable *timetable, uint32_t day)
{
    return (struct timetable_day){
        .timetable = timetable->id, .day = day, .state = DAY_PLANNED, .start_minute = MINUTE_OF_TIMETABLE
    };
}

struct session_times timetable_times(const struct timetable *timetable, const struct timetable_day *day)
{
    const uint32_t minute = day->start_minute < DAY_MINUTES ? day->start_minute : timetable->start_minute;
    const uint32_t duration_s = day->duration_s != 0 ? day->duration_s : timetable->duration_s;
    const int64_t day_ms = (int64_t)(day->day * DAY_MS) - (int64_t)timetable->offset_min * MINUTE_MS;
    struct session_times times = { .day_ms = day_ms < 0 ? 0 : (uint64_t)day_ms };
    times.start_ms = times.day_ms + (uint64_t)minute * MINUTE_MS;
    times.end_ms = times.start_ms + (uint64_t)duration_s * 1000;
    return times;
}

/* A day that somebody edited is held, whatever day of the week it is. */
static bool is_edited(const struct timetable_day *day)
{
    return day->start_minute < DAY_MINUTES || day->duration_s != 0;
}

/* The first day of 1970 was a Thursday. */
static bool is_weekday(const struct timetable *timetable, uint32_t day)
{
    return (timetable->weekdays >> (day + THURSDAY) % 7 & 1) != 0;
}

enum session_step timetable_step(
    const struct timetable *timetable, const struct timetable_day *day, uint64_t now_ms)
{
    const struct session_times times = timetable_times(timetable, day);
    if (day->state != DAY_PLANNED)
        return SESSION_DECIDED;
    if (!is_edited(day) && (!is_weekday(timetable, day->day) || times.start_ms < timetable->since_ms))
        return SESSION_NOT_HELD;
    if (now_ms >= times.end_ms)
        return SESSION_MISSED;
    return now_ms + (uint64_t)timetable->ahead_s * 1000 >= times.start_ms ? SESSION_MAKE : SESSION_WAIT;
}

static bool is_leap(uint32_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static uint32_t month_days(uint32_t year, uint32_t month)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

/* Exactly so many digits. */
static bool digits_take(struct span *text, uint32_t count, uint32_t *value)
{
    *value = 0;
    if (text->size < count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (text->data[i] < '0' || text->data[i] > '9')
            return false;
        *value = *value * 10 + (uint32_t)(text->data[i] - '0');
    }
    *text = span_of(text->data + count, text->size - count);
    return true;
}

static bool mark_take(struct span *text, char mark)
{
    if (text->size == 0 || text->data[0] != mark)
        return false;
    *text = span_of(text->data + 1, text->size - 1);
    return true;
}

bool day_parse(struct span text, uint32_t *day)
{
    uint32_t year, month, date, days = 0;
    if (!digits_take(&text, 4, &year) || !mark_take(&text, '-') || !digits_take(&text, 2, &month)
        || !mark_take(&text, '-') || !digits_take(&text, 2, &date) || text.size > 0)
        return false;
    if (year < 1970 || month < 1 || month > 12 || date < 1 || date > month_days(year, month))
        return false;
    for (uint32_t y = 1970; y < year; y++)
        days += is_leap(y) ? 366 : 365;
    for (uint32_t m = 1; m < month; m++)
        days += month_days(year, m);
    *day = days + date - 1;
    return true;
}

bool minute_parse(struct span text, uint32_t *minute)
{
    uint32_t hour, part;
    if (!digits_take(&text, 2, &hour) || !mark_take(&text, ':') || !digits_take(&text, 2, &part)
        || text.size > 0 || hour > 23 || part > 59)
        return false;
    *minute = hour * 60 + part;
    return true;
}

void day_format(uint32_t day, char out[DAY_TEXT_BYTES])
{
    uint32_t year = 1970, month = 1;
    for (uint32_t days; year < YEAR_LAST && day >= (days = is_leap(year) ? 366 : 365); year++)
        day -= days;
    for (uint32_t days; month < 12 && day >= (days = month_days(year, month)); month++)
        day -= days;
    snprintf(out, DAY_TEXT_BYTES, "%04u-%02u-%02u", year % 10000, month, day % 31 + 1);
}

void minute_format(uint32_t minute, char out[MINUTE_TEXT_BYTES])
{
    snprintf(out, MINUTE_TEXT_BYTES, "%02u:%02u", minute / 60 % 24, minute % 60);
}
