/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/embedded_parts.h: what the embedded inventory consists of. Private to embedded.c (the turns)
 * and embedded_open.c (opening, recovery, snapshots). */
#ifndef STAMPEDE_INVENTORY_EMBEDDED_PARTS_H
#define STAMPEDE_INVENTORY_EMBEDDED_PARTS_H

#include "inventory/embedded.h"
#include "inventory/ports.h"
#include "journal/pack.h"

/* An answer that waits until its log position (outcome.lsn) is durable. */
struct parked {
    uint32_t port;
    struct flow_units flow;
    struct inventory_answer answer;
};

/* Since when the first `until` requests of a port's ring have stood there, if purchases wait in it. */
struct port_wait {
    uint64_t until, since_ms;
};

struct embedded {
    struct inventory inventory; /* first: an inventory is this */
    struct embedded_config config;
    struct arena arena;
    struct engine engine;
    struct journal *journal;
    struct board board;
    struct wake sync;
    struct thread_owner owner;

    struct ports ports;    /* its host: who calls embedded_turn */
    struct parked *parked; /* a ring, first come first out */
    uint64_t parked_head, parked_tail, parked_mask;

    /* Items changed since the last seal, and their views as of that seal: published when the
     * batch is durable. */
    item_id *dirty;
    uint32_t dirty_count;
    bool *is_dirty;
    struct board_update *sealed;
    uint32_t sealed_count;

    /* The same for waiting rooms. */
    sale_id *room_dirty;
    uint32_t room_dirty_count;
    bool *room_is_dirty;
    struct board_room_update *room_sealed;
    uint32_t room_sealed_count;
    uint64_t places_sealed;

    lsn_t *item_lsn; /* last change of the item */
    lsn_t *sale_lsn;
    lsn_t durable;
    uint32_t sealed_records;         /* of the last batch */
    uint32_t gather_turns, gathered; /* that the present one has waited; its records at the last of them */
    ticket_number tickets_sealed, tickets_durable; /* the last number */
    uint64_t last_time_ms;
    uint64_t time_floor_ms;
    /* Whoever calls embedded_keep. */
    uint64_t segments_seen, segments_closed; /* the roll that snapshot and packing have seen */
    uint64_t snapshot_lsn, snapshot_rows;    /* of the last one */
    struct journal_pack pack;
    _Atomic bool no_segment; /* the next one could not be prepared */
    uint64_t no_room_ms;     /* since when the next one is waited for; 0: it is not */
    /* Wins, as asked for from outside. */
    _Atomic bool follower_away;
    _Atomic lsn_t wins_until;
    _Atomic bool purchase_waits; /* for wins_until */
    uint64_t wins_full_ms;       /* since when the log has got there; 0: it has not */
    bool wins_wait, wins_late;   /* in this turn, for that reason: they wait; are refused */
    struct port_wait *port_waits;
};

extern const struct inventory_ops embedded_ops;       /* embedded_view.c */
void embedded_show_tables(struct embedded *embedded); /* embedded.c: how full they are */

#endif
