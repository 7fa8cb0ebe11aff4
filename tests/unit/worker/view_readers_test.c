/* SPDX-License-Identifier: Apache-2.0 */
/* Order views: read on threads of their own, beside what the worker writes, and refused soon when the
 * database says nothing. */
#include "worker/view_readers.h"

#include "api/handover.h"
#include "api/link.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/thread.h"
#include "contract/limit_uses.h"
#include "contract/order_cache.h"
#include "funnel/keys.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/order_recent.h"
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
    JOBS = 4 * VIEW_BATCH, /* more than two batches */
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

/* One view, as another process has left it. The test looks at it while no job is out. */
static struct shared_view {
    struct order_cache base;
    bool there;
    ticket_number ticket;
    struct order_cached cached;
    char json[ORDER_CACHE_JSON_MAX];
    uint32_t puts;
} shared;
static struct order_cache *const caches[] = { &shared.base };
static struct order_recent recent;
static bool is_shared;

static bool shared_get(struct order_cache *cache, ticket_number ticket, struct order_cached *cached)
{
    (void)cache;
    *cached = shared.cached;
    return shared.there && shared.ticket == ticket;
}

static void shared_put(struct order_cache *cache, ticket_number ticket, const struct order_cached *cached)
{
    (void)cache;
    shared.there = true;
    shared.ticket = ticket;
    shared.cached = *cached;
    shared.puts++;
    memcpy(shared.json, cached->json.data, cached->json.size);
    shared.cached.json.data = shared.json;
}

static const struct order_cache_ops shared_ops = { .get = shared_get, .put = shared_put };

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
                             .turns = &turns,
                             .caches = is_shared ? caches : NULL },
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
    views = (struct order_views){ .keys = &keys, .store = place.store, .recent = &recent };
    shared = (struct shared_view){ .base.ops = &shared_ops };
    recent = (struct order_recent){ 0 };
    is_shared = false;
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

/* Whether so many more units are within a limit of two. */
static bool is_within(uint32_t quantity)
{
    jobs[0].kind = JOB_LIMIT;
    jobs[0].result = JOB_REPLY;
    jobs[0].limit_group = 1; /* the product's */
    jobs[0].period_limit = 2;
    jobs[0].period_days = 30;
    jobs[0].wish.quantity = quantity;
    link_hand_in(link_of, 0, &jobs[0]);
    assert_int_equal(job_back(0)->result, JOB_REPLY);
    return jobs[0].within;
}

static void a_purchase_is_compared_with_what_counts_in_the_period(void **state)
{
    (void)state;
    char use[256];
    readers_open(1);
    assert_true(is_within(2));
    assert_false(is_within(3));
    snprintf(use, sizeof use,
        "INSERT INTO limit_uses(scope, holder, ticket, units, most, at_ms, until_ms)"
        " VALUES(1, %d, 1, 1, 2, %llu, %llu)",
        USER, (unsigned long long)clock_now_ms() - 1000, (unsigned long long)clock_now_ms() + 60000);
    place_execute(&place, use);
    assert_true(is_within(1));
    assert_false(is_within(2));
    place_execute(&place, "UPDATE limit_uses SET until_ms = at_ms");
    assert_true(is_within(2));
}

/* ---- views that processes share ---- */

/* What another process has read of ticket 1 so long ago. */
static void shared_set(uint64_t version, uint64_t age_ms, user_id user)
{
    static const char json[] = "{\"from\":\"elsewhere\"}";
    shared_put(&shared.base, 1,
        &(struct order_cached){ .version = version,
            .read_ms = clock_now_ms() - age_ms,
            .user = user,
            .json = span_from_string(json) });
    shared.puts = 0;
}

static bool is_from_elsewhere(void)
{
    return view_has(0, 1, "elsewhere");
}

static void shared_open(void)
{
    is_shared = true;
    readers_open(1);
    assert_int_equal(place_sell(&place, USER), STATUS_OK);
}

static void what_was_read_is_put_for_the_others(void **state)
{
    (void)state;
    shared_open();
    assert_true(view_has(0, 1, "\"state\":\"pending\""));
    assert_int_equal(shared.puts, 1);
    assert_int_equal(shared.cached.version, 1);
    assert_int_equal(shared.cached.user, USER);
    const struct span body = job_response_body(&jobs[0]);
    assert_true(span_equal(shared.cached.json, body));
    assert_true(view_has(1, 1, "\"state\":\"pending\""));
    assert_int_equal(shared.puts, 1); /* the second one was not read */
    assert_true(span_equal(job_response_body(&jobs[1]), body));
}

static void a_shared_view_is_shown_while_it_is_young(void **state)
{
    (void)state;
    shared_open();
    shared_set(1, 0, USER);
    assert_true(is_from_elsewhere());
    shared_set(1, VIEW_CACHED_MS + 1000, USER);
    assert_false(is_from_elsewhere());
    assert_int_equal(shared.puts, 1);
}

static void a_client_that_has_seen_more_is_shown_the_database(void **state)
{
    (void)state;
    shared_open();
    shared_set(1, 0, USER);
    jobs[0].version_seen = 2;
    assert_false(is_from_elsewhere());
    shared_set(3, 0, USER);
    assert_true(is_from_elsewhere());
    jobs[0].version_seen = 3;
    jobs[0].may_wait = true;
    link_hand_in(link_of, 0, &jobs[0]);
    assert_int_equal(job_back(0)->result, JOB_NOT_YET);
}

static void nobody_is_shown_the_order_of_another(void **state)
{
    (void)state;
    shared_open();
    shared_set(1, 0, USER + 1);
    assert_false(is_from_elsewhere());
}

static void an_order_that_has_just_changed_here_is_read(void **state)
{
    (void)state;
    const uint64_t now_ms = clock_monotonic_ns() / 1000000;
    shared_open();
    shared_set(1, 0, USER);
    order_recent_note(&recent, 1, now_ms + 60 * 1000);
    assert_false(is_from_elsewhere());
    recent = (struct order_recent){ 0 };
    shared_set(1, 0, USER);
    order_recent_note_all(&recent, now_ms + 60 * 1000);
    assert_false(is_from_elsewhere());
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

static enum status silent_used(struct order_store *store, uint64_t group,
    const struct item_limits *limits, user_id user, uint64_t now_ms, uint64_t *units)
{
    (void)group;
    (void)limits;
    (void)user;
    (void)now_ms;
    *units = 0;
    return silent_by_ticket(store, 0, NULL);
}

static void silent_open(void)
{
    static struct order_store_ops ops;
    ops = *place.store->ops;
    silent_ops = ops;
    silent_ops.order_by_ticket = silent_by_ticket;
    static struct limit_store_ops silent_limits;
    silent_limits = *ops.limits;
    silent_limits.used = silent_used;
    silent_ops.limits = &silent_limits;
    reader_open = ops.reader_open;
    ops.reader_open = silent_reader_open;
    place.store->ops = &ops;
    atomic_store(&asked, 0);
    readers_open(1);
    place.store->ops = &silent_ops; /* only its `close` is used from here on */
}

static void those_behind_a_read_without_an_answer_are_refused_with_it(void **state)
{
    (void)state;
    silent_open();
    for (uint32_t i = 0; i < JOBS; i++)
        link_hand_in(link_of, 0, &jobs[i]);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(job_back(0)->status, 503);
    assert_in_range(atomic_load(&asked), 1, 2); /* the first one may have been alone */
}

static void without_an_answer_no_purchase_is_within_its_limit(void **state)
{
    (void)state;
    silent_open();
    jobs[0].kind = JOB_LIMIT;
    jobs[0].period_limit = 2;
    jobs[0].wish.quantity = 1;
    jobs[0].within = true;
    link_hand_in(link_of, 0, &jobs[0]);
    assert_int_equal(job_back(0)->result, JOB_NOT_YET);
    assert_false(jobs[0].within);
}

static void shared_views_go_on_without_the_database(void **state)
{
    uint32_t shown = 0;
    (void)state;
    is_shared = true;
    silent_open();
    shared_set(1, VIEW_CACHED_MS + 1000, USER);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].ticket = 1 + i % 2;
        link_hand_in(link_of, 0, &jobs[i]);
    }
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct job *job = job_back(0);
        assert_int_equal(job->status, job->ticket == 1 ? 200 : 503);
        shown += job->status == 200;
    }
    assert_int_equal(shown, JOBS / 2);
    shared_set(1, ORDER_CACHE_KEEP_MS + 1000, USER); /* Redis has forgotten to forget it */
    link_hand_in(link_of, 0, &jobs[0]);
    assert_int_equal(job_back(0)->status, 503);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_view_sees_what_was_committed_before_it_was_asked_for),
        TEST(a_transaction_that_is_open_keeps_no_view_waiting),
        TEST(a_view_without_news_waits_at_its_edge),
        TEST(every_edge_gets_its_own_views_back),
        TEST(a_purchase_is_compared_with_what_counts_in_the_period),
        TEST(what_was_read_is_put_for_the_others),
        TEST(a_shared_view_is_shown_while_it_is_young),
        TEST(a_client_that_has_seen_more_is_shown_the_database),
        TEST(nobody_is_shown_the_order_of_another),
        TEST(an_order_that_has_just_changed_here_is_read),
        TEST(those_behind_a_read_without_an_answer_are_refused_with_it),
        TEST(without_an_answer_no_purchase_is_within_its_limit),
        TEST(shared_views_go_on_without_the_database),
    };
    clock_start(0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
