/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/model.h: what must be true, in plain code.
 *
 * The model folds the durable log by rules of its own (a second, slow and obvious engine),
 * remembers everything that was asked and told, and stops the run at the first thing that can't
 * be:
 *   - every logged record is what the rules come to at that position, and somebody asked for it
 *     (I1, I2, I4, I7, I11, I12);
 *   - every answer is one that the rules allow at some moment during its request (I3, I8);
 *   - what is told is in the log already (I6), and the log after a crash begins with the log
 *     before it (I6, I13).
 * Small on purpose: users, items and keys carry their index in their low bits, so that nothing
 * has to be searched. */
#ifndef STAMPEDE_TESTS_SIMULATION_MODEL_H
#define STAMPEDE_TESTS_SIMULATION_MODEL_H

#include "contract/booking.h"
#include "contract/inventory.h"
#include "contract/ticket_queue.h"

enum {
    SIM_USERS = 64,
    SIM_ITEMS = 8, /* ids below this */
    SIM_SALES = 4,
    SIM_KEYS = 2048,
    SIM_PLACE_KEYS = 1024,  /* the first of them are those of places in line, */
    SIM_BOOKING_KEYS = 512, /* and from here on of bookings */
    SIM_PORTS = 4,
    SIM_TICKETS = 512,
    SIM_PLACES = 24, /* fewer than want one, so that the table is full now and then */
    SIM_LOG = 1536,
    SIM_NUMBERS = SIM_LOG, /* of tickets: rows are used again, numbers are not */
    SIM_REQUESTS = 1536,
    SIM_OPEN = 256, /* requests that may still be logged or answered */
    SIM_BATCH = 48, /* records in one transaction: few, so that full batches are seen */
};

struct model_sale {
    bool defined, eligible_only, opened, paused, ended;
    uint64_t start_ms, end_ms;
    uint32_t limit, items;
    bool one_open_order;
    uint32_t cooldown_s, return_draw_ms, start_draw_ms;
    uint64_t draw_seed, opened_ms;
    uint32_t arrived, drawn, head; /* the waiting room */
    bool draw_done;
};
struct model_item {
    sale_id sale;
    uint32_t limit, pay_window_ms, total, locked, sold_before;
    uint64_t price;
    uint32_t given, held, sold, safety, written_off;
    uint32_t free[CHANNELS_MAX];
    uint64_t draw_until_ms[CHANNELS_MAX], draw_seed[CHANNELS_MAX];
    lsn_t changed_at;
};
struct model_ticket {
    user_id user;
    uint64_t key, price, pay_by_ms, time_ms;
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint8_t state;
    bool told, forgotten;
    lsn_t lsn;
    ticket_number before; /* an older one of its user; 0: none */
};
struct model_request {
    struct command command;
    uint32_t port;
    lsn_t issued_at;  /* appended then: the decision comes at or after this position */
    lsn_t durable_at; /* durable then */
    uint64_t issued_ms;
    lsn_t considered_at;
    uint64_t considered_ms;
    uint32_t possible; /* answers that some moment since has allowed, a bit each */
    bool open, in_log, answered;
};

struct model {
    lsn_t lsn;
    uint64_t time_ms; /* of the last record */
    struct model_sale sales[SIM_SALES];
    struct model_item items[SIM_ITEMS];
    uint32_t ticket_count; /* the last number */
    uint32_t rows_end;     /* of the engine's table of tickets: rows below this were used */
    uint16_t row_ticket[SIM_TICKETS]; /* number; 0: free */
    uint32_t free_count;
    uint16_t free_rows[SIM_TICKETS];          /* the last one is used first */
    uint32_t tickets_max, buyers_max, buyers; /* rows that the engine has for users */
    uint32_t used[SIM_USERS][SIM_ITEMS], last[SIM_USERS][SIM_ITEMS];
    uint32_t used_sale[SIM_USERS][SIM_SALES];
    ticket_number newest[SIM_USERS];
    uint32_t let_go[SIM_USERS][SIM_ITEMS]; /* how often */
    uint64_t cool_until_ms[SIM_USERS][SIM_ITEMS];
    bool row_item[SIM_USERS][SIM_ITEMS], row_sale[SIM_USERS][SIM_SALES], eligible[SIM_USERS][SIM_SALES];
    bool struck[SIM_USERS][SIM_SALES];    /* from the list of eligible users; the row stays */
    uint32_t place[SIM_USERS][SIM_SALES]; /* arrival number + 1; 0: not there */
    uint32_t places;
    uint16_t key_ticket[SIM_KEYS];
    uint32_t request_count;
    uint32_t open_count;
    uint32_t open[SIM_OPEN];         /* request indices, oldest first */
    uint32_t last_logged[SIM_PORTS]; /* the latest request of the port that is in the log, + 1 */
    uint64_t told_hash;
    struct model_ticket tickets[SIM_NUMBERS + 1];
    struct queue_record log[SIM_LOG + 1]; /* by LSN */
    struct model_request requests[SIM_REQUESTS];
};

static inline uint32_t model_tickets_kept(const struct model *model)
{
    return model->rows_end - model->free_count;
}

static inline bool model_invited(const struct model *model, uint32_t who, sale_id sale)
{
    return model->eligible[who][sale] && !model->struck[who][sale];
}

static inline uint32_t user_index(user_id user)
{
    return (uint32_t)(user % SIM_USERS);
}
static inline uint32_t key_index(uint64_t key)
{
    const uint64_t booking = booking_of_key(key);
    return booking == 0 ? (uint32_t)(key % SIM_KEYS)
                        : SIM_BOOKING_KEYS + (uint32_t)(booking % SIM_BOOKING_KEYS);
}

void model_reset(struct model *model, uint32_t tickets_max);

/* The outcome that the rules give this command now. pending_from is not looked at: no
 * ANSWER_IN_PROGRESS. */
void model_expect(const struct model *model, const struct command *command, struct outcome *outcome);

/* model_keys.c. True: the key was used before, and the outcome says what is to be told. */
bool model_expect_key(const struct model *model, const struct command *command, struct outcome *outcome);
void model_told_key(
    const struct model *model, const struct model_request *request, const struct outcome *told);

bool model_same_wish(const struct command *a, const struct command *b); /* model_wish.c */
bool model_same_outcome(const struct outcome *a, const struct outcome *b);

/* A record became durable. */
void model_record(struct model *model, const struct queue_record *record, uint64_t now_ms);
/* The records at `lsn` after a recovery must be the ones before it. */
void model_record_again(const struct model *model, const struct queue_record *record);

/* Parts of the fold that the rules need: what a settle does to its own ticket, and to one waiter. */
void model_fold_settle(struct model *model, const struct queue_record *record);
void model_fold_waiter(struct model *model, const struct queue_record *record, uint32_t index);

/* model_returns.c: what a return leaves behind. Moments are 0 if there is nothing to wait for. */
uint64_t model_cooling_until(const struct model *model, user_id user, item_id item, uint64_t now_ms);
uint64_t model_draw_moment(
    const struct model *model, user_id user, item_id item, channel_index channel, uint64_t now_ms);
/* When one of these ended for who asks, or the sale began, if that was in between. */
void model_moments_of_user(const struct model *model, const struct command *command,
    uint64_t from_ms, uint64_t now_ms, uint64_t moments[3]);
void model_fold_terms(struct model_sale *sale, const struct command *command);
void model_fold_let_go(struct model *model, const struct queue_record *record);
/* After the waiters have had theirs. */
void model_fold_draw(struct model *model, const struct queue_record *record, bool was_empty);

/* model_reclaim.c: rows of returned tickets are used again. */
void model_expect_reclaim(const struct model *model, const struct command *command, struct outcome *out);
void model_fold_reclaim(struct model *model, const struct queue_record *record);
/* The answers that this moment allows, a bit each. */
uint32_t model_possible(const struct model *model, const struct command *command);
void model_row_take(struct model *model, ticket_number number);

void model_fold_room(struct model *model, const struct queue_record *record);
void model_told_place(
    const struct model *model, const struct model_request *request, const struct outcome *told);

/* A request goes in; answers its tag. */
uint64_t model_asked(struct model *model, uint32_t port, const struct command *command,
    lsn_t appended, lsn_t durable, uint64_t now_ms);
void model_told(
    struct model *model, uint32_t port, const struct inventory_answer *answer, uint64_t now_ms);
/* The process is gone: what was open gets no answer, and after the recovered log was read, no
 * record either. */
void model_forget_open(struct model *model);

#endif
