/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static _Thread_local char date[HTTP_DATE_CHARS + 1] = "Thu, 01 Jan 1970 00:00:00 GMT";
static _Thread_local uint64_t date_second;

void http_date_turn(uint64_t now_ms)
{
    static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
    static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug",
        "Sep", "Oct", "Nov", "Dec" };
    const uint64_t second = now_ms / 1000;
    if (__builtin_expect(second == date_second, 1))
        return;
    date_second = second;
    const time_t time = (time_t)second;
    struct tm parts;
    char text[64];
    if (gmtime_r(&time, &parts) == NULL)
        return;
    const int size = snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT",
        days[parts.tm_wday], parts.tm_mday, months[parts.tm_mon], parts.tm_year + 1900,
        parts.tm_hour, parts.tm_min, parts.tm_sec);
    if (size == HTTP_DATE_CHARS)
        memcpy(date, text, HTTP_DATE_CHARS);
}

const char *http_date(void)
{
    return date;
}

uint64_t http_date_second(void)
{
    return date_second;
}
