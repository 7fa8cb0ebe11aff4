/* SPDX-License-Identifier: Apache-2.0 */
/* worker/task.h: a task of the worker: something that the database thread does by itself, between
 * the jobs of gateways. Each task has a file of its own with its state; its open function fills a
 * struct task, and the worker's loop knows nothing else of it.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_TASK_H
#define STAMPEDE_WORKER_TASK_H

#include <stdbool.h>
#include <stdint.h>

#define TASK_IDLE UINT64_MAX /* no turn until task_wake */
/* A turn that is further away than this may be so much late: turns of several tasks come together,
 * and the thread wakes up less often. */
enum { TASK_SLACK_MS = 20 };

struct task {
    const char *name;
    void *self;
    /* Does what is due, a bounded part of it. Answers when it wants its next turn; now_ms: at once. */
    uint64_t (*turn)(void *self, uint64_t now_ms);
    void (*end)(void *self, uint64_t now_ms); /* a clean stop, after the last turn; NULL: nothing to do */
    void (*close)(void *self);                /* frees what is not of the arena; NULL: nothing */
    bool listens; /* other threads bring it something: it has a turn with every round */
    bool rests;   /* it syncs the disk that the journal waits for: it rests while wins come in */
    bool off;     /* it has no turns at present: another process does this */
    uint64_t due_ms, latest_ms; /* of its next turn */
};

/* There is something to do for it: its next turn comes with the next round. */
static inline void task_wake(struct task *task)
{
    task->due_ms = task->latest_ms = 0;
}

/* One round: a turn for each task that listens or is due. Before rest_until_ms those that rest have
 * none. Answers when the next one is due. */
uint64_t tasks_turn(struct task *tasks, uint32_t count, uint64_t now_ms, uint64_t rest_until_ms);
void tasks_end(struct task *tasks, uint32_t count, uint64_t now_ms);
void tasks_close(struct task *tasks, uint32_t count); /* in reverse order */

#endif
