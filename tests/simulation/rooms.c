/* SPDX-License-Identifier: Apache-2.0 */
/* The waiting rooms of all sales, by the product's own rules (funnel/room/room_line.h): after every crash
 * the chain is worked out again, and the draw must be the one that was shown before. */
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t ROOM_TAG = (uint64_t)1 << 59;

void rooms_start(struct world *world)
{
    for (sale_id sale = 1; sale <= world->sale_count; sale++)
        room_line_begin(&world->rooms[sale], &world->keys, sale);
}

bool rooms_answer(struct world *world, const struct inventory_answer *answer)
{
    if ((answer->tag & ROOM_TAG) == 0)
        return false;
    world->rooms[answer->tag & ~ROOM_TAG].asking = false;
    return true;
}

/* What was shown once outlives every crash. */
static void draw_make(struct world *world, struct room_line *line, const struct board_room_update *shown)
{
    struct sim_draw *told = &world->draws[line->sale];
    struct room_draw draw;
    room_draw_make(&draw, line->secret, line->sale, &line->chain, SPAN_NONE);
    line->drawn = true;
    trace_step("draw", line->sale, draw.count, shown->head);
    if (draw.count != world->model.sales[line->sale].drawn)
        violation("I12 the draw", "sale %u: %u take part, the log says %u", line->sale, draw.count,
            world->model.sales[line->sale].drawn);
    if (told->shown && memcmp(told->key, draw.key, sizeof draw.key) != 0)
        violation("I12 the draw", "sale %u: another draw than the one that was shown", line->sale);
    if (!told->shown && shown->head > 0)
        violation("I12 the draw", "sale %u: %u went in before the draw was shown", line->sale,
            shown->head);
    told->shown = true;
    memcpy(told->key, draw.key, sizeof told->key);
}

static void head_move(struct world *world, struct room_line *line, const struct room_look *look,
    const struct board_room_update *shown)
{
    static const struct room_rules rules = { .turn_ms = 500, .rate_min = 20, .rate_max = 400 };
    const struct model_sale *sale = &world->model.sales[line->sale];
    struct room_view view;
    const uint32_t head = room_line_head(line, &rules, world->now_ms, look, shown, &view);
    if (head < shown->head || head > shown->arrived)
        violation("I12 the line", "sale %u: the head goes from %u to %u of %u", line->sale,
            shown->head, head, shown->arrived);
    if (head == shown->head)
        return;
    const struct board *board = embedded_board(world->embedded);
    const bool current = atomic_load(&board->durable_lsn) == world->model.lsn; /* the board shows all */
    if (current && (sale->paused || sale->ended))
        violation("I12 the line", "sale %u: people go in while it is %s", line->sale,
            sale->ended ? "over" : "paused");
    room_line_ask(line, &world->pump_port.port, ROOM_TAG | line->sale, head);
}

static void room_run(struct world *world, struct room_line *line, uint32_t budget)
{
    const struct inventory *inventory = embedded_inventory(world->embedded);
    const struct model_sale *sale = &world->model.sales[line->sale];
    struct room_look look = room_look_begin(world->now_ms, sale->start_ms, sale->end_ms);
    struct board_room_update shown;
    for (item_id id = 1; id <= world->item_count; id++) {
        struct board_update item;
        if (world->model.items[id].sale == line->sale && board_read(inventory->board, id, &item))
            room_look_item(&look, &item);
    }
    room_line_catch_up(line, inventory, &budget);
    if (!board_read_room(inventory->board, line->sale, &shown))
        return;
    switch (room_line_step(line, &look, &shown)) {
    case ROOM_STAYS:
        return;
    case ROOM_CLOSES_LIST:
        room_line_ask(line, &world->pump_port.port, ROOM_TAG | line->sale, 0);
        return;
    case ROOM_DRAWS:
        draw_make(world, line, &shown);
        break;
    case ROOM_MOVES:
        break;
    }
    head_move(world, line, &look, &shown);
}

void rooms_run(struct world *world, uint32_t budget)
{
    const struct model *model = &world->model;
    if (model->request_count + 2 * SIM_PORTS >= SIM_REQUESTS
        || model->open_count + 2 * SIM_PORTS >= SIM_OPEN || model->lsn + 2 * SIM_PORTS >= SIM_LOG)
        return; /* the model's tables are nearly full */
    for (sale_id sale = 1; sale <= world->sale_count; sale++)
        if (model->sales[sale].defined)
            room_run(world, &world->rooms[sale], budget);
}
