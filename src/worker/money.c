/* SPDX-License-Identifier: Apache-2.0 */
/* worker/money.c: providers, the calls to them, and what the cashier needs of the desk. */
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

struct provider *desk_provider_find(const struct desk *desk, struct span name, uint32_t *index)
{
    const struct desk_money *money = &desk->money;
    for (uint32_t i = 0; i < money->provider_count; i++) {
        if (!span_equal(name, span_from_string(money->providers[i]->ops->name)))
            continue;
        *index = i;
        return money->providers[i];
    }
    return NULL;
}

/* ---- what the cashier asks of us ---- */

static void title_read(struct desk *desk, ticket_number ticket, char title[TITLE_BYTES])
{
    struct order_store *store = desk->config.store;
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
    struct desk *desk = context;
    struct provider_task task = *asked;
    struct provider_said said;
    char title[TITLE_BYTES] = "", notify[CONFIG_TEXT + 64], back[CONFIG_TEXT + 64];
    uint32_t index;
    struct provider *provider =
        desk_provider_find(desk, span_from_string(asked->payment->provider), &index);
    if (provider == NULL) { /* an answer, so that it waits its turn and holds up nobody else's */
        log_error("cashier", "payment %s belongs to provider %s, which is not in payment.providers",
            asked->payment->reference, asked->payment->provider);
        said = (struct provider_said){ .word = WORD_AGAIN, .error = "not in payment.providers" };
        cashier_said(&desk->money.cashier, flight, &said, desk->now_ms);
        return true;
    }
    struct outgoing_call *call = courier_take(desk->courier);
    if (call == NULL)
        return false;
    if (asked->act == PROVIDER_CREATE) /* nobody else shows it to the payer */
        title_read(desk, asked->payment->ticket, title);
    snprintf(notify, sizeof notify, "%s/v1/payments/%s/callback", desk->money.public_url,
        provider->ops->name);
    snprintf(back, sizeof back, "%s/?orders", desk->money.public_url);
    task.title = title;
    task.notify_url = notify;
    task.return_url = back;
    task.now_ms = clock_wall_ms();
    if (!provider->ops->ask(provider, &task, call, &said)) {
        courier_give(desk->courier, call);
        cashier_said(&desk->money.cashier, flight, &said, desk->now_ms);
        return true;
    }
    call->tag = courier_tag(COURIER_CASHIER, flight);
    call->detail = index;
    call->allow_private = true; /* the operator has set the address, no stranger */
    courier_send(desk->courier, call);
    return true;
}

/* The cashier's question is answered. */
void desk_money_answered(struct desk *desk, const struct outgoing_call *call)
{
    const uint32_t flight = (uint32_t)call->tag;
    struct provider *provider = desk->money.providers[call->detail];
    struct provider_task task;
    struct provider_said said;
    cashier_task(&desk->money.cashier, flight, &task);
    task.now_ms = clock_wall_ms();
    provider->ops->read(provider, &task, call, &said);
    cashier_said(&desk->money.cashier, flight, &said, desk->now_ms);
}

/* However often it is asked, it is one ticket: also by a payment that was found again after a
 * restore, under another id. */
static uint64_t late_key(void *context, const struct payment *payment, user_id user)
{
    const struct desk *desk = context;
    char name[32];
    uint64_t order_id;
    uint32_t attempt;
    const bool ours = payment_reference_read(payment->reference, &order_id, &attempt);
    if (!payment->late_before)
        return funnel_own_key(desk->config.keys, user, "late", ours ? order_id + attempt : payment->id);
    const int size = snprintf(name, sizeof name, "late-%llu", (unsigned long long)payment->id);
    return funnel_key_hash(desk->config.keys, user, span_of(name, (size_t)size));
}

static enum status money_unit(void *context, const struct payment *payment,
    const struct order *order, struct outcome *outcome)
{
    struct desk *desk = context;
    return late_money_unit(&desk->money.late, payment, order, desk->now_ms, outcome);
}

static void money_changed(void *context, const struct order *order)
{
    struct desk *desk = context;
    desk_order_changed(desk, order->ticket, order->user);
    stock_pump_look(desk->pump);
    expiry_look(&desk->expiry);
}

static void money_stuck(void *context, const struct refund *refund)
{
    struct desk *desk = context;
    (void)refund;
    desk->refunds_looked = false;
}

static const char *money_provider_after(void *context, const char *provider)
{
    const struct desk *desk = context;
    uint32_t next = 0;
    if (provider != NULL && desk_provider_find(desk, span_from_string(provider), &next) != NULL)
        next++;
    return next < desk->money.provider_count ? desk->money.providers[next]->ops->name : NULL;
}

/* A callback that its provider has signed, of a payment that the database does not know. If its name
 * is ours it was lost by a restore, and is taken up again. STATUS_NOT_FOUND: not ours.
 * STATUS_AWAY: ours, but there is no such order. */
enum status desk_payment_adopt(struct desk *desk, const char *provider, const char *reference)
{
    struct order_store *store = desk->config.store;
    struct payment_search search = { 0 };
    struct order order;
    uint64_t order_id;
    uint32_t attempt;
    if (!payment_reference_read(reference, &order_id, &attempt))
        return STATUS_NOT_FOUND;
    search.ticket = funnel_order_number(desk->config.keys, order_id);
    if (search.ticket == 0 || search.ticket > TICKET_NUMBER_MAX)
        return STATUS_NOT_FOUND;
    const enum status status = store->ops->order_by_ticket(store, search.ticket, &order);
    if (status == STATUS_NOT_FOUND) {
        alarm_raise(ALARM_PAYMENT_UNKNOWN, desk->now_ms,
            "%s reports payment %s, whose order is not in the database", provider, reference);
        return STATUS_AWAY;
    }
    if (status != STATUS_OK)
        return status;
    log_warn("cashier", "payment %s of %s was not in the database; it was added again", reference,
        provider);
    snprintf(search.provider, sizeof search.provider, "%s", provider);
    snprintf(search.reference, sizeof search.reference, "%s", reference);
    return store->ops->payment->search(store, &search, 1, desk->now_ms);
}

/* ---- opening ---- */

static enum status sandbox_open_bank(struct desk *desk, const char *secret_file, char error[CONFIG_ERROR])
{
    const struct config *config = desk->config.config;
    char folder[CONFIG_TEXT + 16];
    snprintf(folder, sizeof folder, "%s/sandbox", config->folder);
    if (sandbox_secret_read(secret_file, &desk->money.bank_secret) != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "%.200s must hold a secret of 16 characters at least", secret_file);
        return STATUS_BAD_INPUT;
    }
    const enum status status = bank_open(&desk->money.bank, folder);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "the sandbox's bank in %.200s can't be opened: %s", folder,
            status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
        return status;
    }
    *bank_switches(desk->money.bank) = (struct bank_switches){ .lost = (uint32_t)config->sandbox_lost,
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

static enum status provider_open(
    struct desk *desk, const struct provider_ops *ops, uint32_t table_at, char error[CONFIG_ERROR])
{
    const struct config *config = desk->config.config;
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
            values[i] = desk->money.public_url;
        if (sandbox && values[i][0] == 0 && strcmp(ops->settings[i].name, "secret_file") == 0) {
            snprintf(own_secret, sizeof own_secret, "%s/%s", config->folder, secret_name);
            status = sandbox_secret_keep(config->folder, secret_name);
            values[i] = own_secret;
            if (status != STATUS_OK)
                snprintf(error, CONFIG_ERROR, "%.200s can't be read or created: %s", own_secret,
                    status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
        }
        if (sandbox && status == STATUS_OK && strcmp(ops->settings[i].name, "secret_file") == 0)
            status = sandbox_open_bank(desk, values[i], error);
    }
    struct provider **place = &desk->money.providers[desk->money.provider_count];
    if (status == STATUS_OK)
        status = ops->open(place, values, what);
    if (status == STATUS_OK)
        desk->money.provider_count++;
    else if (what[0] != 0)
        snprintf(error, CONFIG_ERROR, "%.250s", what);
    return status;
}

static enum status providers_open(struct desk *desk, char error[CONFIG_ERROR])
{
    struct span list = span_from_string(desk->config.config->providers), name;
    while (span_take_until(&list, ',', &name)) {
        uint32_t at = 0, index;
        while (provider_table[at] != NULL
            && !span_equal(name, span_from_string(provider_table[at]->name)))
            at++;
        if (provider_table[at] == NULL || desk_provider_find(desk, name, &index) != NULL) {
            snprintf(error, CONFIG_ERROR, "payment.providers: %.*s is unknown or occurs twice",
                (int)(name.size < 40 ? name.size : 40), name.data);
            return STATUS_BAD_INPUT;
        }
        const enum status status = provider_open(desk, provider_table[at], at, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

enum status desk_money_start(struct desk *desk, uint16_t port, char error[CONFIG_ERROR])
{
    const struct config *config = desk->config.config;
    const bool any = strcmp(config->address, "0.0.0.0") == 0 || strcmp(config->address, "::") == 0;
    const bool six = !any && strchr(config->address, ':') != NULL;
    if (config->public_url[0] != 0)
        snprintf(desk->money.public_url, sizeof desk->money.public_url, "%s", config->public_url);
    else
        snprintf(desk->money.public_url, sizeof desk->money.public_url, "http://%s%.200s%s:%u",
            six ? "[" : "", any ? "127.0.0.1" : config->address, six ? "]" : "", port);
    const struct cashier_config cashier = { .store = desk->config.store,
        .calls_max = (uint32_t)config->payment_calls_max,
        .query_ms = config->query_ms,
        .close_wait_ms = config->close_wait_ms,
        .ask_ms = config->ask_days * DAY_MS,
        .late_wait_ms = config->late_wait_ms,
        .ask = money_ask,
        .unit = money_unit,
        .changed = money_changed,
        .opened = desk_payment_opened,
        .stuck = money_stuck,
        .provider_after = money_provider_after,
        .context = desk };
    late_money_start(&desk->money.late,
        &(struct late_money_config){ .store = desk->config.store,
            .port = desk->config.pump_port,
            .board = desk->config.inventory->board,
            .key = late_key,
            .context = desk });
    cashier_start(&desk->money.cashier, &cashier);
    return providers_open(desk, error);
}

void desk_money_close(struct desk *desk)
{
    for (uint32_t i = 0; i < desk->money.provider_count; i++)
        desk->money.providers[i]->ops->close(desk->money.providers[i]);
    bank_close(desk->money.bank);
    explicit_bzero(&desk->money.bank_secret, sizeof desk->money.bank_secret);
}

/* ---- running ---- */

void desk_money_turn(struct desk *desk)
{
    if (desk->money.bank != NULL)
        desk_sandbox_turn(desk);
    const enum status status = cashier_turn(&desk->money.cashier, desk->now_ms);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("cashier", "payments can't be followed: %s", status_name(status));
    desk_payments_turn(desk);
}
