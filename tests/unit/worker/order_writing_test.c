/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that other processes write: this one hears of them, and tells its own edges. (The writing itself:
 * orders/order_writer and the end-to-end tests.) */
#include "worker/order_writing.h"

#include "api/link.h"
#include "base/arena.h"
#include "base/clock.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"
#include "worker/alarm_checks.h"
#include "worker/order_news.h"
#include "worker/order_recent.h"
#include "worker/outgoing_calls.h"
#include "worker/task.h"
#include "worker/unpaid_orders.h"
#include "worker/webhooks.h"

#include <string.h>

enum { NOW_MS = 1000000, ANNA = 42 };

static struct {
    struct place place;
    struct arena arena;
    struct config config;
    struct link *link;
    struct wake worker, edge, others;
    struct board board;
    struct inventory inventory;
    struct task task, alarms_task, unpaid_task, webhooks_task, calls_task;
    struct outgoing_calls *calls;
    struct order_news news;
    struct order_recent recent;
    struct order_writing *writing;
    struct worker_health health; /* what there is to be told */
    uint32_t asked;
} world;

static void health_tell(void *context, struct worker_health *health)
{
    assert_ptr_equal(context, &world.health);
    world.asked++;
    *health = world.health;
}

static void parts_open(void)
{
    char error[CONFIG_ERROR];
    assert_int_equal(
        outgoing_calls_open(&world.calls, &world.arena, &world.worker, &world.calls_task), STATUS_OK);
    world.news =
        (struct order_news){ .link = world.link, .store = world.place.store, .recent = &world.recent };
    assert_int_equal(webhooks_open(&world.news.webhooks, &world.arena,
                         &(struct webhooks_config){
                             .config = &world.config, .store = world.place.store, .calls = world.calls },
                         &world.webhooks_task, error),
        STATUS_OK);
}

static int setup(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    place_make(&world.place);
    assert_int_equal(place_open(&world.place, NULL), STATUS_OK);
    assert_int_equal(arena_open(&world.arena, order_writing_bytes() + (1 << 20)), STATUS_OK);
    assert_int_equal(link_open(&world.link, 1, 1), STATUS_OK);
    assert_int_equal(wake_open(&world.worker), STATUS_OK);
    assert_int_equal(wake_open(&world.edge), STATUS_OK);
    assert_int_equal(wake_open(&world.others), STATUS_OK);
    link_edge_wake(world.link, 0, &world.edge);
    link_others_wake(world.link, &world.others);
    world.inventory.board = &world.board;
    parts_open();
    const struct order_writing_config config = { .health = health_tell,
        .health_context = &world.health,
        .store = world.place.store,
        .wake = &world.worker,
        .news = &world.news,
        .inventory = &world.inventory,
        .link = world.link,
        .lag_max = 1000,
        .beside = true,
        .alarms = alarm_checks_open(&world.arena, world.place.store, &world.board, 100, &world.alarms_task),
        .unpaid = unpaid_orders_open(&world.arena,
            &(struct unpaid_orders_config){ .store = world.place.store, .news = &world.news },
            &world.unpaid_task) };
    assert_int_equal(order_writing_open(&world.writing, &world.arena, &config, &world.task), STATUS_OK);
    assert_int_equal(order_writing_start(world.writing), STATUS_OK); /* there is nothing to start */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    world.task.close(world.task.self);
    world.webhooks_task.close(world.webhooks_task.self);
    world.calls_task.close(world.calls_task.self);
    link_close(world.link);
    wake_close(&world.worker);
    wake_close(&world.edge);
    wake_close(&world.others);
    arena_close(&world.arena);
    place_remove(&world.place);
    return 0;
}

static uint64_t turn(void)
{
    const uint64_t next_ms = world.task.turn(world.task.self, NOW_MS);
    link_flush(world.link);
    return next_ms;
}

static bool edge_hears(ticket_number ticket, user_id user)
{
    struct link_note note;
    return link_take_back(world.link, 0, &note) && note.job == NULL && note.ticket == ticket
        && note.user == user;
}

static bool nobody_hears(void)
{
    struct link_note note;
    return !link_take_back(world.link, 0, &note) && !link_others_take(world.link, &note);
}

static void what_is_heard_is_told_to_the_edges_and_to_no_other_process(void **state)
{
    (void)state;
    assert_true(world.task.listens && !world.task.rests); /* it waits for nobody's disk */
    order_writing_heard(world.writing, 5, 55);
    order_writing_heard(world.writing, 6, 66);
    (void)turn();
    assert_true(nobody_hears()); /* more may come with it */
    assert_true(atomic_load(&world.worker.pending) == 0);
    order_writing_heard_end(world.writing);
    assert_true(atomic_load(&world.worker.pending) != 0);
    world.unpaid_task.due_ms = NOW_MS;
    (void)turn();
    assert_true(edge_hears(5, 55) && edge_hears(6, 66));
    assert_true(nobody_hears());
    assert_int_equal(world.unpaid_task.due_ms, 0); /* a deadline may be nearer */
    (void)turn();
    assert_true(nobody_hears()); /* once */
}

static void whose_order_it_is_is_looked_up_where_it_is_not_known(void **state)
{
    (void)state;
    assert_int_equal(place_sell(&world.place, ANNA), STATUS_OK);
    order_writing_heard(world.writing, world.place.lsn, 0);
    order_writing_heard(world.writing, world.place.lsn + 1, 0);
    order_writing_heard_end(world.writing);
    (void)turn();
    assert_true(edge_hears(world.place.lsn, ANNA));
    assert_true(edge_hears(world.place.lsn + 1, 0)); /* there is no such order */
    assert_true(nobody_hears());
}

static void many_that_have_no_names_make_the_edges_look_at_all(void **state)
{
    (void)state;
    order_writing_heard(world.writing, 0, 0);
    order_writing_heard_end(world.writing);
    (void)turn();
    assert_true(edge_hears(0, 0));
    assert_true(nobody_hears());
}

static void how_the_others_fare_is_asked_for_in_each_turn(void **state)
{
    (void)state;
    struct worker_health health;
    const uint64_t next_ms = turn();
    assert_true(next_ms > NOW_MS && next_ms <= NOW_MS + 1000);
    assert_int_equal(world.asked, 1);
    link_health(world.link, NOW_MS, &health);
    assert_true(!health.away && !health.stopped);
    world.health = (struct worker_health){ .away = true, .stopped = true };
    (void)turn();
    link_health(world.link, NOW_MS, &health);
    assert_true(health.away && health.stopped);
    world.health = (struct worker_health){ 0 };
    (void)turn();
    link_health(world.link, NOW_MS + 10 * DATABASE_SILENT_MS, &health);
    assert_false(health.away); /* the answer came */
}

static void a_stop_waits_for_nothing_and_tells_the_last_notes(void **state)
{
    (void)state;
    order_writing_last(world.writing);
    assert_true(order_writing_is_done(world.writing));
    assert_false(order_writing_is_behind(world.writing) || order_writing_was_filled(world.writing));
    order_writing_heard(world.writing, 5, 55);
    order_writing_heard_end(world.writing);
    world.task.end(world.task.self, NOW_MS);
    link_flush(world.link);
    assert_true(edge_hears(5, 55));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            what_is_heard_is_told_to_the_edges_and_to_no_other_process, setup, teardown),
        cmocka_unit_test_setup_teardown(
            whose_order_it_is_is_looked_up_where_it_is_not_known, setup, teardown),
        cmocka_unit_test_setup_teardown(many_that_have_no_names_make_the_edges_look_at_all, setup, teardown),
        cmocka_unit_test_setup_teardown(how_the_others_fare_is_asked_for_in_each_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stop_waits_for_nothing_and_tells_the_last_notes, setup, teardown),
    };
    clock_start(0);
    return cmocka_run_group_tests_name("worker/order_writing", tests, NULL, NULL);
}
