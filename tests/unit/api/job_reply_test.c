/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of api/job_reply.h: an answer is a status, header lines and a body, and the last one counts. */
#include "api/job_reply.h"

#include "api/refusals.h"

#include "base/clock.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static char response[8192];
static struct job job;

static int setup(void **state)
{
    (void)state;
    memset(response, '?', sizeof response);
    job = (struct job){ .response = response, .response_bytes = sizeof response, .result = JOB_NOT_YET };
    return 0;
}

static bool has(struct span where, const char *what)
{
    return memmem(where.data, where.size, what, strlen(what)) != NULL;
}

static struct span headers(void)
{
    return span_of(job.headers, job.headers_size);
}

static void json_is_answered_where_it_was_written(void **state)
{
    (void)state;
    struct text body = job_body(&job);
    text_literal(&body, "{\"a\":1}");
    job_reply_json(&job, 201, &body);
    assert_int_equal(job.status, 201);
    assert_int_equal(job.result, JOB_REPLY);
    assert_string_equal(job.type, "application/json");
    assert_true(span_equal(job_response_body(&job), SPAN("{\"a\":1}")));
    assert_true(has(headers(), "Cache-Control: no-store\r\n"));
}

static void an_answer_that_is_too_long_is_a_problem(void **state)
{
    (void)state;
    struct text body = job_body(&job);
    while (!body.overflow)
        text_literal(&body, "0123456789");
    job_reply_json(&job, 200, &body);
    assert_int_equal(job.status, 500);
    assert_string_equal(job.type, "application/problem+json");
    assert_true(has(job_response_body(&job), "too long"));
}

static void a_problem_speaks_the_readers_language(void **state)
{
    (void)state;
    job_reply_problem(&job, PROBLEM_SOLD_OUT, NULL, SPAN(",\"free\":3"));
    assert_int_equal(job.status, problem_texts[PROBLEM_SOLD_OUT].status);
    assert_true(has(job_response_body(&job), problem_texts[PROBLEM_SOLD_OUT].detail));
    assert_true(has(job_response_body(&job), ",\"free\":3}"));
    job.to.chinese = true;
    job_reply_problem(&job, PROBLEM_SOLD_OUT, NULL, SPAN_NONE);
    assert_true(has(job_response_body(&job), problem_chinese(PROBLEM_SOLD_OUT)));
    job_reply_problem(&job, PROBLEM_SOLD_OUT, "Said on purpose.", SPAN_NONE);
    assert_true(has(job_response_body(&job), "Said on purpose."));
}

static void refusals_tell_what_to_do(void **state)
{
    (void)state;
    job_reply_method(&job, "GET, OPTIONS");
    assert_true(job.status == 405 && has(headers(), "Allow: GET, OPTIONS\r\n"));
    job_reply_problem(&job, PROBLEM_UNAVAILABLE, NULL, SPAN_NONE);
    assert_true(job.status == 503 && has(headers(), "Retry-After: 2\r\n"));
    job_reply_until(&job, PROBLEM_COOLING_DOWN, 1);
    assert_true(has(headers(), "Retry-After: 1\r\n") && has(job_response_body(&job), "\"again_ms\":1"));
    job_reply_problem(&job, PROBLEM_SIGNATURE_INVALID, NULL, SPAN_NONE);
    assert_true(job.status == 401 && has(headers(), "WWW-Authenticate: Signature\r\n"));
}

static void faults_of_the_store_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        enum status status;
        int told;
    } rows[] = { { STATUS_AWAY, 503 }, { STATUS_NOT_FOUND, 404 }, { STATUS_REFUSED, 409 },
        { STATUS_CONFLICT, 409 }, { STATUS_CORRUPT, 500 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        job_reply_status(&job, rows[i].status);
        assert_int_equal(job.status, rows[i].told);
    }
    job_reply_status(&job, STATUS_UNKNOWN);
    assert_int_equal(job.status, problem_texts[PROBLEM_OUTCOME_UNKNOWN].status);
}

static void a_conflict_says_which(void **state)
{
    (void)state;
    job_reply_refused(&job, &(struct outcome){ .answer = ANSWER_CONFLICT, .detail = CONFLICT_ENDED });
    assert_true(
        job.status == 409 && has(job_response_body(&job), refusal_conflict_text(CONFLICT_ENDED)));
    job_reply_refused(&job, &(struct outcome){ .answer = ANSWER_UNKNOWN_SALE });
    assert_int_equal(job.status, 404);
    job_reply_refused(&job, &(struct outcome){ .answer = ANSWER_FOUND }); /* never asked for as a refusal */
    assert_int_equal(job.status, 500);
}

static void other_bodies_are_copied_with_their_type(void **state)
{
    (void)state;
    job_reply_bytes(&job, 200, "text/plain", SPAN("X-Mark: 1\r\n"), SPAN("success"));
    assert_string_equal(job.type, "text/plain");
    assert_true(span_equal(job_response_body(&job), SPAN("success")));
    assert_true(span_equal(headers(), SPAN("X-Mark: 1\r\n")));
    job_reply_bytes(&job, 204, NULL, SPAN_NONE, SPAN_NONE);
    assert_true(job.type == NULL && job.headers_size == 0 && job.body_size == 0);
}

static void what_is_wrong_with_a_body_is_told(void **state)
{
    (void)state;
    uint32_t units = 0;
    const struct field fields[] = { { "units", FIELD_U32, &units, 1, 10, true, NULL } };
    job.body = SPAN("{\"units\":7}");
    assert_true(job_fields_read(&job, fields, 1));
    assert_int_equal(units, 7);
    job.body = SPAN("{\"units\":11}");
    assert_false(job_fields_read(&job, fields, 1));
    assert_true(job.status == 422 || job.status == 400);
    job.body = SPAN("{");
    assert_false(job_fields_read(&job, fields, 1));
    assert_int_equal(job.status, 400);
}

static void a_number_of_the_query_is_bounded(void **state)
{
    (void)state;
    uint64_t value = 5;
    job.query = SPAN("other=1");
    assert_true(job_query_u64(&job, "after", 10, &value) && value == 5);
    job.query = SPAN("after=10");
    assert_true(job_query_u64(&job, "after", 10, &value) && value == 10);
    job.query = SPAN("after=11");
    assert_false(job_query_u64(&job, "after", 10, &value));
    assert_true(
        job.status == 400 && has(job_response_body(&job), "after must be a whole number up to 10."));
}

static void a_name_of_the_query_is_one_of_a_list(void **state)
{
    (void)state;
    static const char *const names[] = { "any", "waiting", "delivered", "failed" };
    uint32_t choice = 0;
    job.query = SPAN("other=1");
    assert_true(job_query_name(&job, "state", names, 1, 4, &choice) && choice == 0);
    job.query = SPAN("state=failed");
    assert_true(job_query_name(&job, "state", names, 1, 4, &choice) && choice == 3);
    job.query = SPAN("state=any");
    assert_false(job_query_name(&job, "state", names, 1, 4, &choice));
    assert_true(job.status == 400
        && has(job_response_body(&job), "state must be waiting, delivered or failed."));
}

static void what_is_not_there_has_a_problem_of_its_own(void **state)
{
    (void)state;
    assert_true(job_found(&job, STATUS_OK, PROBLEM_UNKNOWN_SALE, NULL));
    assert_int_equal(job.result, JOB_NOT_YET);
    assert_false(job_found(&job, STATUS_NOT_FOUND, PROBLEM_UNKNOWN_SALE, NULL));
    assert_true(has(job_response_body(&job), "unknown-sale"));
    assert_false(job_found(&job, STATUS_IO, PROBLEM_UNKNOWN_SALE, NULL));
    assert_false(has(job_response_body(&job), "unknown-sale"));
}

static void a_full_page_tells_where_the_next_one_begins(void **state)
{
    (void)state;
    struct page page = page_begin(&job, "rows");
    json_u64(page_row(&page, 7), NULL, 1);
    text_literal(page_row(&page, 9), "{}");
    assert_int_equal(page_next(&page, 3), 0);
    assert_int_equal(page_next(&page, 2), 9);
    page_end(&job, &page, page_next(&page, 2));
    assert_true(span_equal(job_response_body(&job), SPAN("{\"rows\":[1,{}],\"next\":9}")));
    page = page_begin(&job, "rows");
    json_u64(page_object(&page, 3), "a", 1);
    page_object(&page, 4);
    page_end(&job, &page, page_next(&page, 9));
    assert_true(span_equal(job_response_body(&job), SPAN("{\"rows\":[{\"id\":3,\"a\":1},{\"id\":4}]}")));
    page = page_begin(&job, "rows");
    page_end(&job, &page, page_next(&page, 2));
    assert_true(span_equal(job_response_body(&job), SPAN("{\"rows\":[]}")));
}

int main(void)
{
    clock_start(0);
    problems_chinese_create();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(json_is_answered_where_it_was_written, setup),
        cmocka_unit_test_setup(an_answer_that_is_too_long_is_a_problem, setup),
        cmocka_unit_test_setup(a_problem_speaks_the_readers_language, setup),
        cmocka_unit_test_setup(refusals_tell_what_to_do, setup),
        cmocka_unit_test_setup(faults_of_the_store_are_told_apart, setup),
        cmocka_unit_test_setup(a_conflict_says_which, setup),
        cmocka_unit_test_setup(other_bodies_are_copied_with_their_type, setup),
        cmocka_unit_test_setup(what_is_wrong_with_a_body_is_told, setup),
        cmocka_unit_test_setup(a_number_of_the_query_is_bounded, setup),
        cmocka_unit_test_setup(a_name_of_the_query_is_one_of_a_list, setup),
        cmocka_unit_test_setup(what_is_not_there_has_a_problem_of_its_own, setup),
        cmocka_unit_test_setup(a_full_page_tells_where_the_next_one_begins, setup),
    };
    return cmocka_run_group_tests_name("api/job_reply", tests, NULL, NULL);
}
