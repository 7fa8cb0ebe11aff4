/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/partition_opener_redis_test.c: the steps of an opening on a real Redis (tools/with-redis), and
 * what comes in between. */
#include "partition/opener.h"

#include "base/clock.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "contract/ticket_number.h"
#include "inventory/redis/opening.h"
#include "orders/order_writer.h"
#include "tests/seam/partition_kit.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *address;

struct fixture {
    struct place place;
    struct shop shop;
    struct opener opener;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    log_level_set(LOG_ERROR + 1);
    place_make(&f->place);
    assert_int_equal(place_open(&f->place, NULL), STATUS_OK);
    parts_open(&f->shop, address);
    opener_init(&f->opener,
        &(struct opener_config){ .part = SHOP_PART,
            .data_id = f->shop.data_id,
            .store = f->place.store,
            .caller = f->shop.caller,
            .engine = &parts_engine,
            .lag_max = 1000,
            .timeout_ms = SHOP_LONG_MS });
    assert_int_equal(f->place.store->ops->cluster->part_want(f->place.store, SHOP_PART), STATUS_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    opener_close(&f->opener);
    parts_close(&f->shop);
    place_remove(&f->place);
    test_free(f);
    return 0;
}

static uint32_t store_epoch(struct fixture *f)
{
    return (uint32_t)place_number(&f->place, "SELECT epoch FROM parts WHERE part = 7");
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

static void field_set(struct fixture *f, enum script_key key, const char *field, const char *value)
{
    parts_do(&f->shop,
        REDIS_WORDS(SPAN("HSET"), f->shop.keys.names[key], span_from_string(field),
            span_from_string(value)));
}

static void length_take(void *context, const struct redis_value *value)
{
    *(int64_t *)context = value->kind == REDIS_KIND_NUMBER ? value->number : -1;
}

static bool field_is_there(struct fixture *f, enum script_key key, const char *field)
{
    const struct span name = f->shop.keys.names[key];
    int64_t length = -1;
    assert_int_equal(
        redis_call(f->shop.caller, name, REDIS_WORDS(SPAN("HSTRLEN"), name, span_from_string(field)),
            SHOP_LONG_MS, length_take, &length),
        REDIS_ANSWER_OK);
    return length > 0;
}

/* All of an opening, as its owner does it. */
static enum closing open_whole(struct fixture *f)
{
    bool drains;
    opener_close(&f->opener);
    const enum closing closing = opener_start(&f->opener, &drains);
    if (closing != CLOSING_NONE)
        return closing;
    struct order_writer_progress progress = { .records = drains };
    while (progress.records > 0)
        assert_int_equal(order_writer_turn(f->opener.writer, 1, &progress), STATUS_OK);
    return opener_finish(&f->opener);
}

static void the_epoch_of_an_opening_that_failed_is_used_again(void **state)
{
    struct fixture *f = *state;
    bool drains;
    assert_int_equal(opener_start(&f->opener, &drains), CLOSING_NONE);
    assert_false(drains);
    field_set(f, SCRIPT_KEY_PART, "open", "9"); /* somebody claims it just now */
    assert_int_equal(opener_finish(&f->opener), CLOSING_FENCED);
    assert_int_equal(store_epoch(f), 1);
    assert_int_equal(look(f).epoch, 0);
    field_set(f, SCRIPT_KEY_PART, "open", "0");
    assert_int_equal(open_whole(f), CLOSING_NONE);
    assert_int_equal(store_epoch(f), 1);
    assert_int_equal(look(f).epoch, 1);
    assert_int_equal(open_whole(f), CLOSING_NONE); /* that one was open: never again */
    assert_int_equal(store_epoch(f), 2);
}

static void a_database_that_is_older_than_redis_opens_nothing(void **state)
{
    struct fixture *f = *state;
    bool drains;
    field_set(f, SCRIPT_KEY_PART, "open", "1");
    assert_int_equal(opener_start(&f->opener, &drains), CLOSING_FENCED);
    assert_non_null(strstr(f->opener.what, "epoch 1, and the database knows only epoch 0"));
    assert_int_equal(store_epoch(f), 0);
}

/* A worker that was left behind wrote under the old epoch, after the engine was rebuilt. */
static void a_database_that_went_on_is_not_opened_with_less(void **state)
{
    struct fixture *f = *state;
    bool drains;
    assert_int_equal(opener_start(&f->opener, &drains), CLOSING_NONE);
    place_execute(&f->place, "UPDATE parts SET seq = 1 WHERE part = 7");
    assert_int_equal(opener_finish(&f->opener), CLOSING_STORE_DIFFERS);
    assert_int_equal(look(f).epoch, 0);
}

static void the_state_is_taken_over_only_from_the_server_that_was_opened(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(open_whole(f), CLOSING_NONE);
    field_set(f, SCRIPT_KEY_USERS, "marker", "1"); /* loading clears it */
    assert_int_equal(open_whole(f), CLOSING_NONE);
    assert_true(field_is_there(f, SCRIPT_KEY_USERS, "marker"));
    field_set(f, SCRIPT_KEY_PART, "replid", "0123456789012345678901234567890123456789");
    assert_int_equal(open_whole(f), CLOSING_NONE);
    assert_false(field_is_there(f, SCRIPT_KEY_USERS, "marker"));
    assert_string_equal(look(f).replid, opener_server(&f->opener)->replid);
}

static void an_epoch_that_is_being_drained_sells_nothing(void **state)
{
    struct fixture *f = *state;
    bool drains;
    assert_int_equal(open_whole(f), CLOSING_NONE);
    opener_close(&f->opener);
    assert_int_equal(opener_start(&f->opener, &drains), CLOSING_NONE);
    assert_true(drains);
    assert_int_equal(look(f).epoch, 0);
    assert_int_equal(look(f).shut, 1);
}

static void no_more_than_the_last_epoch_can_be_opened(void **state)
{
    struct fixture *f = *state;
    place_execute(&f->place, "UPDATE parts SET epoch = 4094 WHERE part = 7");
    assert_int_equal(open_whole(f), CLOSING_NONE);
    assert_int_equal(look(f).epoch, EPOCH_MAX);
    assert_int_equal(open_whole(f), CLOSING_NOT_OPENED);
    assert_non_null(strstr(f->opener.what, "no epoch is left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_epoch_of_an_opening_that_failed_is_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_is_older_than_redis_opens_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_went_on_is_not_opened_with_less, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_state_is_taken_over_only_from_the_server_that_was_opened, setup, teardown),
        cmocka_unit_test_setup_teardown(an_epoch_that_is_being_drained_sells_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_than_the_last_epoch_can_be_opened, setup, teardown),
    };
    clock_start(0);
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        fputs("run by tools/with-redis\n", stderr);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
