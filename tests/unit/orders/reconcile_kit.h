/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/orders/reconcile_kit.h: a run of reconciliation beside a database and an inventory that
 * are a few rows, which a test sets; what changes between two turns is up to the test. */
#ifndef STAMPEDE_TESTS_UNIT_ORDERS_RECONCILE_KIT_H
#define STAMPEDE_TESTS_UNIT_ORDERS_RECONCILE_KIT_H

#include "orders/reconcile.h"

#include "base/log.h"
#include "tests/unit/base/unit.h"

#include <string.h>

enum {
    ROWS_MAX = 600,
    ITEM = 1,
    SALE = 1,
    PORT_MAX = RECONCILE_SLICE,
    TURNS_MAX = 2000,
    TURN_MS = 10
};

enum { SHOP_PART = 2 };
struct shop {
    struct order_store store;
    struct inventory_port port;
    struct arena arena;
    struct board board;
    struct reconcile_config config;
    struct reconcile *reconcile;
    uint64_t now_ms;
    /* the database */
    lsn_t position;
    struct look_order orders[ROWS_MAX]; /* ascending tickets */
    uint32_t order_count;
    ticket_number dead, moved_ticket;
    uint64_t moved_event;
    struct look_user user;
    struct look_item item, item_now;
    struct look_counter counter;
    struct look_money money;
    uint64_t payment_last, captured, accounted;
    struct sale sale;
    uint32_t event_count;
    enum status applied_answer, orders_answer, users_answer, money_answer, repair_answer;
    struct finding repairs[8];
    uint32_t repair_count, told, moments;
    /* the inventory */
    struct outcome tickets[ROWS_MAX + 100]; /* by number */
    struct outcome (*ticket_ask)(const struct shop *shop, const struct command_ask *ask); /* NULL: those */
    uint64_t marked;
    bool silent;
    struct inventory_request requests[PORT_MAX];
    uint32_t committed, flushed, answered;
    struct inventory_answer out;
};

static inline struct shop *of_store(struct order_store *store)
{
    return (struct shop *)store;
}

static inline struct shop *of_port(struct inventory_port *port)
{
    return (struct shop *)((char *)port - offsetof(struct shop, port));
}

/* ---- the database ---- */

static inline enum status store_applied(struct order_store *store, uint32_t part, struct position *position)
{
    *position = (struct position){ part, part == SHOP_PART ? of_store(store)->position : 0 };
    return of_store(store)->applied_answer;
}

static inline enum status store_events(struct order_store *store, uint64_t after,
    struct stock_event *events, uint32_t max, uint32_t *count)
{
    (void)after;
    *count = of_store(store)->event_count < max ? of_store(store)->event_count : max;
    memset(events, 0, *count * sizeof *events);
    return STATUS_OK;
}

static inline enum status store_sale(struct order_store *store, sale_id id, struct sale *sale)
{
    *sale = of_store(store)->sale;
    return id == SALE ? STATUS_OK : STATUS_NOT_FOUND;
}

static inline enum status moment_begin(struct order_store *store)
{
    of_store(store)->moments++;
    return STATUS_OK;
}

static inline void moment_end(struct order_store *store)
{
    of_store(store)->moments = 0;
}

static inline enum status look_orders(struct order_store *store, ticket_number after,
    struct look_order *rows, uint32_t max, uint32_t *count)
{
    const struct shop *shop = of_store(store);
    *count = 0;
    for (uint32_t i = 0; i < shop->order_count && *count < max; i++)
        if (shop->orders[i].order.ticket > after)
            rows[(*count)++] = shop->orders[i];
    return shop->orders_answer;
}

static inline enum status look_order(
    struct order_store *store, ticket_number ticket, struct look_order *row)
{
    const struct shop *shop = of_store(store);
    for (uint32_t i = 0; i < shop->order_count; i++) {
        if (shop->orders[i].order.ticket == ticket) {
            *row = shop->orders[i];
            return shop->orders_answer;
        }
    }
    return shop->orders_answer == STATUS_OK ? STATUS_NOT_FOUND : shop->orders_answer;
}

static inline enum status look_dead(struct order_store *store, ticket_number ticket, bool *there)
{
    *there = ticket == of_store(store)->dead;
    return STATUS_OK;
}

static inline enum status look_users(struct order_store *store, item_id item, bool first,
    user_id after, struct look_user *rows, uint32_t max, uint32_t *count)
{
    (void)after;
    (void)max;
    *count = first && item == ITEM && of_store(store)->user.user != 0;
    if (*count > 0)
        rows[0] = of_store(store)->user;
    return of_store(store)->users_answer;
}

static inline enum status look_user(
    struct order_store *store, item_id item, user_id user, struct look_user *row)
{
    (void)item;
    (void)user;
    *row = of_store(store)->user;
    return STATUS_OK;
}

static inline enum status look_items(struct order_store *store, enum look_at at, item_id after,
    struct look_item *rows, uint32_t max, uint32_t *count)
{
    const struct look_item *item = at == LOOK_NOW ? &of_store(store)->item_now : &of_store(store)->item;
    (void)max;
    *count = item->item.id > after;
    if (*count > 0)
        rows[0] = *item;
    return STATUS_OK;
}

static inline enum status look_counters(struct order_store *store, bool first,
    const struct look_counter *after, struct look_counter *rows, uint32_t max, uint32_t *count)
{
    (void)after;
    (void)max;
    *count = first && of_store(store)->counter.scope != 0;
    if (*count > 0)
        rows[0] = of_store(store)->counter;
    return STATUS_OK;
}

static inline enum status look_money(struct order_store *store, uint64_t after, uint64_t to,
    struct look_money *rows, uint32_t max, uint32_t *count)
{
    const struct look_money *money = &of_store(store)->money;
    (void)max;
    *count = money->payment > after && money->payment <= to;
    if (*count > 0)
        rows[0] = *money;
    return of_store(store)->money_answer;
}

static inline enum status look_money_waits(
    struct order_store *store, uint64_t to, struct look_money *rows, uint32_t max, uint32_t *count)
{
    const struct look_money *money = &of_store(store)->money;
    (void)max;
    *count = money->payment > 0 && money->payment <= to
        && (money->code == FINDING_REFUND_STUCK || money->code == FINDING_UNANSWERED);
    if (*count > 0)
        rows[0] = *money;
    return STATUS_OK;
}

static inline enum status look_money_last(struct order_store *store, uint64_t *last, uint64_t *over)
{
    *last = *over = of_store(store)->payment_last;
    return STATUS_OK;
}

/* One order was moved, by this event. */
static inline enum status look_moved(struct order_store *store, uint64_t after,
    struct look_moved *rows, uint32_t max, uint32_t *count)
{
    const struct shop *shop = of_store(store);
    (void)max;
    *count = shop->moved_event > after;
    rows[0] = (struct look_moved){ .event = shop->moved_event };
    return *count > 0 ? look_order(store, shop->moved_ticket, &rows[0].row) : STATUS_OK;
}

static inline enum status look_moved_last(struct order_store *store, uint64_t *event)
{
    *event = of_store(store)->moved_event;
    return STATUS_OK;
}

static inline enum status look_counters_of(struct order_store *store, item_id item, user_id user,
    struct look_counter *rows, uint32_t *count)
{
    (void)item;
    *count = of_store(store)->counter.scope != 0 && of_store(store)->counter.user == user;
    rows[0] = of_store(store)->counter;
    return STATUS_OK;
}

static inline enum status look_sums(
    struct order_store *store, uint64_t after, uint64_t to, uint64_t *captured, uint64_t *accounted)
{
    (void)to;
    *captured += after == 0 ? of_store(store)->captured : 0;
    *accounted += after == 0 ? of_store(store)->accounted : 0;
    return STATUS_OK;
}

static inline enum status store_repair(
    struct order_store *store, const struct finding *finding, uint64_t now_ms)
{
    struct shop *shop = of_store(store);
    (void)now_ms;
    assert_int_equal(shop->moments, 0); /* what is repaired is seen by whoever looks next */
    if (shop->repair_answer == STATUS_OK)
        shop->repairs[shop->repair_count++] = *finding;
    return shop->repair_answer;
}

static const struct reconcile_store_ops look_ops = {
    .moment_begin = moment_begin,
    .moment_end = moment_end,
    .orders = look_orders,
    .order = look_order,
    .moved = look_moved,
    .moved_last = look_moved_last,
    .dead = look_dead,
    .users = look_users,
    .user = look_user,
    .items = look_items,
    .counters = look_counters,
    .counters_of = look_counters_of,
    .money = look_money,
    .money_waits = look_money_waits,
    .money_last = look_money_last,
    .money_sums = look_sums,
    .repair = store_repair,
};
static const struct order_store_ops store_ops = {
    .applied = store_applied,
    .stock_events = store_events,
    .sale_get = store_sale,
    .reconcile = &look_ops,
};

/* ---- the inventory ---- */

static inline struct inventory_request *port_reserve(struct inventory_port *port)
{
    struct shop *shop = of_port(port);
    if (shop->committed == PORT_MAX && shop->answered == PORT_MAX)
        shop->committed = shop->flushed = shop->answered = 0;
    return shop->committed < PORT_MAX ? &shop->requests[shop->committed] : NULL;
}

static inline void port_commit(struct inventory_port *port)
{
    of_port(port)->committed++;
}

static inline void port_flush(struct inventory_port *port)
{
    of_port(port)->flushed = of_port(port)->committed;
}

static const struct inventory_answer *port_collect(struct inventory_port *port)
{
    struct shop *shop = of_port(port);
    if (shop->silent || shop->answered == shop->flushed)
        return NULL;
    const struct inventory_request *request = &shop->requests[shop->answered++];
    shop->out = (struct inventory_answer){ .tag = request->tag };
    if (request->command.type == COMMAND_ASK_TICKET)
        shop->out.outcome = shop->ticket_ask == NULL ? shop->tickets[request->command.ask.ticket]
                                                     : shop->ticket_ask(shop, &request->command.ask);
    else
        shop->out.outcome =
            (struct outcome){ .answer = ANSWER_FOUND, .quantity = (uint32_t)shop->marked };
    return &shop->out;
}

static const struct inventory_port_ops port_ops = { port_reserve, port_commit, port_flush, port_collect };

/* ---- the shop ---- */

static inline void repaired(void *context, const struct finding *finding)
{
    (void)finding;
    ((struct shop *)context)->told++;
}

static inline void log_end_set(struct shop *shop, lsn_t lsn)
{
    atomic_store(&shop->board.durable_lsn, lsn);
}

static inline void board_set(struct shop *shop, uint32_t held, uint32_t sold)
{
    board_publish(&shop->board,
        &(struct board_update){ .item = ITEM,
            .sale = SALE,
            .start_ms = shop->sale.start_ms,
            .end_ms = shop->sale.end_ms,
            .gate = shop->sale.gate,
            .counts = { .given = 10, .held = held, .sold = sold, .channel_free = { 10 - held - sold } } });
}

/* Order and ticket 1 … count of one user, all held, as they should be. */
static inline void sell(struct shop *shop, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const ticket_number ticket = i + 1;
        shop->orders[i] = (struct look_order){ .order = { .ticket = ticket,
                                                   .user = 7,
                                                   .item = ITEM,
                                                   .quantity = 1,
                                                   .state = ORDER_PENDING,
                                                   .unit_price = 5,
                                                   .amount = 5 },
            .slot = ticket,
            .has_slot = true,
            .limit_per_user = 0 };
        shop->tickets[ticket] =
            (struct outcome){ .answer = ANSWER_FOUND, .user = 7, .item = ITEM, .quantity = 1 };
        shop->tickets[ticket].unit_price = 5;
        shop->tickets[ticket].detail = TICKET_HELD;
    }
    shop->order_count = count;
    shop->user = (struct look_user){
        .item = ITEM, .user = count > 0 ? 7 : 0, .live = count, .counted = count, .channel_live = { count }
    };
    shop->user.state_orders[ORDER_PENDING] = count;
    shop->marked = count;
    shop->item = (struct look_item){ 0 };
    shop->item.live = shop->item.state_orders[ORDER_PENDING] = count;
    shop->item.item = (struct item){
        .id = ITEM, .sale = SALE, .total = 10, .sold = count, .channel_units = { 10 }, .version = 3
    };
    shop->item_now = shop->item;
    board_set(shop, count < 10 ? count : 10, 0);
}

static inline int setup(void **state)
{
    struct shop *shop = test_calloc(1, sizeof *shop);
    const size_t bytes = 2 * reconcile_bytes() + board_bytes(4, 64) + 4096;
    log_level_set(LOG_ERROR + 1);
    assert_int_equal(arena_open(&shop->arena, bytes), STATUS_OK);
    board_create(&shop->board, &shop->arena, 4, 64);
    shop->store.ops = &store_ops;
    shop->port.ops = &port_ops;
    shop->now_ms = 1000;
    shop->position = 50;
    shop->sale = (struct sale){ .id = SALE, .start_ms = 10, .end_ms = 90, .gate = GATE_OPENED };
    log_end_set(shop, 50);
    sell(shop, 3);
    shop->config = (struct reconcile_config){ .part = SHOP_PART,
        .store = &shop->store,
        .port = &shop->port,
        .board = &shop->board,
        .repaired = repaired,
        .context = shop };
    shop->reconcile = reconcile_create(&shop->arena, &shop->config);
    *state = shop;
    return 0;
}

static inline int teardown(void **state)
{
    struct shop *shop = *state;
    arena_close(&shop->arena);
    test_free(shop);
    return 0;
}

static inline bool turn(struct shop *shop)
{
    shop->now_ms += TURN_MS;
    return reconcile_turn(shop->reconcile, shop->now_ms);
}

static const struct reconcile_report *run_of(struct shop *shop, bool repair, bool recent)
{
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, repair, recent));
    uint32_t turns = 0;
    while (turn(shop))
        assert_true(++turns < TURNS_MAX);
    assert_int_equal(shop->moments, 0);
    return reconcile_report(shop->reconcile);
}

static inline const struct reconcile_report *run(struct shop *shop, bool repair)
{
    return run_of(shop, repair, false);
}

static inline void finds_one(const struct reconcile_report *report, enum finding_code code)
{
    assert_int_equal(report->state, RECONCILE_DONE);
    if (report->found != 1 || report->findings[0].code != code)
        for (uint32_t i = 0; i < report->count; i++)
            print_message("found %s: %s\n",
                finding_name((enum finding_code)report->findings[i].code), report->findings[i].text);
    assert_int_equal(report->found, 1);
    assert_int_equal(report->findings[0].code, code);
}

static inline void finds_nothing(const struct reconcile_report *report)
{
    for (uint32_t i = 0; i < report->count; i++)
        print_message("found %s: %s\n", finding_name((enum finding_code)report->findings[i].code),
            report->findings[i].text);
    assert_int_equal(report->state, RECONCILE_DONE);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->skipped, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
