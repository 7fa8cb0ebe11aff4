/* SPDX-License-Identifier: Apache-2.0 */
/* orders/reconcile_parts.h: what the parts of reconciliation share. Nobody else includes it. */
#ifndef STAMPEDE_ORDERS_RECONCILE_PARTS_H
#define STAMPEDE_ORDERS_RECONCILE_PARTS_H

#include "contract/part_checks.h"
#include "contract/ticket_number.h"
#include "orders/reconcile.h"

enum phase {
    PHASE_IDLE,
    PHASE_TICKETS,
    PHASE_MOVED,   /* a recent run only */
    PHASE_CHANGED, /* the same: items of what was looked at */
    PHASE_ITEMS,
    PHASE_COUNTERS,
    PHASE_MONEY,
    PHASE_RECHECK,
    PHASE_REDIS,
    PHASE_END,
};
enum question_kind { QUESTION_TICKET, QUESTION_MARK };
enum { STRIKES = 2 };

struct question {
    enum question_kind kind;
    bool answered, has_row;
    bool by_n; /* the ticket's epoch is not known */
    struct look_order row;
    struct look_user user;
    ticket_number ticket;
    struct outcome outcome;
    uint32_t suspect; /* PHASE_RECHECK */
};
struct suspect {
    enum question_kind kind;
    uint32_t strikes;
    bool by_n; /* a gap between orders: the ticket's epoch is not known yet */
    ticket_number ticket;
    item_id item;
    user_id user;
};

/* The tickets of a partition; one machine has one. */
struct reconcile_part {
    uint32_t part;
    ticket_number clean, reached; /* of the last order: in the last clean run; in this one, if it is */
    uint64_t clean_seq, told_seq; /* records that the database had when the run began */
    bool is_over;                 /* PART_OVER, in this run */
};

/* Where a run has been that found nothing wrong: what came before is not looked at again. */
struct reconcile_clean {
    bool known;
    uint64_t event, payment;
};
enum { ITEM_WORDS = (ITEMS_LIMIT + 63) / 64 };

struct reconcile {
    struct reconcile_config config;
    struct reconcile_report report;
    enum phase phase;
    uint64_t run, now_ms;
    uint64_t give_up_ms; /* answers, positions */
    struct question questions[RECONCILE_SLICE];
    uint32_t question_count, sent, answered;
    struct suspect suspects[RECONCILE_SUSPECTS_MAX];
    uint32_t suspect_count, rounds;
    uint64_t round_ms;
    uint64_t seen; /* the position of log or database, whichever was ahead, at the last look at suspects */
    /* where the walks are */
    struct reconcile_part parts[RECONCILE_PARTS_MAX]; /* ascending */
    uint32_t part_count, part_at;
    bool parts_known, parts_too_many;
    ticket_number last_ticket;
    uint32_t last_n; /* of the partition in hand */
    bool rows_end;
    struct look_item item;
    bool item_first;
    struct look_user sum; /* of the item */
    uint32_t rest_waits;
    sale_id sale_told;
    bool counter_first;
    struct look_counter counter;
    uint64_t payment, payment_last, captured, accounted;
    /* PHASE_REDIS: the partition in hand, and the first of its findings */
    uint32_t redis_at, redis_first, redis_found;
    enum part_question redis_question;
    bool redis_asked, redis_rests; /* rests: nothing was found, and what is over is put to rest */
    /* recent runs */
    struct reconcile_clean clean, reached; /* of the last clean run; by this one, if it is */
    uint64_t event;
    bool users_asked;              /* the users of the slice, after its tickets */
    uint32_t row_count;            /* in rows.orders or rows.moved */
    uint32_t unsure;               /* suspects that were given up */
    uint64_t changed[ITEM_WORDS];  /* a bit for each item: to be looked at */
    uint64_t unrested[ITEM_WORDS]; /* items that never rested: the next run looks at them */
    union {
        struct look_order orders[RECONCILE_SLICE];
        struct look_moved moved[RECONCILE_SLICE];
        struct look_user users[RECONCILE_SLICE];
        struct look_counter counters[RECONCILE_SLICE];
        struct look_money money[RECONCILE_SLICE];
    } rows;
};

static inline const struct reconcile_store_ops *reconcile_ops(const struct reconcile *reconcile)
{
    return reconcile->config.store->ops->reconcile;
}

static inline uint64_t reconcile_log_end(const struct reconcile *reconcile)
{
    return atomic_load_explicit(&reconcile->config.board->durable_lsn, memory_order_relaxed);
}

/* reconcile_positions.c: how far the database is. */
MUST_CHECK enum status reconcile_store_position(
    const struct reconcile *reconcile, struct position *position);
/* Database and log have come to where the other one is now; *there: both have by now. */
MUST_CHECK enum status reconcile_seen_mark(struct reconcile *reconcile);
MUST_CHECK enum status reconcile_seen_reached(const struct reconcile *reconcile, bool *there);
/* The partitions whose tickets a run walks. */
MUST_CHECK enum status reconcile_parts_read(struct reconcile *reconcile);
void reconcile_parts_clean(struct reconcile *reconcile); /* the run has found nothing */

/* reconcile.c */
void reconcile_finding(struct reconcile *reconcile, const struct finding *seed,
    enum finding_code code, const char *format, ...) __attribute__((format(printf, 4, 5)));
void reconcile_suspect(struct reconcile *reconcile, const struct suspect *suspect);
void reconcile_questions_begin(struct reconcile *reconcile);
struct question *reconcile_question(struct reconcile *reconcile, enum question_kind kind);

/* reconcile_tickets.c: a slice is read, asked for, judged; what does not fit is a suspect. */
MUST_CHECK enum status reconcile_tickets_read(struct reconcile *reconcile);
MUST_CHECK enum status reconcile_tickets_judge(struct reconcile *reconcile);

/* reconcile_suspects.c: looked at again, in rounds. */
MUST_CHECK enum status reconcile_round_is_due(struct reconcile *reconcile, bool *due);
MUST_CHECK enum status reconcile_round_begin(struct reconcile *reconcile);
MUST_CHECK enum status reconcile_round_judge(struct reconcile *reconcile);

/* reconcile_recent.c */
MUST_CHECK enum status reconcile_moved_read(struct reconcile *reconcile);
/* Asks for the users of the orders that were judged last, and checks their counters. */
MUST_CHECK enum status reconcile_users_ask(struct reconcile *reconcile);
/* One item that has changed; *there false: there is none left. */
MUST_CHECK enum status reconcile_changed_next(struct reconcile *reconcile, bool *there);
void reconcile_recent_begin(struct reconcile *reconcile);
void reconcile_clean_take(struct reconcile *reconcile); /* the run has ended, whatever it found */
void reconcile_counter_check(struct reconcile *reconcile, const struct look_counter *row);

/* reconcile_redis.c: one step. False: all partitions were compared. */
bool reconcile_redis_step(struct reconcile *reconcile);

/* reconcile_sums.c: items with their users, counters, money. */
MUST_CHECK enum status reconcile_item_next(struct reconcile *reconcile, bool *there);
MUST_CHECK enum status reconcile_users_read(struct reconcile *reconcile);
MUST_CHECK enum status reconcile_marks_judge(struct reconcile *reconcile);
/* False in *done: it may rest soon. */
MUST_CHECK enum status reconcile_item_finish(struct reconcile *reconcile, bool *done);
MUST_CHECK enum status reconcile_counters_read(struct reconcile *reconcile);
MUST_CHECK enum status reconcile_money_read(struct reconcile *reconcile);

#endif
