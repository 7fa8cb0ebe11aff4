/* SPDX-License-Identifier: Apache-2.0 */
/* policy/timetable_rules.h: when the session of a day is held, and what is to be done about it now.
 * Pure functions, any thread. */
#ifndef STAMPEDE_POLICY_TIMETABLE_RULES_H
#define STAMPEDE_POLICY_TIMETABLE_RULES_H

#include "base/span.h"
#include "contract/timetable.h"

struct session_times {
    uint64_t day_ms; /* the beginning of its day there */
    uint64_t start_ms, end_ms;
};
enum session_step {
    SESSION_NOT_HELD, /* not on this day of the week, or before the timetable began */
    SESSION_DECIDED,  /* made, skipped or noted as missed */
    SESSION_WAIT,     /* it is too early */
    SESSION_MAKE,
    SESSION_MISSED, /* it is over, and nobody has made it: to be noted */
};

/* The day of this moment, by the calendar there. */
uint32_t timetable_day_at(const struct timetable *timetable, uint64_t ms);
/* A day about which nothing is known. */
struct timetable_day timetable_day_plain(const struct timetable *timetable, uint32_t day);
struct session_times timetable_times(const struct timetable *timetable, const struct timetable_day *day);
enum session_step timetable_step(
    const struct timetable *timetable, const struct timetable_day *day, uint64_t now_ms);

/* "2026-11-11" and "20:30". False: it is none. */
bool day_parse(struct span text, uint32_t *day);
bool minute_parse(struct span text, uint32_t *minute);
enum { DAY_TEXT_BYTES = 16, MINUTE_TEXT_BYTES = 8 };
void day_format(uint32_t day, char out[DAY_TEXT_BYTES]);
void minute_format(uint32_t minute, char out[MINUTE_TEXT_BYTES]);

#endif
