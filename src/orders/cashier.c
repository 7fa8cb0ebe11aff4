/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/cashier.h"

#include "base/log.h"
#include "base/metrics.h"
#include "contract/payment_rules.h"
#include "orders/late_payment.h"
#include "orders/payment_search.h"
#include "orders/provider_news.h"

#include <stdio.h>
#include <string.h>

#define LEARNED_METRIC(answer, text) \
    [answer] = METRIC_ROW(METRIC_COUNTER, "stampede_payment_news_total", "result=\"" text "\"", \
        "Messages of payment providers, by result.")
static struct metric learned[LEARN_ANSWERS] = {
    LEARNED_METRIC(LEARN_PAID, "paid"),
    LEARNED_METRIC(LEARN_LATE, "late"),
    LEARNED_METRIC(LEARN_REFUND, "refund"),
    LEARNED_METRIC(LEARN_CLOSED, "closed"),
    LEARNED_METRIC(LEARN_REPEATED, "repeated"),
    LEARNED_METRIC(LEARN_UNKNOWN, "unknown"),
    LEARNED_METRIC(LEARN_AMOUNT, "amount"),
    LEARNED_METRIC(LEARN_ASK, "ask"),
};
METRIC_TABLE(learned);
COUNTER(refunds_done, "stampede_refunds_done_total", "Refunds that the provider has confirmed.");

void cashier_start(struct cashier *cashier, const struct cashier_config *config)
{
    cashier->config = *config;
    cashier_look(cashier);
    cashier->passed_over = false;
    cashier->under_way = 0;
    for (uint32_t i = 0; i < CASHIER_FLIGHT_MAX; i++) /* not all of it: it is large, most stays unused */
        cashier->flights[i].used = false;
    if (cashier->config.calls_max == 0 || cashier->config.calls_max > CASHIER_FLIGHT_MAX)
        cashier->config.calls_max = CASHIER_FLIGHT_MAX;
}

void cashier_look(struct cashier *cashier)
{
    cashier->payments_look_ms = 0;
    cashier->refunds_look_ms = 0;
}

static const struct payment_store_ops *ops_of(const struct cashier *cashier)
{
    return cashier->config.store->ops->payment;
}

/* Doubles with every try, up to the most. */
static uint64_t pause_up_to(uint64_t most_ms, uint64_t first_ms, uint32_t tries)
{
    uint64_t pause = first_ms;
    while (tries-- > 0 && pause < most_ms)
        pause *= 2;
    return pause < most_ms ? pause : most_ms;
}

static uint64_t pause_ms(uint64_t first_ms, uint32_t tries)
{
    return pause_up_to(CASHIER_AGAIN_MAX_MS, first_ms, tries);
}

/* ---- questions under way ---- */

static bool asked_already(const struct cashier *cashier, bool is_refund, uint64_t id)
{
    for (uint32_t i = 0, seen = 0; seen < cashier->under_way; i++) {
        const struct cashier_flight *flight = &cashier->flights[i];
        seen += flight->used;
        if (flight->used && flight->is_refund == is_refund
            && (is_refund ? flight->refund.id : flight->payment.id) == id)
            return true;
    }
    return false;
}

void cashier_task(const struct cashier *cashier, uint32_t index, struct provider_task *task)
{
    invariant(index < CASHIER_FLIGHT_MAX && cashier->flights[index].used);
    const struct cashier_flight *flight = &cashier->flights[index];
    *task = (struct provider_task){ .act = flight->act,
        .payment = &flight->payment,
        .refund = flight->act == PROVIDER_REFUND || flight->act == PROVIDER_REFUND_QUERY ? &flight->refund
                                                                                         : NULL,
        .title = "",
        .notify_url = "",
        .return_url = "",
        .expires_ms = flight->payment.pay_by_ms };
}

/* False: there is no room, or the provider can't be asked now. */
static bool question_ask(struct cashier *cashier, enum provider_act act,
    const struct payment *payment, const struct refund *refund, uint64_t now_ms)
{
    uint32_t at = 0;
    if (cashier->under_way >= cashier->config.calls_max)
        return false;
    while (cashier->flights[at].used)
        at++;
    struct cashier_flight *flight = &cashier->flights[at];
    flight->used = true;
    flight->is_refund = refund != NULL && refund->id != 0; /* else: whether there was one */
    flight->act = act;
    flight->payment = *payment;
    if (refund != NULL)
        flight->refund = *refund;
    cashier->under_way++;
    struct provider_task task;
    cashier_task(cashier, at, &task);
    task.now_ms = now_ms;
    if (cashier->config.ask(cashier->config.context, at, &task))
        return true;
    flight->used = false;
    cashier->under_way--;
    return false;
}

/* ---- news ---- */

/* Views of an order are kept (contract/order_cache.h), and pages wait for news. */
void cashier_shown(struct cashier *cashier, ticket_number ticket)
{
    const struct order order = { .ticket = ticket };
    cashier->config.changed(cashier->config.context, &order);
}

static void news_told(struct cashier *cashier, const struct payment *payment,
    const struct order *order, enum learn_answer answer)
{
    metric_add(&learned[answer], 1);
    if (answer == LEARN_LATE || answer == LEARN_REFUND)
        log_warn("cashier", "payment %s of %llu: %s", payment->reference,
            (unsigned long long)payment->captured,
            answer == LEARN_LATE ? "too late for its order; trying to get a unit for it"
                                 : "does not match its order; it is refunded");
    if (answer == LEARN_AMOUNT)
        log_error("cashier", "payment %s: a callback has another amount or currency; asking the provider",
            payment->reference);
    /* An order that is still pending may expire now: no payment holds it open any more. */
    if (answer == LEARN_PAID || answer == LEARN_CLOSED || answer == LEARN_REFUND || answer == LEARN_LATE)
        cashier->config.changed(cashier->config.context, order);
    if (answer != LEARN_REPEATED && answer != LEARN_UNKNOWN)
        cashier_look(cashier);
}

static enum status news_learn(struct cashier *cashier, const struct payment_news *news, uint8_t *answer)
{
    struct payment payment;
    struct order order;
    const enum status status =
        ops_of(cashier)->learn(cashier->config.store, news, &payment, &order, answer);
    if (status != STATUS_OK)
        return status;
    news_told(cashier, &payment, &order, (enum learn_answer) * answer);
    return STATUS_OK;
}

enum status cashier_news(struct cashier *cashier, const char *provider,
    const struct provider_said *said, uint64_t now_ms, uint8_t *answer)
{
    const struct payment_news news = provider_news(cashier->config.payer_key, provider, said, now_ms);
    return news_learn(cashier, &news, answer);
}

/* Learns the provider's answer to our own question about this payment. */
static enum status payment_learn(struct cashier *cashier, const struct payment *payment,
    const struct provider_said *said, uint64_t now_ms)
{
    struct payment_news news = provider_news(cashier->config.payer_key, payment->provider, said, now_ms);
    uint8_t answer;
    snprintf(news.reference, sizeof news.reference, "%s", payment->reference);
    news.asked = true;
    return news_learn(cashier, &news, &answer);
}

/* ---- payments that are due ---- */

enum status cashier_again(struct cashier *cashier, const struct payment *payment, uint64_t at_ms)
{
    cashier_look_by(&cashier->payments_look_ms, at_ms);
    return ops_of(cashier)->again(cashier->config.store, payment->id, at_ms);
}

/* Waits after an answer that settles nothing. A plan that was made meanwhile (the payment is to be closed, a
 * callback wants it asked at once) takes precedence over the pause. */
static enum status payment_wait(struct cashier *cashier, const struct payment *asked, uint64_t at_ms)
{
    struct payment now;
    const enum status status = ops_of(cashier)->get(cashier->config.store, asked->id, &now);
    if (status != STATUS_OK)
        return status;
    if (now.state == asked->state && now.next_ms == asked->next_ms)
        return cashier_again(cashier, asked, at_ms);
    cashier_look(cashier);
    return STATUS_OK;
}

static enum status payment_close_alone(
    struct cashier *cashier, const struct payment *payment, uint64_t now_ms)
{
    const struct provider_said said = { .word = WORD_CLOSED };
    struct payment_news news =
        provider_news(cashier->config.payer_key, payment->provider, &said, now_ms);
    uint8_t answer;
    log_error("cashier", "payment %s can't be closed at %s; its order continues without an answer",
        payment->reference, payment->provider);
    snprintf(news.reference, sizeof news.reference, "%s", payment->reference);
    news.ask_ms = now_ms + cashier->config.query_ms;
    return news_learn(cashier, &news, &answer);
}

/* When an unanswered payment is asked about next. Soon after it was to be closed (a provider that
 * refuses to close does not say why), after a query later and later. */
static uint64_t unanswered_next_ms(const struct cashier *cashier, const struct payment *payment,
    enum provider_act asked, uint64_t now_ms)
{
    const uint64_t next_ms = now_ms
        + (asked == PROVIDER_CLOSE
                ? CASHIER_CLOSE_AGAIN_MS
                : pause_up_to(CASHIER_UNANSWERED_MAX_MS, cashier->config.query_ms, payment->tries / 2));
    if (next_ms < payment->created_ms + cashier->config.ask_ms)
        return next_ms;
    log_error("cashier",
        "payment %s: %s never reported the result and is not asked any more. Check the "
        "provider's statement, or import it",
        payment->reference, payment->provider);
    return PAYMENT_ASK_NEVER_MS;
}

/* Even tries query, odd tries close; for a payment that is being closed it is the other way round. */
static enum provider_act act_of(const struct payment *payment)
{
    if (payment->state == PAYMENT_STARTED)
        return PROVIDER_CREATE;
    if (payment->state == PAYMENT_OPEN)
        return PROVIDER_QUERY;
    return (payment->tries % 2 == 0) == (payment->state == PAYMENT_CLOSING) ? PROVIDER_CLOSE
                                                                            : PROVIDER_QUERY;
}

static enum status payment_turn(struct cashier *cashier, const struct payment *payment, uint64_t now_ms)
{
    const bool waits = payment->state == PAYMENT_STARTED || payment->state == PAYMENT_OPEN;
    uint32_t live;
    if (payment->state == PAYMENT_CAPTURED)
        return late_payment_turn(cashier, payment, now_ms);
    if (waits && payment->pay_by_ms <= now_ms) {
        cashier_look(cashier);
        return ops_of(cashier)->closing(
            cashier->config.store, payment->ticket, REASON_NONE, now_ms, &live);
    }
    if (payment->state == PAYMENT_CLOSING && now_ms >= payment->closing_ms + cashier->config.close_wait_ms)
        return payment_close_alone(cashier, payment, now_ms);
    if (!question_ask(cashier, act_of(payment), payment, NULL, now_ms))
        cashier->payments_look_ms = now_ms + CASHIER_LATE_AGAIN_MS;
    return STATUS_OK;
}

/* ---- refunds that are due ---- */

static enum status refund_turn(struct cashier *cashier, const struct refund *refund, uint64_t now_ms)
{
    struct payment payment;
    const enum status status = ops_of(cashier)->get(cashier->config.store, refund->payment, &payment);
    if (status != STATUS_OK)
        return status;
    enum provider_act act = refund->tries % 2 == 0 ? PROVIDER_REFUND : PROVIDER_REFUND_QUERY;
    /* A whole refund can't be made twice. A part can, by a provider that forgets keys after a day: then it
     * is asked for again only after the provider has said that it does not know it (refund_said). */
    if (refund->why == REFUND_OF_PART && refund->tries > 0)
        act = PROVIDER_REFUND_QUERY;
    if (refund->why == REFUND_OF_PART && now_ms > refund->created_ms + CASHIER_KEY_LIFE_MS)
        act = PROVIDER_REFUND_QUERY;
    if (!question_ask(cashier, act, &payment, refund, now_ms))
        cashier->refunds_look_ms = now_ms + CASHIER_LATE_AGAIN_MS;
    return STATUS_OK;
}

/* Reads the rows that are due, payments or refunds, and asks about each that no question is under way for. */
static enum status due_turn(struct cashier *cashier, bool refunds, uint64_t now_ms)
{
    struct order_store *store = cashier->config.store;
    uint64_t *look_ms = refunds ? &cashier->refunds_look_ms : &cashier->payments_look_ms;
    uint64_t next_ms = UINT64_MAX;
    uint32_t count = 0;
    if (now_ms < *look_ms)
        return STATUS_OK;
    enum status status = refunds
        ? ops_of(cashier)->refunds_due(store, now_ms, cashier->refunds, CASHIER_LOOK_MAX, &count, &next_ms)
        : ops_of(cashier)->due(store, now_ms, cashier->due, CASHIER_LOOK_MAX, &count, &next_ms);
    *look_ms = count == CASHIER_LOOK_MAX ? now_ms + CASHIER_LATE_AGAIN_MS : next_ms;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        if (asked_already(cashier, refunds, refunds ? cashier->refunds[i].id : cashier->due[i].id))
            cashier->passed_over = true;
        else
            status = refunds ? refund_turn(cashier, &cashier->refunds[i], now_ms)
                             : payment_turn(cashier, &cashier->due[i], now_ms);
    }
    return status;
}

/* The store is away: the cashier looks again after a pause. */
static void store_away(struct cashier *cashier, uint64_t now_ms)
{
    cashier->payments_look_ms = now_ms + CASHIER_AWAY_MS;
    cashier->refunds_look_ms = now_ms + CASHIER_AWAY_MS;
}

enum status cashier_turn(struct cashier *cashier, uint64_t now_ms)
{
    enum status status = due_turn(cashier, false, now_ms);
    if (status == STATUS_OK)
        status = due_turn(cashier, true, now_ms);
    if (status != STATUS_OK)
        store_away(cashier, now_ms);
    return status;
}

/* ---- answers ---- */

static enum status created_open(struct cashier *cashier, struct payment *payment,
    const struct provider_said *said, uint64_t now_ms)
{
    const uint64_t next_ms = now_ms + cashier->config.query_ms;
    const enum status status = ops_of(cashier)->opened(
        cashier->config.store, payment->id, said->provider_id, said->url, next_ms);
    if (status != STATUS_OK)
        return status;
    payment->state = PAYMENT_OPEN;
    snprintf(payment->url, sizeof payment->url, "%s", said->url);
    cashier->config.opened(cashier->config.context, payment, NULL);
    cashier_look_by(&cashier->payments_look_ms, next_ms);
    return STATUS_OK;
}

static enum status created_refused(struct cashier *cashier, struct payment *payment,
    const struct provider_said *said, uint64_t now_ms)
{
    const struct provider_said closed = { .word = WORD_CLOSED };
    log_error("cashier", "payment %s was refused by %s: %s", payment->reference, payment->provider,
        said->error);
    const enum status status = payment_learn(cashier, payment, &closed, now_ms);
    if (status == STATUS_OK)
        cashier->config.opened(cashier->config.context, payment, said->error);
    return status;
}

static enum status created_said(struct cashier *cashier, struct payment *payment,
    const struct provider_said *said, uint64_t now_ms)
{
    if (said->word == WORD_OPEN)
        return created_open(cashier, payment, said, now_ms);
    if (said->word == WORD_CAPTURED || said->word == WORD_CLOSED)
        return payment_learn(cashier, payment, said, now_ms);
    if (said->word == WORD_REFUSED)
        return created_refused(cashier, payment, said, now_ms);
    log_warn("cashier", "payment %s can't be created at %s yet: %s", payment->reference,
        payment->provider, said->error);
    return payment_wait(cashier, payment, now_ms + pause_ms(CASHIER_CREATE_AGAIN_MS, payment->tries));
}

/* ---- after a restore: money that was found may have been given back before ---- */

static enum status found_ask(struct cashier *cashier, const struct payment *payment,
    const struct provider_said *said, uint64_t now_ms)
{
    struct payment found = *payment;
    struct refund refund = {
        .payment = payment->id, .ticket = payment->ticket, .amount = said->amount, .state = REFUND_WANTED
    };
    found.captured = said->amount;
    found.payer = provider_news(cashier->config.payer_key, payment->provider, said, now_ms).payer;
    if (said->provider_id[0] != '\0')
        snprintf(found.provider_id, sizeof found.provider_id, "%s", said->provider_id);
    snprintf(refund.provider, sizeof refund.provider, "%s", payment->provider);
    refund_key(payment, refund.key);
    snprintf(refund.currency, sizeof refund.currency, "%s", said->currency);
    if (question_ask(cashier, PROVIDER_REFUND_QUERY, &found, &refund, now_ms))
        return STATUS_OK;
    return cashier_again(cashier, payment, now_ms + CASHIER_CLOSE_AGAIN_MS);
}

static enum status found_learn(struct cashier *cashier, const struct cashier_flight *flight,
    const struct provider_said *said, uint64_t now_ms)
{
    const struct payment *payment = &flight->payment;
    struct provider_said found = { .word = WORD_CAPTURED, .amount = payment->captured };
    uint8_t answer;
    if (said->word == WORD_AGAIN || said->word == WORD_FORGED)
        return cashier_again(cashier, payment, now_ms + CASHIER_CLOSE_AGAIN_MS);
    snprintf(found.provider_id, sizeof found.provider_id, "%s", payment->provider_id);
    snprintf(found.currency, sizeof found.currency, "%s", flight->refund.currency);
    struct payment_news news =
        provider_news(cashier->config.payer_key, payment->provider, &found, now_ms);
    snprintf(news.reference, sizeof news.reference, "%s", payment->reference);
    news.asked = true;
    news.payer = payment->payer;
    news.refunded = said->word == WORD_REFUNDED || said->word == WORD_REFUND_PENDING;
    const enum status status = news_learn(cashier, &news, &answer);
    return status == STATUS_OK ? payment_search_known(cashier, payment, now_ms) : status;
}

static enum status payment_said(struct cashier *cashier, struct cashier_flight *flight,
    const struct provider_said *said, uint64_t now_ms)
{
    struct payment *payment = &flight->payment;
    const bool closing = payment->state == PAYMENT_CLOSING;
    if (flight->act == PROVIDER_CREATE)
        return created_said(cashier, payment, said, now_ms);
    if (said->word == WORD_FORGED)
        log_error("cashier", "an answer of %s about payment %s can't be trusted: %s",
            payment->provider, payment->reference, said->error);
    if (payment->searched && flight->act == PROVIDER_REFUND_QUERY)
        return found_learn(cashier, flight, said, now_ms);
    if (payment->searched && said->word == WORD_CAPTURED)
        return found_ask(cashier, payment, said, now_ms);
    if (said->word == WORD_CAPTURED || said->word == WORD_CLOSED) {
        const enum status status = payment_learn(cashier, payment, said, now_ms);
        return status == STATUS_OK && payment->searched ? payment_search_known(cashier, payment, now_ms)
                                                        : status;
    }
    if (payment->searched && said->word == WORD_UNKNOWN)
        return payment_search_unknown(cashier, payment, now_ms);
    const bool unanswered = payment_is_unanswered(payment);
    if ((closing || unanswered) && said->word == WORD_UNKNOWN) {
        /* The provider never had it, or nobody has come to pay: nothing is left to close. */
        const struct provider_said closed = { .word = WORD_CLOSED };
        return payment_learn(cashier, payment, &closed, now_ms);
    }
    if (unanswered)
        return payment_wait(cashier, payment, unanswered_next_ms(cashier, payment, flight->act, now_ms));
    const uint64_t pause = closing ? pause_ms(CASHIER_CLOSE_AGAIN_MS, payment->tries / 2)
                                   : pause_ms(cashier->config.query_ms, payment->tries);
    return payment_wait(cashier, payment, now_ms + pause);
}

/* The provider does not know the part that it was asked about: it is asked for it, at once. */
static bool part_ask_again(struct cashier *cashier, const struct cashier_flight *flight,
    const struct provider_said *said, uint64_t now_ms)
{
    return flight->refund.why == REFUND_OF_PART && flight->act == PROVIDER_REFUND_QUERY
        && said->word == WORD_UNKNOWN
        && question_ask(cashier, PROVIDER_REFUND, &flight->payment, &flight->refund, now_ms);
}

static enum status refund_said(struct cashier *cashier, const struct cashier_flight *flight,
    const struct provider_said *said, uint64_t now_ms)
{
    struct order_store *store = cashier->config.store;
    const struct refund *refund = &flight->refund;
    if (part_ask_again(cashier, flight, said, now_ms))
        return STATUS_OK;
    const bool done = said->word == WORD_REFUNDED, stuck = said->word == WORD_REFUSED;
    enum status status;
    if (done) {
        metric_add(&refunds_done, 1);
        status = ops_of(cashier)->refund_done(store, refund->id, said->provider_id, now_ms);
    } else {
        const uint64_t pause =
            stuck ? CASHIER_STUCK_MS : pause_ms(CASHIER_REFUND_AGAIN_MS, refund->tries / 2);
        cashier_look_by(&cashier->refunds_look_ms, now_ms + pause);
        status = ops_of(cashier)->refund_again(store, refund->id, now_ms + pause, said->error, stuck);
    }
    if (stuck) {
        log_error("cashier", "%s refused refund %s: %s", refund->provider, refund->key, said->error);
        cashier->config.stuck(cashier->config.context, refund);
    }
    if (status == STATUS_OK && (done || stuck))
        cashier_shown(cashier, refund->ticket);
    return status;
}

void cashier_said(struct cashier *cashier, uint32_t index, const struct provider_said *said, uint64_t now_ms)
{
    invariant(index < CASHIER_FLIGHT_MAX && cashier->flights[index].used);
    struct cashier_flight *flight = &cashier->flights[index];
    const enum status status = flight->is_refund ? refund_said(cashier, flight, said, now_ms)
                                                 : payment_said(cashier, flight, said, now_ms);
    flight->used = false;
    cashier->under_way--;
    /* A callback may have made this payment due for something else meanwhile. */
    if (cashier->passed_over)
        cashier_look(cashier);
    cashier->passed_over = false;
    /* An answer that could not be stored changes nothing: its row stays due and is asked again. */
    if (status != STATUS_OK) {
        log_warn("cashier", "an answer can't be stored now: %s", status_name(status));
        store_away(cashier, now_ms);
    }
}
