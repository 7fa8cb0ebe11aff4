/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_parts.h: what the files of `verify` share. Nobody else includes it.
 * One struct verify carries a whole run: opened by verify.c, filled record by record by
 * verify_replay.c, compared by verify_snapshots.c and verify_store.c at the positions they name,
 * told by verify_report.c. */
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

/* Beside the engine's item: what only history tells. */
struct verify_item {
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
    MARK_OPEN_WRITE_OFF = 8
};

struct verify {
    const struct verify_options *options;
    struct data_folder folder;
    struct funnel_keys keys;
    struct journal_config journal;
    struct engine_config config;
    struct engine engine;
    struct replay replay;
    struct journal_recovery recovery; /* its counts grow while records come */
    struct arena arena, marks_arena;
    struct verify_check checks[VERIFY_CHECKS];
    struct verify_item *items; /* by id */

    bool running; /* a server holds the folder */
    bool from_snapshot;
    bool store_compared, at_taken;
    uint32_t snapshot_count, snapshot_next, dead_count, dead_next, event_count, at_count;
    lsn_t start; /* replay begins after this */
    uint64_t tickets, segments, segment_bytes, first_ms, last_ms;
    uint64_t full_check_at; /* records; four times as many each time */
    uint64_t progress_ns;

    struct verify_snapshot snapshots[VERIFY_SNAPSHOTS_MAX]; /* ascending */

    struct order_store *store; /* NULL: store_what says why */
    char store_what[VERIFY_WHAT_BYTES];
    uint64_t store_data_id;
    struct position store_position; /* of partition 0: the folder has no other log */
    struct dead_letter *dead;       /* by position, ascending */
    uint64_t orders;
    uint8_t *marks; /* by ticket number, up to marks_end − 1 */
    uint64_t marks_end;

    user_id user; /* 0: nobody */
    struct verify_event *events;
    uint64_t event_total;

    lsn_t at_lsn;
    struct verify_counts *at_counts;
};

/* Counts a failure; the first one's text stays. */
void verify_fail(struct verify *verify, enum verify_check_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void verify_skip(struct verify *verify, enum verify_check_id id, const char *why);

/* verify_replay.c: a journal_each callback (context: struct verify), and what is left to do behind
 * the last record. */
enum status verify_record(void *context, const struct journal_record *record, uint64_t batch_time_ms);
void verify_records_end(struct verify *verify);
/* All items that there are now. */
uint32_t verify_counts_take(const struct verify *verify, struct verify_counts *counts);

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
void verify_store_compare(struct verify *verify); /* the engine stands at store_position */

/* verify_report.c */
struct verify_verdict {
    enum verify_result result;
    char text[VERIFY_WHAT_BYTES + 200];
};
void verify_report_text(const struct verify *verify, const struct verify_verdict *verdict, FILE *out);
void verify_report_json(const struct verify *verify, const struct verify_verdict *verdict, FILE *out);
const char *verify_check_title(enum verify_check_id check);

#endif
