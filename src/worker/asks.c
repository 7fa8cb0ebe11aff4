/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/asks.h"

#include "api/job.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/thread.h"
#include "contract/inventory.h"

struct asks {
    struct asks_config config;
    struct job *acting; /* the administrator's request at work; NULL: none */
    uint64_t next_tag;
};

struct asks *asks_open(struct arena *arena, const struct asks_config *config)
{
    struct asks *asks = arena_take(arena, 1, sizeof *asks);
    *asks = (struct asks){ .config = *config };
    return asks;
}

void asks_acting(struct asks *asks, struct job *job)
{
    asks->acting = job;
}

enum status asks_ask(struct asks *asks, const struct command *command, struct outcome *outcome)
{
    struct inventory_port *port = asks->config.port;
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return STATUS_AWAY;
    const uint64_t tag = ++asks->next_tag;
    *request = (struct inventory_request){ .tag = tag, .command = *command };
    if (asks->acting != NULL)
        origin_fill(asks->config.keys, asks->acting, &request->command);
    const bool changes = command->type < COMMAND_LOGGED_COUNT;
    port->ops->commit(port);
    port->ops->flush(port);
    const uint64_t give_up_ms = clock_now_ms() + ASK_MS;
    while (clock_now_ms() < give_up_ms && !inventory_failed(asks->config.inventory)) {
        const struct inventory_answer *answer;
        while ((answer = port->ops->collect(port)) != NULL) {
            if (answer->tag != tag)
                continue; /* came too late for the one who asked */
            *outcome = answer->outcome;
            if (asks->acting != NULL)
                asks->acting->commanded |= outcome->changed || outcome->repeated;
            return STATUS_OK;
        }
        wake_wait(asks->config.wake, 20);
    }
    if (asks->acting != NULL)
        asks->acting->commanded |= changes;
    return changes ? STATUS_UNKNOWN : STATUS_AWAY;
}
