/* SPDX-License-Identifier: Apache-2.0 */
/* api/job_reply.h: how the worker answers a job: a status, header lines of its own, and a body; no HTTP.
 * Each function ends the job; a later one replaces what an earlier one said. Texts are in the reader's
 * language where there is one (api/problems.h).
 * Thread: the worker's. */
#ifndef STAMPEDE_API_JOB_REPLY_H
#define STAMPEDE_API_JOB_REPLY_H

#include "api/job.h"
#include "api/json_fields.h"
#include "api/problems.h"
#include "base/json_write.h"
#include "base/text.h"

struct text job_body(struct job *job); /* room for a body, where job_reply_json expects it */
void job_reply_json(struct job *job, int status, const struct text *body);
void job_reply_list(struct job *job, struct text *body); /* ends the list, and the object around it: 200 */
/* Any other body, which is copied. type NULL: none. `headers`: whole lines, or SPAN_NONE. */
void job_reply_bytes(struct job *job, int status, const char *type, struct span headers, struct span body);
/* `more`: further members of the problem document, beginning with a comma. */
void job_reply_problem(struct job *job, enum problem problem, const char *detail, struct span more);
/* 405 with what the path takes. */
void job_reply_method(struct job *job, const char *allow);
/* A refusal that tells when it is over. */
void job_reply_until(struct job *job, enum problem problem, uint64_t again_ms);
void job_reply_status(struct job *job, enum status status); /* a store fault as a problem */
/* The same unless it is STATUS_OK; false: the job is answered. */
MUST_CHECK bool job_ok(struct job *job, enum status status);
/* The same; what is not there is answered with this problem. */
MUST_CHECK bool job_found(struct job *job, enum status status, enum problem problem, const char *detail);
/* An inventory refusal as a problem. */
void job_reply_refused(struct job *job, const struct outcome *outcome);

/* A list in pages: {"name":[…],"next":N}. */
struct page {
    struct text body;
    uint32_t rows;
    uint64_t last; /* the id of the last row */
    bool open;     /* its object is not ended yet */
};
struct page page_begin(struct job *job, const char *name);
/* Where the row with this id is written, as one JSON value. */
struct text *page_row(struct page *page, uint64_t id);
/* The same for an object, which begins with the id and ends by itself: only members are written. */
struct text *page_object(struct page *page, uint64_t id);
/* A page of `most` rows is full: there may be more after the last. 0: there are none. */
uint64_t page_next(const struct page *page, uint32_t most);
void page_end(struct job *job, struct page *page, uint64_t next);

/* Strict reading of what the job brings. Each: false and the job is answered when it can't be. */
MUST_CHECK bool job_fields_read(struct job *job, const struct field *fields, size_t count);
/* For bodies whose fields are judged further before the body is freed: its object (NULL: answered),
 * and its end, which frees it. `wrong`: what is wrong with a value; NULL: nothing. */
json_t *job_body_object(struct job *job);
MUST_CHECK bool job_body_end(struct job *job, json_t *object, const char *wrong);
/* A number from the query; absent: *value stays. */
MUST_CHECK bool job_query_u64(struct job *job, const char *name, uint64_t most, uint64_t *value);
/* One of names[first] to names[count - 1] from the query; absent: *choice stays. */
MUST_CHECK bool job_query_name(struct job *job, const char *name, const char *const *names,
    uint32_t first, uint32_t count, uint32_t *choice);

#endif
