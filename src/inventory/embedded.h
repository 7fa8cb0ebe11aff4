/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/embedded.h: the inventory seam on one machine: the engine and its rings, with the
 * journal under it.
 *
 * One rule for answers: an answer leaves when the log position that it saw is durable. Wins wait
 * for their group commit; what was decided on top of wins in flight waits with them; everything
 * else leaves at once. The board is published with what is durable, never before.
 *
 * Threads. The host (edge 0's loop on few cores, else a thread of its own) calls embedded_turn;
 * it owns engine, board and answers. The sync thread calls embedded_write. Ports belong to their
 * client threads. One other thread calls embedded_prepare, one embedded_keep. The simulator plays all of them
 * from one thread.
 * Errors: after a journal fault nothing is answered any more, embedded_failed is true, and the
 * program must stop. */
#ifndef STAMPEDE_INVENTORY_EMBEDDED_H
#define STAMPEDE_INVENTORY_EMBEDDED_H

#include "base/thread.h"
#include "contract/board.h"
#include "contract/inventory.h"
#include "contract/ticket_ranges.h"
#include "inventory/engine.h"
#include "journal/journal.h"

struct embedded;

struct embedded_config {
    struct journal_config journal;
    struct engine_config engine;
    struct hash_key filter_key;
    /* The shop was moved back from many machines: ports speak of tickets by the numbers that were told, the
     * engine and the journal by their own. NULL: they are the same. Outlives the inventory. */
    const struct ticket_ranges *imported;
    uint32_t ports;      /* at most PORTS_MAX */
    uint32_t ring_slots; /* per port; a power of two, at most RING_SLOTS */
};

struct embedded_report {
    struct journal_position snapshot; /* where replay began */
    struct journal_recovery replay;
    char what[256]; /* filled when opening fails */
};

MUST_CHECK enum status embedded_open(struct embedded **embedded,
    const struct embedded_config *config, struct embedded_report *report);
void embedded_close(struct embedded *embedded); /* accepts NULL; nothing may be in flight any more */
/* As everybody above the seam sees it; the ops call what is below. */
struct inventory *embedded_inventory(struct embedded *embedded);

/* Before the threads run: who is to be woken when the port has answers (NULL: nobody), and who
 * hosts the turns. */
struct inventory_port *embedded_port(struct embedded *embedded, uint32_t index, struct wake *client);
void embedded_host(struct embedded *embedded, struct wake *host);

/* Host thread. True: there is more to do at once. */
bool embedded_turn(struct embedded *embedded, uint64_t now_ms);
bool embedded_idle(const struct embedded *embedded); /* nothing unsealed, in flight or waiting */
/* Clean stop, when idle: a snapshot at the very end. */
MUST_CHECK enum status embedded_snapshot_now(struct embedded *embedded);

/* Sync thread. */
struct wake *embedded_sync_wake(struct embedded *embedded);
bool embedded_write(struct embedded *embedded); /* writes a sealed batch if there is one; true if there was */

/* Any one thread: prepares the next segment. Purchases wait for it when the present one is used up. */
MUST_CHECK enum status embedded_prepare(struct embedded *embedded);
/* Any one thread, for seconds: after a roll, if the log has grown enough since the last snapshot, builds one
 * from the complete segments by replaying them in a second engine. So selling never pauses for it, and
 * every snapshot proves that replay works. Packs one closed segment a call. `busy`: many purchases come. Then
 * snapshots wait, though not for ever, and so does packing, unless the disk is full. */
MUST_CHECK enum status embedded_keep(struct embedded *embedded, bool busy);
MUST_CHECK enum status embedded_housekeep(struct embedded *embedded); /* both, where there is one thread */

/* Any thread. */
const struct board *embedded_board(const struct embedded *embedded);
const struct journal *embedded_journal(const struct embedded *embedded);
bool embedded_failed(const struct embedded *embedded);
void embedded_wins_until(struct embedded *embedded, lsn_t last); /* contract/inventory.h */
/* No wins while the follower must have each of them and is away. */
void embedded_hold_follower(struct embedded *embedded, bool away);
uint64_t embedded_time_floor(const struct embedded *embedded); /* last time in the log, at open */
const struct engine *embedded_engine(const struct embedded *embedded); /* host thread, or before it runs */

#endif
