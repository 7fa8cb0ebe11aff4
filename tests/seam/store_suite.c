/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule that an order store must keep, through its contract only: the fixture, and the rules
 * about identity, restart, catalog and lists. store_suite_orders.c and store_suite_stock.c have the
 * others. */
#include "tests/seam/store_suite.h"

#include "tests/seam/store_suite_parts.h"

static const struct store_maker *maker;

void suite_restart(struct fixture *f)
{
    f->store = maker->again(maker->context, f->store);
    assert_non_null(f->store);
}

item_id suite_add_item(struct fixture *f, uint32_t limit, uint32_t product)
{
    struct item item = { .sale = f->sale,
        .product = product,
        .flash_price = FLASH_PRICE,
        .limit_per_user = limit,
        .pay_window_ms = WINDOW_MS,
        .total = UNITS,
        .channel_units = { UNITS } };
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_OK);
    return item.id;
}

int suite_setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    struct product product = {
        .name = "Phone", .description = "A phone", .images = "[]", .currency = "CNY", .list_price = LIST_PRICE
    };
    struct sale sale = { .title = "Ten o'clock", .start_ms = START_MS, .end_ms = END_MS };
    f->store = maker->fresh(maker->context);
    assert_non_null(f->store);
    assert_int_equal(ops(f)->product_insert(f->store, &product), STATUS_OK);
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    f->sale = sale.id;
    f->one = suite_add_item(f, 1, product.id);
    f->many = suite_add_item(f, 3, product.id);
    f->free = suite_add_item(f, 0, product.id);
    *state = f;
    return 0;
}

int suite_teardown(void **state)
{
    struct fixture *f = *state;
    maker->done(maker->context, f->store);
    test_free(f);
    return 0;
}

struct queue_record *suite_add(struct fixture *f, enum command_type type)
{
    struct queue_record *record = &f->records[f->count];
    f->dispositions[f->count++] = DISPOSE_APPLY;
    *record = (struct queue_record){ .at.seq = ++f->lsn,
        .command = { .type = (uint8_t)type, .time_ms = START_MS + f->lsn },
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    return record;
}

ticket_number suite_add_win(struct fixture *f, item_id item, user_id user, uint32_t quantity)
{
    struct queue_record *record = suite_add(f, COMMAND_RESERVE);
    record->command.reserve =
        (struct command_reserve){ .user = user, .item = item, .quantity = quantity };
    record->outcome.answer = ANSWER_WON;
    record->outcome.ticket = ++f->ticket;
    record->outcome.unit_price = FLASH_PRICE;
    record->outcome.pay_by_ms = record->command.time_ms + WINDOW_MS;
    return f->ticket;
}

struct queue_record *suite_add_settle(struct fixture *f, ticket_number ticket, enum settle_step step)
{
    struct queue_record *record = suite_add(f, COMMAND_SETTLE);
    record->command.settle = (struct command_settle){ .ticket = ticket, .step = (uint8_t)step };
    return record;
}

enum status suite_send_again(struct fixture *f)
{
    memset(&f->refusal, 0, sizeof f->refusal);
    return ops(f)->apply(f->store, f->records, f->dispositions, f->count, &f->refusal);
}

/* What was refused is not in: the next record has its number. */
enum status suite_send(struct fixture *f)
{
    enum status status = suite_send_again(f);
    if (status == STATUS_REFUSED)
        f->lsn -= f->count;
    f->count = 0;
    return status;
}

void suite_must_send(struct fixture *f)
{
    assert_int_equal(suite_send(f), STATUS_OK);
}

struct order suite_order_of(struct fixture *f, ticket_number ticket)
{
    struct order order = { 0 };
    assert_int_equal(ops(f)->order_by_ticket(f->store, ticket, &order), STATUS_OK);
    return order;
}

bool suite_has_order(struct fixture *f, ticket_number ticket)
{
    struct order order;
    return ops(f)->order_by_ticket(f->store, ticket, &order) == STATUS_OK;
}

struct item suite_item_of(struct fixture *f, item_id id)
{
    struct item item = { 0 };
    assert_int_equal(ops(f)->item_get(f->store, id, &item), STATUS_OK);
    return item;
}

lsn_t suite_position_of(struct fixture *f)
{
    struct position position = { 9, 9 };
    assert_int_equal(ops(f)->applied(f->store, PART_EMBEDDED, &position), STATUS_OK);
    assert_int_equal(position.part, PART_EMBEDDED);
    return position.seq;
}

uint32_t suite_open_events(struct fixture *f, struct stock_event *events, uint32_t max)
{
    uint32_t count;
    assert_int_equal(ops(f)->stock_events(f->store, 0, events, max, &count), STATUS_OK);
    return count;
}

/* items.sold − sold before = Σ quantity of live orders; and what the store keeps twice is the same twice. */
void suite_check_accounting(struct fixture *f, item_id id, uint32_t sold_before)
{
    uint64_t live;
    item_id wrong = 0;
    if (ops(f)->sums_check != NULL)
        assert_int_equal(ops(f)->sums_check(f->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
    if (ops(f)->buyers_check != NULL)
        assert_int_equal(ops(f)->buyers_check(f->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
    assert_int_equal(ops(f)->live_units(f->store, id, &live), STATUS_OK);
    assert_int_equal(suite_item_of(f, id).sold, sold_before + live);
}

static enum status orders_list(struct fixture *f, user_id user, item_id item, ticket_number before,
    struct order *orders, uint32_t max, uint32_t *count)
{
    const struct order_filter filter = { .user = user, .item = item, .before = before };
    ticket_number next;
    return ops(f)->orders_list(f->store, &filter, orders, max, count, &next);
}

static void lists_give_newest_orders_first_in_pages(void **state)
{
    struct fixture *f = *state;
    struct order orders[8];
    uint32_t count;
    for (user_id user = 1; user <= 3; user++) {
        suite_add_win(f, f->one, user, 1);
        suite_add_win(f, f->many, user, 1);
    }
    suite_must_send(f); /* tickets 1 … 6 */
    assert_int_equal(orders_list(f, 0, 0, 0, orders, 4, &count), STATUS_OK);
    assert_int_equal(count, 4);
    assert_int_equal(orders[0].ticket, 6);
    assert_int_equal(orders[3].ticket, 3);
    assert_int_equal(orders_list(f, 0, 0, 3, orders, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(orders[0].ticket, 2);
    assert_int_equal(orders_list(f, 2, 0, 0, orders, 8, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(orders[0].ticket, 4);
    assert_int_equal(orders[1].ticket, 3);
    assert_int_equal(orders_list(f, 0, f->one, 0, orders, 8, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(orders[0].ticket, 5);
    assert_int_equal(orders_list(f, 2, f->many, 0, orders, 8, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(orders[0].ticket, 4);
    assert_int_equal(orders_list(f, 2, f->many, 4, orders, 8, &count), STATUS_OK);
    assert_int_equal(count, 0);
}

static uint32_t asked(struct fixture *f, struct order_filter filter)
{
    struct order orders[16];
    ticket_number next = 1;
    uint32_t count = 0;
    assert_int_equal(ops(f)->orders_list(f->store, &filter, orders, 16, &count, &next), STATUS_OK);
    assert_int_equal(next, 0);
    return count;
}

static void orders_are_filtered_by_sale_state_and_time(void **state)
{
    struct fixture *f = *state;
    struct order orders[8];
    ticket_number next;
    uint32_t count;
    for (user_id user = 1; user <= 3; user++)
        suite_add_win(f, f->many, user, 1);
    suite_must_send(f);
    const struct order first = suite_order_of(f, 1), last = suite_order_of(f, 3);
    struct item item;
    assert_int_equal(ops(f)->item_get(f->store, f->many, &item), STATUS_OK);
    assert_int_equal(asked(f, (struct order_filter){ .sale = item.sale }), 3);
    assert_int_equal(asked(f, (struct order_filter){ .sale = item.sale + 1 }), 0);
    assert_int_equal(asked(f, (struct order_filter){ .sale = item.sale, .user = 2 }), 1);
    assert_int_equal(asked(f, (struct order_filter){ .sale = item.sale + 1, .user = 2 }), 0);
    assert_int_equal(asked(f, (struct order_filter){ .state = ORDER_PENDING }), 3);
    assert_int_equal(asked(f, (struct order_filter){ .state = ORDER_PAID }), 0);
    assert_int_equal(asked(f, (struct order_filter){ .state = ORDER_PAID, .user = 2 }), 0);
    assert_int_equal(asked(f, (struct order_filter){ .from_ms = first.created_ms }), 3);
    assert_int_equal(asked(f, (struct order_filter){ .from_ms = last.created_ms + 1 }), 0);
    assert_int_equal(asked(f, (struct order_filter){ .to_ms = first.created_ms }), 0);
    assert_int_equal(asked(f, (struct order_filter){ .to_ms = last.created_ms + 1 }), 3);
    /* A page that is full says where to go on, whether there is more or not. */
    const struct order_filter sale = { .sale = item.sale };
    assert_int_equal(ops(f)->orders_list(f->store, &sale, orders, 2, &count, &next), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(next, 2);
    assert_int_equal(asked(f, (struct order_filter){ .sale = item.sale, .before = next }), 1);
}

static void a_new_store_has_no_identity_and_takes_one_once(void **state)
{
    struct fixture *f = *state;
    uint64_t data_id = 1;
    assert_int_equal(ops(f)->identity(f->store, &data_id), STATUS_OK);
    assert_int_equal(data_id, 0);
    assert_int_equal(suite_position_of(f), 0);
    assert_int_equal(ops(f)->identity_set(f->store, 0), STATUS_BAD_INPUT);
    assert_int_equal(ops(f)->identity_set(f->store, 0xf000000000000001u), STATUS_OK);
    assert_int_equal(ops(f)->identity_set(f->store, 2), STATUS_CONFLICT);
    assert_int_equal(ops(f)->identity(f->store, &data_id), STATUS_OK);
    assert_true(data_id == 0xf000000000000001u);
}

static void a_restart_keeps_everything_that_was_committed(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[2];
    struct dead_letter letter;
    uint32_t count;
    uint64_t data_id;
    assert_int_equal(ops(f)->identity_set(f->store, 42), STATUS_OK);
    ticket_number ticket = suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->one, 3, 1);
    suite_add_win(f, f->many, 1, 3);
    f->dispositions[1] = DISPOSE_REJECT;
    f->dispositions[2] = DISPOSE_DEAD;
    suite_must_send(f);
    const struct item before = suite_item_of(f, f->one);
    f->store = maker->again(maker->context, f->store);
    const struct item after = suite_item_of(f, f->one);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PENDING);
    assert_int_equal(suite_open_events(f, events, 2), 1);
    assert_int_equal(ops(f)->dead_letters(f->store, 0, DEAD_ANY, &letter, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ops(f)->identity(f->store, &data_id), STATUS_OK);
    assert_int_equal(data_id, 42);
    assert_int_equal(suite_position_of(f), 4);
    suite_add_win(f, f->many, 1, 1); /* the counter is kept too */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_LIMIT);
}

static void position_and_orders_are_never_apart(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 4; user++) {
        ticket_number ticket = suite_add_win(f, f->one, user, 1);
        suite_must_send(f);
        f->store = maker->again(maker->context, f->store);
        assert_int_equal(suite_position_of(f), user);
        assert_true(suite_has_order(f, ticket));
    }
    suite_add_win(f, f->one, 5, 1);
    suite_add_win(f, f->one, 1, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    f->store = maker->again(maker->context, f->store);
    assert_int_equal(suite_position_of(f), 4);
    assert_false(suite_has_order(f, 5));
}

static void products_are_kept_and_listed_in_pages(void **state)
{
    struct fixture *f = *state;
    struct product product = { .name = "\xe6\x89\x8b\xe6\x9c\xba",
        .description = "d",
        .images = "[\"/a.svg\"]",
        .currency = "EUR",
        .list_price = UINT32_MAX,
        .texts = "{\"zh-CN\":{\"name\":\"壶\"}}" };
    struct product list[4];
    uint32_t count;
    assert_int_equal(ops(f)->product_insert(f->store, &product), STATUS_OK);
    assert_int_equal(product.id, 2);
    memset(&list[0], 0xff, sizeof list[0]);
    assert_int_equal(ops(f)->product_get(f->store, 2, &list[0]), STATUS_OK);
    assert_string_equal(list[0].name, product.name);
    assert_string_equal(list[0].images, product.images);
    assert_string_equal(list[0].currency, "EUR");
    assert_string_equal(list[0].texts, product.texts);
    assert_int_equal(list[0].list_price, UINT32_MAX);
    assert_int_equal(ops(f)->product_get(f->store, 3, &list[0]), STATUS_NOT_FOUND);
    assert_int_equal(ops(f)->product_get(f->store, 0, &list[0]), STATUS_NOT_FOUND);
    assert_int_equal(ops(f)->products(f->store, 0, list, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].id, 1);
    assert_int_equal(ops(f)->products(f->store, 1, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].id, 2);
    memcpy(product.currency, "EU", 3);
    assert_int_equal(ops(f)->product_insert(f->store, &product), STATUS_REFUSED);
}

static void a_sale_is_edited_but_its_gate_is_the_logs(void **state)
{
    struct fixture *f = *state;
    struct sale sale = {
        .title = "Second", .start_ms = 10, .end_ms = 20, .preheat_at_ms = 5, .gate = GATE_ENDED
    };
    struct sale list[4], got;
    uint32_t count;
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    assert_int_equal(sale.id, f->sale + 1);
    memcpy(sale.title, "Third", 6);
    memcpy(sale.texts, "{\"en\":{\"title\":\"3\"}}", 21);
    sale.gate = GATE_PAUSED;
    sale.published = true;
    sale.archived = true;
    sale.end_ms = 30;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, sale.id, &got), STATUS_OK);
    assert_string_equal(got.texts, sale.texts);
    assert_string_equal(got.title, "Third");
    assert_int_equal(got.gate, GATE_SCHEDULED);
    assert_int_equal(got.end_ms, 30);
    assert_int_equal(got.preheat_at_ms, 5);
    assert_true(got.published);
    assert_true(got.archived);
    assert_int_equal(ops(f)->sales(f->store, 0, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(ops(f)->sales(f->store, list[0].id, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    sale.end_ms = sale.start_ms;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_REFUSED);
    sale.end_ms++;
    sale.id = 99;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_NOT_FOUND);
    assert_int_equal(ops(f)->sale_get(f->store, 99, &got), STATUS_NOT_FOUND);
}

/* Orders lag: the sale was edited, and edited again, before the record of the first edit is read. */
static void a_record_older_than_the_terms_of_a_sale_does_not_write_them(void **state)
{
    struct fixture *f = *state;
    struct sale got;
    struct queue_record *first = suite_add(f, COMMAND_SALE);
    first->command.sale = (struct command_sale){
        .sale = f->sale, .start_ms = START_MS, .end_ms = END_MS + 1, .limit_per_user = 4
    };
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &got), STATUS_OK);
    got.end_ms = END_MS + 600;
    got.eligible_only = got.one_open_order = true;
    got.limit_per_user = 5;
    got.terms_lsn = f->lsn + 1; /* where the record of the second edit stands */
    assert_int_equal(ops(f)->sale_update(f->store, &got), STATUS_OK);
    suite_must_send(f);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &got), STATUS_OK);
    assert_int_equal(got.end_ms, END_MS + 600);
    assert_true(got.eligible_only);
    assert_true(got.one_open_order);
    assert_int_equal(got.limit_per_user, 5);
    struct queue_record *second = suite_add(f, COMMAND_SALE);
    second->command.sale = (struct command_sale){ .sale = f->sale,
        .start_ms = START_MS,
        .end_ms = END_MS + 600,
        .limit_per_user = 5,
        .eligible_only = true,
        .one_open_order = true };
    struct queue_record *third = suite_add(f, COMMAND_SALE);
    third->command.sale = (struct command_sale){ .sale = f->sale,
        .start_ms = START_MS,
        .end_ms = END_MS + 700,
        .limit_per_user = 6,
        .cooldown_s = 60,
        .return_draw_ms = 5000 };
    suite_must_send(f);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &got), STATUS_OK);
    assert_int_equal(got.end_ms, END_MS + 700); /* newer than the row */
    assert_false(got.eligible_only);
    assert_false(got.one_open_order);
    assert_int_equal(got.cooldown_s, 60);
    assert_int_equal(got.return_draw_ms, 5000);
    assert_int_equal(got.terms_lsn, f->lsn);
    got.terms_lsn = 1;
    assert_int_equal(ops(f)->sale_update(f->store, &got), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &got), STATUS_OK);
    assert_int_equal(got.terms_lsn, f->lsn); /* never back */
}

static void a_sale_comes_with_all_its_items_or_not_at_all(void **state)
{
    struct fixture *f = *state;
    struct sale sale = { .title = "Clone", .start_ms = 10, .end_ms = 20 }, got;
    struct item items[2], list[4];
    uint32_t count;
    assert_int_equal(ops(f)->items(f->store, 0, 0, list, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    items[0] = items[1] = list[0];
    items[1].product = 99; /* there is none */
    assert_int_equal(ops(f)->sale_insert_with_items(f->store, &sale, items, 2), STATUS_REFUSED);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale + 1, &got), STATUS_NOT_FOUND);
    items[1].product = items[0].product;
    assert_int_equal(ops(f)->sale_insert_with_items(f->store, &sale, items, 2), STATUS_OK);
    assert_int_equal(sale.id, f->sale + 1);
    assert_int_equal(ops(f)->items(f->store, sale.id, 0, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(list[0].id, items[0].id);
    assert_int_equal(list[1].id, items[1].id);
    assert_false(list[0].preheated);
}

static void a_beacon_is_decided_once_and_an_edit_leaves_it_alone(void **state)
{
    struct fixture *f = *state;
    struct sale sale = { .title = "Room", .start_ms = 10, .end_ms = 20, .waiting_room = true }, got;
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    memcpy(sale.beacon_value, "7", 2);
    sale.beacon_state = BEACON_GIVEN;
    assert_int_equal(ops(f)->sale_beacon(f->store, &sale), STATUS_CONFLICT); /* none is named */
    memcpy(sale.beacon_name, "index", 6);
    memcpy(sale.room_message, "later", 6);
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, sale.id, &got), STATUS_OK);
    assert_string_equal(got.beacon_name, "index");
    assert_string_equal(got.room_message, "later");
    assert_string_equal(got.beacon_value, ""); /* an edit gives no value */
    assert_int_equal(got.beacon_state, BEACON_OPEN);
    got.beacon_until_ms = 15; /* it waits */
    assert_int_equal(ops(f)->sale_beacon(f->store, &got), STATUS_OK);
    sale.beacon_until_ms = 15;
    sale.beacon_value[0] = 0;
    assert_int_equal(ops(f)->sale_beacon(f->store, &sale), STATUS_REFUSED); /* given without a value */
    sale.beacon_value[0] = '7';
    assert_int_equal(ops(f)->sale_beacon(f->store, &sale), STATUS_OK);
    struct sale other = sale;
    memcpy(other.beacon_value, "8", 2);
    assert_int_equal(ops(f)->sale_beacon(f->store, &other), STATUS_CONFLICT);
    other.beacon_state = BEACON_MISSED;
    other.beacon_value[0] = 0;
    assert_int_equal(ops(f)->sale_beacon(f->store, &other), STATUS_CONFLICT);
    other.beacon_state = BEACON_OPEN;
    other.beacon_until_ms = 99;
    assert_int_equal(ops(f)->sale_update(f->store, &other), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, sale.id, &got), STATUS_OK);
    assert_string_equal(got.beacon_value, "7");
    assert_int_equal(got.beacon_state, BEACON_GIVEN);
    assert_int_equal(got.beacon_until_ms, 15);
    sale.id = 99;
    assert_int_equal(ops(f)->sale_beacon(f->store, &sale), STATUS_CONFLICT);
}

static void an_item_needs_its_sale_its_product_and_something_to_sell(void **state)
{
    struct fixture *f = *state;
    struct item item = {
        .sale = f->sale, .product = 1, .flash_price = 1, .total = 10, .locked = 4, .sold = 6
    };
    struct item list[8], got;
    uint32_t count;
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_OK);
    assert_int_equal(ops(f)->item_get(f->store, item.id, &got), STATUS_OK);
    assert_int_equal(got.sold, 6);
    assert_int_equal(got.version, item.version);
    assert_false(got.preheated);
    item.sold = 7;
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_REFUSED);
    item.sold = 0;
    item.sale = 99;
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_REFUSED);
    item.sale = f->sale;
    item.product = 99;
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_REFUSED);
    assert_int_equal(ops(f)->items(f->store, 0, 0, list, 8, &count), STATUS_OK);
    assert_int_equal(count, 4);
    assert_int_equal(ops(f)->items(f->store, f->sale, f->one, list, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].id, f->many);
    assert_int_equal(ops(f)->items(f->store, f->sale + 1, 0, list, 8, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ops(f)->item_get(f->store, 99, &got), STATUS_NOT_FOUND);
}

static void audit_entries_are_numbered_listed_and_verified(void **state)
{
    struct fixture *f = *state;
    struct audit_entry entry = { .time_ms = 5, .actor = "ann", .action = "pause", .detail = "{}" },
                       list[4];
    uint32_t count;
    uint64_t entries, first_bad;
    assert_int_equal(ops(f)->audit_verify(f->store, &entries, &first_bad), STATUS_OK);
    assert_int_equal(entries, 0);
    assert_int_equal(first_bad, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ops(f)->audit_append(f->store, &entry), STATUS_OK);
    f->store = maker->again(maker->context, f->store);
    assert_int_equal(ops(f)->audit_append(f->store, &entry), STATUS_OK);
    assert_int_equal(ops(f)->audit_list(f->store, 1, list, 2, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(list[0].id, 2);
    assert_string_equal(list[1].actor, "ann");
    assert_string_equal(list[1].action, "pause");
    assert_string_equal(list[1].detail, "{}");
    assert_int_equal(ops(f)->audit_verify(f->store, &entries, &first_bad), STATUS_OK);
    assert_int_equal(entries, 4);
    assert_int_equal(first_bad, 0);
}

int store_suite_run(const struct store_maker *chosen)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(lists_give_newest_orders_first_in_pages),
        SUITE_RULE(orders_are_filtered_by_sale_state_and_time),
        SUITE_RULE(a_new_store_has_no_identity_and_takes_one_once),
        SUITE_RULE(a_restart_keeps_everything_that_was_committed),
        SUITE_RULE(position_and_orders_are_never_apart),
        SUITE_RULE(products_are_kept_and_listed_in_pages),
        SUITE_RULE(a_sale_is_edited_but_its_gate_is_the_logs),
        SUITE_RULE(a_record_older_than_the_terms_of_a_sale_does_not_write_them),
        SUITE_RULE(a_sale_comes_with_all_its_items_or_not_at_all),
        SUITE_RULE(a_beacon_is_decided_once_and_an_edit_leaves_it_alone),
        SUITE_RULE(an_item_needs_its_sale_its_product_and_something_to_sell),
        SUITE_RULE(audit_entries_are_numbered_listed_and_verified),
    };
    maker = chosen;
    print_message("store: %s\n", maker->name);
    int failed = cmocka_run_group_tests_name("order store: the rest", rules, NULL, NULL);
    failed += suite_run_orders() + suite_run_stock() + suite_run_moves() + suite_run_groups();
    failed += suite_run_payments() + suite_run_refunds() + suite_run_waitlist();
    return failed + suite_run_restore() + suite_run_logs() + suite_run_cluster()
        + suite_run_members() + suite_run_archive() + suite_run_limits() + suite_run_policy()
        + suite_run_remedies() + suite_run_deposits();
}
