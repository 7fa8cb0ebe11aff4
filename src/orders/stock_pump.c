/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/stock_pump.h"

#include "base/log.h"
#include "base/metrics.h"

#include <string.h>

enum flight_state {
    FLIGHT_READY, /* to be submitted when its time has come */
    FLIGHT_ASKED, /* submitted, not answered */
    FLIGHT_ANSWERED, /* done, says the engine: the record is on its way; an earlier one is not answered yet */
};

struct flight {
    struct stock_event event;
    enum flight_state state;
    uint64_t again_ms;
    bool refused;
};

struct stock_pump {
    struct stock_pump_config config;
    struct flight flights[STOCK_PUMP_FLIGHT_MAX]; /* ascending event ids, as the store lists them */
    uint32_t count;
    struct stock_event events[STOCK_PUMP_FLIGHT_MAX];
    struct flight merged[STOCK_PUMP_FLIGHT_MAX];
    uint64_t look_ms, looks;
    ticket_number *recent; /* tickets of the last answers, the oldest is overwritten */
    uint32_t recent_next;
    uint64_t passed;   /* all events up to this id are answered in this round; 0: none */
    uint64_t round_ms; /* when the first of them was passed */
};

COUNTER(events_submitted, "stampede_stock_events_submitted_total",
    "Stock events sent to the inventory, including repeats.");
COUNTER(events_refused, "stampede_stock_events_refused_total",
    "Stock events that the inventory refused; a person must check them.");
GAUGE(events_open, "stampede_stock_events_open", "Stock events that the inventory has not answered.");

size_t stock_pump_bytes(void)
{
    return sizeof(struct stock_pump) + STOCK_PUMP_RECENT * sizeof(ticket_number) + 128;
}

struct stock_pump *stock_pump_create(struct arena *arena, const struct stock_pump_config *config)
{
    struct stock_pump *pump = arena_take(arena, 1, sizeof *pump);
    pump->config = *config;
    if (pump->config.flight_max == 0)
        pump->config.flight_max = STOCK_PUMP_FLIGHT_MAX;
    invariant(pump->config.flight_max <= STOCK_PUMP_FLIGHT_MAX);
    pump->recent = arena_take(arena, STOCK_PUMP_RECENT, sizeof *pump->recent);
    return pump;
}

static struct flight *flight_find(struct stock_pump *pump, uint64_t event_id)
{
    for (uint32_t i = 0; i < pump->count; i++) {
        if (pump->flights[i].event.id == event_id)
            return &pump->flights[i];
    }
    return NULL;
}

static void settled_tell(struct stock_pump *pump, const struct flight *flight, user_id user)
{
    const ticket_number ticket = flight->event.settle.ticket;
    pump->recent[pump->recent_next++ % STOCK_PUMP_RECENT] = ticket;
    if (pump->config.settled != NULL)
        pump->config.settled(pump->config.settled_context, ticket, user);
}

static void flight_refused(struct flight *flight, const struct outcome *outcome)
{
    const struct command_settle *settle = &flight->event.settle;
    if (!flight->refused)
        metric_add(&events_refused, 1);
    flight->refused = true;
    log_error("orders",
        "the inventory refuses a stock event event=%llu ticket=%llu step=%u answer=%u detail=%u",
        (unsigned long long)flight->event.id, (unsigned long long)settle->ticket, settle->step,
        outcome->answer, outcome->detail);
}

/* After a crash both steps of an order that was paid and refunded may be in the log already, but
 * not in the store: then the first one can't be made again, and its record is on its way. */
static bool flight_is_overtaken(const struct stock_pump *pump, const struct flight *flight)
{
    const struct command_settle *settle = &flight->event.settle;
    for (uint32_t i = 0; i < pump->count && settle->step == SETTLE_SOLD; i++) {
        if (pump->flights[i].event.settle.ticket == settle->ticket
            && pump->flights[i].event.id > flight->event.id)
            return true;
    }
    /* The later one may not be listed yet. If there is none, the next round finds out. */
    return settle->step == SETTLE_SOLD && pump->count == pump->config.flight_max;
}

bool stock_pump_answer(struct stock_pump *pump, uint64_t now_ms, const struct inventory_answer *answer)
{
    if ((answer->tag & STOCK_PUMP_TAG) == 0)
        return false;
    struct flight *flight = flight_find(pump, answer->tag & ~STOCK_PUMP_TAG);
    if (flight == NULL || flight->state != FLIGHT_ASKED)
        return true; /* its record was faster than its answer */
    enum answer what = answer->outcome.answer;
    if (what == ANSWER_DONE || what == ANSWER_UNCHANGED
        || (what == ANSWER_CONFLICT && flight_is_overtaken(pump, flight))) {
        flight->state = FLIGHT_ANSWERED;
        flight->refused = false;
        flight->again_ms = now_ms + STOCK_PUMP_REFUSED_MS;
        settled_tell(pump, flight, what == ANSWER_DONE ? answer->outcome.user : 0);
        if (what == ANSWER_DONE && flight->event.settle.let_go && pump->config.let_go != NULL)
            pump->config.let_go(pump->config.context, answer->outcome.user);
    } else if (what == ANSWER_TOO_POPULAR || what == ANSWER_UNAVAILABLE) {
        flight->state = FLIGHT_READY;
        flight->again_ms = now_ms + STOCK_PUMP_AGAIN_MS;
    } else {
        flight_refused(flight, &answer->outcome);
        flight->state = FLIGHT_READY;
        flight->again_ms = now_ms + STOCK_PUMP_REFUSED_MS;
    }
    return true;
}

static void answers_collect(struct stock_pump *pump, uint64_t now_ms)
{
    struct inventory_port *port = pump->config.port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        bool ours = stock_pump_answer(pump, now_ms, answer);
        invariant(ours); /* else the port is shared, and its owner must collect */
    }
}

/* Events of one order come in their order, so the answered ones at the front are done with in this round. */
static void answered_pass(struct stock_pump *pump, uint64_t now_ms)
{
    for (uint32_t i = 0; i < pump->count && pump->flights[i].state == FLIGHT_ANSWERED; i++) {
        if (pump->passed == 0)
            pump->round_ms = now_ms;
        pump->passed = pump->flights[i].event.id;
    }
}

/* What was asked and is not listed any more: its record was faster than its answer. */
static void confirmed_tell(struct stock_pump *pump, uint32_t listed)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < pump->count; i++) {
        const struct flight *flight = &pump->flights[i];
        while (at < listed && pump->events[at].id < flight->event.id)
            at++;
        const bool there = at < listed && pump->events[at].id == flight->event.id;
        if (flight->state == FLIGHT_ASKED && !there)
            settled_tell(pump, flight, 0);
    }
}

/* An event that the store lists is open; one that it does not list any more is confirmed. Both lists ascend
 * by id, and ids only grow, so everything in flight that is still open is within the first
 * flight_max. */
static enum status events_look(struct stock_pump *pump, uint64_t now_ms)
{
    struct order_store *store = pump->config.store;
    uint32_t listed = 0, old = 0;
    answered_pass(pump, now_ms);
    enum status status =
        store->ops->stock_events(store, pump->passed, pump->events, pump->config.flight_max, &listed);
    if (status != STATUS_OK)
        return status;
    invariant(listed <= pump->config.flight_max);
    confirmed_tell(pump, listed);
    for (uint32_t i = 0; i < listed; i++) {
        while (old < pump->count && pump->flights[old].event.id < pump->events[i].id)
            old++;
        if (old < pump->count && pump->flights[old].event.id == pump->events[i].id)
            pump->merged[i] = pump->flights[old];
        else
            pump->merged[i] = (struct flight){ .event = pump->events[i], .again_ms = now_ms };
    }
    memcpy(pump->flights, pump->merged, listed * sizeof pump->flights[0]);
    pump->count = listed;
    /* Nothing is left in this round: the next one begins when its time has come. */
    if (listed == 0 && (now_ms >= pump->round_ms + STOCK_PUMP_ROUND_MS || now_ms < pump->round_ms))
        pump->passed = 0;
    pump->look_ms = now_ms;
    pump->looks++;
    return STATUS_OK;
}

static bool flight_submit(struct stock_pump *pump, struct flight *flight, uint64_t now_ms)
{
    struct inventory_port *port = pump->config.port;
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return false; /* the queue is full: next turn */
    *request = (struct inventory_request){
        .tag = STOCK_PUMP_TAG | flight->event.id,
        .command = { .time_ms = now_ms, .type = COMMAND_SETTLE, .settle = flight->event.settle },
    };
    if (flight->event.settle.waiter_count > 0 && flight->event.settle.waiter_window_ms == 0)
        request->command.settle.waiter_window_ms = pump->config.offer_window_ms;
    port->ops->commit(port);
    flight->state = FLIGHT_ASKED;
    return true;
}

/* Steps of one ticket go one after the other: what was paid and refunded at once is sold first. */
static bool flight_must_wait(const struct stock_pump *pump, uint32_t index)
{
    const struct command_settle *settle = &pump->flights[index].event.settle;
    for (uint32_t i = 0; i < index && settle->step != SETTLE_SOLD; i++) {
        if (pump->flights[i].event.settle.ticket == settle->ticket
            && pump->flights[i].state != FLIGHT_ANSWERED)
            return true;
    }
    return false;
}

void stock_pump_look(struct stock_pump *pump)
{
    pump->look_ms = 0;
}

uint64_t stock_pump_looks(const struct stock_pump *pump)
{
    return pump->looks;
}

static bool answered_lately(const struct stock_pump *pump, ticket_number ticket)
{
    for (uint32_t i = 0; i < STOCK_PUMP_RECENT; i++)
        if (pump->recent[i] == ticket)
            return true;
    return false;
}

bool stock_pump_is_open(const struct stock_pump *pump, ticket_number ticket, uint64_t since)
{
    bool answered = false;
    for (uint32_t i = 0; i < pump->count; i++) {
        if (pump->flights[i].event.settle.ticket != ticket)
            continue;
        if (pump->flights[i].state != FLIGHT_ANSWERED)
            return true;
        answered = true;
    }
    /* Not there: it is to be looked for, or it is done with, or there are too many before it. */
    const bool unseen = since == STOCK_PUMP_ANY_LOOK ? pump->look_ms == 0 : pump->looks <= since;
    if (answered || unseen)
        return !answered;
    return pump->count == pump->config.flight_max && !answered_lately(pump, ticket);
}

/* An answer that no record followed for long is asked again: the engine answers "unchanged",
 * nothing is done twice. A time farther away than any pause is of a clock that went back. */
static bool flight_is_due(const struct flight *flight, uint64_t now_ms)
{
    return flight->state != FLIGHT_ASKED
        && (flight->again_ms <= now_ms || flight->again_ms > now_ms + STOCK_PUMP_REFUSED_MS);
}

enum status stock_pump_turn(struct stock_pump *pump, uint64_t now_ms, struct stock_pump_progress *progress)
{
    struct inventory_port *port = pump->config.port;
    *progress = (struct stock_pump_progress){ .wait_ms = STOCK_PUMP_LOOK_MS };
    if (!pump->config.port_is_shared)
        answers_collect(pump, now_ms);
    const bool more = pump->count == pump->config.flight_max && pump->flights[0].state == FLIGHT_ANSWERED;
    bool due = pump->look_ms == 0 || more || now_ms >= pump->look_ms + STOCK_PUMP_LOOK_MS
        || now_ms < pump->look_ms;
    if (due) {
        enum status status = events_look(pump, now_ms);
        if (status != STATUS_OK)
            return status;
    }
    bool room = true;
    for (uint32_t i = 0; i < pump->count; i++) {
        struct flight *flight = &pump->flights[i];
        progress->refused += flight->refused;
        if (!room || !flight_is_due(flight, now_ms) || flight_must_wait(pump, i))
            continue;
        room = flight_submit(pump, flight, now_ms);
        progress->submitted += room;
    }
    if (progress->submitted > 0) {
        port->ops->flush(port);
        metric_add(&events_submitted, progress->submitted);
    }
    for (uint32_t i = 0; i < pump->count; i++) {
        progress->open += pump->flights[i].state != FLIGHT_ANSWERED;
        progress->asked += pump->flights[i].state == FLIGHT_ASKED;
    }
    metric_set(&events_open, progress->open);
    return STATUS_OK;
}
