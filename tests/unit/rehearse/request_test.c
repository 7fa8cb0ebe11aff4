/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/request.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static const struct sale_facts facts = { .sale = 2, .item_count = 1, .items = { 7 } };
static const struct request_place place = { .host = "127.0.0.1:80", .measure_path = "/x" };
static char bytes[REQUEST_BYTES_MAX + 1];

static const char *written(struct visitor *visitors, uint32_t number)
{
    struct text out = text_in(bytes, REQUEST_BYTES_MAX);
    assert_true(request_write(&place, &facts, visitors, number, &out));
    bytes[out.size] = 0;
    return bytes;
}

static void a_purchase_carries_address_session_pass_and_key(void **state)
{
    (void)state;
    struct visitor visitor = { .step = STEP_BUY, .address = 0x0a000105, .number = 12, .has_pass = true };
    memset(visitor.session, 's', TOKEN_CHARS);
    memset(visitor.pass, 'p', TOKEN_CHARS);
    const char *text = written(&visitor, 0);
    assert_non_null(strstr(text, "POST /v1/items/7/buy HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"));
    assert_non_null(strstr(text, "X-Forwarded-For: 10.0.1.5\r\n"));
    assert_non_null(strstr(text, "Authorization: Bearer ssss"));
    assert_non_null(strstr(text, "Stampede-Pass: pppp"));
    assert_non_null(strstr(text, "Idempotency-Key: r12-0\r\n"));
    assert_non_null(strstr(text, "Content-Length: 0\r\n\r\n"));
}

static void a_key_stays_for_a_purchase_and_changes_with_the_next(void **state)
{
    (void)state;
    struct visitor visitor = { .step = STEP_BUY, .kind = VISITOR_HOARDER, .rounds = 2 };
    visitor.tries = 3;
    assert_non_null(strstr(written(&visitor, 0), "Idempotency-Key: r0-2\r\n"));
    visitor.kind = VISITOR_REPLAY;
    assert_non_null(strstr(written(&visitor, 0), "Idempotency-Key: r0-0\r\n"));
}

static void a_replay_shows_somebody_elses_session_every_other_time(void **state)
{
    (void)state;
    struct visitor visitors[2] = { { .step = STEP_BUY },
        { .step = STEP_BUY, .kind = VISITOR_REPLAY, .number = 1 } };
    memset(visitors[0].session, 'a', TOKEN_CHARS);
    memset(visitors[1].session, 'b', TOKEN_CHARS);
    assert_non_null(strstr(written(visitors, 1), "Bearer bbb"));
    visitors[1].rounds = 1;
    assert_non_null(strstr(written(visitors, 1), "Bearer aaa"));
}

static void a_solution_and_a_payment_have_bodies_of_their_length(void **state)
{
    (void)state;
    char solution[] = "c29sdmVk";
    struct visitor visitor = { .step = STEP_PASS, .solution = solution };
    assert_non_null(
        strstr(written(&visitor, 0), "Content-Length: 23\r\n\r\n{\"solution\":\"c29sdmVk\"}"));
    visitor = (struct visitor){ .step = STEP_BANK, .bank = "id7" };
    assert_non_null(strstr(written(&visitor, 0), "POST /sandbox/v1/pay/id7 HTTP/1.1"));
    visitor = (struct visitor){ .kind = VISITOR_MEASURE, .step = STEP_MEASURE };
    assert_string_equal(written(&visitor, 0), "GET /x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_purchase_carries_address_session_pass_and_key),
        cmocka_unit_test(a_key_stays_for_a_purchase_and_changes_with_the_next),
        cmocka_unit_test(a_replay_shows_somebody_elses_session_every_other_time),
        cmocka_unit_test(a_solution_and_a_payment_have_bodies_of_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
