/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/record_text.h"

#include "tests/unit/base/unit.h"

static struct outcome outcome;

static void reads(const char *text)
{
    if (outcome_text_read(span_from_string(text), &outcome) != STATUS_OK)
        fail_msg("can't read %s", text);
}

static void an_answer_has_what_the_engine_tells(void **state)
{
    (void)state;
    reads("1 c1 t17 p18446744073709551615 y1763315134123");
    assert_true(outcome.answer == ANSWER_WON && outcome.changed && !outcome.repeated);
    assert_true(outcome.ticket == 17 && outcome.unit_price == UINT64_MAX);
    assert_true(outcome.pay_by_ms == 1763315134123);
    reads("18 c1 d5 t3 p1 y2 u00000000000000ff a-2 q3 f4 i6 n7");
    assert_true(outcome.detail == 5 && outcome.user == 0xff && outcome.applied == -2);
    assert_true(outcome.quantity == 3 && outcome.free == 4 && outcome.item == 6 && outcome.number == 7);
    reads("18 r1 a5");
    assert_true(outcome.repeated && !outcome.changed && outcome.applied == 5);
    reads("8");
    assert_true(outcome.answer == ANSWER_SOLD_OUT && outcome.free == 0);
    reads("23 S1 L3 B1000 E2000 G1 O0 X700 Z0 W30");
    assert_true(outcome.terms.sale == 1 && outcome.terms.limit_per_user == 3);
    assert_true(outcome.terms.start_ms == 1000 && outcome.terms.end_ms == 2000);
    assert_true(outcome.terms.eligible_only && !outcome.terms.one_open_order);
    assert_true(outcome.terms.start_draw_ms == 700 && outcome.terms.cooldown_s == 30);
}

static void nothing_else_is_an_answer(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "0", "29", "1 ", " 1", "01", "1 c2", "1 c0", "1 t0",
        "1 x1", "1 t1 c1", "1 t1 t1", "1 t", "1 t-1", "1 i4294967296", "1 d256", "1 u1", "1 c1  t1",
        "23 S1", "23 S1 L3 B1000 E2000 G2 O0 X700 Z0 W30", "23 S1 L3 B1000 E2000 G1 O0 X700 Z0 W30 t1",
        "23 S1 L3 B1000 E2000 G1 O0 X65536 Z0 W30", "one" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (outcome_text_read(span_from_string(bad[i]), &outcome) != STATUS_CORRUPT)
            fail_msg("was read: %s", bad[i]);
}

static void the_head_tells_where_the_partition_is(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "3 9 8 7", "3 9 8 7 6 5", "3 9 10 7 6",
        "4294967296 9 8 7 6", "3 9 8 7 6 ", "a 9 8 7 6" };
    struct script_head head;
    assert_int_equal(script_head_read(SPAN("3 9 8 7 1763315134123"), &head), STATUS_OK);
    assert_true(head.epoch == 3 && head.seq == 9 && head.done == 8 && head.told == 7);
    assert_true(head.time_ms == 1763315134123);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (script_head_read(span_from_string(bad[i]), &head) != STATUS_CORRUPT)
            fail_msg("was read: %s", bad[i]);
}

static void a_record_is_a_command_and_what_became_of_it(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "gate 1 4", "gate 1 4 = ", "gate 1 4 = 18", " = 18 c1",
        "gate 1 4 =18 c1", "gate 1 = 18 c1", "gate 1 4 = 18 c1 = 18 c1" };
    struct command command;
    assert_int_equal(
        record_text_read(SPAN("gate 1 4 by 0 0 = = 18 c1"), 77, &command, &outcome), STATUS_OK);
    assert_true(command.type == COMMAND_GATE && command.gate.move == 4 && command.time_ms == 77);
    assert_string_equal(command.origin.actor, "=");
    assert_true(outcome.answer == ANSWER_DONE && outcome.changed);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (record_text_read(span_from_string(bad[i]), 77, &command, &outcome) != STATUS_CORRUPT)
            fail_msg("was read: %s", bad[i]);
}

static void what_the_door_refuses_is_no_outcome(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "8", "pass-spent ", "pass-spent 1", "too-fast", "too-fast ",
        "too-fast 0", "too-fast 01", "too-fast 4294967296", "too-fast 5 5", "too-slow 5" };
    struct script_refusal refusal;
    assert_int_equal(refusal_text_read(SPAN("pass-spent"), &refusal), STATUS_OK);
    assert_true(refusal.pass_spent && refusal.wait_ms == 0);
    assert_int_equal(refusal_text_read(SPAN("too-fast 3600000"), &refusal), STATUS_OK);
    assert_true(!refusal.pass_spent && refusal.wait_ms == 3600000);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (refusal_text_read(span_from_string(bad[i]), &refusal) != STATUS_CORRUPT)
            fail_msg("was read: %s", bad[i]);
    assert_int_equal(outcome_text_read(SPAN("pass-spent"), &outcome), STATUS_CORRUPT);
    assert_int_equal(outcome_text_read(SPAN("too-fast 1"), &outcome), STATUS_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_has_what_the_engine_tells),
        cmocka_unit_test(nothing_else_is_an_answer),
        cmocka_unit_test(the_head_tells_where_the_partition_is),
        cmocka_unit_test(a_record_is_a_command_and_what_became_of_it),
        cmocka_unit_test(what_the_door_refuses_is_no_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
