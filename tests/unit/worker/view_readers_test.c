/* SPDX-License-Identifier: Apache-2.0 */
/* Order views: read on threads of their own, beside what the worker writes, and refused soon when the
 * database says nothing. */
#include "worker/view_readers.h"

#include "api/handover.h"
#include "api/link.h"
#include "base/arena.h"
#include "base/thread.h"
#include "funnel/keys.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/order_views.h"
#include "worker/task.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EDGES = 2,
    READERS = 2,
    JOBS = 64,
    USER = 7,
    BODY_BYTES = JOB_HEAD_BYTES + 8192,
    PATIENCE_MS = 20000
};

static struct place place;
static struct arena arena;
static struct link *link_of;
static struct wake worker_wake, edge_wakes[EDGES];
static struct reader_turns turns;
static struct funnel_keys keys;
static struct order_views views;
static struct task task;
static struct view_readers *readers;
static struct job jobs[JOBS];
static char responses[JOBS][BODY_BYTES];

static void readers_open(uint32_t count)
{
    assert_int_equal(link_open(&link_of, EDGES, count), STATUS_OK);
    link_worker_wake(link_of, &worker_wake);
    for (uint32_t i = 0; i < EDGES; i++)
        link_edge_wake(link_of, i, &edge_wakes[i]);
    turns.readers = EDGES + count;
    assert_int_equal(view_readers_open(&readers, &arena,
                         &(struct view_readers_config){ .store = place.store,
                             .link = link_of,
                             .edges = EDGES,
                             .count = count,
                             .views = &views,
                             .turns = &turns },
                         &task),
        STATUS_OK);
    assert_int_equal(view_readers_start(readers), STATUS_OK);
}

static int setup(void **state)
{
    (void)state;
    place_make(&place);
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    assert_int_equal(arena_open(&arena, 1 << 20), STATUS_OK);
    assert_int_equal(wake_open(&worker_wake), STATUS_OK);
    for (uint32_t i = 0; i < EDGES; i++)
        assert_int_equal(wake_open(&edge_wakes[i]), STATUS_OK);
    assert_int_equal(funnel_keys_derive(&keys, "0123456789abcdef0123456789abcdef", 32), STATUS_OK);
    views = (struct order_views){ .keys = &keys, .store = place.store };
    for (uint32_t i = 0; i < JOBS; i++)
        jobs[i] = (struct job){ .kind = JOB_ORDER,
            .share = SHARE_VIEW,
            .user = USER,
            .item = 1,
            .quantity = 1,
            .response = responses[i],
            .response_bytes = BODY_BYTES };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tasks_end(&task, 1, 1);
    tasks_close(&task, 1);
    link_close(link_of);
    wake_close(&worker_wake);
    for (uint32_t i = 0; i < EDGES; i++)
        wake_close(&edge_wakes[i]);
    arena_close(&arena);
    place_remove(&place);
    return 0;
}

/* What the edge gets back next. */
static struct job *job_back(uint32_t edge)
{
    struct link_note note;
    for (uint32_t waited = 0; waited < PATIENCE_MS; waited += 10) {
        if (link_take_back(link_of, edge, &note))
            return note.job;
        wake_wait(&edge_wakes[edge], 10);
    }
    fail_msg("no answer");
    abort(); /* not reached: it has failed */
}

/* Whether the body of the view has these words. */
static bool view_has(uint32_t at, ticket_number ticket, const char *words)
{
    jobs[at].ticket = ticket;
    jobs[at].result = JOB_REPLY;
    link_hand_in(link_of, 0, &jobs[at]);
    const struct job *job = job_back(0);
    assert_ptr_equal(job, &jobs[at]);
    const struct span body = job_response_body(job);
    assert_int_equal(job->status, 200);
    return memmem(body.data, body.size, words, strlen(words)) != NULL;
}

static void a_view_sees_what_was_committed_before_it_was_asked_for(void **state)
{
    (void)state;
    readers_open(READERS);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].user = i + 1;
        assert_true(view_has(i, i + 1, "\"state\":\"creating\""));
        assert_int_equal(place_sell(&place, i + 1), STATUS_OK);
        assert_true(view_has(i, i + 1, "\"state\":\"pending\""));
    }
}

static void a_transaction_that_is_open_keeps_no_view_waiting(void **state)
{
    (void)state;
    struct order_store *store = place.store;
    const uint8_t apply = DISPOSE_APPLY;
    readers_open(1);
    const struct queue_record record = place_win(&place, USER);
    const struct order_move move = {
        .ticket = record.outcome.ticket, .event = ORDER_EVENT_CANCEL, .now_ms = 5
    };
    struct order after;
    uint8_t answer;
    assert_int_equal(store->ops->apply(store, &record, &apply, 1, &place.refusal), STATUS_OK);
    store->ops->group_begin(store);
    assert_int_equal(store->ops->orders_move(store, &move, 1, &after, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
    assert_true(store->ops->group_is_open(store));
    assert_true(view_has(0, move.ticket, "\"state\":\"pending\"")); /* it is not told yet */
    assert_int_equal(store->ops->group_end(store), STATUS_OK);
    assert_true(view_has(0, move.ticket, "\"reason\":\"cancelled\""));
}

static void a_view_without_news_waits_at_its_edge(void **state)
{
    (void)state;
    readers_open(1);
    assert_int_equal(place_sell(&place, USER), STATUS_OK);
    jobs[0].ticket = 1;
    jobs[0].version_seen = 1;
    jobs[0].may_wait = true;
    link_hand_in(link_of, 0, &jobs[0]);
    assert_int_equal(job_back(0)->result, JOB_NOT_YET);
}

static void every_edge_gets_its_own_views_back(void **state)
{
    (void)state;
    readers_open(READERS);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(place_sell(&place, i + 1), STATUS_OK);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].kind = i % 4 == 0 ? JOB_ORDERS : i % 4 == 1 ? JOB_PUSH : JOB_ORDER;
        jobs[i].user = jobs[i].ticket = i + 1;
        link_hand_in(link_of, i % EDGES, &jobs[i]);
    }
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct job *job = job_back(i % EDGES);
        char ticket[64];
        const struct span body = job_response_body(job);
        snprintf(ticket, sizeof ticket, "\"ticket\":\"%016llx\"",
            (unsigned long long)funnel_ticket_id(&keys, job->ticket));
        assert_int_equal(job->edge, i % EDGES);
        assert_int_equal(job->result, JOB_REPLY);
        assert_non_null(memmem(body.data, body.size, ticket, strlen(ticket)));
    }
}

/* ---- a database that says nothing ---- */

static struct order_store_ops silent_ops;
static enum status (*reader_open)(struct order_store *, struct order_store **);
static _Atomic uint32_t asked;

static enum status silent_by_ticket(struct order_store *store, ticket_number ticket, struct order *order)
{
    (void)store;
    (void)ticket;
    (void)order;
    atomic_fetch_add(&asked, 1);
    poll(NULL, 0, VIEW_UNANSWERED_MS + 200);
    return STATUS_AWAY;
}

static enum status silent_reader_open(struct order_store *store, struct order_store **reader)
{
    const enum status status = reader_open(store, reader);
    if (status == STATUS_OK)
        (*reader)->ops = &silent_ops;
    return status;
}

static void those_behind_a_read_without_an_answer_are_refused_with_it(void **state)
{
    (void)state;
    struct order_store_ops ops = *place.store->ops;
    silent_ops = ops;
    silent_ops.order_by_ticket = silent_by_ticket;
    reader_open = ops.reader_open;
    ops.reader_open = silent_reader_open;
    place.store->ops = &ops;
    atomic_store(&asked, 0);
    readers_open(1);
    place.store->ops = &silent_ops; /* only its `close` is used from here on */
    for (uint32_t i = 0; i < JOBS; i++)
        link_hand_in(link_of, 0, &jobs[i]);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(job_back(0)->status, 503);
    assert_in_range(atomic_load(&asked), 1, 2); /* the first one may have been alone */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_view_sees_what_was_committed_before_it_was_asked_for),
        TEST(a_transaction_that_is_open_keeps_no_view_waiting),
        TEST(a_view_without_news_waits_at_its_edge),
        TEST(every_edge_gets_its_own_views_back),
        TEST(those_behind_a_read_without_an_answer_are_refused_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
