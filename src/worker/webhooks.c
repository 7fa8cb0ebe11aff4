/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/webhooks.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "base/time_text.h"
#include "config/config.h"
#include "contract/customers.h"
#include "contract/order_store.h"
#include "contract/outbox.h"
#include "funnel/keys.h"
#include "payment/provider.h"
#include "worker/alarms.h"
#include "worker/order_views.h"
#include "worker/outgoing_calls.h"
#include "worker/remedies.h"
#include "worker/task.h"
#include "worker/trace_export.h"

#include <stdio.h>
#include <string.h>

enum { WEBHOOKS_FLIGHT_MAX = 16 }; /* calls at a time: the rest of the courier is for money */
enum {
    DUE_ROWS = 2 * WEBHOOKS_FLIGHT_MAX, /* as many as fly may be among them */
    AWAY_PAUSE_MS = 1000,               /* the database did not answer */
    COUNT_EVERY_MS = 1000,
};
static_assert((int)WEBHOOKS_FLIGHT_MAX <= (int)OUTBOX_SETTLE_MAX, "all answers are one transaction");

#define RESULT(variable, label) \
    COUNTER_OF(variable, "stampede_webhooks_total", "result=\"" label "\"", \
        "Attempts to deliver a message to the shop, by result")
RESULT(taken_total, "delivered");
RESULT(again_total, "retried");
RESULT(failed_total, "failed");
GAUGE(open_count, "stampede_webhooks_open", "Messages that the shop has not accepted yet");

struct webhook_flight {
    uint64_t id; /* of the event; 0: a free place */
    uint32_t tries;
    bool answered;                /* its result is to be written */
    struct purchase_trace *trace; /* NULL: it is not followed */
    struct outbox_result result;
};

struct webhooks {
    struct webhooks_config config;
    struct task *task;
    bool on;
    struct webhook_endpoint endpoint;
    struct random random; /* jitter */
    struct webhook_flight flights[WEBHOOKS_FLIGHT_MAX];
    uint32_t flight_count, answered_count;
    uint64_t look_ms;   /* when to look for what is due */
    uint64_t settle_ms; /* when to write answers that could not be written */
    uint64_t count_ms;  /* when to count what waits and what failed */
};

static const char *const event_names[] = { "order.none", "order.created", "order.paid",
    "order.closed", "order.refunded" };
static_assert(sizeof event_names / sizeof *event_names == ORDER_STATES, "a name for each");

enum status webhook_event_name(
    struct order_store *store, const struct outbox_event *event, const char **name)
{
    static const char *const topics[] = {
#define TOPIC_NAME(name, text) text,
        OUTBOX_TOPIC_LIST(TOPIC_NAME)
#undef TOPIC_NAME
    };
    bool offered = false;
    enum status status = STATUS_OK;
    if (event->topic != TOPIC_STATE) {
        *name = topics[event->topic < TOPICS ? event->topic : TOPIC_SHIPPED];
        return STATUS_OK;
    }
    if (event->order_state == ORDER_PENDING)
        status = store->ops->customers->was_offered(store, event->ticket, &offered);
    *name = offered ? "order.offered"
                    : event_names[event->order_state < ORDER_STATES ? event->order_state : ORDER_NONE];
    return status;
}

void webhook_event_id(const struct funnel_keys *keys, ticket_number ticket, uint64_t version,
    char out[WEBHOOK_ID_MAX])
{
    snprintf(out, WEBHOOK_ID_MAX, "evt_%016llx_%llu",
        (unsigned long long)funnel_order_id(keys, ticket), (unsigned long long)version);
}

static const struct outbox_store_ops *outbox_of(const struct webhooks *webhooks)
{
    return webhooks->config.store->ops->outbox;
}

void webhooks_look(struct webhooks *webhooks)
{
    webhooks->look_ms = 0;
    if (webhooks->on)
        task_wake(webhooks->task);
}

bool webhooks_enabled(const struct webhooks *webhooks)
{
    return webhooks->on;
}

/* ---- sending ---- */

static enum status body_write(const struct webhooks *webhooks, const struct outbox_event *event,
    struct order *order, struct outgoing_call *call)
{
    char time[TIME_TEXT_BYTES];
    const char *name;
    struct text body = text_in(call->body, sizeof call->body);
    enum status status = webhook_event_name(webhooks->config.store, event, &name);
    if (status != STATUS_OK)
        return status;
    time_text_format(event->time_ms, time);
    order->state = event->order_state;
    order->version = event->version;
    if (event->order_state != ORDER_CLOSED)
        order->reason = REASON_NONE; /* closed is an end: then its reason is that of the event */
    text_format(&body, "{\"type\":\"%s\",\"timestamp\":\"%s\",\"data\":", name, time);
    order_json(webhooks->config.views, order, &body);
    body.size--; /* the object goes on */
    if (event->topic == TOPIC_REMEDY && event->order_state == ORDER_PENDING)
        (void)order_remedy_json(webhooks->config.views, event->ticket, &body); /* else it is there */
    if (event->topic == TOPIC_REFUNDED_PART)
        text_format(&body, ",\"refunded_now\":%llu", (unsigned long long)event->subject);
    status = order_contact_json(webhooks->config.views, order, true, &body);
    text_literal(&body, "}}");
    invariant(!body.overflow);
    call->body_size = (uint32_t)body.size;
    return status;
}

/* The flight of an event; id 0: a free place; NULL: none. */
static struct webhook_flight *flight_find(struct webhooks *webhooks, uint64_t id)
{
    for (uint32_t i = 0; i < WEBHOOKS_FLIGHT_MAX; i++)
        if (webhooks->flights[i].id == id)
            return &webhooks->flights[i];
    return NULL;
}

static struct webhook_flight *flight_add(struct webhooks *webhooks, const struct outbox_event *event)
{
    struct webhook_flight *flight = flight_find(webhooks, 0);
    invariant(flight != NULL);
    *flight = (struct webhook_flight){ .id = event->id, .tries = event->tries };
    webhooks->flight_count++;
    return flight;
}

/* False: not now. */
static bool event_send(struct webhooks *webhooks, const struct outbox_event *event)
{
    struct order order;
    char id[WEBHOOK_ID_MAX];
    struct order_store *store = webhooks->config.store;
    const enum status status = store->ops->order_by_ticket(store, event->ticket, &order);
    struct outgoing_call *call = status == STATUS_OK ? outgoing_call_take(webhooks->config.calls) : NULL;
    if (call == NULL)
        return false;
    if (body_write(webhooks, event, &order, call) != STATUS_OK) {
        outgoing_call_give(webhooks->config.calls, call);
        return false;
    }
    webhook_event_id(webhooks->config.views->keys, event->ticket, event->version, id);
    webhook_request(&webhooks->endpoint, id, clock_wall_ms() / 1000, call);
    flight_add(webhooks, event)->trace = trace_tell(webhooks->config.traces, event->ticket, call);
    outgoing_call_send(webhooks->config.calls, CALL_WEBHOOKS, event->id, call);
    return true;
}

/* The gauge and the alarm follow the rows, so that a restart or a replay needs no memory of ours. */
static void rows_count(struct webhooks *webhooks, uint64_t now_ms)
{
    struct order_store *store = webhooks->config.store;
    uint64_t count;
    if (now_ms < webhooks->count_ms)
        return;
    webhooks->count_ms = now_ms + COUNT_EVERY_MS;
    if (outbox_of(webhooks)->count(store, OUTBOX_WAITING, &count) == STATUS_OK)
        metric_set(&open_count, count);
    if (outbox_of(webhooks)->count(store, OUTBOX_FAILED, &count) != STATUS_OK)
        return;
    alarm_set(ALARM_WEBHOOK_FAILED, count > 0, now_ms,
        "the shop did not accept %llu messages: GET /admin/v1/webhooks?state=failed",
        (unsigned long long)count);
}

/* Sends what is due, as far as there are places. */
static void due_send(struct webhooks *webhooks, uint64_t now_ms)
{
    struct outbox_event events[DUE_ROWS];
    uint32_t count = 0;
    uint64_t next_ms = 0;
    if (now_ms < webhooks->look_ms || webhooks->flight_count == WEBHOOKS_FLIGHT_MAX)
        return;
    if (outbox_of(webhooks)->due(webhooks->config.store, now_ms, events, DUE_ROWS, &count, &next_ms)
        != STATUS_OK) {
        webhooks->look_ms = now_ms + AWAY_PAUSE_MS;
        return;
    }
    /* A full page: there may be more, and places become free with the answers. */
    webhooks->look_ms = count == DUE_ROWS ? 0 : next_ms;
    for (uint32_t i = 0; i < count; i++) {
        if (flight_find(webhooks, events[i].id) != NULL)
            continue;
        if (webhooks->flight_count == WEBHOOKS_FLIGHT_MAX) {
            webhooks->look_ms = 0;
            return;
        }
        if (!event_send(webhooks, &events[i])) {
            webhooks->look_ms = now_ms + AWAY_PAUSE_MS;
            return;
        }
    }
}

/* ---- answers ---- */

static void failure_say(const struct outbox_result *result, const char *why)
{
    metric_add(&failed_total, 1);
    log_error("webhooks", "message %llu was given up: %s (status %d %s); webhook replay sends it again",
        (unsigned long long)result->id, why, result->http_status, result->error);
}

static void call_answered(void *self, uint64_t id, const struct outgoing_call *call)
{
    struct webhooks *webhooks = self;
    struct webhook_flight *flight = flight_find(webhooks, id);
    invariant(id != 0 && flight != NULL && !flight->answered);
    struct outbox_result *result = &flight->result;
    const uint32_t tries = flight->tries + 1;
    const bool answered = call->result == OUTGOING_ANSWERED;
    uint64_t delay_ms = 0;
    flight->answered = true;
    trace_told(flight->trace, call);
    webhooks->answered_count++;
    task_wake(webhooks->task);
    *result = (struct outbox_result){
        .id = id, .state = OUTBOX_WAITING, .http_status = answered ? call->status : 0
    };
    if (!answered)
        snprintf(result->error, sizeof result->error, "%s", call->error);
    switch (webhook_judge(call)) {
    case WEBHOOK_TAKEN:
        result->state = OUTBOX_DELIVERED;
        metric_add(&taken_total, 1);
        break;
    case WEBHOOK_GONE:
        result->state = OUTBOX_FAILED;
        failure_say(result, "the receiver asked to stop");
        break;
    case WEBHOOK_AGAIN:
        if (webhook_delay(tries, &webhooks->random, &delay_ms)) {
            result->next_ms = clock_now_ms() + delay_ms;
            metric_add(&again_total, 1);
            log_warn("webhooks", "message %llu was not accepted (status %d %s), attempt %u",
                (unsigned long long)id, result->http_status, result->error, tries);
        } else {
            result->state = OUTBOX_FAILED;
            failure_say(result, "that was the last attempt");
        }
        break;
    }
}

/* What has come back is written in one transaction; its places are free then, not before: a row
 * that still looks due must not be sent once more. */
static void answers_settle(struct webhooks *webhooks, uint64_t now_ms)
{
    struct outbox_result results[WEBHOOKS_FLIGHT_MAX];
    uint32_t count = 0;
    if (webhooks->answered_count == 0 || now_ms < webhooks->settle_ms)
        return;
    for (uint32_t i = 0; i < WEBHOOKS_FLIGHT_MAX; i++)
        if (webhooks->flights[i].answered)
            results[count++] = webhooks->flights[i].result;
    const enum status status = outbox_of(webhooks)->settle(webhooks->config.store, results, count);
    if (status != STATUS_OK) {
        log_warn("webhooks", "the answers can't be written yet: %s", status_name(status));
        webhooks->settle_ms = now_ms + AWAY_PAUSE_MS;
        return;
    }
    for (uint32_t i = 0; i < WEBHOOKS_FLIGHT_MAX; i++)
        if (webhooks->flights[i].answered)
            webhooks->flights[i] = (struct webhook_flight){ 0 };
    webhooks->flight_count -= count;
    webhooks->answered_count = 0;
    webhooks->look_ms = 0;
}

static uint64_t soonest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t webhooks_turn(void *self, uint64_t now_ms)
{
    struct webhooks *webhooks = self;
    if (!webhooks->on)
        return TASK_IDLE;
    answers_settle(webhooks, now_ms);
    rows_count(webhooks, now_ms);
    due_send(webhooks, now_ms);
    uint64_t next_ms = webhooks->count_ms;
    if (webhooks->answered_count > 0)
        next_ms = soonest(next_ms, webhooks->settle_ms);
    if (webhooks->flight_count < WEBHOOKS_FLIGHT_MAX) /* else the next answer makes room */
        next_ms = soonest(next_ms, webhooks->look_ms);
    return next_ms;
}

static void webhooks_close(void *self)
{
    struct webhooks *webhooks = self;
    explicit_bzero(&webhooks->endpoint, sizeof webhooks->endpoint);
    webhooks->on = false;
}

enum status webhook_endpoint_open(
    struct webhook_endpoint *endpoint, const struct webhook_settings *settings, char *error)
{
    char secret[2 * WEBHOOK_SECRET_MAX];
    size_t size = 0;
    enum status status = secret_file_read(settings->secret_file, secret, sizeof secret, &size);
    if (status == STATUS_OK)
        status = webhook_secret_set(endpoint, span_of(secret, size));
    explicit_bzero(secret, sizeof secret);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR,
            "%ssecret_file must be readable and hold whsec_ with base64, or %d to %d other bytes",
            settings->section, WEBHOOK_SECRET_MIN, WEBHOOK_SECRET_MAX);
        return STATUS_BAD_INPUT;
    }
    snprintf(endpoint->url, sizeof endpoint->url, "%s", settings->url);
    endpoint->allow_private = settings->allow_private;
    return STATUS_OK;
}

enum status webhooks_open(struct webhooks **out, struct arena *arena,
    const struct webhooks_config *with, struct task *task, char *error)
{
    const struct config *config = with->config;
    struct webhooks *webhooks = arena_take(arena, 1, sizeof *webhooks);
    *out = webhooks;
    *webhooks = (struct webhooks){ .config = *with, .task = task };
    *task = (struct task){
        .name = "webhooks", .self = webhooks, .turn = webhooks_turn, .close = webhooks_close, .rests = true
    };
    outgoing_calls_listen(with->calls, CALL_WEBHOOKS, call_answered, webhooks);
    if (config->webhook_url[0] == '\0')
        return STATUS_OK;
    const struct webhook_settings settings = { .section = "webhook.",
        .url = config->webhook_url,
        .secret_file = config->webhook_secret_file,
        .allow_private = config->webhook_allow_private };
    const enum status status = webhook_endpoint_open(&webhooks->endpoint, &settings, error);
    if (status != STATUS_OK)
        return status;
    random_seed(&webhooks->random, clock_monotonic_ns());
    outbox_of(webhooks)->turn_on(with->store);
    webhooks->on = true;
    return STATUS_OK;
}
