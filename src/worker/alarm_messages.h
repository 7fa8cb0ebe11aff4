/* SPDX-License-Identifier: Apache-2.0 */
/* worker/alarm_messages.h: tells alarms to a webhook of the operators (alarms.webhook_url), signed as the
 * shop's messages are (outgoing/webhook.h): once when an alarm begins, again every alarms.remind_ms while it
 * lasts, once when it is over. One place for each alarm is all the queue there is: what is told next follows
 * from what was told last and how the alarm stands. Nothing is kept on disk: after a restart an alarm that is
 * still true begins again and is told again.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ALARM_MESSAGES_H
#define STAMPEDE_WORKER_ALARM_MESSAGES_H

#include "base/status.h"
#include "worker/alarms.h"

struct arena;
struct config;
struct outgoing_calls;
struct task;

enum alarm_message { MESSAGE_NONE, MESSAGE_RAISED, MESSAGE_REMINDED, MESSAGE_CLEARED };

/* What the receiver has heard of an alarm. */
struct alarm_told {
    uint32_t episode; /* the last whose begin was told; 0: none */
    bool ended;       /* its end was told */
    uint64_t told_ms; /* when its begin or last reminder was */
};

/* What is to be told now. remind_ms 0: no reminders. */
enum alarm_message alarm_message_due(const struct alarm_told *told, const struct alarm_view *alarm,
    uint64_t now_ms, uint64_t remind_ms);

/* `error`: CONFIG_ERROR bytes. */
MUST_CHECK enum status alarm_messages_open(struct arena *arena, const struct config *config,
    struct outgoing_calls *calls, struct task *task, char *error);

#endif
