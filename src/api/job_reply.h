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
/* An inventory refusal as a problem. */
void job_reply_refused(struct job *job, const struct outcome *outcome);

/* A list in pages: {"name":[…],"next":N}. Between begin and end each row is one JSON value
 * (base/json_write.h; page_row before a row that is written by others). */
struct text page_begin(struct job *job, const char *name);
void page_row(struct text *page);
/* `full`: there may be more rows, after `next`. */
void page_end(struct job *job, struct text *page, bool full, uint64_t next);

/* Strict reading of what the job brings. Each: false and the job is answered when it can't be. */
MUST_CHECK bool job_fields_read(struct job *job, const struct field *fields, size_t count);
/* For bodies whose fields are judged further before the body is freed: its object (NULL: answered),
 * and its end, which frees it. `wrong`: what is wrong with a value; NULL: nothing. */
json_t *job_body_object(struct job *job);
MUST_CHECK bool job_body_end(struct job *job, json_t *object, const char *wrong);
/* A number from the query; absent: *value stays. */
MUST_CHECK bool job_query_u64(struct job *job, const char *name, uint64_t most, uint64_t *value);

#endif
