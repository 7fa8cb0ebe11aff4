/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_room.c: the waiting room as far as it must survive: who came as which number,
 * among how many the draw was, and how many were admitted. The order itself is arithmetic
 * (funnel/room/room.h). */
#include "inventory/engine_apply.h"

static bool sale_started(const struct engine_sale *sale, uint64_t now_ms)
{
    return sale->opened || now_ms >= sale->start_ms;
}

/* From the start on nobody joins the draw any more. Whatever comes first after it closes the list:
 * an arrival or an admission. */
static bool draw_close(struct engine_sale *sale, uint64_t now_ms)
{
    if (sale->draw_done || !sale_started(sale, now_ms))
        return false;
    sale->draw_done = true;
    sale->drawn = sale->arrived;
    return true;
}

ENGINE_APPLY(engine_apply_arrive)
{
    const struct command_arrive *asked = &command->arrive;
    struct engine_sale *sale = engine_sale_asked(engine, asked->sale, outcome);
    if (sale == NULL)
        return;
    invariant(asked->user != 0);
    const uint64_t row = places_find(&engine->places, asked->sale, asked->user);
    if (row != UINT64_MAX) {
        outcome->answer = ANSWER_UNCHANGED;
        outcome->number = places_at(&engine->places, row)->number;
        return;
    }
    if (sale->ended || command->time_ms >= sale->end_ms) {
        outcome->answer = ANSWER_ENDED;
        return;
    }
    if (!engine_may(may_change && !places_full(&engine->places), outcome))
        return;
    draw_close(sale, command->time_ms);
    outcome->number = sale->arrived++;
    places_add(&engine->places, asked->sale, asked->user, outcome->number);
    engine_done(outcome);
}

ENGINE_APPLY(engine_apply_admit)
{
    const struct command_admit *asked = &command->admit;
    struct engine_sale *sale = engine_sale_asked(engine, asked->sale, outcome);
    if (sale == NULL)
        return;
    if (!sale_started(sale, command->time_ms)) {
        outcome->answer = ANSWER_NOT_STARTED;
        return;
    }
    const uint32_t head = asked->head < sale->arrived ? asked->head : sale->arrived;
    if (sale->draw_done && head <= sale->head) {
        outcome->answer = ANSWER_UNCHANGED;
        outcome->number = sale->head;
        return;
    }
    if (!engine_may(may_change, outcome))
        return;
    draw_close(sale, command->time_ms);
    if (head > sale->head)
        sale->head = head;
    outcome->number = sale->head;
    engine_done(outcome);
}

struct board_room_update engine_room_view(const struct engine *engine, sale_id id)
{
    const struct engine_sale *sale = &engine->sales[id];
    return (struct board_room_update){ .sale = id,
        .arrived = sale->arrived,
        .drawn = sale->drawn,
        .head = sale->head,
        .draw_done = sale->draw_done };
}

/* Numbers count from 0 in each sale without a gap, and every row can be found. */
const char *engine_check_places(const struct engine *engine)
{
    static const char *const wrong = "I12: arrival numbers and places differ";
    struct arena arena;
    const uint32_t sales_max = engine->config.sales_max;
    if (arena_open(&arena, sales_max * sizeof(uint32_t) + 4096) != STATUS_OK)
        return "no memory to check";
    uint32_t *next = arena_take(&arena, sales_max, sizeof *next);
    bool good = true;
    for (uint64_t i = engine->places.begin; i < engine->places.count && good; i++) {
        const struct place_row *row = places_at(&engine->places, i);
        if (row->sale == 0)
            continue;
        good = row->sale < sales_max && row->number == next[row->sale]++
            && places_find(&engine->places, row->sale, row->user) == i;
    }
    for (sale_id id = 1; id < sales_max && good; id++) {
        const struct engine_sale *sale = &engine->sales[id];
        good = sale->arrived == next[id] && sale->drawn <= sale->arrived && sale->head <= sale->arrived
            && (sale->draw_done || (sale->drawn == 0 && sale->head == 0));
    }
    arena_close(&arena);
    return good ? NULL : wrong;
}
