/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/alarms.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/metrics.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

struct alarm_row {
    const char *name;
    struct alarm_view view;
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
    struct alarm_view *view = &rows[alarm].view;
    va_list arguments;
    pthread_mutex_lock(&lock);
    va_start(arguments, format);
    vsnprintf(view->detail, sizeof view->detail, format, arguments);
    va_end(arguments);
    if (!view->up) {
        view->up = true;
        view->episode++;
        view->since_ms = now_ms;
        view->ended_ms = 0;
        metric_set(&alarm_metrics[alarm], 1);
        log_error("alarm", "raised name=%s detail=\"%s\"", rows[alarm].name, view->detail);
    }
    pthread_mutex_unlock(&lock);
}

void alarm_clear(enum alarm alarm)
{
    struct alarm_view *view = &rows[alarm].view;
    pthread_mutex_lock(&lock);
    if (view->up) {
        view->up = false;
        view->ended_ms = clock_wall_ms();
        metric_set(&alarm_metrics[alarm], 0);
        log_info("alarm", "cleared name=%s", rows[alarm].name);
    }
    pthread_mutex_unlock(&lock);
}

void alarm_look(enum alarm alarm, struct alarm_view *view)
{
    pthread_mutex_lock(&lock);
    *view = rows[alarm].view;
    pthread_mutex_unlock(&lock);
}

bool alarm_is_up(enum alarm alarm)
{
    struct alarm_view view;
    alarm_look(alarm, &view);
    return view.up;
}

const char *alarm_name(enum alarm alarm)
{
    return rows[alarm].name;
}

void alarms_member(struct text *out)
{
    json_list_begin(out, "alarms");
    for (uint32_t i = 0; i < ALARMS; i++) {
        struct alarm_view view;
        alarm_look((enum alarm)i, &view);
        json_object_begin(out, NULL);
        json_text(out, "name", rows[i].name);
        json_bool(out, "up", view.up);
        json_u64(out, "since_ms", view.up ? view.since_ms : 0);
        json_text(out, "detail", view.up ? view.detail : "");
        json_u64(out, "last_since_ms", view.since_ms);
        json_u64(out, "last_end_ms", view.ended_ms);
        json_object_end(out);
    }
    json_list_end(out);
}

void alarms_json(struct text *out)
{
    json_object_begin(out, NULL);
    alarms_member(out);
    json_object_end(out);
}
