/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/log_reader.h: reads what the database keeps of the logs of all partitions, as it grows, for
 * the inventory of this process (docs/decisions/0041-every-process-follows-the-kept-log.md).
 *
 *   its thread   asks which partitions there are and how far they are, reads new entries, and hands both over
 *   the host     takes them in their order (remote.h)
 *
 * It looks each LOG_LOOK_MS, and at once when log_reader_look is called. What is handed over and not taken
 * yet is bounded (LOG_PIECES_MAX); the reader waits then.
 * Thread: as said at each function. Memory: each piece is taken and freed on its own.
 * Errors: a database that is away is asked again; log_reader_is_away says so meanwhile, also while one that
 * is silent is waited for. */
#ifndef STAMPEDE_INVENTORY_REDIS_LOG_READER_H
#define STAMPEDE_INVENTORY_REDIS_LOG_READER_H

#include "base/thread.h"
#include "contract/cluster_store.h"

enum {
    LOG_LOOK_MS = 50,
    LOG_AWAY_MS = 200,
    LOG_SILENT_MS = 700, /* a question that waits for so long: the database is away */
    LOG_PIECES_MAX = 256,
    LOG_WANTS_MAX = 64
};

/* An entry of a partition's log, or how far the partition is: all entries up to state.seq come before. */
struct log_piece {
    struct log_piece *next;
    struct part_state state; /* of the partition; without epoch and seq where there is an entry */
    bool gone;               /* it has left with its sale (docs/archive.md); nothing else is said */
    struct journal_entry entry; /* first_seq 0: none */
    uint8_t bytes[];
};

struct log_reader_config {
    struct order_store *store; /* the reader's own; it also writes which partitions are wanted */
    uint32_t parts_max;        /* further ones are not followed */
    struct wake *host;         /* woken when there are pieces */
};

struct log_reader;
/* STATUS_FULL, STATUS_IO: no memory, no descriptor. *reader is closed as after success. */
MUST_CHECK enum status log_reader_open(struct log_reader **reader, const struct log_reader_config *config);
void log_reader_close(struct log_reader *reader); /* accepts NULL; its thread has ended */
void log_reader_run(void *context);              /* the reader; the thread, until log_reader_stop */
void log_reader_stop(struct log_reader *reader); /* any thread */
/* Its thread, or before that runs: one look. STATUS_AWAY: the database can't be asked. STATUS_FULL: what was
 * handed over is not taken yet. */
MUST_CHECK enum status log_reader_turn(struct log_reader *reader);

/* Any thread. */
void log_reader_look(struct log_reader *reader); /* there may be something new */
/* A worker is to open this partition. False: too many are wanted at once. */
bool log_reader_want(struct log_reader *reader, uint32_t part);
/* The partition is at rest at this epoch, and is needed: its epoch is raised, which workers see. */
bool log_reader_rouse(struct log_reader *reader, uint32_t part, uint32_t epoch);
bool log_reader_is_away(const struct log_reader *reader);

/* The host: all pieces that are there, in their order; NULL: none. They are its own to free. */
struct log_piece *log_reader_take(struct log_reader *reader);

#endif
