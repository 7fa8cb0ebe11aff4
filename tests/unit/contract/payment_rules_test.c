/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of money, row by row. */
#include "contract/payment_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TICKET = 5, AMOUNT = 990, NOW_MS = 5000, ASK_MS = 7000 };

static struct payment payment_in(enum payment_state state, uint64_t next_ms)
{
    return (struct payment){ .id = 3,
        .ticket = TICKET,
        .provider = "alpha",
        .reference = "00-1",
        .provider_id = "theirs",
        .amount = AMOUNT,
        .currency = "CNY",
        .state = (uint8_t)state,
        .tries = 4,
        .next_ms = next_ms };
}

/* ---- money that is there ---- */

struct captured_row {
    const char *what;
    enum order_state order;
    bool payer_known, asked, given_back;
    uint64_t amount;
    const char *currency;
    /* what comes of it */
    enum learn_answer answer;
    enum payment_use use;
    bool refund;
    enum refund_why why;
};

static const struct captured_row captured_rows[] = {
    { "a pending order is paid by a callback", ORDER_PENDING, false, false, false, AMOUNT, "CNY",
        LEARN_PAID, USE_ORDER, false, 0 },
    { "and by an answer", ORDER_PENDING, false, true, false, AMOUNT, "CNY", LEARN_PAID, USE_ORDER,
        false, 0 },
    { "too little, told by a callback", ORDER_PENDING, false, false, false, AMOUNT - 1, "CNY",
        LEARN_AMOUNT, USE_NONE, false, 0 },
    { "too much, told by a callback", ORDER_PENDING, false, false, false, AMOUNT + 1, "CNY",
        LEARN_AMOUNT, USE_NONE, false, 0 },
    { "another currency, told by a callback", ORDER_PENDING, false, false, false, AMOUNT, "USD",
        LEARN_AMOUNT, USE_NONE, false, 0 },
    { "too little goes back", ORDER_PENDING, false, true, false, AMOUNT - 1, "CNY", LEARN_REFUND,
        USE_REFUND, true, REFUND_OF_AMOUNT },
    { "too much goes back", ORDER_PENDING, false, true, false, AMOUNT + 1, "CNY", LEARN_REFUND,
        USE_REFUND, true, REFUND_OF_AMOUNT },
    { "another currency goes back", ORDER_PENDING, false, true, false, AMOUNT, "USD", LEARN_REFUND,
        USE_REFUND, true, REFUND_OF_AMOUNT },
    { "another amount pays no lost order", ORDER_PAID, false, true, false, AMOUNT + 1, "CNY",
        LEARN_REFUND, USE_REFUND, true, REFUND_OF_AMOUNT },
    { "another amount is not late money", ORDER_CLOSED, false, true, false, AMOUNT - 1, "CNY",
        LEARN_REFUND, USE_REFUND, true, REFUND_OF_AMOUNT },
    { "a paid order is not paid twice", ORDER_PAID, true, true, false, AMOUNT, "CNY", LEARN_REFUND,
        USE_REFUND, true, REFUND_OF_DOUBLE },
    { "paid by none that we know: this was it", ORDER_PAID, false, true, false, AMOUNT, "CNY",
        LEARN_PAID, USE_ORDER, false, 0 },
    { "refunded, by none that we know: this was it", ORDER_REFUNDED, false, true, false, AMOUNT,
        "CNY", LEARN_REFUND, USE_ORDER, true, REFUND_OF_ORDER },
    { "the same, and it went back before", ORDER_REFUNDED, false, true, true, AMOUNT, "CNY",
        LEARN_REFUND, USE_ORDER, true, REFUND_OF_ORDER },
    { "refunded, and we know by what: late", ORDER_REFUNDED, true, true, false, AMOUNT, "CNY",
        LEARN_LATE, USE_LATE, false, 0 },
    { "closed: late", ORDER_CLOSED, false, false, false, AMOUNT, "CNY", LEARN_LATE, USE_LATE, false, 0 },
    { "went back before: pays no pending order", ORDER_PENDING, false, true, true, AMOUNT, "CNY",
        LEARN_REFUND, USE_REFUND, true, REFUND_OF_DOUBLE },
    { "went back before: pays no lost order", ORDER_PAID, false, true, true, AMOUNT, "CNY",
        LEARN_REFUND, USE_REFUND, true, REFUND_OF_DOUBLE },
    { "went back before: is not late money", ORDER_CLOSED, false, true, true, AMOUNT, "CNY",
        LEARN_REFUND, USE_REFUND, true, REFUND_OF_DOUBLE },
};

static struct payment_news captured_news(const struct captured_row *row)
{
    struct payment_news news = { .provider = "alpha",
        .reference = "00-1",
        .kind = NEWS_CAPTURED,
        .amount = row->amount,
        .asked = row->asked,
        .refunded = row->given_back,
        .now_ms = NOW_MS };
    snprintf(news.currency, sizeof news.currency, "%s", row->currency);
    return news;
}

static void captured_check(const struct captured_row *row, enum payment_state from, uint64_t next_ms)
{
    struct payment payment = payment_in(from, next_ms);
    const struct payment_news news = captured_news(row);
    const struct order order = { .ticket = TICKET, .state = (uint8_t)row->order };
    const struct news_verdict verdict =
        payment_news_decide(&news, &order, row->payer_known, PAYER_FREE, &payment);
    assert_int_equal(verdict.answer, row->answer);
    assert_true(verdict.changed);
    assert_int_equal(verdict.pays, row->answer == LEARN_PAID);
    assert_int_equal(verdict.refund, row->refund);
    assert_int_equal(verdict.order_freed, row->answer == LEARN_REFUND);
    assert_int_equal(payment.use, row->use);
    assert_int_equal(payment.paid_ticket, row->use == USE_ORDER ? TICKET : 0);
    assert_string_equal(payment.provider_id, "theirs"); /* was not told, is not forgotten */
    if (row->refund)
        assert_int_equal(verdict.why, row->why);
    if (row->answer == LEARN_AMOUNT) { /* only a question at once */
        assert_int_equal(payment.state, from);
        assert_int_equal(payment.captured, 0);
        assert_int_equal(payment.next_ms, NOW_MS);
        return;
    }
    assert_int_equal(payment.state, PAYMENT_CAPTURED);
    assert_int_equal(payment.captured, row->amount);
    assert_int_equal(payment.captured_ms, NOW_MS);
    assert_int_equal(payment.tries, 0);
    assert_int_equal(payment.next_ms, row->use == USE_LATE ? NOW_MS : 0);
}

static void money_pays_its_order_waits_for_a_unit_or_goes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof captured_rows / sizeof *captured_rows; i++) {
        print_message("%s\n", captured_rows[i].what);
        captured_check(&captured_rows[i], PAYMENT_STARTED, 10);
        captured_check(&captured_rows[i], PAYMENT_OPEN, 10);
        captured_check(&captured_rows[i], PAYMENT_CLOSING, 10);
        captured_check(&captured_rows[i], PAYMENT_CLOSED, 0);
        captured_check(&captured_rows[i], PAYMENT_CLOSED, ASK_MS);
    }
}

static void the_provider_s_name_is_kept_unless_it_tells_one(void **state)
{
    (void)state;
    const struct order order = { .ticket = TICKET, .state = ORDER_PENDING };
    struct payment_news news = captured_news(&captured_rows[0]);
    struct payment payment = payment_in(PAYMENT_OPEN, 10);
    snprintf(news.provider_id, sizeof news.provider_id, "told");
    (void)payment_news_decide(&news, &order, false, PAYER_FREE, &payment);
    assert_string_equal(payment.provider_id, "told");
}

static void money_that_is_there_changes_by_no_news(void **state)
{
    (void)state;
    static const enum payment_use uses[] = { USE_ORDER, USE_LATE, USE_RELINKED, USE_REFUND };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        for (size_t row = 0; row < sizeof captured_rows / sizeof *captured_rows; row++) {
            for (int kind = NEWS_CAPTURED; kind <= NEWS_CLOSED; kind++) {
                struct payment payment = payment_in(PAYMENT_CAPTURED, uses[i] == USE_LATE ? 10 : 0);
                struct payment_news news = captured_news(&captured_rows[row]);
                const struct order order = { .ticket = TICKET,
                    .state = (uint8_t)captured_rows[row].order };
                payment.use = (uint8_t)uses[i];
                const struct payment before = payment;
                news.kind = (uint8_t)kind;
                const struct news_verdict verdict = payment_news_decide(
                    &news, &order, captured_rows[row].payer_known, PAYER_FREE, &payment);
                assert_int_equal(verdict.answer, LEARN_REPEATED);
                assert_false(verdict.changed || verdict.pays || verdict.refund || verdict.order_freed);
                assert_memory_equal(&payment, &before, sizeof payment);
            }
        }
    }
}

static void news_of_another_provider_are_unknown(void **state)
{
    (void)state;
    const struct order order = { .ticket = TICKET, .state = ORDER_PENDING };
    struct payment payment = payment_in(PAYMENT_OPEN, 10);
    struct payment_news news = captured_news(&captured_rows[0]);
    snprintf(news.provider, sizeof news.provider, "beta");
    const struct news_verdict verdict = payment_news_decide(&news, &order, false, PAYER_FREE, &payment);
    assert_int_equal(verdict.answer, LEARN_UNKNOWN);
    assert_false(verdict.changed || verdict.pays || verdict.refund || verdict.order_freed);
    assert_int_equal(payment.state, PAYMENT_OPEN);
}

/* ---- no money ---- */

static void a_payment_is_closed_once_and_stays_due_without_its_provider_s_word(void **state)
{
    (void)state;
    static const struct {
        enum payment_state from;
        uint64_t next_ms;
        bool asked;
        uint64_t ask_ms;
        bool closed;
    } rows[] = {
        { PAYMENT_STARTED, 10, true, 0, true },
        { PAYMENT_OPEN, 10, false, 0, true },
        { PAYMENT_CLOSING, 10, true, 0, true },
        { PAYMENT_CLOSING, 10, false, ASK_MS, true }, /* nobody has said so: asked about later */
        { PAYMENT_CLOSED, 0, true, 0, false },
        { PAYMENT_CLOSED, 0, false, ASK_MS, false },
        { PAYMENT_CLOSED, 10, true, 0, true },        /* the answer to our question */
        { PAYMENT_CLOSED, 10, false, 0, false },      /* a callback may be older than the money */
        { PAYMENT_CLOSED, 10, false, ASK_MS, false }, /* no word at all is no answer */
        { PAYMENT_CLOSED, 10, true, ASK_MS, false },
    };
    const struct order order = { .ticket = TICKET, .state = ORDER_PENDING };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct payment payment = payment_in(rows[i].from, rows[i].next_ms);
        const struct payment_news news = { .provider = "alpha",
            .kind = NEWS_CLOSED,
            .asked = rows[i].asked,
            .ask_ms = rows[i].ask_ms,
            .now_ms = NOW_MS };
        const struct news_verdict verdict =
            payment_news_decide(&news, &order, false, PAYER_FREE, &payment);
        assert_int_equal(verdict.answer, rows[i].closed ? LEARN_CLOSED : LEARN_REPEATED);
        assert_int_equal(verdict.changed, rows[i].closed);
        assert_int_equal(verdict.order_freed, rows[i].closed);
        assert_false(verdict.pays || verdict.refund);
        assert_int_equal(payment.next_ms, rows[i].closed ? rows[i].ask_ms : rows[i].next_ms);
        assert_int_equal(payment.tries, rows[i].closed ? 0 : 4);
        assert_int_equal(payment.state, rows[i].closed ? PAYMENT_CLOSED : rows[i].from);
        assert_int_equal(payment.use, USE_NONE);
    }
}

/* ---- late money ---- */

static void late_money_pays_only_an_order_that_it_is_for(void **state)
{
    (void)state;
    enum { NEW = 9, USER = 42, ITEM = 2 };
    static const struct {
        const char *what;
        enum order_state state;
        bool payer_known;
        user_id user;
        item_id item;
        uint64_t amount;
        bool pays;
    } rows[] = {
        { "pending", ORDER_PENDING, false, USER, ITEM, AMOUNT, true },
        { "another amount: more", ORDER_PENDING, false, USER, ITEM, AMOUNT + 1, false },
        { "another amount: less", ORDER_PENDING, false, USER, ITEM, AMOUNT - 1, false },
        { "another user", ORDER_PENDING, false, USER + 1, ITEM, AMOUNT, false },
        { "another item", ORDER_PENDING, false, USER, ITEM + 1, AMOUNT, false },
        { "paid by another", ORDER_PAID, true, USER, ITEM, AMOUNT, false },
        { "paid by none that we know", ORDER_PAID, false, USER, ITEM, AMOUNT, true },
        { "the same, another amount", ORDER_PAID, false, USER, ITEM, AMOUNT + 1, false },
        { "closed", ORDER_CLOSED, false, USER, ITEM, AMOUNT, false },
        { "refunded", ORDER_REFUNDED, false, USER, ITEM, AMOUNT, false },
    };
    const struct order first = { .ticket = TICKET, .user = USER, .item = ITEM, .amount = AMOUNT };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct payment payment = payment_in(PAYMENT_CAPTURED, 10);
        const struct order order = { .ticket = NEW,
            .state = (uint8_t)rows[i].state,
            .user = rows[i].user,
            .item = rows[i].item,
            .amount = rows[i].amount };
        print_message("%s\n", rows[i].what);
        payment.use = USE_LATE;
        payment.captured = AMOUNT;
        const enum relink_verdict verdict =
            payment_relink_decide(&first, &order, rows[i].payer_known, false, PAYER_FREE, &payment);
        assert_int_equal(verdict, rows[i].pays ? RELINK_PAYS : RELINK_GIVES_BACK);
        assert_int_equal(payment.use, rows[i].pays ? USE_RELINKED : USE_REFUND);
        assert_int_equal(payment.paid_ticket, rows[i].pays ? NEW : 0);
        assert_int_equal(payment.next_ms, 0);
        assert_int_equal(payment.tries, 0);
        const struct payment decided = payment; /* told again: nothing changes any more */
        assert_int_equal(payment_relink_decide(&first, &order, true, false, PAYER_FREE, &payment),
            rows[i].pays ? RELINK_REPEATED : RELINK_OVER);
        assert_false(payment_give_back_decide(&payment));
        assert_memory_equal(&payment, &decided, sizeof payment);
    }
}

static void money_relinked_to_one_order_is_over_for_another(void **state)
{
    (void)state;
    const struct order first = { .ticket = TICKET }, other = { .ticket = 11, .state = ORDER_PENDING };
    struct payment payment = payment_in(PAYMENT_CAPTURED, 0);
    payment.use = USE_RELINKED;
    payment.paid_ticket = 9;
    assert_int_equal(
        payment_relink_decide(&first, &other, false, false, PAYER_FREE, &payment), RELINK_OVER);
    struct payment deposit = { .use = USE_LATE, .captured = first.amount };
    const struct order pending = {
        .user = first.user, .item = first.item, .amount = first.amount, .state = ORDER_PENDING
    };
    assert_int_equal(payment_relink_decide(&first, &pending, false, true, PAYER_FREE, &deposit),
        RELINK_GIVES_BACK);
}

static void late_money_without_a_unit_goes_back_once(void **state)
{
    (void)state;
    struct payment payment = payment_in(PAYMENT_CAPTURED, 10);
    payment.use = USE_LATE;
    assert_true(payment_give_back_decide(&payment));
    assert_int_equal(payment.use, USE_REFUND);
    assert_int_equal(payment.next_ms, 0);
    assert_false(payment_give_back_decide(&payment));
}

/* ---- starting ---- */

static void a_payment_starts_for_a_pending_order_in_time(void **state)
{
    (void)state;
    static const struct {
        struct order order;
        uint64_t now_ms;
        bool details_missing;
        enum start_answer answer;
    } rows[] = {
        { { .state = ORDER_PENDING, .pay_by_ms = 100 }, 99, false, START_DONE },
        { { .state = ORDER_PENDING, .pay_by_ms = 100 }, 100, false, START_TOO_LATE },
        { { .state = ORDER_PENDING, .pay_by_ms = 100, .ending = REASON_CANCELLED }, 99, false,
            START_TOO_LATE },
        { { .state = ORDER_PENDING, .pay_by_ms = 100 }, 99, true, START_DETAILS },
        { { .state = ORDER_PAID, .pay_by_ms = 100 }, 99, false, START_REFUSED },
        { { .state = ORDER_CLOSED, .pay_by_ms = 100 }, 99, true, START_REFUSED },
        { { .state = ORDER_REFUNDED, .pay_by_ms = 100 }, 99, false, START_REFUSED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct payment_start start = { .now_ms = rows[i].now_ms, .provider = "alpha" };
        const struct payment *same = NULL;
        assert_int_equal(
            payment_start_decide(&start, &rows[i].order, NULL, 0, rows[i].details_missing, &same),
            rows[i].answer);
    }
}

static void a_payment_that_can_still_be_paid_is_not_started_twice(void **state)
{
    (void)state;
    static const struct {
        enum payment_state state;
        const char *provider;
        bool same;
    } rows[] = {
        { PAYMENT_STARTED, "alpha", true },
        { PAYMENT_OPEN, "alpha", true },
        { PAYMENT_OPEN, "beta", false },
        { PAYMENT_CLOSING, "alpha", false },
        { PAYMENT_CLOSED, "alpha", false },
        { PAYMENT_CAPTURED, "alpha", false },
    };
    const struct order order = { .state = ORDER_PENDING, .pay_by_ms = 100 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct payment_start start = { .now_ms = 1, .provider = "alpha" };
        const struct payment *same = NULL;
        struct payment tried[PAYMENTS_PER_ORDER];
        for (uint32_t count = 1; count <= PAYMENTS_PER_ORDER; count++) {
            for (uint32_t j = 0; j < count; j++)
                tried[j] = payment_in(PAYMENT_CLOSED, 0);
            tried[count - 1].state = (uint8_t)rows[i].state;
            snprintf(tried[count - 1].provider, sizeof tried->provider, "%s", rows[i].provider);
            const enum start_answer answer =
                payment_start_decide(&start, &order, tried, count, false, &same);
            assert_int_equal(answer,
                rows[i].same                      ? START_REPEATED
                    : count == PAYMENTS_PER_ORDER ? START_TOO_MANY
                                                  : START_DONE);
            if (rows[i].same)
                assert_ptr_equal(same, &tried[count - 1]);
        }
    }
}

static void the_time_to_pay_gets_longer_once_and_never_shorter(void **state)
{
    (void)state;
    static const struct {
        uint64_t extend_ms;
        bool extended, longer;
    } rows[] = { { 61, false, true }, { 60, false, false }, { 0, false, false }, { 61, true, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct payment_start start = { .now_ms = 40, .extend_ms = rows[i].extend_ms };
        const struct order order = { .pay_by_ms = 100, .extended = rows[i].extended };
        uint64_t pay_by_ms;
        assert_int_equal(payment_start_extends(&start, &order, &pay_by_ms), rows[i].longer);
        if (rows[i].longer)
            assert_int_equal(pay_by_ms, 101);
    }
}

static void rows_begin_as_what_they_are(void **state)
{
    (void)state;
    const struct order order = { .ticket = TICKET, .amount = AMOUNT, .pay_by_ms = 100 };
    const struct payment_start start = {
        .ticket = TICKET, .now_ms = NOW_MS, .provider = "alpha", .reference = "00-1"
    };
    const struct payment_search search = { .ticket = TICKET, .provider = "alpha", .reference = "00-2" };
    const struct order_move move = {
        .ticket = TICKET, .now_ms = NOW_MS, .amount = AMOUNT, .currency = "CNY", .reference = "shop-1"
    };
    struct payment payment;
    payment_start_make(&start, &order, "CNY", &payment);
    assert_true(payment_is_payable(&payment) && payment_is_live(&payment));
    assert_int_equal(payment.state, PAYMENT_STARTED);
    assert_int_equal(payment.amount, AMOUNT);
    assert_int_equal(payment.next_ms, NOW_MS);
    assert_int_equal(payment.created_ms, NOW_MS);
    assert_int_equal(payment.pay_by_ms, 100);
    assert_string_equal(payment.provider, "alpha");
    assert_string_equal(payment.reference, "00-1");
    assert_string_equal(payment.currency, "CNY");
    payment_search_make(&search, &order, "CNY", NOW_MS, &payment);
    assert_true(payment.searched && payment_is_live(&payment) && !payment_is_payable(&payment));
    assert_int_equal(payment.closing_ms, NOW_MS);
    assert_string_equal(payment.provider, "alpha");
    assert_string_equal(payment.reference, "00-2");
    assert_string_equal(payment.currency, "CNY");
    assert_int_equal(payment.next_ms, NOW_MS);
    payment_by_shop_make(&move, &payment);
    assert_false(payment_is_live(&payment));
    assert_int_equal(payment.state, PAYMENT_CAPTURED);
    assert_int_equal(payment.use, USE_ORDER);
    assert_int_equal(payment.paid_ticket, TICKET);
    assert_int_equal(payment.captured, AMOUNT);
    assert_int_equal(payment.next_ms, 0);
    assert_string_equal(payment.provider, PROVIDER_SHOP);
}

static void what_the_provider_calls_it_is_learned_in_any_state_and_once(void **state)
{
    (void)state;
    for (enum payment_state from = PAYMENT_STARTED; from < PAYMENT_STATES; from++) {
        struct payment payment = payment_in(from, 10);
        payment.provider_id[0] = 0;
        payment_opened_apply(&payment, "first", "https://a/", 77);
        assert_string_equal(payment.provider_id, "first");
        assert_string_equal(payment.url, "https://a/");
        assert_int_equal(payment.state, from == PAYMENT_STARTED ? PAYMENT_OPEN : from);
        assert_int_equal(payment.next_ms, from == PAYMENT_STARTED ? 77 : 10);
        assert_int_equal(payment.tries, from == PAYMENT_STARTED ? 0 : 4);
        payment_opened_apply(&payment, "second", "https://b/", 88);
        assert_string_equal(payment.provider_id, "first");
        assert_string_equal(payment.url, "https://a/");
    }
}

/* ---- refunds ---- */

static void a_refund_is_wanted_unless_no_provider_is_needed(void **state)
{
    (void)state;
    static const struct {
        const char *provider, *told, *currency;
        uint64_t captured;
        bool done;
    } rows[] = {
        { "alpha", "CNY", "CNY", AMOUNT, false },
        { "alpha", "USD", "USD", AMOUNT, false }, /* what came, not what was asked for */
        { "alpha", "", "CNY", AMOUNT, false },
        { "alpha", "CNY", "CNY", 0, true },
        { "shop", "CNY", "CNY", AMOUNT, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct payment payment = payment_in(PAYMENT_CAPTURED, 0);
        struct refund refund;
        snprintf(payment.provider, sizeof payment.provider, "%s", rows[i].provider);
        payment.captured = rows[i].captured;
        refund_make(&payment, rows[i].told, REFUND_OF_LATE, 0, NOW_MS, &refund);
        assert_int_equal(refund.state, rows[i].done ? REFUND_DONE : REFUND_WANTED);
        assert_int_equal(refund.next_ms, rows[i].done ? 0 : NOW_MS);
        assert_int_equal(refund.done_ms, rows[i].done ? NOW_MS : 0);
        assert_int_equal(refund.amount, rows[i].captured);
        assert_int_equal(refund.why, REFUND_OF_LATE);
        assert_int_equal(refund.payment, payment.id);
        assert_int_equal(refund.ticket, TICKET);
        assert_string_equal(refund.currency, rows[i].currency);
        assert_string_equal(refund.provider, rows[i].provider);
        assert_string_equal(refund.key, "r00-1");
    }
}

static void a_key_is_of_the_reference_or_where_that_is_too_long_of_the_id(void **state)
{
    (void)state;
    struct payment payment = payment_in(PAYMENT_CAPTURED, 0);
    char key[REFERENCE_BYTES_MAX + 1], expected[REFERENCE_BYTES_MAX + 2];
    memset(payment.reference, 'x', REFERENCE_BYTES_MAX - 1);
    payment.reference[REFERENCE_BYTES_MAX - 1] = 0;
    snprintf(expected, sizeof expected, "r%s", payment.reference);
    refund_key(&payment, key);
    assert_string_equal(key, expected);
    payment.reference[REFERENCE_BYTES_MAX - 1] = 'x';
    payment.reference[REFERENCE_BYTES_MAX] = 0;
    refund_key(&payment, key);
    assert_string_equal(key, "r-3");
}

static void a_part_is_less_than_what_is_left_and_once_for_its_key(void **state)
{
    const struct payment payer = {
        .id = 3, .captured = 1000, .currency = "CNY", .reference = "00000000000000aa-1"
    };
    const struct order paid = { .state = ORDER_PAID }, refunded = { .state = ORDER_REFUNDED };
    struct part_refund part = { .amount = 999, .currency = "CNY", .key = "k" };
    struct refund made;
    char key[REFERENCE_BYTES_MAX + 1], other[REFERENCE_BYTES_MAX + 1];
    (void)state;
    assert_int_equal(refund_part_decide(&part, &paid, &payer, NULL, 0, 0), PART_DONE);
    assert_int_equal(refund_part_decide(&part, &paid, &payer, NULL, 1, 1), PART_TOO_MUCH);
    part.amount = 1000;
    assert_int_equal(refund_part_decide(&part, &paid, &payer, NULL, 0, 0), PART_TOO_MUCH);
    part.amount = 0;
    assert_int_equal(refund_part_decide(&part, &paid, &payer, NULL, 0, 0), PART_TOO_MUCH);
    part.amount = 5;
    assert_int_equal(refund_part_decide(&part, &paid, &payer, NULL, 0, REFUND_PARTS_MAX), PART_TOO_MANY);
    assert_int_equal(refund_part_decide(&part, &paid, NULL, NULL, 0, 0), PART_NO_PAYMENT);
    assert_int_equal(refund_part_decide(&part, &refunded, &payer, NULL, 0, 0), PART_NOT_PAID);
    snprintf(part.currency, sizeof part.currency, "USD");
    assert_int_equal(refund_part_decide(&part, &paid, &payer, NULL, 0, 0), PART_CURRENCY);
    snprintf(part.currency, sizeof part.currency, "CNY");
    refund_part_make(&part, &payer, &made);
    assert_int_equal(made.why, REFUND_OF_PART);
    assert_int_equal(refund_part_decide(&part, &refunded, &payer, &made, 5, 1), PART_REPEATED);
    part.amount = 6;
    assert_int_equal(refund_part_decide(&part, &paid, &payer, &made, 5, 1), PART_KEY_USED);
    refund_part_key(&payer, "k", key);
    refund_part_key(&payer, "l", other);
    assert_string_equal(key, made.key);
    assert_string_not_equal(key, other);
    refund_make(&payer, "CNY", REFUND_OF_ORDER, 5, 1, &made);
    assert_int_equal(made.amount, 995);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_less_than_what_is_left_and_once_for_its_key),
        cmocka_unit_test(money_pays_its_order_waits_for_a_unit_or_goes_back),
        cmocka_unit_test(the_provider_s_name_is_kept_unless_it_tells_one),
        cmocka_unit_test(money_that_is_there_changes_by_no_news),
        cmocka_unit_test(news_of_another_provider_are_unknown),
        cmocka_unit_test(a_payment_is_closed_once_and_stays_due_without_its_provider_s_word),
        cmocka_unit_test(late_money_pays_only_an_order_that_it_is_for),
        cmocka_unit_test(money_relinked_to_one_order_is_over_for_another),
        cmocka_unit_test(late_money_without_a_unit_goes_back_once),
        cmocka_unit_test(a_payment_starts_for_a_pending_order_in_time),
        cmocka_unit_test(a_payment_that_can_still_be_paid_is_not_started_twice),
        cmocka_unit_test(the_time_to_pay_gets_longer_once_and_never_shorter),
        cmocka_unit_test(rows_begin_as_what_they_are),
        cmocka_unit_test(what_the_provider_calls_it_is_learned_in_any_state_and_once),
        cmocka_unit_test(a_refund_is_wanted_unless_no_provider_is_needed),
        cmocka_unit_test(a_key_is_of_the_reference_or_where_that_is_too_long_of_the_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
