/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/room/room_line.h"

enum { ROOM_ROWS_AT_ONCE = 128 };

void room_line_begin(struct room_line *line, const struct funnel_keys *keys, sale_id sale)
{
    *line = (struct room_line){ .sale = sale };
    room_secret(keys, sale, line->secret);
    room_chain_begin(&line->chain, sale);
}

/* Before the draw is made, all that is shown came before the start (board_publish_room). */
void room_line_catch_up(struct room_line *line, const struct inventory *inventory, uint32_t *budget)
{
    struct arrival arrivals[ROOM_ROWS_AT_ONCE];
    struct board_room_update shown;
    if (line->drawn || !board_read_room(inventory->board, line->sale, &shown))
        return;
    const uint32_t until = shown.draw_done ? shown.drawn : shown.arrived;
    while (line->chain.count < until) {
        const uint32_t missing = until - line->chain.count;
        const uint32_t max = missing < ROOM_ROWS_AT_ONCE ? missing : ROOM_ROWS_AT_ONCE;
        const uint32_t count = inventory->ops->arrivals(
            inventory, line->sale, &line->arrivals_cursor, budget, arrivals, max);
        for (uint32_t i = 0; i < count; i++) {
            invariant(arrivals[i].number == line->chain.count);
            room_chain_add(&line->chain, room_mark(line->secret, line->sale, arrivals[i].user));
        }
        if (count < max)
            break;
    }
}

struct room_look room_look_begin(uint64_t now_ms, uint64_t start_ms, uint64_t end_ms)
{
    return (struct room_look){ .started = now_ms >= start_ms, .open = now_ms < end_ms };
}

void room_look_item(struct room_look *look, const struct board_update *shown)
{
    look->stock.free += shown->counts.free;
    look->stock.held += shown->counts.held;
    look->stock.sold += shown->counts.sold;
    look->started |= shown->gate == GATE_OPENED;
    look->open &= shown->gate != GATE_ENDED && shown->gate != GATE_PAUSED;
}

enum room_step room_line_step(const struct room_line *line, const struct room_look *look,
    const struct board_room_update *shown)
{
    if (line->asking)
        return ROOM_STAYS;
    if (!shown->draw_done)
        return look->started && look->open ? ROOM_CLOSES_LIST : ROOM_STAYS;
    if (line->drawn)
        return ROOM_MOVES;
    return line->chain.count == shown->drawn ? ROOM_DRAWS : ROOM_STAYS;
}

uint32_t room_line_head(struct room_line *line, const struct room_rules *rules, uint64_t now_ms,
    const struct room_look *look, const struct board_room_update *shown, struct room_view *view)
{
    const uint32_t arrived = look->open ? shown->arrived : shown->head;
    return room_admit(&line->control, rules, now_ms, &look->stock, shown->head, arrived, view);
}

void room_line_ask(struct room_line *line, struct inventory_port *port, uint64_t tag, uint32_t head)
{
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return;
    *request = (struct inventory_request){ .tag = tag,
        .command = { .type = COMMAND_ADMIT, .admit = { .sale = line->sale, .head = head } } };
    port->ops->commit(port);
    port->ops->flush(port);
    line->asking = true;
}
