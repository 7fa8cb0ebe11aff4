/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/orders/cashier_kit.h: a whole store (the simulator's) that can be away, and a provider
 * and an inventory that the test plays. For one test file at a time: everything is its own copy. */
#ifndef STAMPEDE_TESTS_CASHIER_KIT_H
#define STAMPEDE_TESTS_CASHIER_KIT_H

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
    ASK_MS = 24 * 60 * 60 * 1000,
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
    ticket_number changed_last;
    char opened_error[PAYMENT_ERROR_MAX + 1];
};

/* ---- a store that can be away ---- */

static const struct payment_store_ops *whole;
static struct payment_store_ops weak;
static struct order_store_ops weak_store;
static bool store_away;

static inline enum status weak_learn(struct order_store *store, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    return store_away ? STATUS_AWAY : whole->learn(store, news, payment, after, answer);
}

static inline enum status weak_due(struct order_store *store, uint64_t now_ms,
    struct payment *payments, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    return store_away ? STATUS_AWAY : whole->due(store, now_ms, payments, max, count, next_ms);
}

static inline void store_weaken(struct order_store *store)
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

static inline bool shop_ask(void *context, uint32_t flight, const struct provider_task *task)
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

static inline enum status shop_unit(void *context, const struct payment *payment,
    const struct order *order, struct outcome *outcome)
{
    struct shop *shop = context;
    assert_int_equal(payment->ticket, order->ticket);
    shop->unit_asked++;
    *outcome = shop->unit;
    return shop->unit_status;
}

static inline void shop_changed(void *context, const struct order *order)
{
    struct shop *shop = context;
    shop->changed++;
    shop->changed_last = order->ticket;
}

static inline void shop_opened(void *context, const struct payment *payment, const char *error)
{
    struct shop *shop = context;
    (void)payment;
    shop->opened++;
    snprintf(shop->opened_error, sizeof shop->opened_error, "%s", error == NULL ? "" : error);
}

static inline void shop_stuck(void *context, const struct refund *refund)
{
    (void)refund;
    ((struct shop *)context)->stuck++;
}

static inline const char *shop_provider_after(void *context, const char *provider)
{
    (void)context;
    return provider == NULL ? "bank" : strcmp(provider, "bank") == 0 ? "purse" : NULL;
}

static inline void cashier_begin(struct shop *shop)
{
    const struct cashier_config config = { .store = shop->store,
        .query_ms = QUERY_MS,
        .close_wait_ms = CLOSE_WAIT_MS,
        .ask_ms = ASK_MS,
        .late_wait_ms = LATE_WAIT_MS,
        .ask = shop_ask,
        .unit = shop_unit,
        .changed = shop_changed,
        .opened = shop_opened,
        .stuck = shop_stuck,
        .provider_after = shop_provider_after,
        .context = shop };
    cashier_start(&shop->cashier, &config);
}

static inline int setup(void **state)
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

static inline int teardown(void **state)
{
    struct shop *shop = *state;
    shop->store->ops->close(shop->store);
    test_free(shop);
    return 0;
}

/* ---- orders and payments ---- */

/* An order of USER, as the inventory's win makes it. */
static inline ticket_number order_make(struct shop *shop)
{
    const struct queue_record record = { .at.seq = ++shop->lsn,
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

static inline uint64_t payment_make(struct shop *shop, ticket_number ticket, const char *reference)
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

static inline struct payment payment_of(struct shop *shop, uint64_t id)
{
    struct payment payment;
    assert_int_equal(whole->get(shop->store, id, &payment), STATUS_OK);
    return payment;
}

static inline struct order order_of(struct shop *shop, ticket_number ticket)
{
    struct order order;
    assert_int_equal(shop->store->ops->order_by_ticket(shop->store, ticket, &order), STATUS_OK);
    return order;
}

static inline struct refund refund_of(struct shop *shop)
{
    struct refund refunds[2];
    uint32_t count;
    assert_int_equal(whole->refunds(shop->store, 0, REFUND_NONE, refunds, 2, &count), STATUS_OK);
    assert_int_equal(count, 1);
    return refunds[0];
}

static inline struct money_totals totals_of(struct shop *shop)
{
    struct money_totals totals;
    assert_int_equal(whole->totals(shop->store, &totals), STATUS_OK);
    return totals;
}

/* ---- time, questions and answers ---- */

static inline void turn(struct shop *shop)
{
    assert_int_equal(cashier_turn(&shop->cashier, shop->now_ms), STATUS_OK);
}

static inline void turn_after(struct shop *shop, uint64_t pause_ms)
{
    shop->now_ms += pause_ms;
    turn(shop);
}

/* A turn that asks exactly this. */
static inline void asks(struct shop *shop, uint64_t pause_ms, enum provider_act act)
{
    const uint32_t before = shop->asked;
    turn_after(shop, pause_ms);
    assert_int_equal(shop->asked, before + 1);
    assert_int_equal(shop->act, act);
}

static inline void asks_nothing(struct shop *shop, uint64_t pause_ms)
{
    const uint32_t before = shop->asked;
    turn_after(shop, pause_ms);
    assert_int_equal(shop->asked, before);
}

static inline struct provider_said word(enum provider_word word)
{
    struct provider_said said = {
        .word = word, .amount = PRICE, .currency = "CNY", .provider_id = "p-1", .url = "https://pay/1"
    };
    return said;
}

static inline void says(struct shop *shop, enum provider_word what)
{
    const struct provider_said said = word(what);
    cashier_said(&shop->cashier, shop->flight, &said, shop->now_ms);
}

static inline uint8_t called_back(
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
static inline uint64_t payment_open(struct shop *shop, ticket_number ticket, const char *reference)
{
    const uint64_t id = payment_make(shop, ticket, reference);
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_OPEN);
    return id;
}

static inline void order_cancel(struct shop *shop, ticket_number ticket)
{
    uint32_t live;
    assert_int_equal(
        whole->closing(shop->store, ticket, REASON_CANCELLED, shop->now_ms, &live), STATUS_OK);
    cashier_look(&shop->cashier);
}

/* A closed order whose money comes all the same. */
static inline uint64_t late_money(struct shop *shop, ticket_number ticket)
{
    const uint64_t id = payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_CLOSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_LATE);
    return id;
}

static inline void money_is_at_rest(struct shop *shop)
{
    const struct money_totals totals = totals_of(shop);
    assert_int_equal(totals.wanted, 0);
    assert_int_equal(totals.late, 0);
    assert_int_equal(totals.captured - totals.refunded, totals.paid);
}

#define SHOP_RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
