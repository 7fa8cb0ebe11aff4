/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/money_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

int money_rows_setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    place_execute(place, "UPDATE orders SET pay_by_ms = 100");
    *state = place;
    return 0;
}

int money_rows_teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

enum status row_started(struct place *place, ticket_number ticket, const char *reference)
{
    struct payment_start start = { .ticket = ticket, .now_ms = 1, .provider = "alpha" };
    struct payment payment;
    struct order after;
    uint8_t answer = START_ANSWERS;
    snprintf(start.reference, sizeof start.reference, "%s", reference);
    const enum status status =
        place->store->ops->payment->start(place->store, &start, &payment, &after, &answer);
    if (status == STATUS_OK)
        assert_int_equal(answer, START_DONE);
    return status;
}

void row_paid_by_another(struct place *place)
{
    place_execute(place, "UPDATE orders SET state = 2");
    place_execute(place,
        "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms,"
        " closing_ms) VALUES(1, 1, 'beta', 'b1', '', '', 5, 'CNY', 5, 4, 1, 0, 1, 1, 0, 0, 0)");
}

enum status row_captured(struct place *place, const char *reference, uint8_t *answer)
{
    struct payment_news news = { .kind = NEWS_CAPTURED, .now_ms = 2, .provider = "alpha" };
    struct payment payment;
    struct order after;
    snprintf(news.reference, sizeof news.reference, "%s", reference);
    news.amount = (uint64_t)place_number(place, "SELECT amount FROM orders WHERE ticket = 1");
    snprintf(news.currency, sizeof news.currency, "CNY");
    return place->store->ops->payment->learn(place->store, &news, &payment, &after, answer);
}
