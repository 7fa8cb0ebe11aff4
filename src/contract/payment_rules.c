/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/payment_rules.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

bool payment_is_payable(const struct payment *payment)
{
    return payment->state == PAYMENT_STARTED || payment->state == PAYMENT_OPEN;
}

bool payment_is_live(const struct payment *payment)
{
    return payment_is_payable(payment) || payment->state == PAYMENT_CLOSING;
}

/* ---- starting ---- */

enum start_answer payment_start_decide(const struct payment_start *start, const struct order *order,
    const struct payment *tried, uint32_t count, bool details_missing, const struct payment **same)
{
    if (order->state != ORDER_PENDING)
        return START_REFUSED;
    if (order->ending != REASON_NONE || start->now_ms >= order->pay_by_ms)
        return START_TOO_LATE;
    for (uint32_t i = 0; i < count; i++) {
        if (!payment_is_payable(&tried[i]) || strcmp(tried[i].provider, start->provider) != 0)
            continue;
        *same = &tried[i];
        return START_REPEATED;
    }
    if (details_missing)
        return START_DETAILS;
    return count >= PAYMENTS_PER_ORDER ? START_TOO_MANY : START_DONE;
}

bool payment_start_extends(const struct payment_start *start, const struct order *order, uint64_t *pay_by_ms)
{
    *pay_by_ms = start->now_ms + start->extend_ms;
    return *pay_by_ms > order->pay_by_ms && !order->extended;
}

static void names_set(
    struct payment *payment, const char *provider, const char *reference, const char *currency)
{
    snprintf(payment->provider, sizeof payment->provider, "%s", provider);
    snprintf(payment->reference, sizeof payment->reference, "%s", reference);
    snprintf(payment->currency, sizeof payment->currency, "%s", currency);
}

void payment_start_make(const struct payment_start *start, const struct order *order,
    const char *currency, struct payment *payment)
{
    *payment = (struct payment){ .ticket = start->ticket,
        .amount = order->amount,
        .state = PAYMENT_STARTED,
        .created_ms = start->now_ms,
        .next_ms = start->now_ms,
        .pay_by_ms = order->pay_by_ms };
    names_set(payment, start->provider, start->reference, currency);
}

void payment_by_shop_make(const struct order_move *move, struct payment *payment)
{
    *payment = (struct payment){ .ticket = move->ticket,
        .paid_ticket = move->ticket,
        .amount = move->amount,
        .captured = move->amount,
        .state = PAYMENT_CAPTURED,
        .use = USE_ORDER,
        .created_ms = move->now_ms,
        .captured_ms = move->now_ms };
    names_set(payment, PROVIDER_SHOP, move->reference, move->currency);
}

void payment_search_make(const struct payment_search *search, const struct order *order,
    const char *currency, uint64_t now_ms, struct payment *payment)
{
    *payment = (struct payment){ .ticket = order->ticket,
        .amount = order->amount,
        .state = PAYMENT_CLOSING,
        .created_ms = now_ms,
        .next_ms = now_ms,
        .pay_by_ms = order->pay_by_ms,
        .closing_ms = now_ms,
        .searched = true };
    names_set(payment, search->provider, search->reference, currency);
}

void payment_opened_apply(
    struct payment *payment, const char *provider_id, const char *url, uint64_t next_ms)
{
    if (payment->provider_id[0] == '\0')
        snprintf(payment->provider_id, sizeof payment->provider_id, "%s", provider_id);
    if (payment->url[0] == '\0')
        snprintf(payment->url, sizeof payment->url, "%s", url);
    if (payment->state != PAYMENT_STARTED)
        return;
    payment->state = PAYMENT_OPEN;
    payment->next_ms = next_ms;
    payment->tries = 0;
}

/* ---- news ---- */

static struct news_verdict closed_decide(const struct payment_news *news, struct payment *payment)
{
    struct news_verdict verdict = { .answer = LEARN_REPEATED };
    const bool captured = payment->state == PAYMENT_CAPTURED;
    /* Only what we asked for ends the questions: a callback may be older than the money. */
    const bool answered = payment_is_unanswered(payment) && news->asked && news->ask_ms == 0;
    if (captured || (payment->state == PAYMENT_CLOSED && !answered))
        return verdict;
    payment->state = PAYMENT_CLOSED;
    payment->use = USE_NONE;
    payment->tries = 0;
    payment->next_ms = news->ask_ms;
    verdict.answer = LEARN_CLOSED;
    verdict.changed = verdict.order_freed = true;
    return verdict;
}

static void money_is_there(const struct payment_news *news, struct payment *payment)
{
    payment->state = PAYMENT_CAPTURED;
    payment->tries = 0;
    payment->next_ms = 0;
    payment->captured = news->amount;
    payment->captured_ms = news->now_ms;
    if (news->payer != 0)
        payment->payer = news->payer;
    if (news->provider_id[0] != '\0') /* a refund needs it: what is not told is not forgotten */
        memcpy(payment->provider_id, news->provider_id, sizeof payment->provider_id);
}

static void money_pays(struct payment *payment, const struct order *order)
{
    payment->use = USE_ORDER;
    payment->paid_ticket = order->ticket;
}

static struct news_verdict money_goes_back(struct payment *payment, enum refund_why why)
{
    if (why != REFUND_OF_ORDER)
        payment->use = USE_REFUND;
    return (struct news_verdict){
        .answer = LEARN_REFUND, .changed = true, .order_freed = true, .refund = true, .why = (uint8_t)why
    };
}

static struct news_verdict money_is_late(struct payment *payment)
{
    payment->use = USE_LATE;
    payment->next_ms = payment->captured_ms;
    return (struct news_verdict){ .answer = LEARN_LATE, .changed = true };
}

/* Money that could be used, but its payer has bought enough. */
static struct news_verdict money_is_over(struct payment *payment, const struct order *order)
{
    struct news_verdict verdict = money_goes_back(payment, REFUND_OF_PAYER);
    verdict.rejects = order->state == ORDER_PENDING;
    return verdict;
}

static struct news_verdict captured_decide(const struct payment_news *news,
    const struct order *order, bool payer_known, enum payer_limit limit, struct payment *payment)
{
    const bool right = news->amount == payment->amount && strcmp(news->currency, payment->currency) == 0;
    if (!news->asked && (!right || limit == PAYER_WANTED)) {
        payment->next_ms = news->now_ms;
        return (struct news_verdict){ .answer = right ? LEARN_ASK : LEARN_AMOUNT, .changed = true };
    }
    money_is_there(news, payment);
    if (!right)
        return money_goes_back(payment, REFUND_OF_AMOUNT);
    if (order->state == ORDER_REFUNDED && !payer_known) {
        money_pays(payment, order);
        return money_goes_back(payment, REFUND_OF_ORDER);
    }
    if (news->refunded || (order->state == ORDER_PAID && payer_known))
        return money_goes_back(payment, REFUND_OF_DOUBLE);
    if (limit == PAYER_OVER && order->state != ORDER_PAID)
        return money_is_over(payment, order);
    if (order->state != ORDER_PENDING && order->state != ORDER_PAID)
        return money_is_late(payment);
    money_pays(payment, order);
    return (struct news_verdict){ .answer = LEARN_PAID, .changed = true, .pays = true };
}

struct news_verdict payment_news_decide(const struct payment_news *news, const struct order *order,
    bool payer_known, enum payer_limit limit, struct payment *payment)
{
    if (strcmp(payment->provider, news->provider) != 0)
        return (struct news_verdict){ .answer = LEARN_UNKNOWN };
    if (news->kind == NEWS_CLOSED)
        return closed_decide(news, payment);
    if (payment->state != PAYMENT_CAPTURED)
        return captured_decide(news, order, payer_known, limit, payment);
    return (struct news_verdict){ .answer = LEARN_REPEATED };
}

/* ---- late money ---- */

static void late_becomes(struct payment *payment, enum payment_use use, ticket_number paid)
{
    payment->use = (uint8_t)use;
    payment->paid_ticket = paid;
    payment->next_ms = 0;
    payment->tries = 0;
}

enum relink_verdict payment_relink_decide(const struct order *first, const struct order *order,
    bool payer_known, bool apart, enum payer_limit limit, struct payment *payment)
{
    if (payment->use != USE_LATE)
        return payment->use == USE_RELINKED && payment->paid_ticket == order->ticket ? RELINK_REPEATED
                                                                                     : RELINK_OVER;
    const bool takes = order->state == ORDER_PENDING || (order->state == ORDER_PAID && !payer_known);
    if (takes && !apart && limit != PAYER_OVER && order->user == first->user
        && order->item == first->item && order->amount == payment->captured) {
        late_becomes(payment, USE_RELINKED, order->ticket);
        return RELINK_PAYS;
    }
    late_becomes(payment, USE_REFUND, 0);
    return RELINK_GIVES_BACK;
}

bool payment_give_back_decide(struct payment *payment)
{
    if (payment->use != USE_LATE)
        return false;
    late_becomes(payment, USE_REFUND, 0);
    return true;
}

/* ---- refunds ---- */

/* Of the payment's reference, so that a key means the same payment for ever. A shop's reference may
 * be too long for that; nobody is told its key. */
void refund_key(const struct payment *payment, char key[REFERENCE_BYTES_MAX + 1])
{
    const int bytes = snprintf(key, REFERENCE_BYTES_MAX + 1, "r%s", payment->reference);
    if (bytes > REFERENCE_BYTES_MAX)
        snprintf(key, REFERENCE_BYTES_MAX + 1, "r-%llu", (unsigned long long)payment->id);
}

static void refund_fill(const struct payment *payment, uint64_t amount, enum refund_why why,
    uint64_t now_ms, struct refund *refund)
{
    const bool done = strcmp(payment->provider, PROVIDER_SHOP) == 0 || amount == 0;
    *refund = (struct refund){ .payment = payment->id,
        .ticket = payment->ticket,
        .amount = amount,
        .state = done ? REFUND_DONE : REFUND_WANTED,
        .why = (uint8_t)why,
        .created_ms = now_ms,
        .done_ms = done ? now_ms : 0,
        .next_ms = done ? 0 : now_ms };
    snprintf(refund->provider, sizeof refund->provider, "%s", payment->provider);
    snprintf(refund->currency, sizeof refund->currency, "%s", payment->currency);
}

void refund_make(const struct payment *payment, const char *currency, enum refund_why why,
    uint64_t parts, uint64_t now_ms, struct refund *refund)
{
    invariant(parts <= payment->captured);
    refund_fill(payment, payment->captured - parts, why, now_ms, refund);
    if (strlen(currency) == 3)
        snprintf(refund->currency, sizeof refund->currency, "%s", currency);
    refund_key(payment, refund->key);
}

/* ---- parts of a refund ---- */

enum part_answer refund_part_decide(const struct part_refund *part, const struct order *order,
    const struct payment *payer, const struct refund *same, uint64_t parts, uint32_t count)
{
    if (same != NULL)
        return same->amount == part->amount ? PART_REPEATED : PART_KEY_USED;
    if (order->state != ORDER_PAID)
        return PART_NOT_PAID;
    if (payer == NULL)
        return PART_NO_PAYMENT;
    if (part->currency[0] != '\0' && strcmp(part->currency, payer->currency) != 0)
        return PART_CURRENCY;
    invariant(parts <= payer->captured);
    if (part->amount == 0 || part->amount >= payer->captured - parts)
        return PART_TOO_MUCH;
    return count >= REFUND_PARTS_MAX ? PART_TOO_MANY : PART_DONE;
}

void refund_part_key(const struct payment *payment, const char *asked, char key[REFERENCE_BYTES_MAX + 1])
{
    static const struct hash_key fixed = { 0x73746d70, 1 }; /* no secret: a name */
    const unsigned long long name = hash_siphash(fixed, asked, strlen(asked));
    const int bytes = snprintf(key, REFERENCE_BYTES_MAX + 1, "p%016llx-%s", name, payment->reference);
    if (bytes > REFERENCE_BYTES_MAX) /* a shop's reference, as in refund_key */
        snprintf(key, REFERENCE_BYTES_MAX + 1, "p%016llx-%llu", name, (unsigned long long)payment->id);
}

void refund_part_make(const struct part_refund *part, const struct payment *payer, struct refund *refund)
{
    refund_fill(payer, part->amount, REFUND_OF_PART, part->now_ms, refund);
    refund_part_key(payer, part->key, refund->key);
    snprintf(refund->note, sizeof refund->note, "%s", part->reason);
}
