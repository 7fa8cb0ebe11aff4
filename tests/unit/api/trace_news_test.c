/* SPDX-License-Identifier: Apache-2.0 */
#include "api/trace_news.h"

#include "api/purchase_traces.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static struct arena arenas[2];

static struct purchase_traces *traces_make(int process)
{
    assert_int_equal(arena_open(&arenas[process], purchase_traces_bytes()), STATUS_OK);
    struct purchase_traces *traces = purchase_traces_create(&arenas[process], 0, true);
    traces->wall_ns += (uint64_t)process * 1000; /* another machine was started at another time */
    return traces;
}

static void traces_end(void)
{
    arena_close(&arenas[0]);
    arena_close(&arenas[1]);
}

static struct purchase_trace *row_begin(struct purchase_traces *traces, uint64_t number)
{
    struct purchase_trace *row = purchase_trace_take(traces, number);
    assert_non_null(row);
    for (uint32_t i = 0; i < TRACE_BYTES; i++)
        row->from.trace[i] = (uint8_t)(i + number);
    for (uint32_t i = 0; i < sizeof row->spans; i++)
        row->spans[i / TRACE_SPAN_BYTES][i % TRACE_SPAN_BYTES] = (uint8_t)(0xff - i);
    snprintf(row->request_id, sizeof row->request_id, "front-%llu", (unsigned long long)number);
    row->item = 7;
    row->begun_ns = row->asked_ns = 5000000000u;
    purchase_trace_open(traces, row);
    return row;
}

static void another_process_hears_all_that_its_parts_need_once(void **state)
{
    char bytes[4096];
    struct text message = text_in(bytes, sizeof bytes);
    struct purchase_traces *here = traces_make(0), *there = traces_make(1);
    (void)state;
    const struct purchase_trace *told = row_begin(here, 3), *second = row_begin(here, 4);
    text_literal(&message, "a 00000000000000aa 5 d 0 7"); /* of the limits */
    assert_true(trace_news_write(here, &message));
    assert_false(trace_news_write(here, &message));
    trace_news_heard(there, text_span(&message));
    const struct purchase_trace *heard = purchase_trace_find(there, 3);
    assert_non_null(heard);
    assert_memory_equal(heard->from.trace, told->from.trace, TRACE_BYTES);
    assert_memory_equal(heard->spans, told->spans, sizeof told->spans);
    assert_string_equal(heard->request_id, "front-3");
    assert_true(heard->from_afar && heard->item == 7);
    assert_int_equal(heard->begun_ns, told->begun_ns + here->wall_ns - there->wall_ns);
    assert_string_equal(purchase_trace_find(there, 4)->request_id, second->request_id);
    assert_false(trace_news_write(there, &message)); /* what was heard is not told on */
    traces_end();
}

static void what_does_not_fit_is_told_by_the_next_message(void **state)
{
    char bytes[600];
    struct purchase_traces *here = traces_make(0), *there = traces_make(1);
    (void)state;
    for (uint64_t number = 1; number <= 5; number++)
        row_begin(here, number);
    uint32_t messages = 0;
    for (struct text message = text_in(bytes, sizeof bytes); trace_news_write(here, &message);
         message = text_in(bytes, sizeof bytes)) {
        assert_false(message.overflow);
        trace_news_heard(there, text_span(&message));
        messages++;
    }
    assert_true(messages > 1);
    for (uint64_t number = 1; number <= 5; number++)
        assert_non_null(purchase_trace_find(there, number));
    traces_end();
}

#define GOOD_HEX \
    "000102030405060708090a0b0c0d0e0f:" \
    "1111111111111111222222222222222233333333333333334444444444444444"

static void a_malformed_message_opens_nothing(void **state)
{
    static const char *const wrong[] = { "", "t", "t 0000000000000003", "t 3 x",
        "t 0000000000000003 00:11:7:1:id", "t 000000000000000g " GOOD_HEX ":7:1:id",
        "t 0000000000000003 " GOOD_HEX ":7:1:", "t 0000000000000003 " GOOD_HEX ":7:1:a/b",
        "t 0000000000000003 " GOOD_HEX ":7:-1:id",
        "t 0000000000000003 " GOOD_HEX ":4294967296:1:id", "t 0000000000000003 " GOOD_HEX "5:7:1:id",
        "t 0000000000000003 " GOOD_HEX ":7:1:"
        "0123456789012345678901234567890123456789012345678901234567890123x" };
    struct purchase_traces *there = traces_make(0);
    (void)state;
    assert_int_equal(arena_open(&arenas[1], 4096), STATUS_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        trace_news_heard(there, span_from_string(wrong[i]));
        assert_int_equal(atomic_load(&there->open), 0);
    }
    trace_news_heard(there, SPAN("t 0000000000000003 " GOOD_HEX ":7:1:id"));
    assert_int_equal(atomic_load(&there->open), 1);
    trace_news_heard(NULL, SPAN("t"));
    traces_end();
}

/* Another worker wrote the order: its ticket is told once, and then a message about it finds its purchase. */
static void the_ticket_of_an_order_is_told_by_whoever_wrote_it(void **state)
{
    char bytes[4096];
    struct text message = text_in(bytes, sizeof bytes), answer = text_in(bytes, sizeof bytes);
    struct purchase_traces *here = traces_make(0), *there = traces_make(1);
    (void)state;
    assert_false(trace_news_wait(here));
    row_begin(here, 3);
    assert_true(trace_news_wait(here));
    assert_true(trace_news_write(here, &message));
    assert_false(trace_news_wait(here));
    trace_news_heard(there, text_span(&message));
    assert_null(purchase_trace_of_ticket(there, 9));
    struct purchase_trace *row = purchase_trace_find(there, 3);
    atomic_store(&row->ticket, 9);
    atomic_store(&row->written_ns, 1);
    assert_true(trace_news_write(there, &answer));
    assert_false(trace_news_write(there, &answer));
    trace_news_heard(here, text_span(&answer));
    assert_ptr_equal(purchase_trace_of_ticket(here, 9), purchase_trace_find(here, 3));
    trace_news_heard(here, SPAN("w 0000000000000003 00000000000000aa")); /* it stays what it is */
    trace_news_heard(here, SPAN("w 0000000000000003 x w 0000000000000004 00000000000000aa"));
    assert_null(purchase_trace_of_ticket(here, 0xaa));
    traces_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_process_hears_all_that_its_parts_need_once),
        cmocka_unit_test(what_does_not_fit_is_told_by_the_next_message),
        cmocka_unit_test(a_malformed_message_opens_nothing),
        cmocka_unit_test(the_ticket_of_an_order_is_told_by_whoever_wrote_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
