/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/asks.h"

#include "contract/inventory.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

enum { ASKS_MAX = 1024 };

struct asks {
    struct ask rows[ASKS_MAX];
    uint16_t first_free; /* index + 1; 0: none */
};

size_t asks_bytes(void)
{
    return sizeof(struct asks);
}

struct asks *asks_create(struct arena *arena)
{
    struct asks *asks = arena_take(arena, 1, sizeof *asks);
    for (uint32_t i = 0; i < ASKS_MAX; i++)
        asks->rows[i].next_free = (uint16_t)(i + 1 < ASKS_MAX ? i + 2 : 0);
    asks->first_free = 1;
    return asks;
}

struct ask *ask_put(struct routes *routes, const struct reply_to *to, const struct command *command,
    void (*answered)(struct routes *, const struct ask *, const struct outcome *))
{
    struct asks *asks = routes->asks;
    struct inventory_request *slot =
        asks->first_free == 0 ? NULL : routes->port->ops->reserve(routes->port);
    if (slot == NULL)
        return NULL;
    const uint32_t index = asks->first_free - 1u;
    struct ask *ask = &asks->rows[index];
    asks->first_free = ask->next_free;
    *ask = (struct ask){ .answered = answered, .to = *to };
    *slot = (struct inventory_request){ .tag = TAG_ASK | index, .command = *command };
    routes->port->ops->commit(routes->port);
    return ask;
}

struct ask *ask_send(struct exchange *exchange, const struct command *command,
    void (*answered)(struct routes *, const struct ask *, const struct outcome *))
{
    struct ask *ask = ask_put(exchange->routes, &exchange->to, command, answered);
    if (ask == NULL)
        reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    return ask;
}

void asks_answered(struct routes *routes, uint32_t index, const struct outcome *outcome)
{
    struct asks *asks = routes->asks;
    invariant(index < ASKS_MAX);
    const struct ask ask = asks->rows[index];
    asks->rows[index].next_free = asks->first_free;
    asks->first_free = (uint16_t)(index + 1);
    if (edge_token_alive(routes->edge, ask.to.token))
        ask.answered(routes, &ask, outcome);
}
