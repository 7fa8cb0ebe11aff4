/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/room/rooms.h: what gateways know about waiting rooms: the draw of each sale and how its
 * line moves. The inventory knows the number of each visitor, and the head; together they say
 * where somebody stands, in a few hundred instructions and without a lock.
 * Threads: the worker writes (rooms_show…), any may look. A draw is written once, then shown, and
 * never changes. Memory: one arena at open. */
#ifndef STAMPEDE_FUNNEL_ROOM_ROOMS_H
#define STAMPEDE_FUNNEL_ROOM_ROOMS_H

#include "base/text.h"
#include "contract/inventory.h"
#include "funnel/room/room.h"

struct rooms;
MUST_CHECK enum status rooms_open(
    struct rooms **rooms, const struct inventory *inventory, uint32_t sales_max);
void rooms_close(struct rooms *rooms); /* accepts NULL */

/* The worker. */
/* `value`: of the beacon that the draw used; empty: none. */
void rooms_show_draw(struct rooms *rooms, sale_id sale, const struct room_draw *draw,
    const struct room_chain *chain, struct span value);
/* Its draw waits for a person: after a restore. The others are ready all the same. */
void rooms_show_halt(struct rooms *rooms, sale_id sale);
/* The line is closed, and its draw waits for the value of its beacon until then. */
void rooms_show_beacon_wait(struct rooms *rooms, sale_id sale, uint64_t until_ms);
void rooms_show_view(struct rooms *rooms, sale_id sale, const struct room_view *view);

/* Any thread. */
enum room_state {
    ROOM_ABSENT, /* has not entered */
    ROOM_AGAIN, /* entered; after a restart the draw is worked out again, nothing can be told yet */
    ROOM_EARLY, /* entered; the draw is to come */
    ROOM_WAITING,  /* has a place */
    ROOM_ADMITTED, /* may have passes */
    ROOM_SOLD_OUT, /* has a place, but there is nothing left to wait for */
    ROOM_STATES,
};
struct room_standing {
    enum room_state state;
    uint32_t number;          /* arrival number, from 0 */
    uint32_t arrived;         /* how many visitors have entered */
    uint32_t ahead;           /* ROOM_WAITING */
    bool list_closed;         /* ROOM_EARLY: the sale has started, the draw is being made */
    uint64_t beacon_until_ms; /* ROOM_EARLY: until when the draw waits for its beacon; 0: it does not */
    struct room_view view;
};
/* How long before the start a room opens. */
static inline uint64_t room_opens_ms(uint64_t start_ms, uint64_t before_ms)
{
    return start_ms > before_ms ? start_ms - before_ms : 0;
}
/* Whether people may come in: from `opens_ms` on, or as soon as somebody opened the sale by hand (`opened`
 * now, or it shows that it was). */
bool rooms_take_in(
    const struct rooms *rooms, sale_id sale, bool opened, uint64_t now_ms, uint64_t opens_ms);
/* False: for a moment after a restart, while the draw of a room that has let people in is worked out
 * again. */
bool rooms_is_ready(const struct rooms *rooms, sale_id sale);
void rooms_look(const struct rooms *rooms, sale_id sale, user_id user, struct room_standing *standing);
bool rooms_is_drawn(const struct rooms *rooms, sale_id sale);
/* False: not drawn yet. */
bool rooms_draw(const struct rooms *rooms, sale_id sale, struct room_draw *draw, struct room_chain *chain);
/* Of the beacon that the draw used; empty: none, or not drawn yet. Good as long as the rooms are. */
struct span rooms_beacon_value(const struct rooms *rooms, sale_id sale);
/* Of a draw that is not made yet; 0: it does not wait. */
uint64_t rooms_beacon_until_ms(const struct rooms *rooms, sale_id sale);
/* Up to `max` marks (ROOM_MARKS_MAX at most) of the first `count` arrivals, from *cursor on, as 16 hex
 * digits each; reads a bounded number of rows. *cursor moves on; UINT64_MAX: that was all. Answers the
 * number of marks. */
enum { ROOM_MARKS_MAX = 1024 };
uint32_t rooms_marks(const struct rooms *rooms, sale_id sale, const uint8_t secret[ROOM_SECRET_BYTES],
    uint32_t count, uint64_t *cursor, uint32_t max, uint32_t *first, struct text *out);

/* For those who are early: until the draw, at the latest. */
uint64_t room_wait_ms(const struct room_standing *standing, uint64_t start_ms, uint64_t now_ms);
/* Members of a JSON object, without braces, beginning with "state". `wait_ms`: of room_wait_ms. */
void room_members(
    const struct room_standing *standing, uint64_t wait_ms, uint64_t random, struct text *out);
uint32_t room_poll_after_ms(const struct room_standing *standing, uint64_t wait_ms, uint64_t random);

#endif
