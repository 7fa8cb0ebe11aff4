/* SPDX-License-Identifier: Apache-2.0 */
/* admin/live_history.c: the figures of the live screen as they were (worker/history.h). */
#include "admin/admin.h"
#include "worker/history.h"

void admin_live_history(struct admin *admin, struct job *job, uint32_t id)
{
    uint64_t step_s = 1, after_ms = 0, next_ms = 0;
    struct text body = job_body(job);
    (void)id;
    if (!job_query_u64(job, "step_s", 60, &step_s) || !job_query_u64(job, "after", INT64_MAX, &after_ms))
        return;
    if (!history_has_step(step_s)) {
        job_reply_problem(job, PROBLEM_BAD_QUERY, "step_s must be 1, 10 or 60.", SPAN_NONE);
        return;
    }
    json_object_begin(&body, NULL);
    json_u64(&body, "now_ms", admin->now_ms);
    json_u64(&body, "step_s", step_s);
    history_json(worker_history(admin->worker), step_s, after_ms, &body, &next_ms);
    if (next_ms != 0)
        json_u64(&body, "next", next_ms);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}
