/* SPDX-License-Identifier: Apache-2.0 */
/* worker/money.c: providers, the calls to them, and what the cashier needs of the worker. */
#include "worker/money.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/payment_reference.h"
#include "payment/sandbox.h"
#include "worker/alarms.h"
#include "worker/payment_requests.h"
#include "worker/worker_parts.h"

#include <errno.h>
#include <stdio.h>

static const char secret_name[] = "sandbox.secret";
enum { TITLE_BYTES = NAME_BYTES_MAX + 1, DAY_MS = 24 * 60 * 60 * 1000 };

GAUGE(sandbox_on, "stampede_sandbox", "1 while the sandbox handles the payments: no real money moves.");

struct provider *worker_provider_find(const struct worker *worker, struct span name, uint32_t *index)
{
    const struct worker_money *money = &worker->money;
    for (uint32_t i = 0; i < money->provider_count; i++) {
        if (!span_equal(name, span_from_string(money->providers[i]->ops->name)))
            continue;
        *index = i;
        return money->providers[i];
    }
    return NULL;
}

/* ---- what the cashier asks of us ---- */

static void title_read(struct worker *worker, ticket_number ticket, char title[TITLE_BYTES])
{
    struct order_store *store = worker->config.store;
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
    struct worker *worker = context;
    struct provider_task task = *asked;
    struct provider_said said;
    char title[TITLE_BYTES] = "", notify[CONFIG_TEXT + 64], back[CONFIG_TEXT + 64];
    uint32_t index;
    struct provider *provider =
        worker_provider_find(worker, span_from_string(asked->payment->provider), &index);
    if (provider == NULL) { /* an answer, so that it waits its turn and holds up nobody else's */
        log_error("cashier", "payment %s belongs to provider %s, which is not in payment.providers",
            asked->payment->reference, asked->payment->provider);
        said = (struct provider_said){ .word = WORD_AGAIN, .error = "not in payment.providers" };
        cashier_said(&worker->money.cashier, flight, &said, worker->now_ms);
        return true;
    }
    struct outgoing_call *call = courier_take(worker->courier);
    if (call == NULL)
        return false;
    if (asked->act == PROVIDER_CREATE) /* nobody else shows it to the payer */
        title_read(worker, asked->payment->ticket, title);
    snprintf(notify, sizeof notify, "%s/v1/payments/%s/callback", worker->money.public_url,
        provider->ops->name);
    snprintf(back, sizeof back, "%s/?orders", worker->money.public_url);
    task.title = title;
    task.notify_url = notify;
    task.return_url = back;
    task.now_ms = clock_wall_ms();
    if (!provider->ops->ask(provider, &task, call, &said)) {
        courier_give(worker->courier, call);
        cashier_said(&worker->money.cashier, flight, &said, worker->now_ms);
        return true;
    }
    call->tag = courier_tag(COURIER_CASHIER, flight);
    call->detail = index;
    call->allow_private = true; /* the operator has set the address, no stranger */
    courier_send(worker->courier, call);
    return true;
}

/* The cashier's question is answered. */
void worker_money_answered(struct worker *worker, const struct outgoing_call *call)
{
    const uint32_t flight = (uint32_t)call->tag;
    struct provider *provider = worker->money.providers[call->detail];
    struct provider_task task;
    struct provider_said said;
    cashier_task(&worker->money.cashier, flight, &task);
    task.now_ms = clock_wall_ms();
    provider->ops->read(provider, &task, call, &said);
    cashier_said(&worker->money.cashier, flight, &said, worker->now_ms);
}

/* However often it is asked, it is one ticket: also by a payment that was found again after a
 * restore, under another id. */
static uint64_t late_key(void *context, const struct payment *payment, user_id user)
{
    const struct worker *worker = context;
    char name[32];
    uint64_t order_id;
    uint32_t attempt;
    const bool ours = payment_reference_read(payment->reference, &order_id, &attempt);
    if (!payment->late_before)
        return funnel_own_key(worker->config.keys, user, "late", ours ? order_id + attempt : payment->id);
    const int size = snprintf(name, sizeof name, "late-%llu", (unsigned long long)payment->id);
    return funnel_key_hash(worker->config.keys, user, span_of(name, (size_t)size));
}

static enum status money_unit(void *context, const struct payment *payment,
    const struct order *order, struct outcome *outcome)
{
    struct worker *worker = context;
    return late_money_unit(&worker->money.late, payment, order, worker->now_ms, outcome);
}

static void money_changed(void *context, const struct order *order)
{
    struct worker *worker = context;
    worker_order_changed(worker, order->ticket, order->user);
    stock_pump_look(worker->pump);
    expiry_look(&worker->expiry);
}

static void money_stuck(void *context, const struct refund *refund)
{
    struct worker *worker = context;
    (void)refund;
    worker->refunds_looked = false;
}

static const char *money_provider_after(void *context, const char *provider)
{
    const struct worker *worker = context;
    uint32_t next = 0;
    if (provider != NULL && worker_provider_find(worker, span_from_string(provider), &next) != NULL)
        next++;
    return next < worker->money.provider_count ? worker->money.providers[next]->ops->name : NULL;
}

/* A callback that its provider has signed, of a payment that the database does not know. If its name
 * is ours it was lost by a restore, and is taken up again. STATUS_NOT_FOUND: not ours.
 * STATUS_AWAY: ours, but there is no such order. */
enum status worker_payment_adopt(struct worker *worker, const char *provider, const char *reference)
{
    struct order_store *store = worker->config.store;
    struct payment_search search = { 0 };
    struct order order;
    uint64_t order_id;
    uint32_t attempt;
    if (!payment_reference_read(reference, &order_id, &attempt))
        return STATUS_NOT_FOUND;
    search.ticket = funnel_order_number(worker->config.keys, order_id);
    if (search.ticket == 0 || search.ticket > TICKET_NUMBER_MAX)
        return STATUS_NOT_FOUND;
    const enum status status = store->ops->order_by_ticket(store, search.ticket, &order);
    if (status == STATUS_NOT_FOUND) {
        alarm_raise(ALARM_PAYMENT_UNKNOWN, worker->now_ms,
            "%s reports payment %s, whose order is not in the database", provider, reference);
        return STATUS_AWAY;
    }
    if (status != STATUS_OK)
        return status;
    log_warn("cashier", "payment %s of %s was not in the database; it was added again", reference,
        provider);
    snprintf(search.provider, sizeof search.provider, "%s", provider);
    snprintf(search.reference, sizeof search.reference, "%s", reference);
    return store->ops->payment->search(store, &search, 1, worker->now_ms);
}

/* ---- opening ---- */

static enum status sandbox_open_bank(
    struct worker *worker, const char *secret_file, char error[CONFIG_ERROR])
{
    const struct config *config = worker->config.config;
    char folder[CONFIG_TEXT + 16];
    snprintf(folder, sizeof folder, "%s/sandbox", config->folder);
    if (sandbox_secret_read(secret_file, &worker->money.bank_secret) != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "%.200s must hold a secret of 16 characters at least", secret_file);
        return STATUS_BAD_INPUT;
    }
    const enum status status = bank_open(&worker->money.bank, folder);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "the sandbox's bank in %.200s can't be opened: %s", folder,
            status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
        return status;
    }
    *bank_switches(worker->money.bank) = (struct bank_switches){ .lost = (uint32_t)config->sandbox_lost,
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

static enum status provider_open(struct worker *worker, const struct provider_ops *ops,
    uint32_t table_at, char error[CONFIG_ERROR])
{
    const struct config *config = worker->config.config;
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
            values[i] = worker->money.public_url;
        if (sandbox && values[i][0] == 0 && strcmp(ops->settings[i].name, "secret_file") == 0) {
            snprintf(own_secret, sizeof own_secret, "%s/%s", config->folder, secret_name);
            status = sandbox_secret_keep(config->folder, secret_name);
            values[i] = own_secret;
            if (status != STATUS_OK)
                snprintf(error, CONFIG_ERROR, "%.200s can't be read or created: %s", own_secret,
                    status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
        }
        if (sandbox && status == STATUS_OK && strcmp(ops->settings[i].name, "secret_file") == 0)
            status = sandbox_open_bank(worker, values[i], error);
    }
    struct provider **place = &worker->money.providers[worker->money.provider_count];
    if (status == STATUS_OK)
        status = ops->open(place, values, what);
    if (status == STATUS_OK)
        worker->money.provider_count++;
    else if (what[0] != 0)
        snprintf(error, CONFIG_ERROR, "%.250s", what);
    return status;
}

static enum status providers_open(struct worker *worker, char error[CONFIG_ERROR])
{
    struct span list = span_from_string(worker->config.config->providers), name;
    while (span_take_until(&list, ',', &name)) {
        uint32_t at = 0, index;
        while (provider_table[at] != NULL
            && !span_equal(name, span_from_string(provider_table[at]->name)))
            at++;
        if (provider_table[at] == NULL || worker_provider_find(worker, name, &index) != NULL) {
            snprintf(error, CONFIG_ERROR, "payment.providers: %.*s is unknown or occurs twice",
                (int)(name.size < 40 ? name.size : 40), name.data);
            return STATUS_BAD_INPUT;
        }
        const enum status status = provider_open(worker, provider_table[at], at, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status worker_money_start(struct worker *worker, uint16_t port, char error[CONFIG_ERROR])
{
    const struct config *config = worker->config.config;
    const bool any = strcmp(config->address, "0.0.0.0") == 0 || strcmp(config->address, "::") == 0;
    const bool six = !any && strchr(config->address, ':') != NULL;
    if (config->public_url[0] != 0)
        snprintf(worker->money.public_url, sizeof worker->money.public_url, "%s", config->public_url);
    else
        snprintf(worker->money.public_url, sizeof worker->money.public_url, "http://%s%.200s%s:%u",
            six ? "[" : "", any ? "127.0.0.1" : config->address, six ? "]" : "", port);
    const struct cashier_config cashier = { .store = worker->config.store,
        .calls_max = (uint32_t)config->payment_calls_max,
        .query_ms = config->query_ms,
        .close_wait_ms = config->close_wait_ms,
        .ask_ms = config->ask_days * DAY_MS,
        .late_wait_ms = config->late_wait_ms,
        .ask = money_ask,
        .unit = money_unit,
        .changed = money_changed,
        .opened = worker_payment_opened,
        .stuck = money_stuck,
        .provider_after = money_provider_after,
        .context = worker };
    late_money_start(&worker->money.late,
        &(struct late_money_config){ .store = worker->config.store,
            .port = worker->config.pump_port,
            .board = worker->config.inventory->board,
            .key = late_key,
            .context = worker });
    cashier_start(&worker->money.cashier, &cashier);
    return providers_open(worker, error);
}

void worker_money_close(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->money.provider_count; i++)
        worker->money.providers[i]->ops->close(worker->money.providers[i]);
    bank_close(worker->money.bank);
    explicit_bzero(&worker->money.bank_secret, sizeof worker->money.bank_secret);
}

/* ---- running ---- */

void worker_money_turn(struct worker *worker)
{
    if (worker->money.bank != NULL)
        worker_sandbox_turn(worker);
    const enum status status = cashier_turn(&worker->money.cashier, worker->now_ms);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("cashier", "payments can't be followed: %s", status_name(status));
    worker_payments_turn(worker);
}
