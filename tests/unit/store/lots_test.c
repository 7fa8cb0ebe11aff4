/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include "contract/reconcile.h"
#include "store/driver.h"
#include "store/lots.h"
#include "store/store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

enum { LOT = 4, BUYERS = 50 * LOT };

static void open_with(struct place *place, uint32_t lot_orders)
{
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    store_lots_set(place->store, lot_orders);
}

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    open_with(place, LOT);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

/* One after the other, so that each finds the lot that the one before has left. */
static void sell(struct place *place, user_id first, user_id last)
{
    for (user_id user = first; user <= last; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
}

static void refused(struct place *place, user_id user)
{
    assert_int_equal(place_sell(place, user), STATUS_REFUSED);
    assert_int_equal(place->refusal.kind, REFUSAL_UNIQUE);
}

static void orders_begin_a_new_lot_when_one_is_full(void **state)
{
    struct place *place = *state;
    sell(place, 1, LOT);
    assert_int_equal(place_number(place, "SELECT last_lot FROM items"), 0);
    sell(place, LOT + 1, LOT + 1);
    assert_int_equal(place_number(place, "SELECT last_lot FROM items"), 1);
    sell(place, LOT + 2, 3 * LOT);
    assert_int_equal(place_number(place,
                         "SELECT count(*) FROM (SELECT 1 FROM orders GROUP BY lot"
                         " HAVING count(*) = 4)"),
        3);
}

static void a_second_live_order_is_refused_whatever_lot_the_first_is_in(void **state)
{
    struct place *place = *state;
    sell(place, 1, BUYERS);
    for (user_id user = 1; user <= BUYERS; user++)
        refused(place, user);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), BUYERS);
}

static void a_second_live_order_is_refused_after_a_restart(void **state)
{
    struct place *place = *state;
    sell(place, 1, BUYERS + 1); /* the newest lot has begun */
    place_close(place);
    open_with(place, LOT);
    for (user_id user = 1; user <= BUYERS + 1; user++)
        refused(place, user);
    sell(place, BUYERS + 2, BUYERS + 2 * LOT); /* the lot that was begun before the restart is full now */
    for (user_id user = BUYERS; user <= BUYERS + 2 * LOT; user++)
        refused(place, user);
}

static void a_user_whose_order_is_over_may_buy_again_in_a_later_lot(void **state)
{
    struct place *place = *state;
    sell(place, 1, 2 * LOT);
    place_execute(place, "UPDATE orders SET state = 3, reason = 1, slot = NULL WHERE user_id = 2");
    sell(place, 2, 2);
    refused(place, 2);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders WHERE user_id = 2"), 2);
}

/* The lot that a dropped batch began is begun again, and users of the lot before it are still known. */
static void a_lot_that_was_rolled_back_hides_nobody(void **state)
{
    struct place *place = *state;
    sell(place, 1, 2 * LOT - 1);
    for (uint32_t round = 0; round < 3; round++) {
        struct queue_record records[2] = { place_win(place, 100 + round), place_win(place, 1) };
        assert_int_equal(place_apply(place, records, 2), STATUS_REFUSED);
        place->lsn -= 2;
        sell(place, 200 + round, 200 + round);
    }
    sell(place, 300, 300 + LOT);
    for (uint32_t round = 0; round < 3; round++)
        refused(place, 200 + round);
    refused(place, 2 * LOT - 1);
    sell(place, 100, 102); /* nobody but the dropped batches knew them */
}

/* Fewer orders are counted after a repair of the sums, so the lot before the newest is written to again. */
static void the_first_lot_is_noted_when_it_is_written_to_again(void **state)
{
    struct place *place = *state;
    sell(place, 1, LOT);
    struct queue_record records[2] = { place_win(place, 100), place_win(place, 1) };
    assert_int_equal(place_apply(place, records, 2), STATUS_REFUSED); /* lot 1 was begun, and was not */
    place->lsn -= 2;
    place_execute(place, "UPDATE order_sums SET orders = orders - 2 WHERE item = 1");
    sell(place, 50, 51);
    assert_int_equal(place_number(place, "SELECT max(lot) FROM orders"), 0);
    sell(place, 60, 60);
    assert_int_equal(place_number(place, "SELECT max(lot) FROM orders"), 1);
    refused(place, 50);
    refused(place, 51);
}

/* More items than there is room for, so that one loses its filters while a batch writes to it. */
enum { ITEMS = LOT_ITEMS_MAX + 4, TURNS = 6 };

static void items_without_room_for_filters_refuse_second_orders_too(void **state)
{
    struct place *place = *state;
    item_id items[ITEMS] = { place->item };
    for (uint32_t i = 1; i < ITEMS; i++)
        items[i] = place_item_add(place);
    for (uint32_t turn = 0; turn < TURNS * LOT; turn++)
        for (uint32_t i = 0; i < ITEMS; i++) {
            place->item = items[i];
            assert_int_equal(place_sell(place, 1 + turn), STATUS_OK);
        }
    for (uint32_t i = 0; i < ITEMS; i++) {
        place->item = items[i];
        for (uint32_t turn = 0; turn < TURNS * LOT; turn++)
            refused(place, 1 + turn);
    }
}

static void an_item_that_loses_its_room_in_a_batch_forgets_nobody(void **state)
{
    struct place *place = *state;
    struct queue_record records[2 + ITEMS * LOTS_KEPT * LOT];
    uint32_t count = 0;
    item_id items[ITEMS] = { place->item };
    for (uint32_t i = 1; i < ITEMS; i++)
        items[i] = place_item_add(place);
    for (uint32_t i = 0; i < ITEMS; i++) {
        place->item = items[i];
        sell(place, 1, LOT); /* its next order begins lot 1 */
    }
    place->item = items[0];
    records[count++] = place_win(place, 100);
    for (uint32_t i = 1; i < ITEMS; i++)
        for (user_id user = 100; user < 100 + LOTS_KEPT * LOT; user++) {
            place->item = items[i];
            records[count++] = place_win(place, user);
        }
    place->item = items[0];
    records[count++] = place_win(place, 101);
    assert_int_equal(place_apply(place, records, count), STATUS_OK);
    sell(place, 200, 200 + 2 * LOT);
    for (user_id user = 1; user <= LOT; user++)
        refused(place, user);
    refused(place, 100);
    refused(place, 101);
    for (user_id user = 200; user <= 200 + 2 * LOT; user++)
        refused(place, user);
}

static void a_batch_stays_in_one_lot_and_refuses_its_own_second_order(void **state)
{
    struct place *place = *state;
    struct queue_record records[3 * LOT];
    for (uint32_t i = 0; i < 3 * LOT; i++)
        records[i] = place_win(place, 1 + i);
    assert_int_equal(place_apply(place, records, 3 * LOT), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT max(lot) FROM orders"), 0);
    struct queue_record twice[] = { place_win(place, 1000), place_win(place, 1000) };
    assert_int_equal(place_apply(place, twice, 2), STATUS_REFUSED);
    assert_int_equal(place->refusal.kind, REFUSAL_UNIQUE);
}

static void the_last_lot_takes_all_that_comes_after_it(void **state)
{
    struct place *place = *state;
    store_lots_set(place->store, 1);
    sell(place, 1, LOTS_MAX + 8);
    assert_int_equal(place_number(place, "SELECT max(lot) FROM orders"), LOTS_MAX - 1);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders WHERE lot = 1023"), 9);
    refused(place, 1);
    refused(place, LOTS_MAX / 2);
    refused(place, LOTS_MAX + 8);
}

static bool is_found(struct order_store *store, user_id user, item_id item)
{
    const struct order_filter filter = { .user = user, .item = item };
    struct order order;
    uint32_t count = 0;
    ticket_number next;
    return store->ops->orders_list(store, &filter, &order, 1, &count, &next) == STATUS_OK
        && count == 1 && order.user == user;
}

static void orders_of_a_user_are_found_in_every_lot(void **state)
{
    struct place *place = *state;
    struct order_store *reader;
    sell(place, 1, BUYERS);
    assert_int_equal(place->store->ops->reader_open(place->store, &reader), STATUS_OK);
    struct order_store *stores[] = { place->store, reader };
    for (user_id user = 1; user <= BUYERS; user++)
        for (uint32_t i = 0; i < 2; i++) {
            assert_true(is_found(stores[i], user, 0));
            assert_true(is_found(stores[i], user, place->item));
        }
    reader->ops->close(reader);
}

/* How many lots a list of the user's orders looks into. */
static uint32_t lots_asked(struct order_store *store, item_id item, user_id user)
{
    struct lot_filter *lots = store_connection(store)->lots;
    uint32_t asked = 0;
    for (uint64_t lot = 0; lot <= BUYERS / LOT; lot++)
        asked += lots->may_have(lots, item, lot, user);
    return asked;
}

static void readers_ask_the_lots_that_may_have_the_user(void **state)
{
    struct place *place = *state;
    struct order_store *reader;
    const uint32_t all = BUYERS / LOT + 1;
    uint32_t own = 0, strangers = 0;
    sell(place, 1, BUYERS + 1); /* the newest lot has begun */
    assert_int_equal(place->store->ops->reader_open(place->store, &reader), STATUS_OK);
    for (user_id user = 1; user <= BUYERS; user++) {
        own += lots_asked(reader, place->item, user);
        strangers += lots_asked(reader, place->item, BUYERS + 1 + user);
    }
    assert_in_range(own, BUYERS, BUYERS + BUYERS / 10);
    assert_in_range(strangers, 0, BUYERS / 10);
    assert_int_equal(lots_asked(reader, place->item + 1, 1), all); /* of that item nothing is known */
    reader->ops->close(reader);
    place_close(place);
    open_with(place, LOT);
    assert_int_equal(place->store->ops->reader_open(place->store, &reader), STATUS_OK);
    assert_int_equal(lots_asked(reader, place->item, 1), all); /* nor of any item after a start */
    assert_true(is_found(reader, 1, 0));
    reader->ops->close(reader);
}

struct looking {
    struct order_store *reader;
    _Atomic user_id newest; /* who has bought */
    atomic_bool over;
    uint32_t looked, missed;
};

static void *look(void *context)
{
    struct looking *looking = context;
    for (user_id user = 0; !atomic_load(&looking->over); user++) {
        const user_id newest = atomic_load(&looking->newest);
        looking->missed += !is_found(looking->reader, newest, 0);
        looking->missed += !is_found(looking->reader, 1 + user % newest, 0);
        looking->looked++;
    }
    return NULL;
}

/* Filters are made, filled and given up while another thread looks into them. */
static void a_reader_misses_no_order_while_others_are_written(void **state)
{
    struct place *place = *state;
    struct looking looking = { .newest = 1 };
    pthread_t thread;
    item_id items[ITEMS] = { place->item };
    for (uint32_t i = 1; i < ITEMS; i++)
        items[i] = place_item_add(place);
    sell(place, 1, 1);
    assert_int_equal(place->store->ops->reader_open(place->store, &looking.reader), STATUS_OK);
    assert_int_equal(pthread_create(&thread, NULL, look, &looking), 0);
    for (user_id user = 2; user <= BUYERS * ITEMS / 4; user++) {
        place->item = items[user / (2 * LOTS_KEPT * LOT) % ITEMS];
        sell(place, user, user);
        atomic_store(&looking.newest, user);
    }
    atomic_store(&looking.over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_in_range(looking.looked, 1, UINT32_MAX);
    assert_int_equal(looking.missed, 0);
    looking.reader->ops->close(looking.reader);
}

/* Pages of a few, so that the bound of each page matters. */
static void reconciliation_walks_over_all_users_of_all_lots_in_order(void **state)
{
    struct place *place = *state;
    const struct reconcile_store_ops *look = place->store->ops->reconcile;
    struct look_user rows[24];
    for (user_id user = 1; user <= BUYERS; user++) /* in an order that looks like chance */
        assert_int_equal(place_sell(place, user * UINT64_C(0x9E3779B97F4A7C15)), STATUS_OK);
    for (uint32_t max = 1; max <= 24; max += 23) {
        uint32_t count = 1, seen = 0;
        user_id after = 0;
        assert_int_equal(look->moment_begin(place->store), STATUS_OK);
        for (bool first = true; count > 0; first = false) {
            assert_int_equal(
                look->users(place->store, place->item, first, after, rows, max, &count), STATUS_OK);
            /* a page that is not full is the last one */
            assert_int_equal(count, BUYERS - seen < max ? BUYERS - seen : max);
            for (uint32_t i = 0; i < count; i++, seen++) {
                assert_true((first && i == 0) || (int64_t)rows[i].user > (int64_t)after);
                assert_int_equal(rows[i].live, 1);
                after = rows[i].user;
            }
        }
        look->moment_end(place->store);
        assert_int_equal(seen, BUYERS);
    }
}

static void new_orders_change_the_newest_lot_only(void **state)
{
    const struct place *place = *state;
    assert_true(place_plan_has(place,
        "EXPLAIN QUERY PLAN SELECT 1 FROM orders"
        " WHERE item = 1 AND lot = 2 AND user_id = 3 AND slot = 0",
        "item=? AND lot=? AND user_id=? AND slot=?"));
    assert_true(place_plan_has(place,
        "EXPLAIN QUERY PLAN SELECT ticket FROM " ORDERS_BY_LOT(
            "orders", "orders") " AND items.id = 1 AND user_id = 3",
        "item=? AND lot=? AND user_id=?"));
    assert_int_equal(place_number(place, "SELECT count(*) FROM lot_numbers"), LOTS_MAX);
    assert_int_equal(place_number(place, "SELECT max(lot) FROM lot_numbers"), LOTS_MAX - 1);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest rules[] = {
        RULE(orders_begin_a_new_lot_when_one_is_full),
        RULE(a_second_live_order_is_refused_whatever_lot_the_first_is_in),
        RULE(a_second_live_order_is_refused_after_a_restart),
        RULE(a_user_whose_order_is_over_may_buy_again_in_a_later_lot),
        RULE(a_lot_that_was_rolled_back_hides_nobody),
        RULE(the_first_lot_is_noted_when_it_is_written_to_again),
        RULE(items_without_room_for_filters_refuse_second_orders_too),
        RULE(an_item_that_loses_its_room_in_a_batch_forgets_nobody),
        RULE(a_batch_stays_in_one_lot_and_refuses_its_own_second_order),
        RULE(the_last_lot_takes_all_that_comes_after_it),
        RULE(orders_of_a_user_are_found_in_every_lot),
        RULE(readers_ask_the_lots_that_may_have_the_user),
        RULE(a_reader_misses_no_order_while_others_are_written),
        RULE(reconciliation_walks_over_all_users_of_all_lots_in_order),
        RULE(new_orders_change_the_newest_lot_only),
    };
    return cmocka_run_group_tests_name("lots of orders", rules, NULL, NULL);
}
