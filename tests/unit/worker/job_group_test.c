/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that share a transaction: nothing is told before the commit, and all is taken back if it fails. */
#include "worker/job_group.h"

#include "api/job.h"
#include "api/link.h"
#include "base/arena.h"
#include "contract/order_store.h"
#include "tests/unit/base/unit.h"
#include "worker/task.h"

#include <string.h>

enum { JOBS = GROUP_JOBS_MAX + 8, RESPONSE_BYTES = JOB_HEAD_BYTES + 2048 };

/* A store that counts commits; `writes` opens its transaction. */
static struct {
    struct order_store store; /* first */
    bool grouping, open;
    uint32_t commits;
    enum status answer;
} store;

static void group_begin(struct order_store *unused)
{
    (void)unused;
    store.grouping = true;
}

static bool group_is_open(const struct order_store *unused)
{
    (void)unused;
    return store.open;
}

static enum status group_end(struct order_store *unused)
{
    (void)unused;
    const bool open = store.open;
    store.grouping = store.open = false;
    store.commits += open;
    return open ? store.answer : STATUS_OK;
}

static const struct order_store_ops ops = {
    .group_begin = group_begin, .group_is_open = group_is_open, .group_end = group_end
};

static struct arena arena;
static struct link *link_of;
static struct wake wake;
static struct task task;
static struct job_group *group;
static struct job jobs[JOBS];
static char responses[JOBS][RESPONSE_BYTES];

static int setup(void **state)
{
    (void)state;
    memset(&store, 0, sizeof store);
    store.store.ops = &ops;
    assert_int_equal(arena_open(&arena, 1 << 16), STATUS_OK);
    assert_int_equal(wake_open(&wake), STATUS_OK);
    assert_int_equal(link_open(&link_of, 1, 1), STATUS_OK);
    link_edge_wake(link_of, 0, &wake);
    group = job_group_open(&arena, &store.store, link_of, &task);
    memset(jobs, 0, sizeof jobs);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].kind = JOB_PUBLIC;
        jobs[i].share = SHARE_VIEW;
        jobs[i].status = 200;
        jobs[i].response = responses[i];
        jobs[i].response_bytes = RESPONSE_BYTES;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    link_close(link_of);
    wake_close(&wake);
    arena_close(&arena);
    return 0;
}

/* What a job does: it may write, and it tells that an order has changed. */
static void job_do(struct job *job, bool writes)
{
    job_group_join(group, true);
    store.open |= writes && store.grouping;
    if (writes)
        link_order_changed(link_of, 7, 8);
    job_group_answer(group, job);
}

/* What the edge sees by now: jobs come back, notes are counted. */
static uint32_t seen(uint32_t *notes)
{
    struct link_note note;
    uint32_t count = 0;
    *notes = 0;
    while (link_take_back(link_of, 0, &note)) {
        count += note.job != NULL;
        *notes += note.job == NULL;
    }
    return count;
}

static void nothing_is_told_before_the_commit(void **state)
{
    (void)state;
    uint32_t notes;
    job_do(&jobs[0], true);
    job_do(&jobs[1], true);
    job_do(&jobs[2], false); /* it may have read what the others wrote */
    link_flush(link_of);
    assert_int_equal(seen(&notes), 0);
    assert_int_equal(notes, 0);
    assert_int_equal(store.commits, 0);
    (void)task.turn(task.self, 1);
    assert_int_equal(store.commits, 1);
    assert_int_equal(seen(&notes), 3);
    assert_int_equal(notes, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(jobs[i].status, 200);
}

static void who_only_reads_is_answered_at_once(void **state)
{
    (void)state;
    uint32_t notes;
    job_do(&jobs[0], false);
    assert_int_equal(seen(&notes), 1);
    job_group_end(group);
    assert_int_equal(store.commits, 0);
    assert_int_equal(seen(&notes), 0);
}

static void a_commit_that_fails_takes_every_answer_back(void **state)
{
    (void)state;
    uint32_t notes;
    job_do(&jobs[0], false);      /* before the transaction began: told already */
    jobs[4].result = JOB_NOT_YET; /* it was to wait for its units */
    jobs[5].share = SHARE_SANDBOX;
    for (int i = 1; i <= 5; i++)
        job_do(&jobs[i], i == 1);
    store.answer = STATUS_AWAY;
    job_group_end(group);
    assert_int_equal(seen(&notes), 6);
    assert_int_equal(jobs[0].status, 200);
    assert_int_equal(jobs[1].status, 503);
    assert_int_equal(jobs[2].status, 503);
    assert_int_equal(jobs[4].status, 503);
    assert_int_equal(jobs[4].result, JOB_REPLY);
    assert_int_equal(jobs[5].status, 200); /* the sandbox has a bank of its own */
    store.answer = STATUS_OK;
    job_do(&jobs[6], true);
    job_group_end(group);
    assert_int_equal(seen(&notes), 1);
    assert_int_equal(jobs[6].status, 200);
}

static void a_group_ends_when_it_is_full(void **state)
{
    (void)state;
    uint32_t notes;
    for (uint32_t i = 0; i < JOBS; i++)
        job_do(&jobs[i], true);
    assert_int_equal(store.commits, 1);
    assert_int_equal(seen(&notes), GROUP_JOBS_MAX);
    job_group_end(group);
    assert_int_equal(store.commits, 2);
    assert_int_equal(seen(&notes), JOBS - GROUP_JOBS_MAX);
}

static void who_does_not_take_part_begins_when_the_group_has_ended(void **state)
{
    (void)state;
    uint32_t notes;
    job_do(&jobs[0], true);
    job_group_join(group, false);
    assert_int_equal(store.commits, 1);
    assert_false(store.grouping);
    assert_int_equal(seen(&notes), 1);
    job_group_answer(group, &jobs[1]);
    assert_int_equal(seen(&notes), 1);
}

static void at_a_stop_the_last_answers_are_told(void **state)
{
    (void)state;
    uint32_t notes;
    job_do(&jobs[0], true);
    task.end(task.self, 1);
    assert_int_equal(store.commits, 1);
    assert_int_equal(seen(&notes), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_told_before_the_commit),
        TEST(who_only_reads_is_answered_at_once),
        TEST(a_commit_that_fails_takes_every_answer_back),
        TEST(a_group_ends_when_it_is_full),
        TEST(who_does_not_take_part_begins_when_the_group_has_ended),
        TEST(at_a_stop_the_last_answers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
