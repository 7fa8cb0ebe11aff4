/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/alarms.h"

#include "base/json_write.h"
#include "base/log.h"
#include "base/metrics.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

struct alarm_row {
    const char *name;
    bool up;
    uint64_t since_ms;
    char detail[ALARM_DETAIL_MAX + 1];
};

#define ALARM_ROW(alarm, text) [ALARM_##alarm] = { .name = (text) },
static struct alarm_row rows[ALARMS] = { ALARM_LIST(ALARM_ROW) };

#define ALARM_METRIC(alarm, text) \
    [ALARM_##alarm] = METRIC_ROW(METRIC_GAUGE, "stampede_alarm", "name=\"" text "\"", \
        "1 while a person must look; GET /admin/v1/alarms says at what."),
static struct metric alarm_metrics[ALARMS] = { ALARM_LIST(ALARM_METRIC) };
METRIC_TABLE(alarm_metrics);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void alarm_raise(enum alarm alarm, uint64_t now_ms, const char *format, ...)
{
    struct alarm_row *row = &rows[alarm];
    va_list arguments;
    pthread_mutex_lock(&lock);
    va_start(arguments, format);
    vsnprintf(row->detail, sizeof row->detail, format, arguments);
    va_end(arguments);
    if (!row->up) {
        row->up = true;
        row->since_ms = now_ms;
        metric_set(&alarm_metrics[alarm], 1);
        log_error("alarm", "raised name=%s detail=\"%s\"", row->name, row->detail);
    }
    pthread_mutex_unlock(&lock);
}

void alarm_clear(enum alarm alarm)
{
    struct alarm_row *row = &rows[alarm];
    pthread_mutex_lock(&lock);
    if (row->up) {
        row->up = false;
        row->since_ms = 0;
        row->detail[0] = 0;
        metric_set(&alarm_metrics[alarm], 0);
        log_info("alarm", "cleared name=%s", row->name);
    }
    pthread_mutex_unlock(&lock);
}

bool alarm_is_up(enum alarm alarm)
{
    pthread_mutex_lock(&lock);
    const bool up = rows[alarm].up;
    pthread_mutex_unlock(&lock);
    return up;
}

const char *alarm_name(enum alarm alarm)
{
    return rows[alarm].name;
}

void alarms_member(struct text *out)
{
    json_list_begin(out, "alarms");
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < ALARMS; i++) {
        json_object_begin(out, NULL);
        json_text(out, "name", rows[i].name);
        json_bool(out, "up", rows[i].up);
        json_u64(out, "since_ms", rows[i].since_ms);
        json_text(out, "detail", rows[i].detail);
        json_object_end(out);
    }
    pthread_mutex_unlock(&lock);
    json_list_end(out);
}

void alarms_json(struct text *out)
{
    json_object_begin(out, NULL);
    alarms_member(out);
    json_object_end(out);
}
