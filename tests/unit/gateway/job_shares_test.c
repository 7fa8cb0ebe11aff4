/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of gateway/job_shares.h: no kind of work takes another's places, no user a whole share. */
#include "gateway/job_shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct arena arena;
static struct job_shares shares;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, job_shares_bytes()), STATUS_OK);
    job_shares_create(&shares, &arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

/* All that somebody can have; each taker has another user from `first` on, or `first` alone. */
static uint32_t take_all(enum job_share share, user_id first, bool alone)
{
    uint32_t count = 0;
    while (job_shares_take(&shares, share, alone ? first : first + count) != NULL)
        count++;
    return count;
}

static void a_full_share_leaves_all_others_their_places(void **state)
{
    (void)state;
    uint32_t before[JOB_SHARES];
    for (int share = 0; share < JOB_SHARES; share++)
        before[share] = job_shares_free(&shares, (enum job_share)share);
    assert_int_equal(take_all(SHARE_PAY, 1, false), before[SHARE_PAY]);
    assert_int_equal(job_shares_free(&shares, SHARE_PAY), 0);
    for (int share = 0; share < JOB_SHARES; share++) {
        if (share != SHARE_PAY)
            assert_int_equal(job_shares_free(&shares, (enum job_share)share), before[share]);
        assert_true(share == SHARE_PAY || job_shares_take(&shares, (enum job_share)share, 0) != NULL);
    }
}

static void all_shares_together_fit_the_workers_ring(void **state)
{
    (void)state;
    uint32_t all = 0;
    for (int share = 0; share < JOB_SHARES; share++)
        if (share != SHARE_PUSH && share != SHARE_LIMIT) /* these two go to readers only */
            all += job_shares_free(&shares, (enum job_share)share);
    assert_true(all < JOB_SLOTS);
}

static void a_user_has_one_question_about_a_limit(void **state)
{
    (void)state;
    const uint32_t slots = job_shares_free(&shares, SHARE_LIMIT);
    struct job *mine = job_shares_take(&shares, SHARE_LIMIT, 7);
    assert_non_null(mine);
    assert_true(job_shares_user_full(&shares, SHARE_LIMIT, 7));
    assert_null(job_shares_take(&shares, SHARE_LIMIT, 7));
    assert_int_equal(take_all(SHARE_LIMIT, 100, false), slots - 1);
    job_shares_give(&shares, mine);
    assert_non_null(job_shares_take(&shares, SHARE_LIMIT, 7));
}

static void one_user_has_half_of_a_share_at_most_and_then_a_few(void **state)
{
    (void)state;
    const uint32_t slots = job_shares_free(&shares, SHARE_VIEW);
    assert_int_equal(take_all(SHARE_VIEW, 7, true), slots / 2);
    assert_true(job_shares_user_full(&shares, SHARE_VIEW, 7));
    assert_false(job_shares_user_full(&shares, SHARE_VIEW, 8));
    assert_int_equal(take_all(SHARE_VIEW, 8, true), JOBS_PER_USER);
    assert_int_equal(take_all(SHARE_VIEW, 9, true), JOBS_PER_USER);
    assert_int_equal(take_all(SHARE_VIEW, 100, false), slots / 2 - 2 * JOBS_PER_USER);
}

static void a_job_that_is_given_back_counts_for_nobody(void **state)
{
    (void)state;
    const uint32_t slots = job_shares_free(&shares, SHARE_PAY);
    struct job *job = job_shares_take(&shares, SHARE_PAY, 7);
    assert_non_null(job);
    assert_int_equal(job->user, 7);
    job_shares_give(&shares, job);
    assert_int_equal(job_shares_free(&shares, SHARE_PAY), slots);
    (void)take_all(SHARE_PAY, 7, true);
    assert_true(job_shares_user_full(&shares, SHARE_PAY, 7));
    struct job_pool *pool = &shares.pools[SHARE_PAY];
    for (uint32_t i = 0; i < pool->slots; i++)
        if (pool->users[i] == 7)
            job_shares_give(&shares, &pool->jobs[i]);
    assert_int_equal(job_shares_free(&shares, SHARE_PAY), slots);
    assert_non_null(job_shares_take(&shares, SHARE_PAY, 7));
}

static void a_job_keeps_its_room_and_forgets_who_had_it(void **state)
{
    (void)state;
    struct job *job = job_shares_take(&shares, SHARE_ADMIN, 0);
    char *request = job->request, *response = job->response;
    assert_true(job->request_bytes >= HTTP_BODY_MAX + HTTP_HEAD_MAX);
    assert_int_equal(job->response_bytes, JOB_RESPONSE_BYTES);
    job->ticket = 5;
    job->check_failed = true;
    job_shares_give(&shares, job);
    struct job *again = job_shares_take(&shares, SHARE_ADMIN, 0);
    assert_ptr_equal(again, job);
    assert_ptr_equal(again->request, request);
    assert_ptr_equal(again->response, response);
    assert_int_equal(again->share, SHARE_ADMIN);
    assert_true(again->ticket == 0 && !again->check_failed);
}

static void places_that_a_user_gave_back_count_for_nobody_while_others_have_theirs(void **state)
{
    (void)state;
    struct job *mine[JOBS_PER_USER];
    const uint32_t slots = job_shares_free(&shares, SHARE_VIEW);
    for (uint32_t i = 0; i < slots / 2; i++)
        assert_non_null(job_shares_take(&shares, SHARE_VIEW, 1000 + i));
    for (int i = 0; i < JOBS_PER_USER; i++)
        mine[i] = job_shares_take(&shares, SHARE_VIEW, 7);
    assert_true(job_shares_user_full(&shares, SHARE_VIEW, 7));
    for (int i = 0; i < JOBS_PER_USER; i++)
        job_shares_give(&shares, mine[i]);
    assert_false(job_shares_user_full(&shares, SHARE_VIEW, 7));
    assert_int_equal(take_all(SHARE_VIEW, 7, true), JOBS_PER_USER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_full_share_leaves_all_others_their_places, setup, teardown),
        cmocka_unit_test_setup_teardown(all_shares_together_fit_the_workers_ring, setup, teardown),
        cmocka_unit_test_setup_teardown(a_user_has_one_question_about_a_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(
            one_user_has_half_of_a_share_at_most_and_then_a_few, setup, teardown),
        cmocka_unit_test_setup_teardown(
            places_that_a_user_gave_back_count_for_nobody_while_others_have_theirs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_that_is_given_back_counts_for_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_keeps_its_room_and_forgets_who_had_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
