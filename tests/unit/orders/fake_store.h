/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/orders/fake_store.h: a queue of given records and a store that refuses, is away or is
 * damaged on demand, and remembers what became of every record. */
#ifndef STAMPEDE_TESTS_FAKE_STORE_H
#define STAMPEDE_TESTS_FAKE_STORE_H

#include "contract/order_store.h"

enum { FAKE_BATCHES = 9, FAKE_RECORDS_MAX = FAKE_BATCHES * ORDER_BATCH_MAX, FAKE_EVENTS_MAX = 512 };

enum { FAKE_PART = 3 }; /* whose log it is */
struct fake_queue {
    struct ticket_queue queue;
    lsn_t at, end;               /* records 1 … end, fewer than FAKE_RECORDS_MAX */
    lsn_t committed, kept_after; /* those up to kept_after are gone */
    enum status poll_answer, commit_answer;
    bool of_users; /* each record is a list of users, not a win */
};
void fake_queue_open(struct fake_queue *queue, lsn_t end);

struct fake_store {
    struct order_store store;
    lsn_t position;
    uint8_t fate[FAKE_RECORDS_MAX]; /* 1 + disposition it was written with; 0: not written */
    char dead_reason[160];
    uint32_t applies, largest;
    enum status answer; /* what apply answers to everything; STATUS_OK: look at the rest */
    lsn_t bad;          /* this record is refused … */
    enum refusal_kind bad_kind;
    bool bad_is_silent; /* … without saying which */
    bool refuses_rejected, refuses_dead;
    uint32_t bad_times; /* so often; 0: always */
    struct stock_event events[FAKE_EVENTS_MAX];
    uint32_t event_count;
    enum status events_answer;
};
void fake_store_open(struct fake_store *store);

#endif
