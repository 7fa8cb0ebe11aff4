/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of tasks: who has a turn, who rests, and when the next one is due. */
#include "worker/task.h"

#include "tests/unit/base/unit.h"

struct probe {
    uint64_t next_ms;
    uint32_t turns;
    uint64_t ended_ms;
    struct task *wakes; /* with its turn */
};

static uint64_t probe_turn(void *self, uint64_t now_ms)
{
    struct probe *probe = self;
    probe->turns++;
    if (probe->wakes != NULL)
        task_wake(probe->wakes);
    return probe->next_ms < now_ms ? now_ms : probe->next_ms;
}

static void probe_end(void *self, uint64_t now_ms)
{
    struct probe *probe = self;
    probe->ended_ms = now_ms;
}

static void a_task_has_a_turn_when_it_is_due_and_not_before(void **unused)
{
    struct probe probe = { .next_ms = 100 };
    struct task task = { .self = &probe, .turn = probe_turn };
    (void)unused;
    assert_int_equal(tasks_turn(&task, 1, 10, 0), 100 + TASK_SLACK_MS);
    assert_int_equal(tasks_turn(&task, 1, 99, 0), 100 + TASK_SLACK_MS);
    assert_int_equal(probe.turns, 1);
    probe.next_ms = TASK_IDLE;
    assert_true(tasks_turn(&task, 1, 100, 0) == TASK_IDLE);
    assert_true(tasks_turn(&task, 1, 100000, 0) == TASK_IDLE);
    assert_int_equal(probe.turns, 2);
}

static void turns_that_are_far_away_come_together_and_near_ones_on_time(void **unused)
{
    struct probe near = { .next_ms = 30 }, far = { .next_ms = 31 };
    struct task tasks[] = { { .self = &near, .turn = probe_turn }, { .self = &far, .turn = probe_turn } };
    (void)unused;
    assert_int_equal(tasks_turn(tasks, 2, 10, 0), 30);
    near.next_ms = 50;
    assert_int_equal(tasks_turn(tasks, 2, 30, 0), 50); /* not 31 */
    assert_int_equal(far.turns, 1);
    far.next_ms = near.next_ms = TASK_IDLE;
    assert_true(tasks_turn(tasks, 2, 50, 0) == TASK_IDLE);
    assert_int_equal(far.turns, 2);
}

static void a_task_that_is_woken_has_a_turn_with_the_next_round(void **unused)
{
    struct probe first = { .next_ms = TASK_IDLE }, second = { .next_ms = TASK_IDLE };
    struct task tasks[] = { { .self = &first, .turn = probe_turn },
        { .self = &second, .turn = probe_turn } };
    (void)unused;
    second.wakes = &tasks[0];
    assert_true(tasks_turn(tasks, 2, 10, 0) <= 10); /* the first was woken after its turn */
    assert_int_equal(first.turns, 1);
    second.wakes = NULL;
    assert_true(tasks_turn(tasks, 2, 10, 0) == TASK_IDLE);
    assert_int_equal(first.turns, 2);
    assert_int_equal(second.turns, 1);
    first.wakes = &tasks[0]; /* within its own turn */
    task_wake(&tasks[0]);
    assert_true(tasks_turn(tasks, 2, 11, 0) <= 11);
}

static void a_task_that_listens_has_a_turn_with_every_round(void **unused)
{
    struct probe probe = { .next_ms = TASK_IDLE };
    struct task task = { .self = &probe, .turn = probe_turn, .listens = true };
    (void)unused;
    for (uint64_t now_ms = 1; now_ms <= 5; now_ms++)
        assert_true(tasks_turn(&task, 1, now_ms, 0) == TASK_IDLE);
    assert_int_equal(probe.turns, 5);
}

static void a_task_that_rests_has_no_turn_while_wins_come_in(void **unused)
{
    struct probe rests = { .next_ms = 0 }, goes_on = { .next_ms = TASK_IDLE };
    struct task tasks[] = { { .self = &rests, .turn = probe_turn, .listens = true, .rests = true },
        { .self = &goes_on, .turn = probe_turn, .listens = true } };
    (void)unused;
    assert_int_equal(tasks_turn(tasks, 2, 10, 30), 30);
    assert_int_equal(tasks_turn(tasks, 2, 29, 30), 30);
    assert_int_equal(rests.turns, 0);
    assert_int_equal(goes_on.turns, 2);
    assert_int_equal(tasks_turn(tasks, 2, 30, 30), 30);
    assert_int_equal(rests.turns, 1);
}

static void a_task_that_is_off_has_no_turn_and_goes_on_when_it_is_not(void **unused)
{
    struct probe off = { .next_ms = TASK_IDLE }, on = { .next_ms = TASK_IDLE };
    struct task tasks[] = { { .self = &off, .turn = probe_turn, .listens = true, .off = true },
        { .self = &on, .turn = probe_turn } };
    (void)unused;
    assert_true(tasks_turn(tasks, 2, 10, 0) == TASK_IDLE); /* it wants no round for itself either */
    task_wake(&tasks[0]);
    assert_true(tasks_turn(tasks, 2, 20, 0) == TASK_IDLE);
    assert_true(off.turns == 0 && on.turns == 1);
    tasks[0].off = false;
    assert_true(tasks_turn(tasks, 2, 30, 0) == TASK_IDLE);
    assert_true(off.turns == 1 && on.turns == 1);
}

static void the_end_is_told_to_those_who_want_to_know(void **unused)
{
    struct probe probe = { .next_ms = 0 };
    struct task tasks[] = { { .self = &probe, .turn = probe_turn },
        { .self = &probe, .turn = probe_turn, .end = probe_end } };
    (void)unused;
    tasks_end(tasks, 2, 77);
    assert_int_equal(probe.ended_ms, 77);
    assert_int_equal(probe.turns, 0);
    tasks_close(tasks, 2); /* nothing to free */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_has_a_turn_when_it_is_due_and_not_before),
        cmocka_unit_test(turns_that_are_far_away_come_together_and_near_ones_on_time),
        cmocka_unit_test(a_task_that_is_woken_has_a_turn_with_the_next_round),
        cmocka_unit_test(a_task_that_listens_has_a_turn_with_every_round),
        cmocka_unit_test(a_task_that_rests_has_no_turn_while_wins_come_in),
        cmocka_unit_test(a_task_that_is_off_has_no_turn_and_goes_on_when_it_is_not),
        cmocka_unit_test(the_end_is_told_to_those_who_want_to_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
