/* SPDX-License-Identifier: Apache-2.0 */
#include "api/job_reply.h"

#include "api/query.h"
#include "api/refusals.h"
#include "base/json_write.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

static const char JSON[] = "application/json", PROBLEM_JSON[] = "application/problem+json";

struct text job_body(struct job *job)
{
    return text_in(job->response + JOB_HEAD_BYTES, job->response_bytes - JOB_HEAD_BYTES);
}

/* The body is where it belongs already. */
static void answered(struct job *job, int status, const char *type, struct span headers, size_t body_size)
{
    invariant(headers.size <= sizeof job->headers);
    memcpy(job->headers, headers.data == NULL ? "" : headers.data, headers.size);
    job->headers_size = headers.size;
    job->status = status;
    job->type = type;
    job->body_size = body_size;
    job->result = JOB_REPLY;
}

void job_reply_json(struct job *job, int status, const struct text *body)
{
    if (body->overflow) {
        job_reply_problem(job, PROBLEM_INTERNAL, "The answer is too long: ask for fewer rows.", SPAN_NONE);
        return;
    }
    invariant(body->data == job->response + JOB_HEAD_BYTES);
    answered(job, status, JSON, SPAN("Cache-Control: no-store\r\n"), body->size);
}

void job_reply_list(struct job *job, struct text *body)
{
    json_list_end(body);
    json_object_end(body);
    job_reply_json(job, 200, body);
}

void job_reply_bytes(struct job *job, int status, const char *type, struct span headers, struct span body)
{
    struct text out = job_body(job);
    text_add(&out, body);
    invariant(!out.overflow);
    answered(job, status, type, headers, out.size);
}

static void problem_answered(struct job *job, enum problem problem, const char *detail,
    struct span more, struct span headers)
{
    char lines[JOB_HEADERS_BYTES];
    struct text body = job_body(job), head = text_in(lines, sizeof lines);
    if (detail == NULL && job->to.chinese)
        detail = problem_chinese(problem);
    problem_body(&body, problem, detail, more);
    text_add(&head, headers);
    text_add(&head, problem_header(problem));
    invariant(!body.overflow && !head.overflow);
    answered(job, problem_texts[problem].status, PROBLEM_JSON, text_span(&head), body.size);
}

void job_reply_problem(struct job *job, enum problem problem, const char *detail, struct span more)
{
    const bool again = problem == PROBLEM_UNAVAILABLE || problem == PROBLEM_OUTCOME_UNKNOWN;
    problem_answered(job, problem, detail, more, again ? SPAN("Retry-After: 2\r\n") : SPAN_NONE);
}

void job_reply_method(struct job *job, const char *allow)
{
    char line[96];
    struct text head = text_in(line, sizeof line);
    text_format(&head, "Allow: %s\r\n", allow);
    problem_answered(job, PROBLEM_METHOD, NULL, SPAN_NONE, text_span(&head));
}

void job_reply_until(struct job *job, enum problem problem, uint64_t again_ms)
{
    char member[40], line[48];
    struct text more = text_in(member, sizeof member), head = text_in(line, sizeof line);
    refusal_again_members(again_ms, &more);
    text_format(&head, "Retry-After: %llu\r\n", (unsigned long long)refusal_retry_s(again_ms));
    problem_answered(job, problem, NULL, text_span(&more), text_span(&head));
}

void job_reply_status(struct job *job, enum status status)
{
    if (status == STATUS_AWAY)
        job_reply_problem(
            job, PROBLEM_UNAVAILABLE, "The database is unavailable. Try again shortly.", SPAN_NONE);
    else if (status == STATUS_UNKNOWN)
        job_reply_problem(job, PROBLEM_OUTCOME_UNKNOWN, NULL, SPAN_NONE);
    else if (status == STATUS_NOT_FOUND)
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
    else if (status == STATUS_REFUSED || status == STATUS_CONFLICT)
        job_reply_problem(job, PROBLEM_CONFLICT, "The database refused the change.", SPAN_NONE);
    else {
        log_error("worker", "a request failed: %s", status_name(status));
        job_reply_problem(job, PROBLEM_INTERNAL, NULL, SPAN_NONE);
    }
}

void job_reply_refused(struct job *job, const struct outcome *outcome)
{
    const enum problem problem = refusal_problem(outcome->answer);
    if (outcome->answer == ANSWER_CONFLICT)
        job_reply_problem(job, PROBLEM_CONFLICT, refusal_conflict_text(outcome->detail), SPAN_NONE);
    else
        job_reply_problem(job, problem == PROBLEM_NONE ? PROBLEM_INTERNAL : problem, NULL, SPAN_NONE);
}

json_t *job_body_object(struct job *job)
{
    char error[FIELD_ERROR];
    json_t *object = admin_body_parse(job->body, error);
    if (object == NULL)
        job_reply_problem(job, PROBLEM_BAD_BODY, error, SPAN_NONE);
    return object;
}

bool job_body_end(struct job *job, json_t *object, const char *wrong)
{
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    json_decref(object);
    return wrong == NULL;
}

bool job_fields_read(struct job *job, const struct field *fields, size_t count)
{
    char error[FIELD_ERROR];
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const bool good = admin_fields_read(object, fields, count, error);
    return job_body_end(job, object, good ? NULL : error);
}

bool job_query_u64(struct job *job, const char *name, uint64_t most, uint64_t *value)
{
    const struct span said = query_value(job->query, name);
    if (said.data == NULL || (span_to_u64(said, value) == STATUS_OK && *value <= most))
        return true;
    char detail[96];
    snprintf(detail, sizeof detail, "%s must be a whole number up to %llu.", name,
        (unsigned long long)most);
    job_reply_problem(job, PROBLEM_BAD_QUERY, detail, SPAN_NONE);
    return false;
}

bool job_query_name(struct job *job, const char *name, const char *const *names, uint32_t first,
    uint32_t count, uint32_t *choice)
{
    const struct span said = query_value(job->query, name);
    if (said.data == NULL)
        return true;
    char bytes[160];
    struct text detail = text_in(bytes, sizeof bytes - 1);
    text_format(&detail, "%s must be ", name);
    for (uint32_t i = first; i < count; i++) {
        if (span_equal(said, span_from_string(names[i]))) {
            *choice = i;
            return true;
        }
        text_format(&detail, "%s%s", names[i],
            i + 1 == count       ? "."
                : i + 2 == count ? " or "
                                 : ", ");
    }
    bytes[detail.size] = 0;
    job_reply_problem(job, PROBLEM_BAD_QUERY, bytes, SPAN_NONE);
    return false;
}

bool job_ok(struct job *job, enum status status)
{
    if (status != STATUS_OK)
        job_reply_status(job, status);
    return status == STATUS_OK;
}

bool job_found(struct job *job, enum status status, enum problem problem, const char *detail)
{
    if (status != STATUS_NOT_FOUND)
        return job_ok(job, status);
    job_reply_problem(job, problem, detail, SPAN_NONE);
    return false;
}

struct page page_begin(struct job *job, const char *name)
{
    struct page page = { .body = job_body(job) };
    json_object_begin(&page.body, NULL);
    json_list_begin(&page.body, name);
    return page;
}

static void object_end(struct page *page)
{
    if (page->open)
        json_object_end(&page->body);
    page->open = false;
}

struct text *page_object(struct page *page, uint64_t id)
{
    object_end(page);
    struct text *row = page_row(page, id);
    json_object_begin(row, NULL);
    json_u64(row, "id", id);
    page->open = true;
    return row;
}

struct text *page_row(struct page *page, uint64_t id)
{
    json_value(&page->body, NULL);
    page->rows++;
    page->last = id;
    return &page->body;
}

uint64_t page_next(const struct page *page, uint32_t most)
{
    return page->rows == most ? page->last : 0;
}

void page_end(struct job *job, struct page *page, uint64_t next)
{
    object_end(page);
    json_list_end(&page->body);
    if (next != 0)
        json_u64(&page->body, "next", next);
    json_object_end(&page->body);
    job_reply_json(job, 200, &page->body);
}
