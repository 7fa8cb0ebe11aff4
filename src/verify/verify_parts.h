/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_parts.h: what the files of `verify` share. Nobody else includes it.
 * One struct verify carries a whole run: opened by verify_folder.c or verify_partitions.c (the partitions
 * of a database), filled record by record by verify_replay.c, compared by verify_snapshots.c, verify_store.c
 * and verify_orders.c at the positions they name, told by verify_report.c. */
#ifndef STAMPEDE_VERIFY_VERIFY_PARTS_H
#define STAMPEDE_VERIFY_VERIFY_PARTS_H

#include "config/data_folder.h"
#include "contract/order_store.h"
#include "funnel/keys.h"
#include "inventory/replay.h"
#include "verify/verify.h"

enum {
    VERIFY_SNAPSHOTS_MAX = 64,
    VERIFY_EVENTS_MAX = 10000, /* records told of one user */
    VERIFY_WHAT_BYTES = 240,
};

enum verify_check_id {
    CHECK_CHAIN,
    CHECK_OUTCOMES,
    CHECK_CONSERVATION,
    CHECK_WINDOW,
    CHECK_NUMBERS,
    CHECK_STATE,
    CHECK_SNAPSHOTS,
    CHECK_DATABASE,
    CHECK_DATA_ID,
    CHECK_POSITION,
    CHECK_ORDERS,
    CHECK_ORDER_STATES,
    CHECK_STOCK,
    CHECK_MONEY,
    CHECK_AUDIT,
    VERIFY_CHECKS,
};
struct verify_check {
    bool ran;          /* false: `what` says why not */
    uint64_t failures; /* `what` tells the first */
    uint64_t looked;   /* at how many things */
    char what[VERIFY_WHAT_BYTES];
};

/* One log, with the engine that replays it: that of the folder, or that of a partition. Tickets have the
 * engine's own numbers here, which count from 1. */
struct verify_log {
    struct {
        uint32_t part, epoch;
        uint32_t shards;         /* of its sale; 0: one machine */
        uint64_t seq;            /* orders are written up to it */
    } state;                     /* as the database had it when the run began */
    const struct engine *engine; /* NULL: not opened */
    struct confirm *confirm;     /* NULL: the folder's log, whose engine is the run's own */
    const struct ticket_ranges *imported; /* of that folder */
    bool broken;                          /* it could not be replayed to its end */
    bool at_taken;
    lsn_t end; /* the last record that was replayed */
    lsn_t at_lsn;
    uint64_t tickets;
    uint32_t dead_next; /* the first dead letter that was not looked at */
    struct arena marks_arena;
    uint8_t *marks; /* by ticket, up to marks_end − 1 */
    uint64_t marks_end;
    /* Transfers with each other shard of its sale: the last one that it gave, and units of all. */
    struct command_transfer gifts[SHARDS_MAX];
    uint64_t given_units[SHARDS_MAX], taken_units[SHARDS_MAX];
};

/* Beside the engine's item: what only history tells. */
struct verify_item {
    struct verify_log *log; /* that has it, or one of those of its sale; NULL: none */
    uint64_t tickets;
    uint64_t second, batch; /* of the last win */
    uint32_t second_wins, batch_wins;
    lsn_t gone_lsn; /* when the last free unit went; 0: some are free */
    uint64_t gone_ms;
    uint64_t gone_tickets;
};

/* One record about the user that is asked for. */
struct verify_event {
    lsn_t lsn;
    uint64_t time_ms;
    enum command_type type;
    enum settle_step step;
    sale_id sale; /* COMMAND_USERS */
    item_id item;
    const struct verify_log *log;
    ticket_number ticket; /* of this user */
    bool won;             /* the ticket begins here; else it moves on */
    uint32_t quantity, free_before, free_after;
    channel_index channel;
    uint64_t unit_price, pay_by_ms;
    uint64_t wins_before; /* of the item, in its whole life */
    uint32_t second_ahead, batch_ahead;
    uint32_t item_limit, sale_limit, used_after;
};

struct verify_counts {
    item_id item;
    uint64_t tickets;
    struct item_counts counts;
};

struct verify_snapshot {
    lsn_t lsn;
    char name[DISK_NAME_MAX];
};

/* Marks per ticket, for the comparison with the store. */
enum verify_mark {
    MARK_DEAD = 1,
    MARK_OPEN_SOLD = 2,
    MARK_OPEN_RETURN = 4,
    MARK_OPEN_WRITE_OFF = 8,
    MARK_SEEN = 16 /* its order was found; only where orders do not come in the order of tickets */
};

struct verify {
    const struct verify_options *options;
    struct verify_source source;
    char source_error[CONFIG_ERROR]; /* empty, or why what the settings name can't be opened */
    struct data_folder folder; /* where there is none, its data id and secret are the cluster's */
    struct funnel_keys keys;
    struct journal_config journal;
    struct engine_config config;
    struct engine engine; /* of the folder's log */
    struct replay folder_replay;
    struct replay *replay;   /* of the log in hand */
    struct verify_log *logs; /* by partition, ascending */
    uint32_t log_count;
    struct verify_log *log;           /* in hand */
    struct journal_recovery recovery; /* of all logs; its counts grow while records come */
    struct arena arena;
    struct verify_check checks[VERIFY_CHECKS];
    struct verify_item *items; /* by id */

    bool running; /* a server holds the folder, or wrote to the database meanwhile */
    bool from_snapshot;
    bool store_compared;
    uint32_t snapshot_count, snapshot_next, dead_count, event_count, at_count;
    lsn_t start; /* replay begins after this */
    uint64_t tickets, segments, segment_bytes, first_ms, last_ms;
    uint64_t full_check_at; /* records; four times as many each time */
    uint64_t progress_ns;

    struct verify_snapshot snapshots[VERIFY_SNAPSHOTS_MAX]; /* ascending */

    struct order_store *store; /* NULL: store_what says why */
    char store_what[VERIFY_WHAT_BYTES];
    uint64_t store_data_id;
    struct dead_letter *dead; /* by position, ascending */
    uint64_t orders;
    /* Sales whose orders are in a bundle, or on their way there. */
    struct archive *archives;
    uint32_t archive_count;
    bool *sale_archived;    /* by sale */
    uint32_t archives_read; /* how often */
    uint64_t gone;          /* tickets without an order, and orders that have not left yet */

    user_id user; /* 0: nobody */
    struct verify_event *events;
    uint64_t event_total;

    struct verify_counts *at_counts;
};

/* Counts a failure; the first one's text stays. */
void verify_fail(struct verify *verify, enum verify_check_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void verify_skip(struct verify *verify, enum verify_check_id id, const char *why);
/* The log in hand, for the beginning of a text: "partition 32: "; empty, where there is one log only. */
struct verify_place {
    char text[56];
};
struct verify_place verify_log_name(const struct verify *verify);
/* A position of it: "position 7", or "partition 32, position 7". */
struct verify_place verify_place(const struct verify *verify, lsn_t lsn);

/* verify_logs.c */
MUST_CHECK enum status verify_logs_make(struct verify *verify, uint32_t count);
void verify_logs_close(struct verify *verify);
struct verify_log *verify_log_find(const struct verify *verify, uint32_t part); /* NULL: there is none */
/* A mark for every ticket that the engine has or can get. */
MUST_CHECK enum status verify_log_marks_open(struct verify_log *log, uint64_t tickets_max);
/* What others call this ticket of the engine; 0: there is no such ticket. */
ticket_number verify_log_number(const struct verify_log *log, ticket_number n);
/* The log that has the ticket others call so, and what its engine calls it; NULL: none has it. */
struct verify_log *verify_ticket_find(
    const struct verify *verify, ticket_number ticket, ticket_number *n);

/* verify_shards.c */
/* What the inventory has of an item, in all shards of its sale; false: no log has it. */
struct verify_units {
    struct item_counts counts;
    uint64_t total, locked, unit_price;
};
bool verify_item_sum(const struct verify *verify, item_id item, struct verify_units *sum);
/* A log that has it could not be replayed to its end. */
bool verify_item_broken(const struct verify *verify, item_id item);
void verify_transfer_note(struct verify *verify);   /* the record in hand */
void verify_transfers_check(struct verify *verify); /* all logs stand where the database was */

/* verify_folder.c: the log is in the folder. */
MUST_CHECK enum status verify_folder_open(
    struct verify *verify, uint32_t bytes_per_ticket, char error[CONFIG_ERROR]);
MUST_CHECK enum status verify_folder_replay(struct verify *verify);

/* verify_partitions.c: the logs are in the database. */
MUST_CHECK enum status verify_partitions_open(struct verify *verify, char error[CONFIG_ERROR]);
MUST_CHECK enum status verify_partitions_replay(struct verify *verify, char error[CONFIG_ERROR]);
/* Whether all are where they were when the run began. */
MUST_CHECK enum status verify_partitions_same(struct verify *verify, bool *same);

/* verify_replay.c: a journal_each callback (context: struct verify), and what is left to do behind
 * the last record: of the folder's log with all that stands beside it, and of any log. */
enum status verify_record(void *context, const struct journal_record *record, uint64_t batch_time_ms);
void verify_records_end(struct verify *verify);
void verify_log_end(struct verify *verify, lsn_t end);
/* All items that there are now in one log, or in all (NULL). */
uint32_t verify_counts_take(
    const struct verify *verify, const struct verify_log *log, struct verify_counts *counts);

/* verify_snapshots.c */
MUST_CHECK enum status verify_snapshots_list(struct verify *verify);
/* Loads one snapshot into a fresh engine. STATUS_NOT_FOUND: the file has gone; STATUS_CORRUPT: it
 * is damaged. */
MUST_CHECK enum status verify_snapshot_load(const struct verify *verify,
    const struct verify_snapshot *snapshot, struct engine *engine, struct journal_position *position);
/* The engine stands at this snapshot's position: are they equal? */
void verify_snapshot_compare(struct verify *verify, const struct verify_snapshot *snapshot);

/* verify_store.c */
void verify_store_open(struct verify *verify);
void verify_store_close(struct verify *verify);
void verify_store_compare(struct verify *verify); /* each engine stands where the database is */

/* verify_archives.c */
MUST_CHECK enum status verify_archives_read(struct verify *verify);
void verify_archives_close(struct verify *verify);
/* A running server may have marked a sale since; true: it has. */
bool verify_archives_again(struct verify *verify);
bool verify_item_archived(const struct verify *verify, item_id item);
void verify_gone_check(struct verify *verify); /* as many orders are gone as have left */

/* verify_orders.c */
struct item_sums {
    uint64_t live; /* units of pending and paid orders */
    bool excused;  /* a ticket of it has a mark */
    bool in_store;
};
/* Orders that no log has a ticket for: a failure, unless servers have written them meanwhile. */
struct verify_strays {
    uint64_t count;
    char what[VERIFY_WHAT_BYTES]; /* of the first */
};
MUST_CHECK enum status verify_orders_compare(
    struct verify *verify, struct item_sums *sums, struct verify_strays *strays);

/* verify_report.c */
struct verify_verdict {
    enum verify_result result;
    char text[VERIFY_WHAT_BYTES + 200];
};
void verify_report_text(const struct verify *verify, const struct verify_verdict *verdict, FILE *out);
void verify_report_json(const struct verify *verify, const struct verify_verdict *verdict, FILE *out);
const char *verify_check_title(enum verify_check_id check);

#endif
