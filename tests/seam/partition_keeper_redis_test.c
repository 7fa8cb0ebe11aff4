/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/partition_keeper_redis_test.c: a keeper of partitions on a real Redis (tools/with-redis) and a
 * real database. */
#include "base/clock.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "contract/ticket_number.h"
#include "inventory/redis/opening.h"
#include "tests/seam/keeper_kit.h"
#include "tests/seam/partition_kit.h"
#include "tests/seam/redis_kit.h"
#include "tests/unit/store/place.h"

#include <inttypes.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PART = SHOP_PART, UNITS = SHOP_UNITS };

static const char *address;

struct fixture {
    struct place place; /* the store: product 1, sale 1, item 1 */
    struct shop shop;
    struct worker worker, second;
    struct child child;
    uint64_t end_ms; /* of the sale */
};

/* ---- the shop ---- */

static uint32_t orders(struct fixture *f)
{
    return (uint32_t)place_number(&f->place, "SELECT count(*) FROM orders WHERE state = 1");
}

static struct part_state kept(struct fixture *f)
{
    struct part_state state;
    EVENTUALLY(f->place.store->ops->cluster->part(f->place.store, PART, &state) == STATUS_OK);
    return state;
}

static struct partition_found look(struct fixture *f)
{
    const struct opening opening = {
        .caller = f->shop.caller, .keys = &f->shop.keys, .timeout_ms = SHOP_LONG_MS
    };
    struct partition_found found;
    assert_int_equal(partition_look(&opening, &found), REDIS_ANSWER_OK);
    return found;
}

/* As a gateway does: the epoch of the database gives the script. */
static void script_use(struct fixture *f, uint32_t epoch)
{
    static char bytes[SCRIPT_BYTES_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    assert_int_equal(script_write(&text, f->shop.keys.prefix, epoch), STATUS_OK);
    script_sha(text_span(&text), f->shop.sha);
}

/* Waits until the partition is open with this epoch. */
static void open_wait(struct fixture *f, uint32_t epoch)
{
    EVENTUALLY(look(f).epoch == epoch);
    assert_int_equal(kept(f).epoch, epoch);
    script_use(f, epoch);
}

static void buy_all(struct fixture *f, user_id first, user_id last)
{
    for (user_id user = first; user <= last; user++)
        assert_int_equal(parts_buy(&f->shop, user), user <= UNITS ? ANSWER_WON : ANSWER_SOLD_OUT);
}

static void part_want(struct fixture *f, uint32_t part)
{
    EVENTUALLY(f->place.store->ops->cluster->part_want(f->place.store, part) == STATUS_OK);
}

static void execute(struct fixture *f, const char *sql)
{
    EVENTUALLY(place_try(&f->place, sql) == SQLITE_OK);
}

/* The whole sale is in the database, each unit once. */
static void sold_out_check(struct fixture *f)
{
    EVENTUALLY(orders(f) == UNITS);
    assert_int_equal(place_number(&f->place, "SELECT count(DISTINCT user_id) FROM orders"), UNITS);
    assert_int_equal(place_number(&f->place, "SELECT sold FROM items WHERE id = 1"), UNITS);
    assert_int_equal(place_number(&f->place, "SELECT count(*) FROM orders"), UNITS);
    assert_int_equal(kept(f).seq, 2 + UNITS);
}

static bool order_is_there(struct fixture *f, uint32_t epoch, uint32_t n)
{
    struct order order;
    const ticket_number ticket = ticket_number_make(&(struct ticket_parts){ PART, epoch, n });
    return f->place.store->ops->order_by_ticket(f->place.store, ticket, &order) == STATUS_OK;
}

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    log_level_set(LOG_ERROR + 1);
    place_make(&f->place);
    assert_int_equal(place_open(&f->place, NULL), STATUS_OK);
    parts_open(&f->shop, address);
    f->end_ms = clock_now_ms() + 3600000;
    part_want(f, PART);
    *state = f;
    return 0;
}

/* With a keeper on a thread, and a sale. */
static int setup_open(void **state)
{
    (void)!setup(state);
    struct fixture *f = *state;
    kept_start(&f->worker, &f->place, &f->shop, 2, LEASE_MS);
    open_wait(f, 1);
    parts_sale(&f->shop, f->end_ms);
    return 0;
}

/* With a keeper in a process of its own, and a sale. */
static int setup_child(void **state)
{
    (void)!setup(state);
    struct fixture *f = *state;
    child_start(&f->child, &f->place, &f->shop);
    open_wait(f, 1);
    parts_sale(&f->shop, f->end_ms);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    child_kill(&f->child);
    kept_stop(&f->worker);
    kept_stop(&f->second);
    parts_close(&f->shop);
    place_remove(&f->place);
    test_free(f);
    return 0;
}

/* ---- rules ---- */

static void a_wanted_partition_is_opened_by_itself_and_its_sales_are_written(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, UNITS + 3);
    sold_out_check(f);
    EVENTUALLY(kept_health(&f->worker).lag == 0);
    const struct keeper_health found = kept_health(&f->worker);
    assert_true(found.known == 1 && found.owned == 1 && found.open == 1 && found.closed == 0);
    assert_true(!found.is_store_away && !found.is_redis_away && found.oldest_ms == 0);
    const struct heard told = kept_heard(&f->worker);
    assert_true(told.changed == UNITS && told.alarms == 0);
    const struct redis_info *info = redis_client_info(redis_caller_client(f->shop.caller), 0);
    assert_string_equal(look(f).replid, info->replid);
    struct command again = parts_purchase(7);
    again.reserve.key = 1;
    assert_int_equal(parts_must(&f->shop, &again), ANSWER_ALREADY_BOUGHT); /* the script knows it is kept */
}

static void a_second_worker_takes_over_after_the_first_was_killed(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, 10);
    EVENTUALLY(orders(f) == 10);
    child_kill(&f->child);
    kept_start(&f->worker, &f->place, &f->shop, 2, LEASE_MS);
    open_wait(f, 2);
    buy_all(f, 11, UNITS + 1);
    sold_out_check(f);
}

static void a_purchase_proposed_before_a_takeover_becomes_an_order(void **state)
{
    struct fixture *f = *state;
    EVENTUALLY(kept(f).seq == 2);
    child_halt(&f->child);
    buy_all(f, 1, 7); /* in the stream only */
    child_kill(&f->child);
    assert_int_equal(orders(f), 0);
    kept_start(&f->worker, &f->place, &f->shop, 2, LEASE_MS);
    open_wait(f, 2);
    EVENTUALLY(orders(f) == 7);
    assert_true(order_is_there(f, 1, 7)); /* a ticket of the epoch that it was won under */
    buy_all(f, 8, UNITS + 1);
    sold_out_check(f);
    assert_true(order_is_there(f, 2, 8));
}

static void a_worker_that_was_stopped_and_goes_on_changes_nothing(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, 3);
    child_halt(&f->child);
    kept_start(&f->worker, &f->place, &f->shop, 2, LEASE_MS);
    open_wait(f, 2);
    buy_all(f, 4, 6);
    child_go_on(&f->child);
    buy_all(f, 7, UNITS + 1);
    sold_out_check(f);
    usleep(2 * LEASE_MS * 1000);
    assert_int_equal(kept(f).epoch, 2);
    assert_int_equal(look(f).epoch, 2);
}

static void an_empty_redis_is_opened_from_the_database(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, 5);
    EVENTUALLY(orders(f) == 5);
    parts_do(&f->shop, REDIS_WORDS(SPAN("FLUSHALL")));
    open_wait(f, 2);
    assert_int_equal(parts_buy(&f->shop, 3), ANSWER_REPEATED);
    assert_int_equal(f->shop.outcome.ticket, 3);
    buy_all(f, 6, UNITS + 5);
    sold_out_check(f);
    EVENTUALLY(kept_heard(&f->worker).cleared == 1);
    assert_non_null(strstr(kept_heard(&f->worker).first_alarm, "partition-closed: state-lost"));
}

static void a_server_that_forgot_the_script_is_opened_again(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, 5);
    parts_do(&f->shop, REDIS_WORDS(SPAN("SCRIPT"), SPAN("FLUSH")));
    open_wait(f, 2);
    buy_all(f, 6, UNITS + 1);
    sold_out_check(f);
    assert_true(order_is_there(f, 1, 5));
    assert_non_null(strstr(kept_heard(&f->worker).first_alarm, "partition-closed: script-lost"));
}

/* A replica that is promoted has another replication id. */
static void another_master_is_opened_again(void **state)
{
    struct fixture *f = *state;
    const struct partition_found before = look(f);
    buy_all(f, 1, 5);
    parts_do(&f->shop, REDIS_WORDS(SPAN("REPLICAOF"), SPAN("127.0.0.1"), SPAN("1")));
    parts_do(&f->shop, REDIS_WORDS(SPAN("REPLICAOF"), SPAN("NO"), SPAN("ONE")));
    open_wait(f, 2);
    assert_string_not_equal(look(f).replid, before.replid);
    buy_all(f, 6, UNITS + 1);
    sold_out_check(f);
    assert_non_null(strstr(kept_heard(&f->worker).first_alarm, "partition-closed: other-server"));
}

/* Redis has lost its last records, as a promoted replica may: it is behind the database. */
static void a_redis_that_lost_its_last_records_is_opened_again(void **state)
{
    struct fixture *f = *state;
    const struct span part = f->shop.keys.names[SCRIPT_KEY_PART];
    buy_all(f, 1, 5);
    EVENTUALLY(orders(f) == 5);
    parts_do(&f->shop, REDIS_WORDS(SPAN("HSET"), part, SPAN("head"), SPAN("6 1 4 4 6 4")));
    open_wait(f, 2);
    assert_int_equal(parts_buy(&f->shop, 5), ANSWER_REPEATED);
    buy_all(f, 6, UNITS + 1);
    sold_out_check(f);
}

static void stream_add(struct fixture *f, const char *id, const char *record)
{
    const struct span log = f->shop.keys.names[SCRIPT_KEY_LOG];
    char time[24];
    snprintf(time, sizeof time, "%" PRIu64, clock_now_ms() + 1000);
    parts_do(&f->shop,
        REDIS_WORDS(SPAN("XADD"), log, span_from_string(id), SPAN("e"), SPAN("1"), SPAN("t"),
            span_from_string(time), SPAN("r"), span_from_string(record)));
}

static void a_record_that_differs_is_not_kept_and_the_partition_is_opened_again(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, 5);
    stream_add(f, "8-0", "reserve 0000000000000063 0000000000000063 1 1 0 0 0 = 1 c1 t6 p98 y1");
    open_wait(f, 2);
    assert_int_equal(orders(f), 5); /* what came before it is */
    assert_int_equal(kept(f).seq, 7);
    assert_non_null(strstr(kept_heard(&f->worker).first_alarm, "script-differs: epoch 1: record 8"));
    EVENTUALLY(kept_heard(&f->worker).cleared == 1);
    buy_all(f, 6, UNITS + 1);
    sold_out_check(f);
}

static void a_gap_in_the_stream_is_not_skipped(void **state)
{
    struct fixture *f = *state;
    buy_all(f, 1, 5);
    stream_add(f, "9-0", "gate 1 0 = 18 c1");
    open_wait(f, 2);
    assert_non_null(strstr(kept_heard(&f->worker).first_alarm, "partition-closed: stream-damaged"));
    buy_all(f, 6, UNITS + 1);
    sold_out_check(f);
}

static void a_fenced_worker_writes_nothing(void **state)
{
    struct fixture *f = *state;
    struct order_store *store = f->place.store;
    buy_all(f, 1, 5);
    EVENTUALLY(orders(f) == 5);
    EVENTUALLY(store->ops->cluster->epoch_raise(store, PART, 1) == STATUS_OK);
    assert_int_equal(parts_buy(&f->shop, 6), ANSWER_WON); /* proposed under epoch 1 */
    open_wait(f, 3);
    assert_int_equal(orders(f), 5);
    assert_int_equal(parts_buy(&f->shop, 6), ANSWER_WON); /* the proposal is void: once more */
    buy_all(f, 7, UNITS + 1);
    sold_out_check(f);
    assert_true(order_is_there(f, 3, 6) && !order_is_there(f, 1, 6));
    assert_non_null(strstr(kept_heard(&f->worker).first_alarm, "partition-closed: fenced"));
}

/* Gateways call the script of the new epoch, so nothing comes that could be refused. */
static void an_epoch_that_was_raised_by_another_is_heard_without_a_purchase(void **state)
{
    struct fixture *f = *state;
    struct order_store *store = f->place.store;
    EVENTUALLY(kept(f).seq == 2); /* sale and item */
    EVENTUALLY(store->ops->cluster->epoch_raise(store, PART, 1) == STATUS_OK);
    open_wait(f, 3);
    buy_all(f, 1, UNITS + 1);
    sold_out_check(f);
}

static void a_lost_lease_stops_writing(void **state)
{
    struct fixture *f = *state;
    execute(f, "UPDATE leases SET holder = 99, token = token + 1, until_ms = 1 << 60");
    EVENTUALLY(kept_health(&f->worker).owned == 0);
    const uint32_t before = orders(f);
    buy_all(f, 1, 5); /* Redis is not shut for it */
    usleep(2 * LEASE_MS * 1000);
    assert_int_equal(orders(f), before);
    execute(f, "UPDATE leases SET until_ms = 1");
    open_wait(f, 2);
    EVENTUALLY(orders(f) == 5);
}

/* The lease runs out in that time, and is asked for again: nobody else had it. */
static void a_database_that_is_away_closes_no_partition(void **state)
{
    struct fixture *f = *state;
    sqlite3 *database;
    buy_all(f, 1, 5);
    EVENTUALLY(orders(f) == 5);
    assert_int_equal(sqlite3_open(f->place.path, &database), SQLITE_OK);
    EVENTUALLY(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    EVENTUALLY(kept_health(&f->worker).is_store_away && kept_health(&f->worker).owned == 0);
    buy_all(f, 6, 12);
    assert_int_equal(orders(f), 5);
    assert_int_equal(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    EVENTUALLY(orders(f) == 12);
    assert_int_equal(parts_buy(&f->shop, 13), ANSWER_WON); /* it was open all the time */
    EVENTUALLY(order_is_there(f, 1, 13));
    EVENTUALLY(!kept_health(&f->worker).is_store_away);
    assert_int_equal(kept(f).epoch, 1);
    assert_int_equal(kept_heard(&f->worker).alarms, 0);
}

static void a_note_is_published_after_a_commit(void **state)
{
    struct fixture *f = *state;
    static struct redis_kit kit;
    char expected[REDIS_KIT_TEXT_MAX];
    redis_kit_open(&kit, address, NULL, NULL, &f->shop.config.limits);
    redis_kit_subscriber_open(&kit);
    EVENTUALLY(kept(f).seq == 2);
    assert_int_equal(redis_subscriber_add(kit.subscriber, f->shop.keys.notes), STATUS_OK);
    REDIS_KIT_UNTIL(&kit, kit.subscribed > 0);
    assert_int_equal(parts_buy(&f->shop, 1), ANSWER_WON);
    snprintf(expected, sizeof expected, "%s %d 3", f->shop.keys.notes.data, PART);
    REDIS_KIT_UNTIL(&kit, strcmp(kit.note, expected) == 0);
    assert_int_equal(orders(f), 1); /* it was written before */
    redis_kit_close(&kit);
}

static void a_worker_that_stops_writes_what_there_is_and_gives_its_leases_back(void **state)
{
    struct fixture *f = *state;
    kept_start(&f->worker, &f->place, &f->shop, 2, PATIENCE_MS * 10);
    open_wait(f, 1);
    parts_sale(&f->shop, f->end_ms);
    buy_all(f, 1, 20);
    kept_stop(&f->worker);
    assert_int_equal(orders(f), 20);
    assert_int_equal(place_number(&f->place, "SELECT holder FROM leases WHERE name = 'part 7'"), 0);
    buy_all(f, 21, 25); /* while nobody cares for it */
    kept_start(&f->worker, &f->place, &f->shop, 3, LEASE_MS);
    open_wait(f, 2);
    EVENTUALLY(orders(f) == 25);
}

static void two_workers_share_the_partitions(void **state)
{
    struct fixture *f = *state;
    for (uint32_t part = PART + 1; part < PART + 8; part++)
        part_want(f, part);
    kept_start(&f->worker, &f->place, &f->shop, 2, LEASE_MS);
    kept_start(&f->second, &f->place, &f->shop, 3, LEASE_MS);
    EVENTUALLY(kept_health(&f->worker).open + kept_health(&f->second).open == 8);
    assert_int_equal(
        place_number(&f->place, "SELECT count(*) FROM parts WHERE part > 0 AND epoch = 1"), 8);
    kept_stop(&f->worker);
    EVENTUALLY(kept_health(&f->second).open == 8);
}

#define RULE(name, setup_function) cmocka_unit_test_setup_teardown(name, setup_function, teardown)

int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        RULE(a_wanted_partition_is_opened_by_itself_and_its_sales_are_written, setup_open),
        RULE(a_second_worker_takes_over_after_the_first_was_killed, setup_child),
        RULE(a_purchase_proposed_before_a_takeover_becomes_an_order, setup_child),
        RULE(a_worker_that_was_stopped_and_goes_on_changes_nothing, setup_child),
        RULE(an_empty_redis_is_opened_from_the_database, setup_open),
        RULE(a_server_that_forgot_the_script_is_opened_again, setup_open),
        RULE(another_master_is_opened_again, setup_open),
        RULE(a_redis_that_lost_its_last_records_is_opened_again, setup_open),
        RULE(a_record_that_differs_is_not_kept_and_the_partition_is_opened_again, setup_open),
        RULE(a_gap_in_the_stream_is_not_skipped, setup_open),
        RULE(a_fenced_worker_writes_nothing, setup_open),
        RULE(an_epoch_that_was_raised_by_another_is_heard_without_a_purchase, setup_open),
        RULE(a_lost_lease_stops_writing, setup_open),
        RULE(a_database_that_is_away_closes_no_partition, setup_open),
        RULE(a_note_is_published_after_a_commit, setup_open),
        RULE(a_worker_that_stops_writes_what_there_is_and_gives_its_leases_back, setup),
        RULE(two_workers_share_the_partitions, setup),
    };
    clock_start(0);
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        fputs("run by tools/with-redis\n", stderr);
        return 1;
    }
    if (count == 4 && strcmp(words[1], "keep") == 0)
        return child_run(address, words + 2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
