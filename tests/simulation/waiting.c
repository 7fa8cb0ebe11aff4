/* SPDX-License-Identifier: Apache-2.0 */
/* The lines: users join and leave at random moments; what is free is offered to them in order. */
#include "tests/simulation/world.h"

#include <inttypes.h>

static const struct waitlist_store_ops *line_ops(const struct world *world)
{
    return world->store->ops->waitlist;
}

static void line_failed(const struct world *world, enum status status)
{
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED)
        violation("the line", "the store fails: %s", status_name(status));
    (void)world;
}

void world_wait(struct world *world)
{
    struct waitlist_place place = { .item = (item_id)(1 + world_below(world, world->item_count)),
        .user = world->users[world_below(world, BUYERS)],
        .quantity = 1 + (uint32_t)world_below(world, 3),
        .joined_ms = world->now_ms };
    uint8_t answer = JOIN_FULL;
    bool left = false;
    if (world->sim_store.away)
        return;
    if (world_chance(world, 15)) {
        line_failed(world, line_ops(world)->leave(world->store, place.item, place.user, &left));
        trace_step("leave", place.item, user_index(place.user), left);
        return;
    }
    if (world->place_count == PLACES_MAX)
        return;
    const enum status status = line_ops(world)->join(world->store, &place, PLACES_MAX, &answer);
    const bool told = status == STATUS_OK && answer == JOIN_DONE;
    line_failed(world, status);
    world->place_count += answer == JOIN_DONE;
    if (told && place.id <= world->place_id_last)
        violation("I13 ids are never used again", "place %" PRIu64 " is given a second time", place.id);
    if (told)
        world->place_id_last = place.id;
    trace_step("join", place.item, user_index(place.user), answer);
}

void world_serve(struct world *world)
{
    struct inventory_port *port = &world->pump_port.port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        const bool late = late_money_answer(&world->late, answer);
        if (late)
            cashier_look(&world->cashier);
        else if (!rooms_answer(world, answer) && !stock_pump_answer(world->pump, world->now_ms, answer)
            && !waitlist_answer(&world->waitlist, answer))
            violation("the line", "an answer for nobody");
    }
    const bool room = world->model.request_count + WAITLIST_OFFERS_MAX + SIM_PORTS < SIM_REQUESTS
        && world->model.open_count + WAITLIST_OFFERS_MAX + SIM_PORTS < SIM_OPEN
        && world->model.lsn + WAITLIST_OFFERS_MAX + SIM_PORTS < SIM_LOG;
    if (!world->sim_store.away && room)
        line_failed(world, waitlist_turn(&world->waitlist, world->now_ms));
}

/* Nobody waits for units that could be offered: those of the web channel, and those of the line. */
static void place_check(const struct world *world, const struct waitlist_place *place, channel_index channel)
{
    struct outcome outcome;
    /* The line passes over a user who was still cooling down when it was last looked at from its start. */
    const uint64_t looked_ms = world->waitlist.again_ms - WAITLIST_AGAIN_MS;
    const struct command command = { .type = COMMAND_RESERVE,
        .time_ms = looked_ms < world->engine_ms ? looked_ms : world->engine_ms,
        .reserve = { .user = place->user,
            .key = waitlist_key(place->id),
            .item = place->item,
            .quantity = place->quantity,
            .channel = channel,
            .flags = RESERVE_AFTER_END | RESERVE_OFFER } };
    model_expect(&world->model, &command, &outcome);
    if (outcome.answer == ANSWER_WON)
        violation("I3 never undersell", "item %u: user %u waits for %u units, channel %u has %u for them",
            place->item, user_index(place->user), place->quantity, channel,
            world->model.items[place->item].free[channel]);
}

void world_check_lines(const struct world *world)
{
    static const channel_index offered_from[] = { WAITLIST_CHANNEL, CHANNEL_LINE };
    static struct waitlist_place places[PLACES_MAX];
    const struct model *model = &world->model;
    uint32_t count = 0;
    if (model->request_count + WAITLIST_OFFERS_MAX + SIM_PORTS >= SIM_REQUESTS)
        return; /* the model's tables are nearly full, nothing was offered any more */
    for (item_id id = 1; id <= world->item_count; id++) {
        const enum status status =
            line_ops(world)->list(world->store, id, 0, places, PLACES_MAX, &count);
        if (status != STATUS_OK)
            violation("the line", "can't be read: %s", status_name(status));
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t at = 0; at < sizeof offered_from / sizeof *offered_from; at++)
                place_check(world, &places[i], offered_from[at]);
        }
    }
}
