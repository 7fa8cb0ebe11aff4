/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of api/link.h: jobs go and come back, notes are told in order or summed up, nothing is lost. */
#include "api/link.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <string.h>

enum { EDGES = 2, VIEW_READERS = 2, JOBS = 16, MANY = 10 * 1000 };

static struct link *link_of;
static struct wake worker_wake, edge_wakes[EDGES], view_wakes[VIEW_READERS], others_wake;
static struct job jobs[JOBS];

static int setup(void **state)
{
    (void)state;
    assert_int_equal(link_open(&link_of, EDGES, VIEW_READERS), STATUS_OK);
    assert_int_equal(wake_open(&worker_wake), STATUS_OK);
    link_worker_wake(link_of, &worker_wake);
    for (uint32_t i = 0; i < EDGES; i++) {
        assert_int_equal(wake_open(&edge_wakes[i]), STATUS_OK);
        link_edge_wake(link_of, i, &edge_wakes[i]);
    }
    for (uint32_t i = 0; i < VIEW_READERS; i++) {
        assert_int_equal(wake_open(&view_wakes[i]), STATUS_OK);
        link_view_wake(link_of, i, &view_wakes[i]);
    }
    assert_int_equal(wake_open(&others_wake), STATUS_OK);
    for (uint32_t i = 0; i < JOBS; i++)
        jobs[i] = (struct job){ .kind = JOB_PUBLIC };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    link_close(link_of);
    wake_close(&worker_wake);
    wake_close(&others_wake);
    for (uint32_t i = 0; i < EDGES; i++)
        wake_close(&edge_wakes[i]);
    for (uint32_t i = 0; i < VIEW_READERS; i++)
        wake_close(&view_wakes[i]);
    return 0;
}

static void a_job_comes_back_to_the_edge_that_handed_it_in(void **state)
{
    (void)state;
    struct link_note note;
    jobs[0].share = jobs[1].share = SHARE_VIEW;
    link_hand_in(link_of, 1, &jobs[0]);
    link_hand_in(link_of, 0, &jobs[1]);
    assert_ptr_equal(link_next(link_of, 1, false), &jobs[0]);
    assert_null(link_next(link_of, 1, false));
    assert_ptr_equal(link_next(link_of, 0, false), &jobs[1]);
    link_return(link_of, &jobs[0]);
    assert_false(link_take_back(link_of, 0, &note));
    assert_true(link_take_back(link_of, 1, &note));
    assert_ptr_equal(note.job, &jobs[0]);
    assert_false(link_take_back(link_of, 1, &note));
}

static void urgent_jobs_have_a_way_of_their_own(void **state)
{
    (void)state;
    static const enum job_share urgent[] = { SHARE_ADMIN, SHARE_CALLBACK };
    for (uint32_t share = 0; share < JOB_SHARES; share++) {
        const bool first = share == urgent[0] || share == urgent[1];
        jobs[share].share = (uint8_t)share;
        link_hand_in(link_of, 0, &jobs[share]);
        assert_null(link_next(link_of, 0, !first));
        assert_ptr_equal(link_next(link_of, 0, first), &jobs[share]);
    }
}

static void views_do_not_pass_the_worker(void **state)
{
    (void)state;
    static const enum job_kind views[] = { JOB_ORDER, JOB_ORDERS, JOB_PUSH };
    struct link_note note;
    for (uint32_t i = 0; i < 3; i++) {
        jobs[i] = (struct job){ .kind = views[i], .share = i < 2 ? SHARE_VIEW : SHARE_PUSH };
        link_hand_in(link_of, 1, &jobs[i]);
        assert_null(link_next(link_of, 1, false));
        assert_null(link_view_next(link_of, 0, 0)); /* another edge's */
        assert_true(atomic_load(&view_wakes[0].pending) != 0);
        assert_ptr_equal(link_view_next(link_of, 0, 1), &jobs[i]);
        link_view_return(link_of, 0, &jobs[i]);
        assert_true(atomic_load(&edge_wakes[1].pending) != 0);
        assert_false(link_take_back(link_of, 0, &note));
        assert_true(link_take_back(link_of, 1, &note) && note.job == &jobs[i]);
    }
    assert_true(atomic_load(&worker_wake.pending) == 0);
}

static void what_the_worker_holds_back_holds_no_view_back(void **state)
{
    (void)state;
    struct link_note note;
    jobs[0].kind = JOB_ORDER;
    link_hold(link_of);
    link_order_changed(link_of, 1, 11);
    link_hand_in(link_of, 0, &jobs[0]);
    link_view_return(link_of, 0, link_view_next(link_of, 0, 0));
    assert_true(link_take_back(link_of, 0, &note) && note.job == &jobs[0]);
    assert_false(link_take_back(link_of, 0, &note));
}

static void a_reader_that_hangs_gets_no_more_views_than_the_other_one_has(void **state)
{
    (void)state;
    struct link_note note;
    for (uint32_t i = 0; i < JOBS; i++) {
        jobs[i].kind = JOB_ORDER;
        link_hand_in(link_of, 0, &jobs[i]);
        struct job *job = link_view_next(link_of, 1, 0); /* the first reader takes none */
        if (job != NULL) {
            link_view_return(link_of, 1, job);
            assert_true(link_take_back(link_of, 0, &note) && note.job == job);
        }
    }
    assert_ptr_equal(link_view_next(link_of, 0, 0), &jobs[0]);
    assert_null(link_view_next(link_of, 0, 0));
}

static void a_note_never_overtakes_the_answer_before_it(void **state)
{
    (void)state;
    struct link_note note;
    link_hand_in(link_of, 0, &jobs[0]);
    link_order_changed(link_of, 1, 11);
    link_return(link_of, link_next(link_of, 0, jobs[0].share == SHARE_ADMIN));
    link_order_changed(link_of, 2, 22);
    assert_true(link_take_back(link_of, 0, &note) && note.ticket == 1 && note.user == 11);
    assert_true(link_take_back(link_of, 0, &note) && note.job == &jobs[0]);
    assert_true(link_take_back(link_of, 0, &note) && note.ticket == 2 && note.user == 22);
    assert_true(link_take_back(link_of, 1, &note) && note.job == NULL && note.ticket == 1);
    assert_true(link_take_back(link_of, 1, &note) && note.ticket == 2);
}

/* An edge that does not read learns that there were many, after the flush that has room for it. */
static void notes_that_have_no_room_are_summed_up(void **state)
{
    (void)state;
    struct link_note note;
    uint32_t told = 0;
    for (uint32_t i = 1; i <= MANY; i++)
        link_order_changed(link_of, i, i);
    link_flush(link_of);
    for (uint32_t i = 0; i < JOB_SLOTS; i++) /* as many as an edge can have: none is lost */
        link_return(link_of, &jobs[0]);
    while (link_take_back(link_of, 0, &note)) {
        told++;
        assert_true(note.job == &jobs[0] || note.ticket == told);
    }
    assert_in_range(told, JOB_SLOTS + 1, MANY - 1);
    link_flush(link_of);
    assert_true(link_take_back(link_of, 0, &note) && note.job == NULL && note.ticket == 0);
    assert_false(link_take_back(link_of, 0, &note));
    link_flush(link_of);
    assert_false(link_take_back(link_of, 0, &note)); /* once */
}

static void what_is_said_while_it_is_held_is_seen_after_the_release_in_order(void **state)
{
    (void)state;
    struct link_note note;
    link_order_changed(link_of, 1, 11);
    link_hold(link_of);
    link_return(link_of, &jobs[0]);
    link_order_changed(link_of, 2, 22);
    link_flush(link_of);
    assert_true(link_take_back(link_of, 0, &note) && note.ticket == 1); /* said before */
    assert_false(link_take_back(link_of, 0, &note));
    for (uint32_t i = 0; i < MANY; i++) /* what has no room is summed up, then too */
        link_order_changed(link_of, 3, 33);
    link_flush(link_of);
    assert_false(link_take_back(link_of, 0, &note));
    link_release(link_of);
    assert_true(link_take_back(link_of, 0, &note) && note.job == &jobs[0]);
    assert_true(link_take_back(link_of, 0, &note) && note.ticket == 2);
    while (link_take_back(link_of, 0, &note))
        assert_int_equal(note.ticket, 3);
    link_flush(link_of);
    assert_true(atomic_load(&edge_wakes[0].pending) != 0);
    assert_true(link_take_back(link_of, 0, &note) && note.job == NULL && note.ticket == 0);
}

static void what_changed_without_a_name_is_told_to_all(void **state)
{
    (void)state;
    struct link_note note;
    link_many_changed(link_of);
    assert_false(link_take_back(link_of, 0, &note));
    link_flush(link_of);
    for (uint32_t i = 0; i < EDGES; i++)
        assert_true(link_take_back(link_of, i, &note) && note.job == NULL && note.ticket == 0);
}

static void each_side_is_woken_when_there_is_something_for_it(void **state)
{
    (void)state;
    jobs[0].share = SHARE_PAY;
    link_hand_in(link_of, 0, &jobs[0]);
    assert_true(atomic_load(&worker_wake.pending) != 0);
    link_return(link_of, link_next(link_of, 0, false));
    assert_true(atomic_load(&edge_wakes[0].pending) == 0); /* at the end of the turn */
    link_flush(link_of);
    assert_true(atomic_load(&edge_wakes[0].pending) != 0);
    assert_true(atomic_load(&edge_wakes[1].pending) == 0);
}

static void other_processes_hear_what_the_edges_hear(void **state)
{
    (void)state;
    struct link_note note;
    link_order_changed(link_of, 1, 11);
    assert_false(link_others_take(link_of, &note)); /* there are none */
    link_others_wake(link_of, &others_wake);
    link_order_changed(link_of, 2, 22);
    link_order_changed(link_of, 3, 0);
    assert_true(atomic_load(&others_wake.pending) == 0); /* at the end of the turn */
    link_flush(link_of);
    assert_true(atomic_load(&others_wake.pending) != 0);
    assert_true(link_others_take(link_of, &note) && note.ticket == 2 && note.user == 22);
    assert_true(link_others_take(link_of, &note) && note.ticket == 3 && note.user == 0);
    assert_false(link_others_take(link_of, &note));
    for (ticket_number ticket = 1; ticket <= 3; ticket++)
        assert_true(link_take_back(link_of, 1, &note) && note.ticket == ticket);
    jobs[0].share = SHARE_VIEW;
    link_hand_in(link_of, 0, &jobs[0]);
    link_return(link_of, link_next(link_of, 0, false)); /* a job is its edge's alone */
    assert_false(link_others_take(link_of, &note));
}

static void what_was_heard_from_another_process_is_not_told_again(void **state)
{
    (void)state;
    struct link_note note;
    link_others_wake(link_of, &others_wake);
    link_order_heard(link_of, 5, 55);
    link_many_changed(link_of);
    link_flush(link_of);
    assert_false(link_others_take(link_of, &note));
    assert_true(atomic_load(&others_wake.pending) == 0);
    for (uint32_t i = 0; i < EDGES; i++) {
        assert_true(link_take_back(link_of, i, &note) && note.ticket == 5 && note.user == 55);
        assert_true(link_take_back(link_of, i, &note) && note.job == NULL && note.ticket == 0);
    }
}

static void other_processes_hear_nothing_that_is_held_before_the_release(void **state)
{
    (void)state;
    struct link_note note;
    uint32_t told = 0;
    link_others_wake(link_of, &others_wake);
    link_hold(link_of);
    link_order_changed(link_of, 1, 11);
    link_flush(link_of);
    assert_false(link_others_take(link_of, &note));
    assert_true(atomic_load(&others_wake.pending) == 0);
    link_release(link_of);
    assert_true(link_others_take(link_of, &note) && note.ticket == 1);
    for (uint32_t i = 0; i < MANY; i++) /* what has no room is summed up for them, too */
        link_order_changed(link_of, 2, 22);
    while (link_others_take(link_of, &note))
        told++;
    assert_in_range(told, 1, MANY - 1);
    link_flush(link_of);
    assert_true(link_others_take(link_of, &note) && note.job == NULL && note.ticket == 0);
}

static void health_is_what_the_worker_said_last(void **state)
{
    (void)state;
    struct worker_health health;
    link_health(link_of, 1, &health);
    assert_true(!health.away && !health.stopped && health.lag == 0);
    link_health_set(link_of, &(struct worker_health){ .away = true, .lag = 7 });
    link_health(link_of, 1, &health);
    assert_true(health.away && !health.stopped && health.lag == 7);
    link_health_set(link_of, &(struct worker_health){ .stopped = true });
    link_health(link_of, 1, &health);
    assert_true(!health.away && health.stopped && health.lag == 0);
}

static void a_transaction_that_does_not_end_makes_the_database_unavailable(void **state)
{
    (void)state;
    struct worker_health health;
    link_health_asks(link_of, 1000);
    link_health(link_of, 1000 + DATABASE_SILENT_MS, &health);
    assert_false(health.away);
    link_health(link_of, 1001 + DATABASE_SILENT_MS, &health);
    assert_true(health.away);
    link_health_set(link_of, &(struct worker_health){ .lag = 1 });
    link_health(link_of, 1001 + DATABASE_SILENT_MS, &health);
    assert_false(health.away);
}

static void health_given(void *context, struct worker_health *health)
{
    *health = *(const struct worker_health *)context;
}

static void a_worker_that_waits_itself_does_not_hide_what_is_wrong(void **state)
{
    (void)state;
    struct worker_health health, given = { 0 };
    link_health_from(link_of, health_given, &given);
    link_health_set(link_of, &(struct worker_health){ .lag = 3, .reason = "told by the worker" });
    link_health(link_of, 1, &health);
    assert_true(!health.away && !health.stopped && health.lag == 3);
    assert_string_equal(health.reason, "told by the worker");
    given = (struct worker_health){ .away = true, .reason = "now" };
    link_health(link_of, 1, &health);
    assert_true(health.away && !health.stopped && health.lag == 3);
    assert_string_equal(health.reason, "now");
    given = (struct worker_health){ .stopped = true };
    link_health(link_of, 1, &health);
    assert_true(!health.away && health.stopped);
    given = (struct worker_health){ 0 };
    link_health_set(link_of, &(struct worker_health){ .away = true });
    link_health(link_of, 1, &health);
    assert_true(health.away && health.reason == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_job_comes_back_to_the_edge_that_handed_it_in, setup, teardown),
        cmocka_unit_test_setup_teardown(views_do_not_pass_the_worker, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_worker_holds_back_holds_no_view_back, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_reader_that_hangs_gets_no_more_views_than_the_other_one_has, setup, teardown),
        cmocka_unit_test_setup_teardown(urgent_jobs_have_a_way_of_their_own, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_said_while_it_is_held_is_seen_after_the_release_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_note_never_overtakes_the_answer_before_it, setup, teardown),
        cmocka_unit_test_setup_teardown(notes_that_have_no_room_are_summed_up, setup, teardown),
        cmocka_unit_test_setup_teardown(what_changed_without_a_name_is_told_to_all, setup, teardown),
        cmocka_unit_test_setup_teardown(each_side_is_woken_when_there_is_something_for_it, setup, teardown),
        cmocka_unit_test_setup_teardown(other_processes_hear_what_the_edges_hear, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_was_heard_from_another_process_is_not_told_again, setup, teardown),
        cmocka_unit_test_setup_teardown(
            other_processes_hear_nothing_that_is_held_before_the_release, setup, teardown),
        cmocka_unit_test_setup_teardown(health_is_what_the_worker_said_last, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_transaction_that_does_not_end_makes_the_database_unavailable, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_worker_that_waits_itself_does_not_hide_what_is_wrong, setup, teardown),
    };
    return cmocka_run_group_tests_name("api/link", tests, NULL, NULL);
}
