/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that only read: on threads of their own, beside each other, and a stop does not wait for them. */
#include "worker/store_readers.h"

#include "api/job.h"
#include "base/arena.h"
#include "base/thread.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/task.h"

#include <semaphore.h>
#include <time.h>

enum { PATIENCE_S = 20, JOBS = 4, BODY_BYTES = JOB_HEAD_BYTES + 4096 };

static struct place place;
static struct arena arena;
static struct wake wake;
static struct task task;
static struct store_readers *readers;
static struct job jobs[JOBS];
static char responses[JOBS][BODY_BYTES];
static sem_t begun, go;
static _Atomic uint64_t read_by;
static uint32_t done;
static struct job *last_done;

static void signal_wait(sem_t *signal)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    assert_int_equal(sem_timedwait(signal, &end), 0);
}

/* Counts the orders, then waits if the job says so. */
static void job_read(void *context, struct order_store *reader, struct job *job)
{
    uint64_t units = 0, orders = 0;
    (void)context;
    assert_int_equal(reader->ops->order_totals(reader, place.item, &orders, &units), STATUS_OK);
    atomic_store(&read_by, thread_self());
    job->path_id = (uint32_t)orders;
    job->status = 200;
    sem_post(&begun);
    if (job->may_wait)
        signal_wait(&go);
}

static void job_done(void *context, struct job *job)
{
    (void)context;
    done++;
    last_done = job;
}

static int setup(void **state)
{
    (void)state;
    place_make(&place);
    assert_int_equal(place_open(&place, NULL), STATUS_OK);
    assert_int_equal(arena_open(&arena, 1 << 20), STATUS_OK);
    assert_int_equal(wake_open(&wake), STATUS_OK);
    sem_init(&begun, 0, 0);
    sem_init(&go, 0, 0);
    done = 0;
    for (uint32_t i = 0; i < JOBS; i++)
        jobs[i] =
            (struct job){ .kind = JOB_ADMIN, .response = responses[i], .response_bytes = BODY_BYTES };
    const struct store_readers_config config = {
        .store = place.store, .wake = &wake, .count = STORE_READERS_MAX, .read = job_read, .done = job_done
    };
    readers = store_readers_open(&arena, &config, &task);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tasks_close(&task, 1);
    wake_close(&wake);
    arena_close(&arena);
    place_remove(&place);
    return 0;
}

/* Rounds of the worker until so many are answered. */
static void rounds_until(uint32_t count)
{
    for (uint32_t i = 0; done < count && i < PATIENCE_S * 100; i++) {
        wake_wait(&wake, 10);
        (void)tasks_turn(&task, 1, 1, 0);
    }
    assert_int_equal(done, count);
}

static void a_reader_sees_what_is_committed_and_answers_on_its_own_thread(void **state)
{
    (void)state;
    store_readers_start(readers);
    for (user_id user = 1; user <= 3; user++)
        assert_int_equal(place_sell(&place, user), STATUS_OK);
    store_readers_add(readers, &jobs[0]);
    rounds_until(1);
    assert_ptr_equal(last_done, &jobs[0]);
    assert_int_equal(jobs[0].path_id, 3);
    assert_true(atomic_load(&read_by) != thread_self());
    tasks_end(&task, 1, 1);
}

static void a_long_read_holds_up_neither_the_worker_nor_the_next_read(void **state)
{
    (void)state;
    store_readers_start(readers);
    jobs[0].may_wait = true;
    store_readers_add(readers, &jobs[0]);
    signal_wait(&begun);
    assert_int_equal(place_sell(&place, 1), STATUS_OK); /* the worker writes meanwhile */
    store_readers_add(readers, &jobs[1]);
    rounds_until(1);
    assert_ptr_equal(last_done, &jobs[1]);
    assert_int_equal(jobs[1].path_id, 1);
    sem_post(&go);
    rounds_until(2);
    tasks_end(&task, 1, 1);
}

static void at_a_stop_every_job_is_answered(void **state)
{
    (void)state;
    store_readers_start(readers);
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].may_wait = i < STORE_READERS_MAX;
        store_readers_add(readers, &jobs[i]);
    }
    for (uint32_t i = 0; i < STORE_READERS_MAX; i++)
        signal_wait(&begun);
    for (uint32_t i = 0; i < STORE_READERS_MAX; i++)
        sem_post(&go);
    tasks_end(&task, 1, 1);
    assert_int_equal(done, JOBS);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(jobs[i].status, i < STORE_READERS_MAX ? 200 : 503);
}

static void without_readers_the_worker_reads_itself(void **state)
{
    (void)state;
    store_readers_add(readers, &jobs[0]);
    assert_int_equal(done, 1);
    assert_true(atomic_load(&read_by) == thread_self());
    tasks_end(&task, 1, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reader_sees_what_is_committed_and_answers_on_its_own_thread),
        TEST(a_long_read_holds_up_neither_the_worker_nor_the_next_read),
        TEST(at_a_stop_every_job_is_answered),
        TEST(without_readers_the_worker_reads_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
