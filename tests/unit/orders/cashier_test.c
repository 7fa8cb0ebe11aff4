/* The cashier against a whole store (the simulator's) and a provider that the test plays. */
#include "orders/cashier.h"

#include "base/log.h"
#include "tests/simulation/model_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    PRICE = 999,
    NOW_MS = 1000,
    WINDOW_MS = 500 * 1000,
    QUERY_MS = 400,
    CLOSE_WAIT_MS = 30 * 1000,
    LATE_WAIT_MS = 20 * 1000,
    USER = 7,
};

struct shop {
    struct order_store *store;
    struct cashier cashier;
    item_id item;
    lsn_t lsn;
    ticket_number ticket;
    uint64_t now_ms;
    /* the provider, as the test plays it */
    bool no_room;
    uint32_t asked; /* questions so far */
    uint32_t flight;
    enum provider_act act;
    char reference[REFERENCE_BYTES_MAX + 1];
    char key[REFERENCE_BYTES_MAX + 1];
    /* the inventory */
    enum status unit_status;
    struct outcome unit;
    uint32_t unit_asked;
    /* what was told */
    uint32_t changed, opened, stuck;
    char opened_error[PAYMENT_ERROR_MAX + 1];
};

/* ---- a store that can be away ---- */

static const struct payment_store_ops *whole;
static struct payment_store_ops weak;
static struct order_store_ops weak_store;
static bool store_away;

static enum status weak_learn(struct order_store *store, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    return store_away ? STATUS_AWAY : whole->learn(store, news, payment, after, answer);
}

static enum status weak_due(struct order_store *store, uint64_t now_ms, struct payment *payments,
    uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    return store_away ? STATUS_AWAY : whole->due(store, now_ms, payments, max, count, next_ms);
}

static void store_weaken(struct order_store *store)
{
    whole = store->ops->payment;
    weak = *whole;
    weak.learn = weak_learn;
    weak.due = weak_due;
    weak_store = *store->ops;
    weak_store.payment = &weak;
    store->ops = &weak_store;
    store_away = false;
}

/* ---- what the cashier asks of its owner ---- */

static bool shop_ask(void *context, uint32_t flight, const struct provider_task *task)
{
    struct shop *shop = context;
    if (shop->no_room)
        return false;
    shop->asked++;
    shop->flight = flight;
    shop->act = task->act;
    snprintf(shop->reference, sizeof shop->reference, "%s", task->payment->reference);
    snprintf(shop->key, sizeof shop->key, "%s", task->refund == NULL ? "" : task->refund->key);
    return true;
}

static enum status shop_unit(void *context, const struct payment *payment,
    const struct order *order, struct outcome *outcome)
{
    struct shop *shop = context;
    assert_int_equal(payment->ticket, order->ticket);
    shop->unit_asked++;
    *outcome = shop->unit;
    return shop->unit_status;
}

static void shop_changed(void *context, const struct order *order)
{
    (void)order;
    ((struct shop *)context)->changed++;
}

static void shop_opened(void *context, const struct payment *payment, const char *error)
{
    struct shop *shop = context;
    (void)payment;
    shop->opened++;
    snprintf(shop->opened_error, sizeof shop->opened_error, "%s", error == NULL ? "" : error);
}

static void shop_stuck(void *context, const struct refund *refund)
{
    (void)refund;
    ((struct shop *)context)->stuck++;
}

static void cashier_begin(struct shop *shop)
{
    const struct cashier_config config = { .store = shop->store,
        .query_ms = QUERY_MS,
        .close_wait_ms = CLOSE_WAIT_MS,
        .late_wait_ms = LATE_WAIT_MS,
        .ask = shop_ask,
        .unit = shop_unit,
        .changed = shop_changed,
        .opened = shop_opened,
        .stuck = shop_stuck,
        .context = shop };
    cashier_start(&shop->cashier, &config);
}

static int setup(void **state)
{
    struct shop *shop = test_calloc(1, sizeof *shop);
    struct product product = { .name = "Phone", .images = "[]", .currency = "CNY", .list_price = 2 * PRICE };
    struct sale sale = { .title = "Now", .start_ms = 1, .end_ms = 1000 * NOW_MS };
    log_level_set((enum log_level)(LOG_ERROR + 1));
    assert_int_equal(
        model_store_open(&shop->store, &(struct model_store_config){ .orders = 8 }), STATUS_OK);
    store_weaken(shop->store);
    assert_int_equal(shop->store->ops->product_insert(shop->store, &product), STATUS_OK);
    assert_int_equal(shop->store->ops->sale_insert(shop->store, &sale), STATUS_OK);
    struct item item = { .sale = sale.id,
        .product = product.id,
        .flash_price = PRICE,
        .pay_window_ms = WINDOW_MS,
        .total = 200,
        .channel_units = { 200 } };
    assert_int_equal(shop->store->ops->item_insert(shop->store, &item), STATUS_OK);
    shop->item = item.id;
    shop->now_ms = NOW_MS;
    shop->unit.answer = ANSWER_SOLD_OUT;
    cashier_begin(shop);
    *state = shop;
    return 0;
}

static int teardown(void **state)
{
    struct shop *shop = *state;
    shop->store->ops->close(shop->store);
    test_free(shop);
    return 0;
}

/* ---- orders and payments ---- */

/* An order of USER, as the inventory's win makes it. */
static ticket_number order_make(struct shop *shop)
{
    const struct queue_record record = { .lsn = ++shop->lsn,
        .command = { .type = COMMAND_RESERVE,
            .time_ms = shop->now_ms,
            .reserve = { .user = USER, .item = shop->item, .quantity = 1 } },
        .outcome = { .answer = ANSWER_WON,
            .changed = true,
            .ticket = ++shop->ticket,
            .unit_price = PRICE,
            .pay_by_ms = shop->now_ms + WINDOW_MS } };
    const uint8_t disposition = DISPOSE_APPLY;
    struct refusal refusal = { .text = "" };
    assert_int_equal(shop->store->ops->apply(shop->store, &record, &disposition, 1, &refusal), STATUS_OK);
    return shop->ticket;
}

static uint64_t payment_make(struct shop *shop, ticket_number ticket, const char *reference)
{
    struct payment_start start = { .ticket = ticket, .now_ms = shop->now_ms, .provider = "bank" };
    struct payment payment;
    struct order after;
    uint8_t answer;
    snprintf(start.reference, sizeof start.reference, "%s", reference);
    assert_int_equal(whole->start(shop->store, &start, &payment, &after, &answer), STATUS_OK);
    assert_int_equal(answer, START_DONE);
    cashier_look(&shop->cashier);
    return payment.id;
}

static struct payment payment_of(struct shop *shop, uint64_t id)
{
    struct payment payment;
    assert_int_equal(whole->get(shop->store, id, &payment), STATUS_OK);
    return payment;
}

static struct order order_of(struct shop *shop, ticket_number ticket)
{
    struct order order;
    assert_int_equal(shop->store->ops->order_by_ticket(shop->store, ticket, &order), STATUS_OK);
    return order;
}

static struct refund refund_of(struct shop *shop)
{
    struct refund refunds[2];
    uint32_t count;
    assert_int_equal(whole->refunds(shop->store, 0, REFUND_NONE, refunds, 2, &count), STATUS_OK);
    assert_int_equal(count, 1);
    return refunds[0];
}

static struct money_totals totals_of(struct shop *shop)
{
    struct money_totals totals;
    assert_int_equal(whole->totals(shop->store, &totals), STATUS_OK);
    return totals;
}

/* ---- time, questions and answers ---- */

static void turn(struct shop *shop)
{
    assert_int_equal(cashier_turn(&shop->cashier, shop->now_ms), STATUS_OK);
}

static void turn_after(struct shop *shop, uint64_t pause_ms)
{
    shop->now_ms += pause_ms;
    turn(shop);
}

/* A turn that asks exactly this. */
static void asks(struct shop *shop, uint64_t pause_ms, enum provider_act act)
{
    const uint32_t before = shop->asked;
    turn_after(shop, pause_ms);
    assert_int_equal(shop->asked, before + 1);
    assert_int_equal(shop->act, act);
}

static void asks_nothing(struct shop *shop, uint64_t pause_ms)
{
    const uint32_t before = shop->asked;
    turn_after(shop, pause_ms);
    assert_int_equal(shop->asked, before);
}

static struct provider_said word(enum provider_word word)
{
    struct provider_said said = {
        .word = word, .amount = PRICE, .currency = "CNY", .provider_id = "p-1", .url = "https://pay/1"
    };
    return said;
}

static void says(struct shop *shop, enum provider_word what)
{
    const struct provider_said said = word(what);
    cashier_said(&shop->cashier, shop->flight, &said, shop->now_ms);
}

static uint8_t called_back(
    struct shop *shop, const char *reference, enum provider_word what, uint64_t amount)
{
    struct provider_said said = word(what);
    uint8_t answer = LEARN_ANSWERS;
    said.amount = amount;
    snprintf(said.reference, sizeof said.reference, "%s", reference);
    assert_int_equal(cashier_news(&shop->cashier, "bank", &said, shop->now_ms, &answer), STATUS_OK);
    return answer;
}

/* A payment that is open at the provider. */
static uint64_t payment_open(struct shop *shop, ticket_number ticket, const char *reference)
{
    const uint64_t id = payment_make(shop, ticket, reference);
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_OPEN);
    return id;
}

static void order_cancel(struct shop *shop, ticket_number ticket)
{
    uint32_t live;
    assert_int_equal(
        whole->closing(shop->store, ticket, REASON_CANCELLED, shop->now_ms, &live), STATUS_OK);
    cashier_look(&shop->cashier);
}

/* A closed order whose money comes all the same. */
static uint64_t late_money(struct shop *shop, ticket_number ticket)
{
    const uint64_t id = payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_CLOSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_LATE);
    return id;
}

static void money_is_at_rest(struct shop *shop)
{
    const struct money_totals totals = totals_of(shop);
    assert_int_equal(totals.wanted, 0);
    assert_int_equal(totals.late, 0);
    assert_int_equal(totals.captured - totals.refunded, totals.paid);
}

/* ---- started and open ---- */

static void a_started_payment_is_created_opened_and_asked_about_until_paid(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    assert_string_equal(shop->reference, "r-1");
    assert_int_equal(shop->opened, 1);
    assert_string_equal(shop->opened_error, "");
    assert_int_equal(payment_of(shop, id).state, PAYMENT_OPEN);
    assert_string_equal(payment_of(shop, id).url, "https://pay/1");
    asks_nothing(shop, QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_OPEN);
    asks_nothing(shop, QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY); /* then more and more seldom */
    says(shop, WORD_OPEN);
    asks_nothing(shop, 2 * QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    assert_true(shop->changed > 0);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    money_is_at_rest(shop);
}

static void questions_are_never_further_apart_than_the_most(void **state)
{
    struct shop *shop = *state;
    payment_open(shop, order_make(shop), "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    for (uint32_t i = 0; i < 7; i++) { /* 0.4 s … 51.2 s, then a minute */
        says(shop, WORD_OPEN);
        asks(shop, CASHIER_AGAIN_MAX_MS, PROVIDER_QUERY);
    }
}

static void a_create_without_an_answer_is_repeated_with_growing_pauses(void **state)
{
    struct shop *shop = *state;
    const uint64_t id = payment_make(shop, order_make(shop), "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_AGAIN);
    asks_nothing(shop, CASHIER_CREATE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_CREATE);
    says(shop, WORD_FORGED);
    asks_nothing(shop, 2 * CASHIER_CREATE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_CREATE);
    says(shop, WORD_OPEN);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_OPEN);
    asks_nothing(shop, QUERY_MS - 1); /* the pauses begin anew */
    asks(shop, 1, PROVIDER_QUERY);
}

static void a_refused_create_is_told_and_the_order_may_try_again(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_make(shop, ticket, "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    struct provider_said said = word(WORD_REFUSED);
    snprintf(said.error, sizeof said.error, "no such merchant");
    cashier_said(&shop->cashier, shop->flight, &said, shop->now_ms);
    assert_string_equal(shop->opened_error, "no such merchant");
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CLOSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    payment_open(shop, ticket, "r-2");
}

static void a_create_that_finds_the_payment_paid_or_closed_is_news(void **state)
{
    struct shop *shop = *state;
    const ticket_number paid = order_make(shop), closed = order_make(shop);
    payment_make(shop, paid, "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, paid).state, ORDER_PAID);
    const uint64_t id = payment_make(shop, closed, "r-2");
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_CLOSED);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CLOSED);
}

static void an_answer_that_cannot_be_trusted_changes_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_FORGED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
}

static void at_most_one_question_about_a_payment_is_under_way(void **state)
{
    struct shop *shop = *state;
    payment_make(shop, order_make(shop), "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    for (uint32_t i = 0; i < 5; i++) {
        cashier_look(&shop->cashier);
        asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    }
    says(shop, WORD_OPEN);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
}

static void no_more_questions_are_under_way_than_there_are_places(void **state)
{
    struct shop *shop = *state;
    char reference[16];
    for (uint32_t i = 0; i <= CASHIER_FLIGHT_MAX; i++) {
        snprintf(reference, sizeof reference, "r-%u", i);
        payment_make(shop, order_make(shop), reference);
    }
    turn(shop);
    assert_int_equal(shop->asked, CASHIER_FLIGHT_MAX);
    asks_nothing(shop, CASHIER_LATE_AGAIN_MS);
    says(shop, WORD_OPEN);
    asks(shop, CASHIER_LATE_AGAIN_MS, PROVIDER_CREATE); /* the last one has a place now */
}

static void a_provider_that_cannot_be_asked_now_is_asked_soon(void **state)
{
    struct shop *shop = *state;
    payment_make(shop, order_make(shop), "r-1");
    shop->no_room = true;
    asks_nothing(shop, 0);
    shop->no_room = false;
    asks_nothing(shop, CASHIER_LATE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_CREATE);
}

/* ---- callbacks ---- */

static void a_callback_brings_the_news_and_its_double_changes_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    const uint64_t version = order_of(shop, ticket).version;
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_REPEATED);
    assert_int_equal(called_back(shop, "r-1", WORD_CLOSED, PRICE), LEARN_REPEATED);
    assert_int_equal(order_of(shop, ticket).version, version);
    assert_int_equal(called_back(shop, "r-9", WORD_CAPTURED, PRICE), LEARN_UNKNOWN);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    money_is_at_rest(shop);
}

static void a_callback_with_another_amount_only_brings_the_question_forward(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE - 1), LEARN_AMOUNT);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks(shop, 0, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
}

static void an_answer_that_comes_after_the_callback_changes_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    says(shop, WORD_OPEN); /* as it was when the provider looked */
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
}

static void a_callback_can_be_sooner_than_the_answer_to_create(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_make(shop, ticket, "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    says(shop, WORD_OPEN);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
}

static void a_wrong_amount_during_a_question_is_asked_again_at_once(void **state)
{
    struct shop *shop = *state;
    payment_open(shop, order_make(shop), "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    shop->now_ms++;
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE + 1), LEARN_AMOUNT);
    asks_nothing(shop, 0);
    says(shop, WORD_OPEN);
    asks(shop, 0, PROVIDER_QUERY);
}

/* ---- closing ---- */

static void a_payment_is_closed_at_the_provider_before_its_order_expires(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_OPEN);
    shop->now_ms = order_of(shop, ticket).pay_by_ms;
    turn(shop); /* it becomes CLOSING */
    asks(shop, 0, PROVIDER_CLOSE);
    const uint32_t changed = shop->changed;
    says(shop, WORD_CLOSED);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CLOSED);
    assert_int_equal(shop->changed, changed + 1); /* the expiry must look: nothing holds it open now */
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
}

static void closing_asks_in_turn_and_money_that_was_quicker_pays(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_AGAIN);
    asks_nothing(shop, CASHIER_CLOSE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_OPEN);
    asks(shop, CASHIER_CLOSE_AGAIN_MS, PROVIDER_CLOSE);
    says(shop, WORD_REFUSED); /* "it is paid": the next question tells how much */
    asks(shop, 2 * CASHIER_CLOSE_AGAIN_MS, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    money_is_at_rest(shop);
}

static void a_payment_that_the_provider_never_had_is_closed(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_make(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_UNKNOWN);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, ticket).reason, REASON_CANCELLED);
}

static void an_open_payment_that_the_provider_does_not_know_yet_is_asked_again(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_UNKNOWN);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_OPEN);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
}

static void closing_is_given_up_after_its_time_and_not_before(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    const uint64_t end_ms = shop->now_ms + CLOSE_WAIT_MS;
    asks(shop, 0, PROVIDER_CLOSE);
    while (shop->now_ms < end_ms) {
        assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
        says(shop, WORD_AGAIN);
        const uint32_t before = shop->asked;
        while (shop->asked == before && shop->now_ms < end_ms)
            turn_after(shop, 100);
    }
    if (shop->cashier.under_way > 0)
        says(shop, WORD_AGAIN);
    turn_after(shop, CASHIER_AGAIN_MAX_MS);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, ticket).reason, REASON_CANCELLED);
}

static void cancelling_during_a_question_is_not_put_off_by_its_answer(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    shop->now_ms++;
    order_cancel(shop, ticket);
    asks_nothing(shop, 0);
    says(shop, WORD_OPEN);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_CLOSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
}

/* ---- late money ---- */

static void late_money_with_a_unit_pays_a_new_order(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = late_money(shop, ticket);
    shop->unit = (struct outcome){ .answer = ANSWER_WON, .ticket = ticket + 1 };
    turn(shop); /* its order is not written yet */
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    shop->unit.answer = ANSWER_REPEATED; /* the same key finds the same ticket */
    assert_int_equal(order_make(shop), ticket + 1);
    turn_after(shop, CASHIER_LATE_AGAIN_MS);
    assert_int_equal(shop->unit_asked, 2);
    assert_int_equal(payment_of(shop, id).use, USE_RELINKED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, ticket + 1).state, ORDER_PAID);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    money_is_at_rest(shop);
}

static void late_money_without_a_unit_goes_back(void **state)
{
    struct shop *shop = *state;
    late_money(shop, order_make(shop));
    turn(shop);
    assert_int_equal(refund_of(shop).why, REFUND_OF_LATE);
    if (shop->act != PROVIDER_REFUND)
        asks(shop, 0, PROVIDER_REFUND);
    assert_string_equal(shop->key, refund_of(shop).key);
    says(shop, WORD_REFUNDED);
    assert_int_equal(refund_of(shop).state, REFUND_DONE);
    money_is_at_rest(shop);
}

static void late_money_waits_for_an_inventory_that_is_away_and_then_goes_back(void **state)
{
    struct shop *shop = *state;
    const uint64_t id = late_money(shop, order_make(shop));
    const uint64_t end_ms = payment_of(shop, id).captured_ms + LATE_WAIT_MS;
    shop->unit_status = STATUS_AWAY;
    while (shop->now_ms < end_ms) {
        turn(shop);
        assert_int_equal(payment_of(shop, id).use, USE_LATE);
        shop->now_ms += CASHIER_CLOSE_AGAIN_MS;
    }
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_REFUND);
    assert_true(shop->unit_asked > 10);
}

static void late_money_that_came_during_a_question_does_not_wait_for_another_event(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_AGAIN);
    asks(shop, CASHIER_CLOSE_AGAIN_MS, PROVIDER_QUERY);
    assert_int_equal(called_back(shop, "r-1", WORD_CLOSED, PRICE), LEARN_CLOSED);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_LATE);
    turn(shop); /* passed over: the question is under way */
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    says(shop, WORD_CAPTURED); /* nothing new */
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_REFUND);
}

/* ---- refunds ---- */

static void order_refund(struct shop *shop, ticket_number ticket)
{
    const struct order_move move = { .ticket = ticket, .now_ms = shop->now_ms, .event = ORDER_EVENT_REFUND };
    struct order after;
    uint8_t answer;
    assert_int_equal(shop->store->ops->orders_move(shop->store, &move, 1, &after, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
    cashier_look(&shop->cashier);
}

static void a_refund_is_asked_for_until_it_is_confirmed(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    order_refund(shop, ticket);
    asks(shop, 0, PROVIDER_REFUND);
    cashier_look(&shop->cashier);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS); /* one question at a time */
    says(shop, WORD_AGAIN);
    asks_nothing(shop, CASHIER_REFUND_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_REFUND_QUERY);
    says(shop, WORD_REFUND_PENDING);
    asks(shop, CASHIER_REFUND_AGAIN_MS, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    assert_int_equal(refund_of(shop).state, REFUND_DONE);
    asks_nothing(shop, CASHIER_STUCK_MS);
    money_is_at_rest(shop);
}

static void a_refused_refund_is_stuck_told_and_tried_slowly(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    order_refund(shop, ticket);
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUSED);
    assert_int_equal(refund_of(shop).state, REFUND_STUCK);
    assert_int_equal(shop->stuck, 1);
    asks_nothing(shop, CASHIER_STUCK_MS - 1);
    asks(shop, 1, PROVIDER_REFUND_QUERY);
    says(shop, WORD_REFUNDED);
    assert_int_equal(refund_of(shop).state, REFUND_DONE);
    money_is_at_rest(shop);
}

static void a_second_payment_of_a_paid_order_is_closed_or_goes_back(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    struct payment_start start = { .ticket = ticket, .now_ms = shop->now_ms, .provider = "other" };
    struct payment second;
    struct order after;
    uint8_t answer;
    payment_open(shop, ticket, "r-1");
    snprintf(start.reference, sizeof start.reference, "r-2");
    assert_int_equal(whole->start(shop->store, &start, &second, &after, &answer), STATUS_OK);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    asks(shop, 0, PROVIDER_CLOSE);
    assert_string_equal(shop->reference, "r-2");
    says(shop, WORD_CAPTURED);
    assert_int_equal(refund_of(shop).why, REFUND_OF_DOUBLE);
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    money_is_at_rest(shop);
}

static void money_of_another_amount_goes_back_and_the_order_may_still_be_paid(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    struct provider_said said = word(WORD_CAPTURED);
    said.amount = PRICE - 1;
    const uint32_t changed = shop->changed;
    cashier_said(&shop->cashier, shop->flight, &said, shop->now_ms);
    assert_int_equal(refund_of(shop).why, REFUND_OF_AMOUNT);
    assert_int_equal(refund_of(shop).amount, PRICE - 1);
    assert_int_equal(shop->changed, changed + 1); /* it may expire again */
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    payment_open(shop, ticket, "r-2");
    assert_int_equal(called_back(shop, "r-2", WORD_CAPTURED, PRICE), LEARN_PAID);
    money_is_at_rest(shop);
}

/* ---- trouble ---- */

static void a_store_that_is_away_loses_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    struct provider_said said = word(WORD_CAPTURED);
    uint8_t answer;
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    store_away = true;
    says(shop, WORD_CAPTURED); /* can't be kept: it is asked again */
    snprintf(said.reference, sizeof said.reference, "r-1");
    assert_int_equal(cashier_news(&shop->cashier, "bank", &said, shop->now_ms, &answer), STATUS_AWAY);
    shop->now_ms += CASHIER_AWAY_MS;
    assert_int_equal(cashier_turn(&shop->cashier, shop->now_ms), STATUS_AWAY);
    store_away = false;
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks_nothing(shop, CASHIER_AWAY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
}

static void a_new_cashier_on_the_same_store_goes_on(void **state)
{
    struct shop *shop = *state;
    const ticket_number first = order_make(shop), second = order_make(shop), third = order_make(shop);
    payment_make(shop, first, "r-1");
    asks(shop, 0, PROVIDER_CREATE); /* the answer is lost with the process */
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_OPEN);
    cashier_begin(shop);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, first).state, ORDER_PAID);
    order_refund(shop, first);
    asks(shop, 0, PROVIDER_REFUND);
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    payment_open(shop, second, "r-2");
    order_cancel(shop, second);
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_CLOSED);
    assert_int_equal(order_of(shop, second).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, third).state, ORDER_PENDING);
    money_is_at_rest(shop);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_started_payment_is_created_opened_and_asked_about_until_paid),
        RULE(questions_are_never_further_apart_than_the_most),
        RULE(a_create_without_an_answer_is_repeated_with_growing_pauses),
        RULE(a_refused_create_is_told_and_the_order_may_try_again),
        RULE(a_create_that_finds_the_payment_paid_or_closed_is_news),
        RULE(an_answer_that_cannot_be_trusted_changes_nothing),
        RULE(at_most_one_question_about_a_payment_is_under_way),
        RULE(no_more_questions_are_under_way_than_there_are_places),
        RULE(a_provider_that_cannot_be_asked_now_is_asked_soon),
        RULE(a_callback_brings_the_news_and_its_double_changes_nothing),
        RULE(a_callback_with_another_amount_only_brings_the_question_forward),
        RULE(an_answer_that_comes_after_the_callback_changes_nothing),
        RULE(a_callback_can_be_sooner_than_the_answer_to_create),
        RULE(a_wrong_amount_during_a_question_is_asked_again_at_once),
        RULE(a_payment_is_closed_at_the_provider_before_its_order_expires),
        RULE(closing_asks_in_turn_and_money_that_was_quicker_pays),
        RULE(a_payment_that_the_provider_never_had_is_closed),
        RULE(an_open_payment_that_the_provider_does_not_know_yet_is_asked_again),
        RULE(closing_is_given_up_after_its_time_and_not_before),
        RULE(cancelling_during_a_question_is_not_put_off_by_its_answer),
        RULE(late_money_with_a_unit_pays_a_new_order),
        RULE(late_money_without_a_unit_goes_back),
        RULE(late_money_waits_for_an_inventory_that_is_away_and_then_goes_back),
        RULE(late_money_that_came_during_a_question_does_not_wait_for_another_event),
        RULE(a_refund_is_asked_for_until_it_is_confirmed),
        RULE(a_refused_refund_is_stuck_told_and_tried_slowly),
        RULE(a_second_payment_of_a_paid_order_is_closed_or_goes_back),
        RULE(money_of_another_amount_goes_back_and_the_order_may_still_be_paid),
        RULE(a_store_that_is_away_loses_nothing),
        RULE(a_new_cashier_on_the_same_store_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
