/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/ports.h"

/* A slot of the answer ring is free for the host only when it was given back: then the request
 * is over. */
static void answers_done(struct port_state *state)
{
    ring_release(&state->answers);
    state->in_flight -= state->taken;
    state->taken = 0;
}

static struct inventory_request *port_reserve(struct inventory_port *port)
{
    struct port_state *state = (struct port_state *)port;
    if (state->in_flight == state->in_flight_max)
        answers_done(state);
    state->filling = state->in_flight == state->in_flight_max ? NULL : ring_reserve(&state->requests);
    return state->filling;
}

static void port_commit(struct inventory_port *port)
{
    struct port_state *state = (struct port_state *)port;
    const struct flow_units flow = flow_of(&state->filling->command);
    if (flow.units > 0)
        board_asked(state->ports->board, flow.item, flow.channel, flow.units);
    ring_commit(&state->requests);
    state->in_flight++;
}

static void port_flush(struct inventory_port *port)
{
    struct port_state *state = (struct port_state *)port;
    struct wake *host = state->ports->host;
    if (ring_publish(&state->requests) && host != NULL && host != state->client)
        wake_signal(host);
}

static const struct inventory_answer *port_collect(struct inventory_port *port)
{
    struct port_state *state = (struct port_state *)port;
    const struct inventory_answer *answer = ring_peek(&state->answers);
    if (answer == NULL) {
        answers_done(state);
        return NULL;
    }
    ring_pop(&state->answers);
    state->taken++;
    return answer;
}

static const struct inventory_port_ops port_ops = {
    .reserve = port_reserve,
    .commit = port_commit,
    .flush = port_flush,
    .collect = port_collect,
};

size_t ports_bytes(uint32_t count, uint32_t slots)
{
    return count
        * (sizeof(struct port_state) + 256
            + slots * (sizeof(struct inventory_request) + sizeof(struct inventory_answer)));
}

void ports_create(
    struct ports *ports, struct arena *arena, uint32_t count, uint32_t slots, struct board *board)
{
    *ports = (struct ports){
        .list = arena_take(arena, count, sizeof *ports->list), .count = count, .board = board
    };
    for (uint32_t i = 0; i < count; i++) {
        struct port_state *state = &ports->list[i];
        state->port.ops = &port_ops;
        state->ports = ports;
        state->in_flight_max = slots;
        ring_create(&state->requests, arena, slots, sizeof(struct inventory_request));
        ring_create(&state->answers, arena, slots, sizeof(struct inventory_answer));
    }
}

struct inventory_port *ports_port(struct ports *ports, uint32_t index, struct wake *client)
{
    invariant(index < ports->count);
    ports->list[index].client = client;
    return &ports->list[index].port;
}

void ports_show(struct ports *ports)
{
    for (uint32_t port = 0; port < ports->count; port++) {
        struct port_state *state = &ports->list[port];
        if (!state->answered)
            continue;
        state->answered = false;
        if (ring_publish(&state->answers) && state->client != NULL && state->client != ports->host)
            wake_signal(state->client);
    }
}

bool ports_idle(const struct ports *ports)
{
    for (uint32_t port = 0; port < ports->count; port++)
        if (ring_used(&ports->list[port].requests) > 0)
            return false;
    return true;
}
