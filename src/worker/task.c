/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/task.h"

#include <stddef.h>

/* Kept at TASK_IDLE during its turn, so that a wake-up from within is seen afterwards. */
static void task_turn(struct task *task, uint64_t now_ms)
{
    task->due_ms = task->latest_ms = TASK_IDLE;
    const uint64_t next_ms = task->turn(task->self, now_ms);
    if (next_ms >= task->due_ms)
        return;
    task->due_ms = next_ms;
    task->latest_ms = next_ms > now_ms + TASK_SLACK_MS ? next_ms + TASK_SLACK_MS : next_ms;
}

uint64_t tasks_turn(struct task *tasks, uint32_t count, uint64_t now_ms, uint64_t rest_until_ms)
{
    uint64_t next_ms = TASK_IDLE;
    for (uint32_t i = 0; i < count; i++) {
        struct task *task = &tasks[i];
        const bool resting = task->rests && now_ms < rest_until_ms;
        if (!resting && !task->off && (task->listens || task->due_ms <= now_ms))
            task_turn(task, now_ms);
    }
    /* After all turns: a task may have woken one before it. */
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t rest_ms = tasks[i].rests ? rest_until_ms : 0;
        const uint64_t due_ms = tasks[i].latest_ms > rest_ms ? tasks[i].latest_ms : rest_ms;
        if (due_ms < next_ms && !tasks[i].off)
            next_ms = due_ms;
    }
    return next_ms;
}

void tasks_end(struct task *tasks, uint32_t count, uint64_t now_ms)
{
    for (uint32_t i = 0; i < count; i++)
        if (tasks[i].end != NULL)
            tasks[i].end(tasks[i].self, now_ms);
}

void tasks_close(struct task *tasks, uint32_t count)
{
    while (count-- > 0)
        if (tasks[count].close != NULL)
            tasks[count].close(tasks[count].self);
}
