/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/heard.h"

#include "tests/unit/base/unit.h"

static const char won[] = "HTTP/1.1 202 Accepted\r\nContent-Length: 51\r\nRetry-After: 3\r\n\r\n"
                          "{\"outcome\":\"won\",\"ticket\":\"0123456789abcdef\",\"n\":7}";

static void an_answer_is_whole_at_its_last_byte(void **state)
{
    (void)state;
    struct heard heard;
    for (size_t size = 0; size < sizeof won - 1; size++)
        assert_int_equal(heard_parse(span_of(won, size), 4096, &heard), HEARD_MORE);
    assert_int_equal(heard_parse(span_of(won, sizeof won - 1), 4096, &heard), HEARD_WHOLE);
    assert_int_equal(heard.word, WORD_WON);
    assert_int_equal(heard.status, 202);
    assert_int_equal(heard.retry_after_s, 3);
    assert_int_equal(heard.body_bytes, 51);
}

static void members_are_read_and_missing_ones_are_said_to_be_missing(void **state)
{
    (void)state;
    struct heard heard;
    char ticket[16];
    assert_int_equal(heard_parse(span_of(won, sizeof won - 1), 4096, &heard), HEARD_WHOLE);
    assert_true(heard_take(&heard, "\"ticket\":", ticket, 16));
    assert_memory_equal(ticket, "0123456789abcdef", 16);
    assert_false(heard_take(&heard, "\"ticket\":", ticket, 15));
    assert_int_equal(heard_number(&heard, "\"n\":", 1), 7);
    assert_int_equal(heard_number(&heard, "\"m\":", 1), 1);
    assert_int_equal(heard_text(&heard, "\"n\":").size, 0);
}

static void a_refusal_is_the_problem_that_it_names(void **state)
{
    (void)state;
    struct heard heard;
    const struct span sold_out =
        SPAN("HTTP/1.1 409 Conflict\r\nContent-Length: 29\r\nConnection: close\r\n\r\n"
             "{\"type\":\"/problems/sold-out\"}");
    assert_int_equal(heard_parse(sold_out, 4096, &heard), HEARD_WHOLE);
    assert_int_equal(heard.word, WORD_SOLD_OUT);
    assert_true(heard.closes);
    const struct span other = SPAN("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops");
    assert_int_equal(heard_parse(other, 4096, &heard), HEARD_WHOLE);
    assert_int_equal(heard.word, WORD_OTHER);
}

static void what_is_not_such_an_answer_is_broken(void **state)
{
    (void)state;
    struct heard heard;
    const struct span wrong[] = { SPAN("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
        SPAN("HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n"), SPAN("HTTP/1.1 200 OK\r\n\r\n"),
        SPAN("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n"),
        SPAN("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        SPAN("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(heard_parse(wrong[i], 4096, &heard), HEARD_BROKEN);
}

static void a_body_that_does_not_fit_is_cut(void **state)
{
    (void)state;
    struct heard heard;
    const struct span cut = SPAN("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
    assert_int_equal(heard_parse(cut, cut.size + 1, &heard), HEARD_MORE);
    assert_int_equal(heard_parse(cut, cut.size, &heard), HEARD_WHOLE);
    assert_int_equal(heard.body.size, 10);
    assert_int_equal(heard.body_bytes, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_whole_at_its_last_byte),
        cmocka_unit_test(members_are_read_and_missing_ones_are_said_to_be_missing),
        cmocka_unit_test(a_refusal_is_the_problem_that_it_names),
        cmocka_unit_test(what_is_not_such_an_answer_is_broken),
        cmocka_unit_test(a_body_that_does_not_fit_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
