/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/store_lost_answers.h"

#include "contract/payment.h"
#include "store/store.h"
#include "tests/seam/relay.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWERS_MAX = 400, TRIES_MAX = 500, WAIT_US = 10000, UNITS = 1000, PRICE = 999 };

static const struct store_server *server;

struct lossy {
    struct order_store *store, *direct; /* through the relay, and not */
    struct relay *relay;
    item_id item;
    lsn_t lsn;
};

static const char *server_url(void)
{
    const char *url = getenv(server->variable);
    if (url == NULL)
        fail_msg("%s is not set", server->variable);
    return url == NULL ? "" : url;
}

static struct order_store *open_through(const struct relay *relay)
{
    const char *url = server_url(), *colon = strrchr(url, ':'), *slash = strrchr(url, '/');
    char at[512], error[256] = "";
    struct sql_connection *connection;
    struct order_store *store;
    snprintf(at, sizeof at, "%.*s:%u%s", (int)(colon - url), url, relay_port(relay), slash);
    assert_int_equal(server->connect(&connection, at, NULL, error, sizeof error), STATUS_OK);
    assert_int_equal(store_make(connection, &store), STATUS_OK);
    return store;
}

static int lossy_setup(void **state)
{
    struct lossy *lossy = test_calloc(1, sizeof *lossy);
    struct product product = { .name = "Phone", .images = "[]", .currency = "CNY" };
    struct sale sale = { .title = "Sale", .start_ms = 1, .end_ms = 100000 };
    lossy->direct = store_server_open(server, true);
    assert_non_null(lossy->direct);
    const struct order_store_ops *ops = lossy->direct->ops;
    assert_int_equal(ops->product_insert(lossy->direct, &product), STATUS_OK);
    assert_int_equal(ops->sale_insert(lossy->direct, &sale), STATUS_OK);
    struct item item = { .sale = sale.id, .product = product.id, .limit_per_user = 1, .total = UNITS };
    assert_int_equal(ops->item_insert(lossy->direct, &item), STATUS_OK);
    lossy->item = item.id;
    const char *colon = strrchr(server_url(), ':');
    assert_non_null(colon);
    lossy->relay = relay_open((uint16_t)strtoul(colon + 1, NULL, 10));
    lossy->store = open_through(lossy->relay);
    *state = lossy;
    return 0;
}

static int lossy_teardown(void **state)
{
    struct lossy *lossy = *state;
    lossy->store->ops->close(lossy->store);
    lossy->direct->ops->close(lossy->direct);
    relay_close(lossy->relay);
    test_free(lossy);
    return 0;
}

/* Ticket = user = position. */
static enum status sell(struct order_store *store, const struct lossy *lossy)
{
    struct refusal refusal = { .index = UINT32_MAX };
    const uint8_t apply = DISPOSE_APPLY;
    const struct queue_record record = { .at.seq = lossy->lsn,
        .command = { .type = COMMAND_RESERVE,
            .time_ms = 1,
            .reserve = { .user = lossy->lsn, .item = lossy->item, .quantity = 1 } },
        .outcome = { .answer = ANSWER_WON,
            .changed = true,
            .ticket = lossy->lsn,
            .unit_price = PRICE,
            .pay_by_ms = 1000 } };
    return store->ops->apply(store, &record, &apply, 1, &refusal);
}

static enum status pay(struct order_store *store, const struct lossy *lossy, uint8_t *answer)
{
    struct order after;
    struct order_move move = { .ticket = lossy->lsn, .event = ORDER_EVENT_PAY, .now_ms = 2, .amount = PRICE };
    snprintf(move.currency, sizeof move.currency, "CNY");
    snprintf(move.reference, sizeof move.reference, "money-%llu", (unsigned long long)lossy->lsn);
    return store->ops->orders_move(store, &move, 1, &after, answer);
}

static enum order_state state_of(const struct lossy *lossy)
{
    struct order order = { .state = ORDER_NONE };
    const enum status status = lossy->direct->ops->order_by_ticket(lossy->direct, lossy->lsn, &order);
    assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
    return (enum order_state)order.state;
}

static void check_all(const struct lossy *lossy, uint64_t paid)
{
    struct order_store *store = lossy->direct;
    struct item item;
    struct money_totals money;
    uint64_t live;
    item_id wrong;
    assert_int_equal(store->ops->item_get(store, lossy->item, &item), STATUS_OK);
    assert_int_equal(store->ops->live_units(store, lossy->item, &live), STATUS_OK);
    assert_int_equal(store->ops->sums_check(store, &wrong), STATUS_OK);
    assert_int_equal(store->ops->payment->totals(store, &money), STATUS_OK);
    assert_int_equal(item.sold, lossy->lsn);
    assert_int_equal(live, lossy->lsn);
    assert_int_equal(wrong, 0);
    assert_int_equal(money.captured, paid * PRICE);
    assert_int_equal(money.paid, paid * PRICE);
}

/* As the order writer does it: the same batch again, until it is in. */
static void batch_is_written_once_whichever_answer_is_lost(void **state)
{
    struct lossy *lossy = *state;
    bool lost = true;
    for (uint32_t passed = 0; lost && passed < ANSWERS_MAX; passed++) {
        enum status status = STATUS_AWAY;
        lossy->lsn++;
        relay_lose_later(lossy->relay, passed);
        for (int i = 0; i < TRIES_MAX && status != STATUS_OK; i++) {
            status = sell(lossy->store, lossy);
            assert_true(status == STATUS_OK || status == STATUS_AWAY || status == STATUS_UNKNOWN);
            assert_true(status != STATUS_AWAY || state_of(lossy) == ORDER_NONE);
            usleep(status == STATUS_OK ? 0 : WAIT_US);
        }
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(state_of(lossy), ORDER_PENDING);
        lost = !relay_is_losing(lossy->relay);
        relay_set(lossy->relay, RELAY_PASS);
    }
    assert_false(lost);
    check_all(lossy, 0);
}

static void move_is_made_once_and_told_whichever_answer_is_lost(void **state)
{
    struct lossy *lossy = *state;
    bool lost = true;
    for (uint32_t passed = 0; lost && passed < ANSWERS_MAX; passed++) {
        enum status status = STATUS_AWAY;
        uint8_t answer = MOVE_ANSWERS;
        bool unknown = false;
        lossy->lsn++;
        assert_int_equal(sell(lossy->direct, lossy), STATUS_OK);
        relay_lose_later(lossy->relay, passed);
        for (int i = 0; i < TRIES_MAX && status != STATUS_OK; i++) {
            status = pay(lossy->store, lossy, &answer);
            assert_true(status == STATUS_OK || status == STATUS_AWAY || status == STATUS_UNKNOWN);
            assert_true(status != STATUS_AWAY || unknown || state_of(lossy) == ORDER_PENDING);
            unknown |= status == STATUS_UNKNOWN;
            usleep(status == STATUS_OK ? 0 : WAIT_US);
        }
        assert_int_equal(status, STATUS_OK);
        assert_true(answer == MOVE_DONE || (unknown && answer == MOVE_REPEATED));
        assert_int_equal(state_of(lossy), ORDER_PAID);
        lost = !relay_is_losing(lossy->relay);
        relay_set(lossy->relay, RELAY_PASS);
    }
    assert_false(lost);
    check_all(lossy, lossy->lsn);
}

int store_lost_answers_run(const struct store_server *chosen)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            batch_is_written_once_whichever_answer_is_lost, lossy_setup, lossy_teardown),
        cmocka_unit_test_setup_teardown(
            move_is_made_once_and_told_whichever_answer_is_lost, lossy_setup, lossy_teardown),
    };
    server = chosen;
    return store_server_is_there(chosen) ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
