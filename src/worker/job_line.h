/* SPDX-License-Identifier: Apache-2.0 */
/* worker/job_line.h: jobs that wait, in their order; bounded by the shares of the gateways.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_JOB_LINE_H
#define STAMPEDE_WORKER_JOB_LINE_H

#include "api/job.h"

struct job_line {
    struct job *first, *last;
};

static inline void job_line_add(struct job_line *line, struct job *job)
{
    job->next = NULL;
    if (line->first == NULL)
        line->first = job;
    else
        line->last->next = job;
    line->last = job;
}

/* The first, which waits no more; NULL: there is none. */
static inline struct job *job_line_take(struct job_line *line)
{
    struct job *job = line->first;
    if (job != NULL)
        line->first = job->next;
    return job;
}

#endif
