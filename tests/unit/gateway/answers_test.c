/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/gateway/answers_test.c: bytes that lie ready are those that rendering would make. */
#include "gateway/answers.h"

#include "api/problems.h"
#include "base/clock.h"
#include "contract/command.h"
#include "edge/http_date.h"
#include "funnel/keys.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static struct funnel_keys keys;
static char bytes[2048];

static int start(void **state)
{
    (void)state;
    cipher_permutation_make(&keys.ticket, (struct hash_key){ 1, 2 });
    cipher_permutation_make(&keys.order, (struct hash_key){ 3, 4 });
    clock_start(0);
    answers_create();
    return 0;
}

static bool is_as_rendered(const struct edge_answer *answer)
{
    struct text out = text_in(bytes, sizeof bytes);
    const struct span ready = answer_ready(answer, &keys);
    answer_render(answer, &keys, SPAN_NONE, false, &out);
    assert_false(out.overflow);
    if (ready.size == 0)
        return false;
    assert_int_equal(ready.size, out.size);
    assert_memory_equal(ready.data, out.data, out.size);
    return true;
}

static void a_ready_refusal_has_the_bytes_of_a_rendered_one(void **state)
{
    (void)state;
    uint32_t ready = 0;
    for (uint64_t second = 1; second <= 3; second++) {
        http_date_turn(second * 1000);
        for (int kind = 0; kind < PROBLEMS; kind++) {
            for (uint32_t i = 0; i < 8; i++) {
                const struct edge_answer answer = { .kind = (uint8_t)kind,
                    .flags = (i & 1) != 0 ? ANSWER_CHINESE : 0,
                    .a = i >> 1 & 1,
                    .b = i >> 2 };
                if (kind != PROBLEM_NONE)
                    ready += is_as_rendered(&answer);
            }
        }
    }
    assert_true(ready > PROBLEMS); /* in two languages and three seconds */
}

static void sold_out_lies_ready_in_both_languages_with_the_date_of_its_second(void **state)
{
    (void)state;
    struct edge_answer answer = { .kind = PROBLEM_SOLD_OUT };
    http_date_turn(1000);
    assert_true(is_as_rendered(&answer));
    assert_non_null(memmem(bytes, sizeof bytes, "00:00:01 GMT", 12));
    http_date_turn(2000);
    assert_true(is_as_rendered(&answer));
    answer.flags = ANSWER_CHINESE;
    assert_true(is_as_rendered(&answer));
    answer.a = 3; /* units that others may have */
    assert_false(is_as_rendered(&answer));
}

static void a_ready_win_has_the_bytes_of_a_rendered_one_whatever_came_before_it(void **state)
{
    (void)state;
    const uint64_t time_ms = 1800000000000;
    const struct edge_answer wins[] = {
        { .extra = 1, .a = 1, .b = 1, .c = 99900, .d = time_ms },
        { .extra = 1, .a = 1, .b = 2, .c = 99900, .d = time_ms + 1 },
        { .extra = 1, .a = 1, .b = UINT64_MAX, .c = 99900, .d = 9999999999999 },
        { .extra = 1, .a = 1, .b = 3, .c = 99900, .d = 1000000000000 },
        { .extra = 2, .a = 1, .b = 3, .c = 99900, .d = time_ms },
        { .extra = 2, .a = 2, .b = 3, .c = 99900, .d = time_ms },
        { .extra = 2, .a = ITEMS_LIMIT - 1, .b = 3, .c = 1, .d = time_ms },
        { .extra = 65535, .a = UINT32_MAX, .b = 3, .c = UINT64_MAX, .d = time_ms },
        { .extra = 1, .a = 1, .b = 4, .c = 0, .d = time_ms, .flags = ANSWER_CHINESE },
    };
    for (uint64_t second = 1; second <= 2; second++) {
        http_date_turn(second * 1000);
        for (size_t i = 0; i < sizeof wins / sizeof *wins; i++) {
            assert_true(is_as_rendered(&wins[i]));
            assert_true(is_as_rendered(&wins[i])); /* and as the second of its kind */
        }
    }
}

static void a_win_whose_time_has_another_length_is_rendered(void **state)
{
    (void)state;
    struct edge_answer win = { .extra = 1, .a = 1, .b = 1, .c = 99900, .d = 0 };
    assert_false(is_as_rendered(&win));
    win.d = 999999999999;
    assert_false(is_as_rendered(&win));
    win.d = 10000000000000;
    assert_false(is_as_rendered(&win));
}

static void a_win_that_is_not_kept_yet_is_told_as_deciding_with_its_ticket_and_no_price(void **state)
{
    (void)state;
    const struct outcome outcome = { .answer = ANSWER_DECIDING,
        .ticket = 9,
        .item = ITEMS_LIMIT - 1,
        .quantity = 1000,
        .unit_price = 99900,
        .pay_by_ms = 1 };
    struct edge_answer answer = answer_from_outcome(&outcome);
    char ids[128] = "", wanted[256] = "";
    for (int chinese = 0; chinese < 2; chinese++) {
        struct text out = text_in(bytes, sizeof bytes - 1), id = text_in(ids, sizeof ids - 1);
        answer.flags = chinese != 0 ? ANSWER_CHINESE : 0;
        text_hex64(&id, funnel_ticket_id(&keys, 9));
        assert_int_equal(answer_ready(&answer, &keys).size, 0);
        answer_render(&answer, &keys, SPAN("Vary: Origin\r\n"), chinese != 0, &out);
        assert_false(out.overflow);
        bytes[out.size] = 0;
        assert_non_null(strstr(bytes, "HTTP/1.1 202 Accepted\r\n"));
        assert_non_null(strstr(bytes, "\r\nRetry-After: 1\r\n"));
        assert_non_null(strstr(bytes, "\r\nVary: Origin\r\n"));
        assert_int_equal(strstr(bytes, "\r\nConnection: close\r\n") != NULL, chinese);
        snprintf(wanted, sizeof wanted, "\r\nLocation: /v1/tickets/%s\r\n", ids);
        assert_non_null(strstr(bytes, wanted));
        snprintf(wanted, sizeof wanted,
            "\r\n\r\n{\"outcome\":\"deciding\",\"ticket\":\"%s\",\"item\":262143,"
            "\"quantity\":1000}",
            ids);
        assert_string_equal(strstr(bytes, "\r\n\r\n"), wanted);
    }
}

static void what_all_gateways_refuse_is_told_as_the_door_of_one_does(void **state)
{
    (void)state;
    const struct edge_answer spent =
        answer_from_outcome(&(struct outcome){ .answer = ANSWER_PASS_SPENT });
    assert_int_equal(spent.kind, PROBLEM_PASS_SPENT);
    assert_true(spent.a == 0 && spent.b == 0);
    const struct edge_answer fast =
        answer_from_outcome(&(struct outcome){ .answer = ANSWER_TOO_FAST, .number = 1500 });
    assert_int_equal(fast.kind, PROBLEM_TOO_FAST);
    assert_true(fast.a == 1500 && fast.b == 0);
}

static void what_a_sold_out_item_offers_is_never_among_the_bytes_that_lie_ready(void **state)
{
    static const char offers[] = ",\"offers\":{\"kind\":\"substitutes\",\"substitutes\":[5]}";
    const struct edge_answer plain = { .kind = PROBLEM_SOLD_OUT },
                             with = { .kind = PROBLEM_SOLD_OUT, .b = 7 };
    struct text out = text_in(bytes, sizeof bytes - 1);
    (void)state;
    assert_true(is_as_rendered(&plain));
    assert_true(answer_has_offers(&with));
    assert_false(answer_has_offers(&plain));
    assert_int_equal(answer_ready(&with, &keys).size, 0);
    answer_render_offers(&with, span_from_string(offers), SPAN_NONE, false, &out);
    assert_false(out.overflow);
    bytes[out.size] = 0;
    const char *body = strstr(bytes, "\r\n\r\n") + 4;
    char length[48];
    snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", strlen(body));
    assert_non_null(strstr(bytes, length));
    assert_non_null(strstr(body, offers));
    assert_non_null(strstr(body, ",\"free\":0"));
    assert_true(is_as_rendered(&plain)); /* the next one hears nothing of it */
}

static void a_limit_over_a_period_is_named_and_never_lies_ready(void **state)
{
    const struct edge_answer plain = { .kind = PROBLEM_LIMIT_REACHED },
                             period = { .kind = PROBLEM_LIMIT_REACHED, .a = ANSWER_LIMIT_PERIOD };
    struct text out = text_in(bytes, sizeof bytes - 1);
    (void)state;
    assert_true(is_as_rendered(&plain));
    assert_int_equal(answer_ready(&period, &keys).size, 0);
    answer_render(&period, &keys, SPAN_NONE, false, &out);
    assert_false(out.overflow);
    bytes[out.size] = 0;
    assert_non_null(strstr(bytes, ",\"limit\":\"period\"}"));
    out = text_in(bytes, sizeof bytes - 1);
    answer_render(&plain, &keys, SPAN_NONE, false, &out);
    bytes[out.size] = 0;
    assert_null(strstr(bytes, "\"period\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ready_refusal_has_the_bytes_of_a_rendered_one),
        cmocka_unit_test(sold_out_lies_ready_in_both_languages_with_the_date_of_its_second),
        cmocka_unit_test(a_ready_win_has_the_bytes_of_a_rendered_one_whatever_came_before_it),
        cmocka_unit_test(a_win_whose_time_has_another_length_is_rendered),
        cmocka_unit_test(a_win_that_is_not_kept_yet_is_told_as_deciding_with_its_ticket_and_no_price),
        cmocka_unit_test(what_all_gateways_refuse_is_told_as_the_door_of_one_does),
        cmocka_unit_test(what_a_sold_out_item_offers_is_never_among_the_bytes_that_lie_ready),
        cmocka_unit_test(a_limit_over_a_period_is_named_and_never_lies_ready),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
