/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/cluster/tasks.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/thread.h"
#include "tests/simulation/trace.h"
#include "worker/fiber.h"

#include <stdarg.h>
#include <stdio.h>

enum { TASKS_MAX = 24 };

struct task {
    struct fiber *fiber; /* NULL: none was needed yet */
    void (*run)(void *context);
    void *context;
    bool taken, started, over;
    uint64_t due_ms;
    struct wake *wake; /* it also waits for this; NULL: for none */
};

uint64_t sim_now_ms;
static struct task tasks[TASKS_MAX];
static struct task *current;

struct task *task_start(void (*run)(void *context), void *context)
{
    struct task *task = tasks;
    while (task < tasks + TASKS_MAX && task->taken)
        task++;
    invariant(task < tasks + TASKS_MAX);
    struct fiber *fiber = task->fiber;
    if (fiber == NULL)
        invariant(fiber_open(&fiber) == STATUS_OK);
    *task = (struct task){
        .fiber = fiber, .run = run, .context = context, .taken = true, .due_ms = sim_now_ms
    };
    return task;
}

bool task_is_due(const struct task *task)
{
    return task->due_ms <= sim_now_ms || (task->wake != NULL && atomic_load(&task->wake->pending) != 0);
}

bool task_is_over(const struct task *task)
{
    return task->over;
}

void task_resume(struct task *task)
{
    invariant(task->taken && !task->over && current == NULL);
    current = task;
    if (task->started)
        fiber_resume(task->fiber);
    else
        fiber_start(task->fiber, task->run, task->context);
    current = NULL;
    task->started = true;
    task->over = fiber_is_free(task->fiber);
}

void task_end(struct task *task)
{
    invariant(task->over);
    task->taken = false;
}

bool task_runs(void)
{
    return current != NULL;
}

static void pause_for(uint64_t ms, struct wake *wake)
{
    struct task *task = current;
    if (task == NULL)
        return;
    task->due_ms = sim_now_ms + ms;
    task->wake = wake;
    fiber_park(task->fiber);
    task->wake = NULL;
}

void task_pause(uint64_t ms)
{
    pause_for(ms, NULL);
}

uint64_t task_next_due_ms(void)
{
    uint64_t due_ms = UINT64_MAX;
    for (uint32_t i = 0; i < TASKS_MAX; i++)
        if (tasks[i].taken && !tasks[i].over && tasks[i].due_ms < due_ms)
            due_ms = tasks[i].due_ms;
    return due_ms;
}

/* ---- base/clock.h ---- */

void clock_start(uint64_t not_before_ms)
{
    (void)not_before_ms;
}

uint64_t clock_now_ms(void)
{
    return sim_now_ms;
}

uint64_t clock_wall_ms(void)
{
    return sim_now_ms;
}

uint64_t clock_monotonic_ns(void)
{
    return sim_now_ms * 1000000;
}

/* ---- base/thread.h ---- */

uint64_t thread_self(void)
{
    return 1;
}

enum status wake_open(struct wake *wake)
{
    atomic_init(&wake->pending, 0);
    wake->fd = 0;
    return STATUS_OK;
}

void wake_close(struct wake *wake)
{
    wake->fd = -1;
}

void wake_signal(struct wake *wake)
{
    atomic_store(&wake->pending, 1);
}

void wake_clear(struct wake *wake)
{
    atomic_store(&wake->pending, 0);
}

void wake_wait(struct wake *wake, uint32_t timeout_ms)
{
    pause_for(timeout_ms, wake);
    wake_clear(wake);
}

/* ---- base/log.h: for people who look at one run ---- */

void log_level_set(enum log_level least)
{
    (void)least;
}

void log_write(struct log_site *site, enum log_level level, const char *component, const char *format, ...)
{
    va_list arguments;
    (void)site;
    (void)level;
    if (!trace.verbose)
        return;
    va_start(arguments, format);
    printf("         %s: ", component);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}
