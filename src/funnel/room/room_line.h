/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/room/room_line.h: the line of one waiting room, turn by turn. The order of things: the inventory
 * closes the list (COMMAND_ADMIT with head 0), the chain is brought up to that number of arrivals, the
 * draw is made, then people go in. The head is the inventory's as well: nobody hears "your turn" before
 * it would survive a crash. After a restart all of it follows again from what is stored.
 * Thread: one owner; time comes in as now_ms. Memory: plain data. */
#ifndef STAMPEDE_FUNNEL_ROOM_ROOM_LINE_H
#define STAMPEDE_FUNNEL_ROOM_ROOM_LINE_H

#include "contract/board.h"
#include "contract/inventory.h"
#include "funnel/room/room.h"

struct room_line {
    sale_id sale;
    uint8_t secret[ROOM_SECRET_BYTES];
    struct room_chain chain;
    uint64_t arrivals_cursor; /* those before it are in the chain */
    struct room_control control;
    bool asking; /* an admission is under way to the inventory; its owner takes it back */
    bool drawn;  /* the draw was made */
};
void room_line_begin(struct room_line *line, const struct funnel_keys *keys, sale_id sale);
/* Adds durable arrivals, at most up to the number that the draw has; *budget becomes less. */
void room_line_catch_up(struct room_line *line, const struct inventory *inventory, uint32_t *budget);

/* All items of the sale together, and whether it takes people in at all. */
struct room_look {
    struct room_stock stock;
    bool started, open;
};
struct room_look room_look_begin(uint64_t now_ms, uint64_t start_ms, uint64_t end_ms);
void room_look_item(struct room_look *look, const struct board_update *shown);

enum room_step {
    ROOM_STAYS,
    ROOM_CLOSES_LIST, /* room_line_ask with head 0 */
    ROOM_DRAWS,       /* all who take part are in the chain */
    ROOM_MOVES,       /* room_line_head */
};
enum room_step room_line_step(const struct room_line *line, const struct room_look *look,
    const struct board_room_update *shown);
/* How far the head may go now; shown->head: it stays. Nobody goes in while the sale is not open. */
uint32_t room_line_head(struct room_line *line, const struct room_rules *rules, uint64_t now_ms,
    const struct room_look *look, const struct board_room_update *shown, struct room_view *view);
/* Asks the inventory to admit up to `head`. A port without room: another turn asks again. */
void room_line_ask(struct room_line *line, struct inventory_port *port, uint64_t tag, uint32_t head);

#endif
