/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/returns.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "contract/inventory.h"
#include "contract/limits.h"
#include "contract/waitlist.h"
#include "orders/stock_pump.h"
#include "orders/waitlist.h"
#include "worker/alarm_checks.h"
#include "worker/money.h"
#include "worker/order_news.h"
#include "worker/task.h"

struct returns {
    struct returns_config config;
    struct task *task;
    struct stock_pump *pump;
    struct waitlist waitlist;
    uint64_t hurry_until_ms;
};

/* Answers the requests that wait for these units. */
static void return_told(void *context, ticket_number ticket, user_id user)
{
    struct returns *returns = context;
    if (clock_now_ms() < returns->hurry_until_ms)
        order_news_tell(returns->config.news, ticket, user);
}

static void port_collect(struct returns *returns, uint64_t now_ms)
{
    struct inventory_port *port = returns->config.port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        invariant(stock_pump_answer(returns->pump, now_ms, answer)
            || money_late_answer(returns->config.money, answer)
            || waitlist_answer(&returns->waitlist, answer));
    }
}

static uint64_t returns_turn(void *self, uint64_t now_ms)
{
    struct returns *returns = self;
    struct stock_pump_progress pump;
    port_collect(returns, now_ms);
    const bool pumped = stock_pump_turn(returns->pump, now_ms, &pump) == STATUS_OK;
    if (pumped)
        alarm_checks_pump(returns->config.alarms, &pump, now_ms);
    const enum status status = waitlist_turn(&returns->waitlist, now_ms);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "the waitlist can't be served: %s", status_name(status));
    /* Units on their way back do not wait for a pause of the wins: the pump only reads the database. */
    returns->task->rests = now_ms >= returns->hurry_until_ms && !(pumped && pump.asked > 0);
    return now_ms + ORDER_BATCH_WAIT_MS;
}

size_t returns_bytes(void)
{
    return stock_pump_bytes();
}

struct returns *returns_open(struct arena *arena, const struct returns_config *config, struct task *task)
{
    struct returns *returns = arena_take(arena, 1, sizeof *returns);
    returns->config = *config;
    returns->task = task;
    returns->pump = stock_pump_create(arena,
        &(struct stock_pump_config){ .store = config->store,
            .port = config->port,
            .offer_window_ms = config->offer_window_ms,
            .port_is_shared = true,
            .let_go = config->let_go,
            .context = config->let_go_context,
            .settled = return_told,
            .settled_context = returns });
    waitlist_start(&returns->waitlist,
        &(struct waitlist_config){ .store = config->store,
            .port = config->port,
            .board = config->board,
            .window_ms = config->offer_window_ms,
            .has_line = config->has_line });
    *task = (struct task){
        .name = "returns", .self = returns, .turn = returns_turn, .listens = true, .rests = true
    };
    return returns;
}

void returns_look(struct returns *returns)
{
    stock_pump_look(returns->pump);
    task_wake(returns->task);
}

void returns_look_line(struct returns *returns)
{
    waitlist_look(&returns->waitlist);
    task_wake(returns->task);
}

uint64_t returns_looks(const struct returns *returns)
{
    return stock_pump_looks(returns->pump);
}

bool returns_is_open(const struct returns *returns, ticket_number ticket, uint64_t since)
{
    return stock_pump_is_open(returns->pump, ticket, since);
}

void returns_hurry(struct returns *returns, uint64_t until_ms)
{
    returns->hurry_until_ms = until_ms;
    returns->task->rests = false;
    task_wake(returns->task);
}
