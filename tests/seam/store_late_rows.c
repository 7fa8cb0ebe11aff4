/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of one connection is a copy that counts statements and does something before one of them. */
#include "tests/seam/store_late_rows.h"

#include "contract/payment.h"
#include "store/store.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

enum {
    STATEMENTS_MAX = 60,
    PRICE = 999,
    UNITS = 1000,
    CREATED_MS = 1,
    PAY_BY_MS = 1000,
    NEVER = -1
};

static const struct store_server *server;

struct late {
    struct order_store *store, *other;
    item_id item;
    ticket_number ticket; /* the newest; also its position and its user */
};

static struct {
    const struct driver *real;
    struct driver driver;
    struct late *late;
    void (*happens)(struct late *);
    int before, statements, locked_at; /* numbers of statements */
} watched;

static enum status query_watched(struct sql_connection *connection, const char *sql,
    struct sql_values values, struct sql_row **row)
{
    if (watched.statements == watched.before)
        watched.happens(watched.late);
    if (strstr(sql, "FROM orders WHERE ticket") != NULL && strstr(sql, "FOR UPDATE") != NULL)
        watched.locked_at = watched.statements;
    watched.statements++;
    return watched.real->query(connection, sql, values, row);
}

static int late_setup(void **state)
{
    struct late *late = test_calloc(1, sizeof *late);
    struct product product = { .name = "Phone", .images = "[]", .currency = "CNY" };
    struct sale sale = { .title = "Sale", .start_ms = 1, .end_ms = 100000 };
    late->other = store_server_open(server, true);
    assert_non_null(late->other);
    const struct order_store_ops *ops = late->other->ops;
    assert_int_equal(ops->product_insert(late->other, &product), STATUS_OK);
    assert_int_equal(ops->sale_insert(late->other, &sale), STATUS_OK);
    struct item item = { .sale = sale.id, .product = product.id, .limit_per_user = 1, .total = UNITS };
    assert_int_equal(ops->item_insert(late->other, &item), STATUS_OK);
    late->item = item.id;
    late->store = store_server_open(server, false);
    assert_non_null(late->store);
    struct sql_connection *connection = store_connection(late->store);
    watched.real = connection->driver;
    watched.driver = *connection->driver;
    watched.driver.query = query_watched;
    watched.late = late;
    watched.before = NEVER;
    connection->driver = &watched.driver;
    *state = late;
    return 0;
}

static int late_teardown(void **state)
{
    struct late *late = *state;
    late->store->ops->close(late->store);
    late->other->ops->close(late->other);
    test_free(late);
    return 0;
}

/* ---- what the other connection does ---- */

static void order_comes(struct late *late)
{
    struct refusal refusal = { .index = UINT32_MAX };
    const uint8_t apply = DISPOSE_APPLY;
    const struct queue_record record = { .at.seq = late->ticket,
        .command = { .type = COMMAND_RESERVE,
            .time_ms = CREATED_MS,
            .reserve = { .user = late->ticket, .item = late->item, .quantity = 1 } },
        .outcome = { .answer = ANSWER_WON,
            .changed = true,
            .ticket = late->ticket,
            .unit_price = PRICE,
            .pay_by_ms = PAY_BY_MS } };
    assert_int_equal(late->other->ops->apply(late->other, &record, &apply, 1, &refusal), STATUS_OK);
}

static struct payment_start start_of(const struct late *late)
{
    struct payment_start start = { .ticket = late->ticket, .now_ms = CREATED_MS };
    snprintf(start.provider, sizeof start.provider, "alpha");
    snprintf(start.reference, sizeof start.reference, "alpha-%llu", (unsigned long long)late->ticket);
    return start;
}

static void payment_comes(struct late *late)
{
    const struct payment_start start = start_of(late);
    struct payment payment;
    struct order after;
    uint8_t answer;
    assert_int_equal(
        late->other->ops->payment->start(late->other, &start, &payment, &after, &answer), STATUS_OK);
    assert_int_equal(answer, START_DONE);
}

/* ---- what is asked for meanwhile; whether there was an order, or a payment ---- */

static bool move_finds(struct late *late)
{
    struct order after;
    uint8_t answer = MOVE_ANSWERS;
    const struct order_move move = { .ticket = late->ticket, .event = ORDER_EVENT_CANCEL, .now_ms = 2 };
    assert_int_equal(late->store->ops->orders_move(late->store, &move, 1, &after, &answer), STATUS_OK);
    assert_true(answer == MOVE_DONE || answer == MOVE_UNKNOWN);
    return answer == MOVE_DONE;
}

static bool start_finds(struct late *late)
{
    const struct payment_start start = start_of(late);
    struct payment payment;
    struct order after;
    uint8_t answer = START_UNKNOWN;
    assert_int_equal(
        late->store->ops->payment->start(late->store, &start, &payment, &after, &answer), STATUS_OK);
    assert_true(answer == START_DONE || answer == START_UNKNOWN);
    return answer == START_DONE;
}

static bool details_find(struct late *late)
{
    const struct order_details details = { .name = "N", .phone = "1", .address = "A", .note = "-" };
    struct order after;
    const enum status status = late->store->ops->payment->details_set(
        late->store, late->ticket, &details, CREATED_MS, &after);
    assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
    return status == STATUS_OK;
}

static bool news_find(struct late *late)
{
    struct payment_news news = { .kind = NEWS_CAPTURED, .amount = PRICE, .now_ms = 2, .asked = true };
    struct payment payment;
    struct order after;
    uint8_t answer = LEARN_ANSWERS;
    snprintf(news.currency, sizeof news.currency, "CNY");
    snprintf(news.provider, sizeof news.provider, "alpha");
    memcpy(news.reference, start_of(late).reference, sizeof news.reference);
    assert_int_equal(
        late->store->ops->payment->learn(late->store, &news, &payment, &after, &answer), STATUS_OK);
    assert_true(answer == LEARN_PAID || answer == LEARN_UNKNOWN);
    return answer == LEARN_PAID;
}

/* ---- */

/* The first round: before the first statement, so that it is found. The last one: after all of them. */
static void in_each_gap(struct late *late, bool order_is_there, void (*happens)(struct late *),
    bool (*finds)(struct late *))
{
    uint32_t found = 0, missed = 0;
    watched.happens = happens;
    for (int before = 0; before < STATEMENTS_MAX; before++) {
        late->ticket++;
        if (order_is_there)
            order_comes(late);
        watched.before = before;
        watched.statements = 0;
        watched.locked_at = NEVER;
        const bool is_found = finds(late);
        watched.before = NEVER;
        if (is_found && watched.locked_at < before)
            fail_msg("committed before statement %d, locked by statement %d", before, watched.locked_at);
        found += is_found;
        missed += !is_found;
        if (watched.statements <= before) { /* it did not happen */
            happens(late);
            break;
        }
    }
    assert_true(found > 0);
    assert_true(missed > 0);
}

static void order_that_comes_late_is_not_moved_without_a_lock(void **state)
{
    in_each_gap(*state, false, order_comes, move_finds);
}

static void order_that_comes_late_is_not_paid_without_a_lock(void **state)
{
    in_each_gap(*state, false, order_comes, start_finds);
}

static void order_that_comes_late_gets_no_details_without_a_lock(void **state)
{
    in_each_gap(*state, false, order_comes, details_find);
}

static void payment_that_comes_late_learns_nothing_without_a_lock(void **state)
{
    in_each_gap(*state, true, payment_comes, news_find);
}

int store_late_rows_run(const struct store_server *chosen)
{
#define LATE(test) cmocka_unit_test_setup_teardown(test, late_setup, late_teardown)
    const struct CMUnitTest tests[] = {
        LATE(order_that_comes_late_is_not_moved_without_a_lock),
        LATE(order_that_comes_late_is_not_paid_without_a_lock),
        LATE(order_that_comes_late_gets_no_details_without_a_lock),
        LATE(payment_that_comes_late_learns_nothing_without_a_lock),
    };
    server = chosen;
    return store_server_is_there(chosen) ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
