/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/alarm_messages.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time_text.h"
#include "config/config.h"
#include "outgoing/webhook.h"
#include "worker/outgoing_calls.h"
#include "worker/task.h"
#include "worker/webhooks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 250, HOST_BYTES = 65 };

#define RESULT(variable, label) \
    COUNTER_OF(variable, "stampede_alarm_messages_total", "result=\"" label "\"", \
        "Attempts to tell an alarm to alarms.webhook_url, by result")
RESULT(taken_total, "delivered");
RESULT(again_total, "retried");
RESULT(failed_total, "failed");

struct alarm_line {
    struct alarm_told told;
    enum alarm_message flying; /* MESSAGE_NONE: none is under way */
    uint32_t flying_episode;
    uint32_t tries; /* of the message that is due */
    uint64_t next_ms;
};

struct alarm_messages {
    struct webhook_endpoint endpoint;
    struct outgoing_calls *calls;
    struct task *task;
    struct random random; /* jitter */
    uint64_t remind_ms;
    bool on;
    char host[HOST_BYTES];
    struct alarm_line lines[ALARMS];
};

static const char *const message_types[] = { "", "alarm.raised", "alarm.reminded", "alarm.cleared" };
static_assert(sizeof message_types / sizeof *message_types == MESSAGE_CLEARED + 1, "a type for each");

enum alarm_message alarm_message_due(const struct alarm_told *told, const struct alarm_view *alarm,
    uint64_t now_ms, uint64_t remind_ms)
{
    if (alarm->episode != told->episode)
        return MESSAGE_RAISED; /* also when it is over by now: the end is told next */
    if (told->episode == 0 || told->ended)
        return MESSAGE_NONE;
    if (!alarm->up)
        return MESSAGE_CLEARED;
    return remind_ms != 0 && now_ms >= told->told_ms + remind_ms ? MESSAGE_REMINDED : MESSAGE_NONE;
}

static void body_write(const struct alarm_messages *messages, enum alarm alarm,
    enum alarm_message message, const struct alarm_view *view, struct outgoing_call *call)
{
    char time[TIME_TEXT_BYTES];
    struct text body = text_in(call->body, sizeof call->body);
    time_text_format(message == MESSAGE_CLEARED ? view->ended_ms : view->since_ms, time);
    json_object_begin(&body, NULL);
    json_text(&body, "type", message_types[message]);
    json_text(&body, "timestamp", time);
    json_object_begin(&body, "data");
    json_text(&body, "name", alarm_name(alarm));
    json_bool(&body, "up", message != MESSAGE_CLEARED);
    json_u64(&body, "since_ms", view->since_ms);
    json_u64(&body, "ended_ms", message == MESSAGE_CLEARED ? view->ended_ms : 0);
    json_text(&body, "detail", view->detail);
    json_text(&body, "host", messages->host);
    json_object_end(&body);
    json_object_end(&body);
    invariant(!body.overflow);
    call->body_size = (uint32_t)body.size;
}

static void line_send(struct alarm_messages *messages, enum alarm alarm, enum alarm_message message,
    const struct alarm_view *view)
{
    struct alarm_line *line = &messages->lines[alarm];
    char id[WEBHOOK_ID_MAX];
    struct outgoing_call *call = outgoing_call_take(messages->calls);
    if (call == NULL)
        return; /* next time */
    body_write(messages, alarm, message, view, call);
    /* The same for each try of a message; a reminder has the time of the one before it. */
    snprintf(id, sizeof id, "alm_%.24s_%llx_%c%llx", alarm_name(alarm),
        (unsigned long long)view->since_ms, message_types[message][7],
        message == MESSAGE_REMINDED ? (unsigned long long)line->told.told_ms : 0);
    webhook_request(&messages->endpoint, id, clock_wall_ms() / 1000, call);
    line->flying = message;
    line->flying_episode = view->episode;
    outgoing_call_send(messages->calls, CALL_ALARMS, alarm, call);
}

static void line_told(struct alarm_line *line, uint64_t now_ms)
{
    line->tries = 0;
    line->next_ms = 0;
    if (line->flying == MESSAGE_CLEARED)
        line->told.ended = true;
    else
        line->told = (struct alarm_told){ .episode = line->flying_episode, .told_ms = now_ms };
}

static void call_answered(void *self, uint64_t id, const struct outgoing_call *call)
{
    struct alarm_messages *messages = self;
    invariant(id < ALARMS && messages->lines[id].flying != MESSAGE_NONE);
    struct alarm_line *line = &messages->lines[id];
    const uint64_t now_ms = clock_now_ms();
    const int status = call->result == OUTGOING_ANSWERED ? call->status : 0;
    uint64_t delay_ms = 0;
    line->tries++;
    if (webhook_judge(call) == WEBHOOK_TAKEN) {
        metric_add(&taken_total, 1);
        line_told(line, now_ms);
    } else if (webhook_judge(call) == WEBHOOK_AGAIN
        && webhook_delay(line->tries, &messages->random, &delay_ms)) {
        metric_add(&again_total, 1);
        line->next_ms = now_ms + delay_ms;
        log_warn("alarm", "%s name=%s was not accepted (status %d %s), attempt %u",
            message_types[line->flying], alarm_name((enum alarm)id), status, call->error, line->tries);
    } else {
        metric_add(&failed_total, 1);
        log_error("alarm", "%s name=%s was given up (status %d %s): look at alarms.webhook_url",
            message_types[line->flying], alarm_name((enum alarm)id), status, call->error);
        line_told(line, now_ms);
    }
    line->flying = MESSAGE_NONE;
    task_wake(messages->task);
}

static uint64_t messages_turn(void *self, uint64_t now_ms)
{
    struct alarm_messages *messages = self;
    if (!messages->on)
        return TASK_IDLE;
    for (uint32_t i = 0; i < ALARMS; i++) {
        struct alarm_line *line = &messages->lines[i];
        struct alarm_view view;
        if (line->flying != MESSAGE_NONE || now_ms < line->next_ms)
            continue;
        alarm_look((enum alarm)i, &view);
        const enum alarm_message message =
            alarm_message_due(&line->told, &view, now_ms, messages->remind_ms);
        if (message != MESSAGE_NONE)
            line_send(messages, (enum alarm)i, message, &view);
    }
    return now_ms + LOOK_MS;
}

static void messages_close(void *self)
{
    struct alarm_messages *messages = self;
    explicit_bzero(&messages->endpoint, sizeof messages->endpoint);
    messages->on = false;
}

enum status alarm_messages_open(struct arena *arena, const struct config *config,
    struct outgoing_calls *calls, struct task *task, char *error)
{
    struct alarm_messages *messages = arena_take(arena, 1, sizeof *messages);
    *messages =
        (struct alarm_messages){ .calls = calls, .task = task, .remind_ms = config->alarms_remind_ms };
    *task = (struct task){
        .name = "alarm messages", .self = messages, .turn = messages_turn, .close = messages_close
    };
    outgoing_calls_listen(calls, CALL_ALARMS, call_answered, messages);
    if (config->alarms_webhook_url[0] == '\0')
        return STATUS_OK;
    const struct webhook_settings settings = { .section = "alarms.webhook_",
        .url = config->alarms_webhook_url,
        .secret_file = config->alarms_webhook_secret_file,
        .allow_private = config->alarms_webhook_allow_private };
    const enum status status = webhook_endpoint_open(&messages->endpoint, &settings, error);
    if (status != STATUS_OK)
        return status;
    if (gethostname(messages->host, sizeof messages->host - 1) != 0)
        messages->host[0] = '\0';
    random_seed(&messages->random, clock_monotonic_ns());
    messages->on = true;
    return STATUS_OK;
}
