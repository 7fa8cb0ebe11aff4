/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/visit.h"

#include "tests/unit/base/unit.h"

#define SESSION "0123456789abcdef0123456789abcdef0123456789abcdef"
static const struct sale_facts open_sale = { .sale = 1,
    .item_count = 1,
    .items = { 1 },
    .units = { 10 },
    .start_ns = 10 * NS_PER_S,
    .pass_early_ns = 5 * NS_PER_S };

static struct heard told(enum word word, const char *body)
{
    return (struct heard){
        .word = word, .status = word < WORD_NO_ANSWER ? 200 : 400, .body = span_from_string(body)
    };
}

static struct visitor at(enum visitor_kind kind, enum step step)
{
    return (struct visitor){ .kind = (uint8_t)kind, .step = (uint8_t)step };
}

static void a_person_goes_from_the_page_to_the_pass_and_buys_after_the_start(void **state)
{
    (void)state;
    struct visitor visitor = at(VISITOR_HUMAN, STEP_PAGE);
    struct heard heard = told(WORD_SERVED, "{}");
    visit_answered(&open_sale, 1, &visitor, &heard, 0);
    assert_int_equal(visitor.step, STEP_SESSION);
    assert_true(visitor.due_ns >= 300 * NS_PER_MS);
    heard = told(WORD_SERVED, "{\"session\":\"" SESSION "\"}");
    visit_answered(&open_sale, 1, &visitor, &heard, NS_PER_S);
    assert_int_equal(visitor.step, STEP_PASS);
    assert_true(visitor.due_ns >= 5 * NS_PER_S); /* no pass is given before */
    heard = told(WORD_SERVED, "{\"pass\":\"" SESSION "\"}");
    visit_answered(&open_sale, 1, &visitor, &heard, 6 * NS_PER_S);
    assert_int_equal(visitor.step, STEP_BUY);
    assert_true(visitor.due_ns >= open_sale.start_ns + 100 * NS_PER_MS);
}

static void a_person_waits_as_long_as_told_and_gives_up_after_six_tries(void **state)
{
    (void)state;
    struct visitor visitor = at(VISITOR_HUMAN, STEP_BUY);
    struct heard heard = told(WORD_TOO_POPULAR, "");
    heard.retry_after_s = 3;
    for (uint32_t i = 0; i < VISIT_TRIES_MAX; i++) {
        visit_answered(&open_sale, 1, &visitor, &heard, 100 * NS_PER_S);
        assert_false(visitor.over);
        assert_true(visitor.due_ns >= 103 * NS_PER_S);
    }
    visit_answered(&open_sale, 1, &visitor, &heard, 100 * NS_PER_S);
    assert_true(visitor.over);
    assert_int_equal(visitor.last, LAYER_POPULAR);
}

static void sold_out_ends_a_visit_at_once(void **state)
{
    (void)state;
    struct visitor visitor = at(VISITOR_HUMAN, STEP_BUY);
    const struct heard heard = told(WORD_SOLD_OUT, "");
    visit_answered(&open_sale, 1, &visitor, &heard, 0);
    assert_true(visitor.over);
    assert_int_equal(visitor.last, LAYER_SOLD_OUT);
}

static void a_winner_pays_cancels_or_leaves_as_planned(void **state)
{
    (void)state;
    const struct heard order =
        told(WORD_SERVED, "{\"state\":\"pending\",\"order\":\"0123456789abcdef\"}");
    const struct {
        enum mood mood;
        enum step step;
        bool over;
    } rows[] = { { MOOD_PAYS, STEP_PAY, false }, { MOOD_CANCELS, STEP_CANCEL, false },
        { MOOD_LEAVES, STEP_TICKET, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct visitor visitor = at(VISITOR_HUMAN, STEP_TICKET);
        visitor.mood = (uint8_t)rows[i].mood;
        visit_answered(&open_sale, 1, &visitor, &order, 0);
        assert_int_equal(visitor.step, rows[i].step);
        assert_int_equal(visitor.over, rows[i].over);
        assert_int_equal(visitor.last, LAYER_ORDER);
    }
}

static void the_bank_is_found_in_the_address_and_a_payment_that_is_not_ready_is_looked_at_again(
    void **state)
{
    (void)state;
    struct visitor visitor = at(VISITOR_HUMAN, STEP_PAY);
    struct heard heard = told(WORD_SERVED, "{\"payment\":{\"state\":\"starting\"}}");
    visit_answered(&open_sale, 1, &visitor, &heard, 0);
    assert_int_equal(visitor.step, STEP_ORDER);
    heard = told(WORD_SERVED, "{\"payment\":{\"url\":\"http://x/sandbox/pay.html?id=abc123\"}}");
    visit_answered(&open_sale, 1, &visitor, &heard, 0);
    assert_int_equal(visitor.step, STEP_BANK);
    assert_string_equal(visitor.bank, "abc123");
    heard = told(WORD_SERVED, "{}");
    visit_answered(&open_sale, 1, &visitor, &heard, 0);
    assert_true(visitor.over);
    assert_int_equal(visitor.last, LAYER_PAID);
}

static void a_hammer_asks_at_moments_that_were_fixed_before(void **state)
{
    (void)state;
    struct visitor visitor = at(VISITOR_HAMMER, STEP_BUY);
    const struct heard heard = told(WORD_PASS_REQUIRED, "");
    uint64_t due_ns = visitor.due_ns = 9 * NS_PER_S;
    for (uint32_t i = 1; i < HAMMER_REQUESTS; i++) {
        visit_answered(&open_sale, 1, &visitor, &heard, 50 * NS_PER_S); /* a slow answer changes nothing */
        due_ns += HAMMER_EVERY_MS * NS_PER_MS;
        assert_int_equal(visitor.due_ns, due_ns);
        assert_false(visitor.over);
    }
    visit_answered(&open_sale, 1, &visitor, &heard, 0);
    assert_true(visitor.over);
}

static void a_room_is_waited_in_until_the_turn_comes(void **state)
{
    (void)state;
    struct sale_facts sale = open_sale;
    sale.waiting_room = true;
    struct visitor visitor = at(VISITOR_HUMAN, STEP_SESSION);
    struct heard heard = told(WORD_SERVED, "{\"session\":\"" SESSION "\"}");
    visit_answered(&sale, 1, &visitor, &heard, 0);
    assert_int_equal(visitor.step, STEP_ENTER);
    heard = told(WORD_SERVED, "{\"state\":\"waiting\",\"poll_after_ms\":2000}");
    visit_answered(&sale, 1, &visitor, &heard, NS_PER_S);
    assert_int_equal(visitor.step, STEP_ROOM);
    assert_true(visitor.due_ns >= 3 * NS_PER_S);
    heard = told(WORD_SERVED, "{\"state\":\"admitted\"}");
    visit_answered(&sale, 1, &visitor, &heard, 20 * NS_PER_S);
    assert_int_equal(visitor.step, STEP_PASS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_goes_from_the_page_to_the_pass_and_buys_after_the_start),
        cmocka_unit_test(a_person_waits_as_long_as_told_and_gives_up_after_six_tries),
        cmocka_unit_test(sold_out_ends_a_visit_at_once),
        cmocka_unit_test(a_winner_pays_cancels_or_leaves_as_planned),
        cmocka_unit_test(
            the_bank_is_found_in_the_address_and_a_payment_that_is_not_ready_is_looked_at_again),
        cmocka_unit_test(a_hammer_asks_at_moments_that_were_fixed_before),
        cmocka_unit_test(a_room_is_waited_in_until_the_turn_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
