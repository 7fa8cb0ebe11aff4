/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/money.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/config.h"
#include "contract/cluster_store.h"
#include "contract/payment_reference.h"
#include "contract/ticket_number.h"
#include "funnel/keys.h"
#include "orders/cashier.h"
#include "payment/provider.h"
#include "payment/sandbox.h"
#include "payment/sandbox_bank.h"
#include "worker/alarms.h"
#include "worker/outgoing_calls.h"
#include "worker/task.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char secret_name[] = "sandbox.secret";
enum { TITLE_BYTES = NAME_BYTES_MAX + 1, DAY_MS = 24 * 60 * 60 * 1000, LOOK_MS = 20 };

GAUGE(sandbox_on, "stampede_sandbox", "1 while the sandbox handles the payments: no real money moves.");

struct money {
    struct money_config config;
    struct task *task;
    struct provider *providers[PROVIDERS_MAX]; /* as payment.providers lists them */
    uint32_t provider_count;
    struct cashier cashier;
    struct late_money late;
    char public_url[CONFIG_TEXT];
    /* The sandbox, if it is one of them. */
    struct bank *bank;
    struct sandbox_secret bank_secret;
};

struct provider *money_provider(const struct money *money, uint32_t index)
{
    return index < money->provider_count ? money->providers[index] : NULL;
}

struct provider *money_provider_find(const struct money *money, struct span name, uint32_t *index)
{
    for (uint32_t i = 0; i < money->provider_count; i++) {
        if (!span_equal(name, span_from_string(money->providers[i]->ops->name)))
            continue;
        *index = i;
        return money->providers[i];
    }
    return NULL;
}

const char *money_public_url(const struct money *money)
{
    return money->public_url;
}

struct bank *money_bank(const struct money *money)
{
    return money->bank;
}

const struct sandbox_secret *money_bank_secret(const struct money *money)
{
    return &money->bank_secret;
}

void money_look(struct money *money)
{
    cashier_look(&money->cashier);
    task_wake(money->task);
}

bool money_late_answer(struct money *money, const struct inventory_answer *answer)
{
    if (!late_money_answer(&money->late, answer))
        return false;
    money_look(money);
    return true;
}

enum status money_news(struct money *money, const char *provider, const struct provider_said *said,
    uint64_t now_ms, uint8_t *answer)
{
    task_wake(money->task);
    return cashier_news(&money->cashier, provider, said, now_ms, answer);
}

/* ---- what the cashier asks of us ---- */

static void title_read(struct order_store *store, ticket_number ticket, char title[TITLE_BYTES])
{
    struct order order;
    struct item item;
    struct product product;
    const bool known = store->ops->order_by_ticket(store, ticket, &order) == STATUS_OK
        && store->ops->item_get(store, order.item, &item) == STATUS_OK
        && store->ops->product_get(store, item.product, &product) == STATUS_OK;
    snprintf(title, TITLE_BYTES, "%s", known ? product.name : "order");
}

static bool money_ask(void *context, uint32_t flight, const struct provider_task *asked)
{
    struct money *money = context;
    struct provider_task task = *asked;
    struct provider_said said;
    char title[TITLE_BYTES] = "", notify[CONFIG_TEXT + 64], back[CONFIG_TEXT + 64];
    uint32_t index;
    struct provider *provider =
        money_provider_find(money, span_from_string(asked->payment->provider), &index);
    if (provider == NULL) { /* an answer, so that it waits its turn and holds up nobody else's */
        log_error("cashier", "payment %s belongs to provider %s, which is not in payment.providers",
            asked->payment->reference, asked->payment->provider);
        said = (struct provider_said){ .word = WORD_AGAIN, .error = "not in payment.providers" };
        cashier_said(&money->cashier, flight, &said, clock_now_ms());
        return true;
    }
    struct outgoing_call *call = outgoing_call_take(money->config.calls);
    if (call == NULL)
        return false;
    if (asked->act == PROVIDER_CREATE) /* nobody else shows it to the payer */
        title_read(money->config.store, asked->payment->ticket, title);
    snprintf(notify, sizeof notify, "%s/v1/payments/%s/callback", money->public_url, provider->ops->name);
    const char *page_url = money->config.config->page_url;
    snprintf(back, sizeof back, "%s/?orders", page_url[0] != 0 ? page_url : money->public_url);
    task.title = title;
    task.notify_url = notify;
    task.return_url = back;
    task.now_ms = clock_wall_ms();
    if (!provider->ops->ask(provider, &task, call, &said)) {
        outgoing_call_give(money->config.calls, call);
        cashier_said(&money->cashier, flight, &said, clock_now_ms());
        return true;
    }
    call->detail = index;
    call->allow_private = true; /* the operator has set the address, no stranger */
    outgoing_call_send(money->config.calls, CALL_CASHIER, flight, call);
    return true;
}

/* The cashier's question is answered. */
static void call_answered(void *self, uint64_t id, const struct outgoing_call *call)
{
    struct money *money = self;
    const uint32_t flight = (uint32_t)id;
    struct provider *provider = money->providers[call->detail];
    struct provider_task task;
    struct provider_said said;
    cashier_task(&money->cashier, flight, &task);
    task.now_ms = clock_wall_ms();
    provider->ops->read(provider, &task, call, &said);
    cashier_said(&money->cashier, flight, &said, clock_now_ms());
    task_wake(money->task);
}

/* However often it is asked, it is one ticket: also by a payment that was found again after a
 * restore, under another id. */
static uint64_t late_key(void *context, const struct payment *payment, user_id user)
{
    const struct money *money = context;
    char name[32];
    uint64_t order_id;
    uint32_t attempt;
    const bool ours = payment_reference_read(payment->reference, &order_id, &attempt);
    if (!payment->late_before)
        return funnel_own_key(money->config.keys, user, "late", ours ? order_id + attempt : payment->id);
    const int size = snprintf(name, sizeof name, "late-%llu", (unsigned long long)payment->id);
    return funnel_key_hash(money->config.keys, user, span_of(name, (size_t)size));
}

static enum status money_unit(void *context, const struct payment *payment,
    const struct order *order, struct outcome *outcome)
{
    struct money *money = context;
    return late_money_unit(&money->late, payment, order, clock_now_ms(), outcome);
}

static void money_changed(void *context, const struct order *order)
{
    struct money *money = context;
    money->config.changed(money->config.context, order);
}

static void money_opened(void *context, const struct payment *payment, const char *error)
{
    struct money *money = context;
    money->config.opened(money->config.context, payment, error);
}

static void money_stuck(void *context, const struct refund *refund)
{
    struct money *money = context;
    (void)refund;
    money->config.stuck(money->config.context);
}

static const char *money_provider_after(void *context, const char *provider)
{
    const struct money *money = context;
    uint32_t next = 0;
    if (provider != NULL && money_provider_find(money, span_from_string(provider), &next) != NULL)
        next++;
    return next < money->provider_count ? money->providers[next]->ops->name : NULL;
}

/* A number of nobody's looks like a ticket of a partition now and then. */
static bool ticket_is_possible(struct order_store *store, ticket_number ticket)
{
    struct ticket_parts parts;
    struct part_state state = { 0 };
    if (!ticket_number_split(ticket, &parts))
        return false;
    if (parts.epoch == 0)
        return parts.part == PART_EMBEDDED;
    if (store->ops->cluster != NULL && store->ops->cluster->part(store, parts.part, &state) == STATUS_OK
        && parts.epoch <= state.epoch)
        return true;
    struct order order; /* one machine to which a shop of many was moved */
    return store->ops->order_by_ticket(store, ticket, &order) == STATUS_OK;
}

enum status money_adopt(struct money *money, const char *provider, const char *reference, uint64_t now_ms)
{
    struct order_store *store = money->config.store;
    struct payment_search search = { 0 };
    struct order order;
    uint64_t order_id;
    uint32_t attempt;
    if (!payment_reference_read(reference, &order_id, &attempt))
        return STATUS_NOT_FOUND;
    search.ticket = funnel_order_number(money->config.keys, order_id);
    if (!ticket_is_possible(store, search.ticket))
        return STATUS_NOT_FOUND;
    const enum status status = store->ops->order_by_ticket(store, search.ticket, &order);
    if (status == STATUS_NOT_FOUND) {
        alarm_raise(ALARM_PAYMENT_UNKNOWN, now_ms,
            "%s reports payment %s, whose order is not in the database", provider, reference);
        return STATUS_AWAY;
    }
    if (status != STATUS_OK)
        return status;
    alarm_clear(ALARM_PAYMENT_UNKNOWN); /* another one whose order is missing raises it again */
    log_warn("cashier", "payment %s of %s was not in the database; it was added again", reference,
        provider);
    snprintf(search.provider, sizeof search.provider, "%s", provider);
    snprintf(search.reference, sizeof search.reference, "%s", reference);
    return store->ops->payment->search(store, &search, 1, now_ms);
}

/* ---- opening ---- */

static enum status sandbox_open_bank(
    struct money *money, const char *secret_file, char error[CONFIG_ERROR])
{
    const struct config *config = money->config.config;
    char folder[CONFIG_TEXT + 16];
    snprintf(folder, sizeof folder, "%s/sandbox", config->folder);
    if (sandbox_secret_read(secret_file, &money->bank_secret) != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "%.200s must hold a secret of 16 characters at least", secret_file);
        return STATUS_BAD_INPUT;
    }
    const enum status status = bank_open(&money->bank, folder);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "the sandbox's bank in %.200s can't be opened: %s", folder,
            status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
        return status;
    }
    *bank_switches(money->bank) = (struct bank_switches){ .lost = (uint32_t)config->sandbox_lost,
        .doubled = (uint32_t)config->sandbox_doubled,
        .reordered = (uint32_t)config->sandbox_reordered,
        .wrong_amount = (uint32_t)config->sandbox_wrong_amount,
        .unreached = (uint32_t)config->sandbox_unreached,
        .unanswered = (uint32_t)config->sandbox_unanswered,
        .short_paid = (uint32_t)config->sandbox_short_paid,
        .delay_ms = (uint32_t)config->sandbox_delay_ms };
    metric_set(&sandbox_on, 1);
    alarm_raise(ALARM_TEST_MODE, clock_wall_ms(), "the sandbox handles the payments: no real money moves");
    return STATUS_OK;
}

static enum status provider_open(struct money *money, const struct provider_ops *ops,
    uint32_t table_at, char error[CONFIG_ERROR])
{
    const struct config *config = money->config.config;
    const char *values[PROVIDER_SETTINGS_MAX];
    char own_secret[CONFIG_TEXT + 32], what[PROVIDER_ERROR] = "";
    const bool sandbox = ops == &sandbox_provider;
    enum status status = STATUS_OK;
    invariant(config != NULL && table_at < PROVIDERS_MAX);
    for (uint32_t i = 0; ops->settings[i].name != NULL; i++) {
        values[i] = config->provider_values[table_at][i];
        if (values[i][0] == 0 && ops->settings[i].standard == NULL) {
            snprintf(error, CONFIG_ERROR, "%s.%s must be set", ops->name, ops->settings[i].name);
            return STATUS_BAD_INPUT;
        }
        if (sandbox && values[i][0] == 0 && strcmp(ops->settings[i].name, "base") == 0)
            values[i] = money->public_url;
        if (sandbox && values[i][0] == 0 && strcmp(ops->settings[i].name, "secret_file") == 0) {
            snprintf(own_secret, sizeof own_secret, "%s/%s", config->folder, secret_name);
            status = sandbox_secret_keep(config->folder, secret_name);
            values[i] = own_secret;
            if (status != STATUS_OK)
                snprintf(error, CONFIG_ERROR, "%.200s can't be read or created: %s", own_secret,
                    status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
        }
        if (sandbox && money->config.has_bank && status == STATUS_OK
            && strcmp(ops->settings[i].name, "secret_file") == 0)
            status = sandbox_open_bank(money, values[i], error);
    }
    struct provider **place = &money->providers[money->provider_count];
    if (status == STATUS_OK)
        status = ops->open(place, values, what);
    if (status == STATUS_OK)
        money->provider_count++;
    else if (what[0] != 0)
        snprintf(error, CONFIG_ERROR, "%.250s", what);
    return status;
}

static enum status providers_open(struct money *money, char error[CONFIG_ERROR])
{
    struct span list = span_from_string(money->config.config->providers), name;
    while (span_take_until(&list, ',', &name)) {
        uint32_t at = 0, index;
        while (provider_table[at] != NULL
            && !span_equal(name, span_from_string(provider_table[at]->name)))
            at++;
        if (provider_table[at] == NULL || money_provider_find(money, name, &index) != NULL) {
            snprintf(error, CONFIG_ERROR, "payment.providers: %.*s is unknown or occurs twice",
                (int)(name.size < 40 ? name.size : 40), name.data);
            return STATUS_BAD_INPUT;
        }
        const enum status status = provider_open(money, provider_table[at], at, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status money_start(struct money *money, uint16_t port, char *error)
{
    const struct config *config = money->config.config;
    const bool any = strcmp(config->address, "0.0.0.0") == 0 || strcmp(config->address, "::") == 0;
    const bool six = !any && strchr(config->address, ':') != NULL;
    if (config->public_url[0] != 0)
        snprintf(money->public_url, sizeof money->public_url, "%s", config->public_url);
    else
        snprintf(money->public_url, sizeof money->public_url, "http://%s%.200s%s:%u",
            six ? "[" : "", any ? "127.0.0.1" : config->address, six ? "]" : "", port);
    const struct cashier_config cashier = { .store = money->config.store,
        .calls_max = (uint32_t)config->payment_calls_max,
        .query_ms = config->query_ms,
        .close_wait_ms = config->close_wait_ms,
        .ask_ms = config->ask_days * DAY_MS,
        .late_wait_ms = config->late_wait_ms,
        .payer_key = money->config.keys->payer,
        .ask = money_ask,
        .unit = money_unit,
        .changed = money_changed,
        .opened = money_opened,
        .stuck = money_stuck,
        .provider_after = money_provider_after,
        .context = money };
    late_money_start(&money->late,
        &(struct late_money_config){ .store = money->config.store,
            .port = money->config.port,
            .board = money->config.board,
            .key = late_key,
            .context = money });
    cashier_start(&money->cashier, &cashier);
    return providers_open(money, error);
}

static void money_close(void *self)
{
    struct money *money = self;
    for (uint32_t i = 0; i < money->provider_count; i++)
        money->providers[i]->ops->close(money->providers[i]);
    bank_close(money->bank);
    explicit_bzero(&money->bank_secret, sizeof money->bank_secret);
}

/* ---- running ---- */

static uint64_t money_turn(void *self, uint64_t now_ms)
{
    struct money *money = self;
    const struct cashier *cashier = &money->cashier;
    const enum status status = cashier_turn(&money->cashier, now_ms);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("cashier", "payments can't be followed: %s", status_name(status));
    /* What is due but can't be asked now, because all calls are in use, is due still. */
    const uint64_t next_ms = cashier->payments_look_ms < cashier->refunds_look_ms
        ? cashier->payments_look_ms
        : cashier->refunds_look_ms;
    return next_ms < now_ms + LOOK_MS ? now_ms + LOOK_MS : next_ms;
}

struct money *money_open(struct arena *arena, const struct money_config *config, struct task *task)
{
    struct money *money = arena_take(arena, 1, sizeof *money);
    money->config = *config;
    money->task = task;
    *task = (struct task){ .name = "money", .self = money, .turn = money_turn, .close = money_close };
    outgoing_calls_listen(config->calls, CALL_CASHIER, call_answered, money);
    return money;
}
