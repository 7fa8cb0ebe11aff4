/* SPDX-License-Identifier: Apache-2.0 */
/* contract/timetable.h: sessions of the day. A timetable says after the model of which sale, at what time of
 * day, how long and on which days a sale is held; the leader makes the sale of each day from it, once. The
 * calendar has a row for each day on which something was decided: made, skipped, missed, or edited.
 * Thread: the store thread only. Errors: as in contract/order_store.h. */
#ifndef STAMPEDE_CONTRACT_TIMETABLE_H
#define STAMPEDE_CONTRACT_TIMETABLE_H

#include "contract/order_store.h"

enum {
    TIMETABLES_MAX = 64,
    TIMETABLE_OFFSET_MAX_MIN = 14 * 60, /* of a time zone from UTC, east or west */
    TIMETABLE_DURATION_MIN_S = 60,
    TIMETABLE_DURATION_MAX_S = 7 * 24 * 3600,
    TIMETABLE_AHEAD_MIN_S = 120, /* preheating takes the last minute */
    TIMETABLE_AHEAD_MAX_S = 14 * 24 * 3600,
    TIMETABLE_AHEAD_STANDARD_S = 24 * 3600,
    TIMETABLE_EVERY_DAY = 0x7f,
    TIMETABLE_LATE_DAYS = 31, /* so far back missed sessions are noted */
    DAY_MINUTES = 24 * 60,
    MINUTE_OF_TIMETABLE = DAY_MINUTES, /* of a day: it begins when the timetable says */
};
static const uint64_t DAY_MS = 24 * 3600 * 1000;

struct timetable {
    uint32_t id;
    sale_id model; /* settings, items and texts of the day's sale are those of this one */
    char title[NAME_BYTES_MAX + 1];
    uint32_t start_minute; /* of the day there */
    uint32_t duration_s;
    uint32_t weekdays; /* bit 0: Monday … bit 6: Sunday */
    int offset_min;    /* of the time there from UTC; east is positive */
    uint32_t ahead_s;  /* so long before its start the sale is made and listed */
    bool active;
    uint64_t since_ms; /* sessions that start earlier are not this timetable's */
};

enum day_state {
    DAY_PLANNED, /* nothing was decided, or the day was edited */
    DAY_MADE,
    DAY_SKIPPED, /* by a person */
    DAY_MISSED,  /* the server was down until it was over */
    DAY_STATES,
};
struct timetable_day {
    uint32_t timetable;
    uint32_t day;  /* since 1970-01-01, by the calendar there */
    uint8_t state; /* enum day_state */
    uint32_t start_minute;
    uint32_t duration_s; /* 0: as the timetable says */
    sale_id sale;        /* DAY_MADE */
};

struct timetable_store_ops {
    enum status (*list)(struct order_store *, struct timetable *, uint32_t max, uint32_t *count);
    enum status (*get)(struct order_store *, uint32_t id, struct timetable *);
    enum status (*insert)(struct order_store *, struct timetable *); /* fills the id */
    enum status (*update)(struct order_store *, const struct timetable *);
    /* Rows of days from `from` on, ascending. */
    enum status (*days)(struct order_store *, uint32_t timetable, uint32_t from,
        struct timetable_day *, uint32_t max, uint32_t *count);
    /* Planned, skipped or missed. STATUS_CONFLICT: its sale is made, and nothing has changed. */
    enum status (*day_put)(struct order_store *, const struct timetable_day *);
    /* One transaction: the sale, its items, the row of the day, the audit entry. Fills the ids.
     * STATUS_CONFLICT: the day is made, skipped or missed already, and nothing has changed. */
    enum status (*day_make)(struct order_store *, const struct timetable_day *, struct sale *,
        struct item *items, uint32_t count, const struct audit_entry *);
};

#endif
