/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/beijing_time.h"

#include <stdio.h>
#include <time.h>

enum { AHEAD_S = 8 * 3600 };
#define SECONDS_MAX UINT64_C(253402271999) /* the end of the year 9999 there */

void beijing_time_write(uint64_t ms, char out[BEIJING_TIME_CHARS + 1])
{
    uint64_t seconds = ms / 1000 < SECONDS_MAX ? ms / 1000 : SECONDS_MAX;
    time_t local = (time_t)(seconds + AHEAD_S);
    struct tm parts;
    invariant(gmtime_r(&local, &parts) != NULL);
    invariant(strftime(out, BEIJING_TIME_CHARS + 1, "%Y-%m-%d %H:%M:%S", &parts) == BEIJING_TIME_CHARS);
}

/* The number of `count` digits at `at`; -1: no digits. */
static int digits(const char *at, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9')
            return -1;
        number = number * 10 + (at[i] - '0');
    }
    return number;
}

enum status beijing_time_read(struct span text, uint64_t *seconds)
{
    if (text.size != BEIJING_TIME_CHARS)
        return STATUS_BAD_INPUT;
    const char *at = text.data;
    struct tm parts = { .tm_year = digits(at, 4) - 1900,
        .tm_mon = digits(at + 5, 2) - 1,
        .tm_mday = digits(at + 8, 2),
        .tm_hour = digits(at + 11, 2),
        .tm_min = digits(at + 14, 2),
        .tm_sec = digits(at + 17, 2) };
    time_t local = timegm(&parts);
    if (local < AHEAD_S || (uint64_t)local > SECONDS_MAX + AHEAD_S)
        return STATUS_BAD_INPUT;
    /* timegm takes the 31st of February; written again it is another text. */
    char again[BEIJING_TIME_CHARS + 1];
    beijing_time_write((uint64_t)(local - AHEAD_S) * 1000, again);
    if (!span_equal(text, span_of(again, BEIJING_TIME_CHARS)))
        return STATUS_BAD_INPUT;
    *seconds = (uint64_t)(local - AHEAD_S);
    return STATUS_OK;
}
