/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_suite_money.h: what the rules about payments and refunds share. */
#ifndef STAMPEDE_TESTS_STORE_SUITE_MONEY_H
#define STAMPEDE_TESTS_STORE_SUITE_MONEY_H

#include "contract/payment.h"
#include "tests/seam/store_suite_parts.h"

enum { PAY_MS = START_MS + 50, NEWS_MS = START_MS + 60 };

#define money(fixture) ((fixture)->store->ops->payment)

/* A pending order of one unit of the item with the limit of one. */
ticket_number money_pending(struct fixture *f, user_id user);
enum start_answer money_start_at(struct fixture *f, ticket_number ticket, const char *provider,
    const char *reference, uint64_t now_ms, uint64_t extend_ms, struct payment *, struct order *after);
/* At PAY_MS, without an extension. */
enum start_answer money_start(struct fixture *f, ticket_number ticket, const char *provider,
    const char *reference, struct payment *, struct order *after);
void money_started(struct fixture *f, ticket_number ticket, const char *provider, const char *reference);
/* At NEWS_MS, the right amount, not asked for. */
struct payment_news money_news(const char *provider, const char *reference, enum news_kind kind);
enum learn_answer money_learn(
    struct fixture *f, struct payment_news news, struct payment *, struct order *after);
enum learn_answer money_captured(struct fixture *f, const char *provider, const char *reference,
    struct payment *, struct order *after);
enum learn_answer money_closed(
    struct fixture *f, const char *provider, const char *reference, struct order *after);
struct payment money_of(struct fixture *f, const char *reference);
enum move_answer money_move(
    struct fixture *f, ticket_number ticket, enum order_event event, struct order *after);
enum move_answer money_shop_pays(
    struct fixture *f, ticket_number ticket, const char *reference, struct order *after);
struct refund money_only_refund(struct fixture *f);
void money_totals_are(struct fixture *f, struct money_totals expected);

#endif
