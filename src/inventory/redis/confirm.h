/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/confirm.h: the worker's half of a partition. The script in Redis has proposed records; the
 * engine of the partition comes to the same outcome, or the script is wrong and nothing of it is kept.
 *
 *   rebuild    journal entries of the database ──► confirm_replay ──► the engine as the database has it
 *   follow     entries of the stream ──► confirm_entry ──► records for the store
 *   keep       records of one transaction ──► log_entry_make ──► the journal entry that goes into it
 *              (contract/cluster_store.h); kept: log_entry_kept
 *
 * The engine is ahead of the database by the records that are not kept yet. When the store refuses them for
 * good (another epoch), or anything but STATUS_OK is answered here, the partition is closed and rebuilt: an
 * engine has no way back.
 *
 * Numbers. Inside, tickets count from 1 over all epochs. Outside, a ticket number also has the partition and
 * the epoch that it was won under (contract/ticket_number.h).
 * Thread: one. Memory: its own, from confirm_open on. */
#ifndef STAMPEDE_INVENTORY_REDIS_CONFIRM_H
#define STAMPEDE_INVENTORY_REDIS_CONFIRM_H

#include "contract/journal_entry.h"
#include "contract/ticket_number.h"
#include "contract/ticket_queue.h"

enum { STREAM_RECORDS_MAX = 64 }; /* of an entry: those of one call */

struct engine;
struct engine_config;
struct journal_record;
struct replay;
struct confirm_config {
    uint32_t part; /* 0: that of a shop that was moved; its first entries have no epoch */
    uint64_t data_id;
    const struct engine_config *engine; /* read by confirm_open */
    /* NULL: nobody wants to know. Each record that confirm_replay has applied; the tickets in it have the
     * engine's own numbers. */
    void (*replayed)(void *context, const struct command *command, const struct outcome *outcome);
    /* NULL: replay_record (inventory/replay.h). Else what confirm_replay calls in its place; it calls that,
     * and may look at the engine before and after. */
    enum status (*apply)(void *context, struct replay *replay, const struct journal_record *record,
        uint64_t batch_time_ms);
    void *context;
};

/* An entry of the stream (docs/queue.md). */
struct stream_entry {
    uint64_t seq; /* of its last record */
    uint32_t epoch;
    uint64_t time_ms;
    struct span lines;
};

struct confirm;
/* STATUS_BAD_INPUT: no such partition. STATUS_AWAY: no memory. */
MUST_CHECK enum status confirm_open(struct confirm **, const struct confirm_config *);
void confirm_close(struct confirm *); /* accepts NULL */
/* As far as records were replayed and confirmed. */
const struct engine *confirm_engine(const struct confirm *);
uint64_t confirm_seq(const struct confirm *);
uint32_t confirm_epoch(const struct confirm *); /* of the last record; 0: there is none */
uint64_t confirm_time_ms(const struct confirm *);
/* Why something was not replayed or confirmed; empty: nothing. */
const char *confirm_trouble(const struct confirm *);

/* Entries of the database in their order, before the first one of the stream. STATUS_CORRUPT: damaged, out
 * of order, or the engine comes to another outcome. STATUS_CONFLICT: of another data id. */
MUST_CHECK enum status confirm_replay(struct confirm *, const struct journal_entry *);

/* The records of an entry, at most STREAM_RECORDS_MAX. What is in already is passed over: *count is 0.
 * STATUS_CONFLICT: the script came to another outcome than the engine. STATUS_CORRUPT: a gap, an overlap, an
 * older epoch, time that runs backwards, or a text that the script does not write. */
MUST_CHECK enum status confirm_entry(
    struct confirm *, const struct stream_entry *, struct queue_record *records, uint32_t *count);

/* The entry of the next records that the database has not got, of one epoch, at most ORDER_BATCH_MAX. It is
 * valid until the next call, and may be made again. */
void log_entry_make(struct confirm *, const struct queue_record *records, uint32_t count,
    struct journal_entry *entry);
void log_entry_kept(struct confirm *); /* the last one that was made is in the database */

/* COMMAND_ASK_… of the engine, which has its own numbers of tickets. */
void confirm_ask(struct confirm *, const struct command *, struct outcome *);
/* What others call this ticket of the engine; 0: there is no such ticket. */
ticket_number confirm_number(const struct confirm *, ticket_number ticket);

#endif
