/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/store_suite_money.h"

ticket_number money_pending(struct fixture *f, user_id user)
{
    const ticket_number ticket = suite_add_win(f, f->one, user, 1);
    suite_must_send(f);
    return ticket;
}

enum start_answer money_start_at(struct fixture *f, ticket_number ticket, const char *provider,
    const char *reference, uint64_t now_ms, uint64_t extend_ms, struct payment *payment,
    struct order *after)
{
    struct payment_start start = { .ticket = ticket, .now_ms = now_ms, .extend_ms = extend_ms };
    uint8_t answer = START_ANSWERS;
    snprintf(start.provider, sizeof start.provider, "%s", provider);
    snprintf(start.reference, sizeof start.reference, "%s", reference);
    assert_int_equal(money(f)->start(f->store, &start, payment, after, &answer), STATUS_OK);
    if (answer == START_DONE)
        assert_int_equal(suite_order_of(f, ticket).version, after->version);
    return (enum start_answer)answer;
}

enum start_answer money_start(struct fixture *f, ticket_number ticket, const char *provider,
    const char *reference, struct payment *payment, struct order *after)
{
    return money_start_at(f, ticket, provider, reference, PAY_MS, 0, payment, after);
}

void money_started(struct fixture *f, ticket_number ticket, const char *provider, const char *reference)
{
    struct payment payment;
    struct order after;
    assert_int_equal(money_start(f, ticket, provider, reference, &payment, &after), START_DONE);
}

struct payment_news money_news(const char *provider, const char *reference, enum news_kind kind)
{
    struct payment_news news = { .kind = (uint8_t)kind, .amount = FLASH_PRICE, .now_ms = NEWS_MS };
    snprintf(news.provider, sizeof news.provider, "%s", provider);
    snprintf(news.reference, sizeof news.reference, "%s", reference);
    snprintf(news.currency, sizeof news.currency, "CNY");
    return news;
}

enum learn_answer money_learn(
    struct fixture *f, struct payment_news news, struct payment *payment, struct order *after)
{
    uint8_t answer = LEARN_ANSWERS;
    assert_int_equal(money(f)->learn(f->store, &news, payment, after, &answer), STATUS_OK);
    if (answer != LEARN_UNKNOWN) { /* what is told is what is stored */
        const struct order stored = suite_order_of(f, payment->ticket);
        const struct payment kept = money_of(f, news.reference);
        assert_int_equal(after->state, stored.state);
        assert_int_equal(after->reason, stored.reason);
        assert_int_equal(after->version, stored.version);
        assert_int_equal(after->ending, stored.ending);
        assert_int_equal(payment->state, kept.state);
        assert_int_equal(payment->use, kept.use);
        assert_int_equal(payment->paid_ticket, kept.paid_ticket);
        assert_int_equal(payment->captured, kept.captured);
    }
    suite_check_accounting(f, f->one, 0);
    return (enum learn_answer)answer;
}

enum learn_answer money_captured(struct fixture *f, const char *provider, const char *reference,
    struct payment *payment, struct order *after)
{
    return money_learn(f, money_news(provider, reference, NEWS_CAPTURED), payment, after);
}

enum learn_answer money_closed(
    struct fixture *f, const char *provider, const char *reference, struct order *after)
{
    struct payment payment;
    return money_learn(f, money_news(provider, reference, NEWS_CLOSED), &payment, after);
}

struct payment money_of(struct fixture *f, const char *reference)
{
    struct payment payment = { 0 };
    assert_int_equal(money(f)->by_reference(f->store, reference, &payment), STATUS_OK);
    return payment;
}

static enum move_answer move_one(struct fixture *f, const struct order_move *move, struct order *after)
{
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(ops(f)->orders_move(f->store, move, 1, after, &answer), STATUS_OK);
    assert_int_equal(after->state, suite_order_of(f, move->ticket).state);
    suite_check_accounting(f, f->one, 0);
    return (enum move_answer)answer;
}

enum move_answer money_move(
    struct fixture *f, ticket_number ticket, enum order_event event, struct order *after)
{
    const struct order_move move = {
        .ticket = ticket, .event = (uint8_t)event, .now_ms = START_MS + 10 * WINDOW_MS
    };
    return move_one(f, &move, after);
}

enum move_answer money_shop_pays(
    struct fixture *f, ticket_number ticket, const char *reference, struct order *after)
{
    struct order_move move = {
        .ticket = ticket, .event = ORDER_EVENT_PAY, .now_ms = NEWS_MS, .amount = FLASH_PRICE
    };
    snprintf(move.currency, sizeof move.currency, "CNY");
    snprintf(move.reference, sizeof move.reference, "%s", reference);
    return move_one(f, &move, after);
}

struct refund money_only_refund(struct fixture *f)
{
    struct refund list[2];
    uint32_t count = 0;
    assert_int_equal(money(f)->refunds(f->store, 0, REFUND_NONE, list, 2, &count), STATUS_OK);
    assert_int_equal(count, 1);
    return list[0];
}

void money_totals_are(struct fixture *f, struct money_totals expected)
{
    struct money_totals totals;
    assert_int_equal(money(f)->totals(f->store, &totals), STATUS_OK);
    assert_memory_equal(&totals, &expected, sizeof totals);
}
