/* SPDX-License-Identifier: Apache-2.0 */
/* Orders: written once, guarded, rejected, settled. */
#include "contract/order_state.h"
#include "tests/seam/store_suite_parts.h"

static void a_ticket_becomes_one_pending_order_at_the_flash_price(void **state)
{
    struct fixture *f = *state;
    ticket_number ticket = suite_add_win(f, f->many, 77, 2);
    f->records[0].command.reserve.channel = 3;
    suite_must_send(f);
    struct order order = suite_order_of(f, ticket);
    assert_int_equal(order.ticket, ticket);
    assert_int_equal(order.user, 77);
    assert_int_equal(order.item, f->many);
    assert_int_equal(order.quantity, 2);
    assert_int_equal(order.channel, 3);
    assert_int_equal(order.state, ORDER_PENDING);
    assert_int_equal(order.reason, REASON_NONE);
    assert_int_equal(order.unit_price, FLASH_PRICE);
    assert_int_equal(order.amount, 2 * FLASH_PRICE);
    assert_int_equal(order.created_ms, START_MS + 1);
    assert_int_equal(order.pay_by_ms, START_MS + 1 + WINDOW_MS);
    assert_int_equal(order.version, 1);
    assert_false(suite_has_order(f, ticket + 1));
    suite_check_accounting(f, f->many, 0);
}

static void numbers_of_64_bits_survive(void **state)
{
    struct fixture *f = *state;
    const user_id user = 0xfedcba9876543210u;
    ticket_number ticket = suite_add_win(f, f->one, user, 1);
    suite_must_send(f);
    assert_true(suite_order_of(f, ticket).user == user);
    struct order found;
    uint32_t count;
    ticket_number next;
    struct order_filter filter = { .user = user };
    assert_int_equal(ops(f)->orders_list(f->store, &filter, &found, 1, &count, &next), STATUS_OK);
    assert_int_equal(count, 1);
    filter.user++;
    assert_int_equal(ops(f)->orders_list(f->store, &filter, &found, 1, &count, &next), STATUS_OK);
    assert_int_equal(count, 0);
}

static void a_batch_told_again_changes_nothing(void **state)
{
    struct fixture *f = *state;
    ticket_number first = suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->many, 1, 2);
    struct queue_record *adjust = suite_add(f, COMMAND_ADJUST);
    adjust->command.adjust = (struct command_adjust){ .item = f->one, .delta = 5 };
    adjust->outcome.applied = 5;
    assert_int_equal(suite_send_again(f), STATUS_OK);
    const struct item one = suite_item_of(f, f->one), many = suite_item_of(f, f->many);
    assert_int_equal(suite_send_again(f), STATUS_OK);
    assert_int_equal(suite_item_of(f, f->one).sold, one.sold);
    assert_int_equal(suite_item_of(f, f->one).total, UNITS + 5);
    assert_int_equal(suite_item_of(f, f->one).version, one.version);
    assert_int_equal(suite_item_of(f, f->many).version, many.version);
    assert_int_equal(suite_order_of(f, first).version, 1);
    assert_int_equal(suite_position_of(f), 3);
}

static void a_batch_that_overlaps_the_position_applies_only_the_new_part(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->one, 2, 1);
    assert_int_equal(suite_send_again(f), STATUS_OK);
    ticket_number fresh = suite_add_win(f, f->one, 3, 1);
    f->records[f->count] = f->records[f->count - 1]; /* and once more within the batch */
    f->dispositions[f->count++] = DISPOSE_APPLY;
    suite_must_send(f);
    assert_true(suite_has_order(f, fresh));
    assert_int_equal(suite_item_of(f, f->one).sold, 3);
    assert_int_equal(suite_position_of(f), 3);
}

static void a_ticket_told_under_another_position_is_not_written_twice(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->many, 1, 1);
    suite_must_send(f);
    f->ticket--;
    suite_add_win(f, f->many, 1, 1);
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->many).sold, 1);
    f->ticket--;
    suite_add_win(f, f->many, 2, 1); /* but it can't be somebody else's */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNKNOWN);
}

static void one_item_gets_one_new_version_per_batch(void **state)
{
    struct fixture *f = *state;
    const uint64_t before = suite_item_of(f, f->one).version, other = suite_item_of(f, f->many).version;
    for (user_id user = 1; user <= 5; user++)
        suite_add_win(f, f->one, user, 1);
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->one).version, before + 1);
    assert_int_equal(suite_item_of(f, f->many).version, other);
    suite_add_win(f, f->one, 6, 1);
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->one).version, before + 2);
}

static void a_second_live_order_of_a_user_is_refused_by_name_and_nothing_is_written(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->one, 1, 1);
    suite_must_send(f);
    ticket_number good = suite_add_win(f, f->one, 2, 1);
    suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->one, 3, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNIQUE);
    assert_int_equal(f->refusal.index, 1);
    assert_true(f->refusal.text[0] != '\0');
    assert_false(suite_has_order(f, good));
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    assert_int_equal(suite_position_of(f), 1);
}

static void the_same_slot_of_another_user_is_free(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= UNITS; user++)
        suite_add_win(f, f->one, user, 1);
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->one).sold, UNITS);
}

static void a_rejected_ticket_is_a_closed_order_and_returns_its_units(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[4];
    ticket_number first = suite_add_win(f, f->one, 1, 1);
    ticket_number second = suite_add_win(f, f->one, 1, 1);
    f->records[1].command.reserve.channel = 2;
    assert_int_equal(suite_send_again(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.index, 1);
    f->dispositions[1] = DISPOSE_REJECT;
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, first).state, ORDER_PENDING);
    assert_int_equal(suite_order_of(f, second).state, ORDER_CLOSED);
    assert_int_equal(suite_order_of(f, second).reason, REASON_REJECTED);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_check_accounting(f, f->one, 0);
    assert_int_equal(suite_open_events(f, events, 4), 1);
    assert_int_equal(events[0].settle.ticket, second);
    assert_int_equal(events[0].settle.step, SETTLE_RETURN);
    assert_false(events[0].settle.let_go);
    assert_int_equal(events[0].settle.to, 2);
    assert_int_equal(events[0].settle.waiter_count, 0);

    suite_add_settle(f, second, SETTLE_RETURN)->command.settle.to = 2; /* the inventory did it */
    suite_must_send(f);
    assert_int_equal(suite_open_events(f, events, 4), 0);
    assert_int_equal(suite_item_of(f, f->one).sold, 1); /* not given back twice */
    assert_int_equal(suite_order_of(f, first).state, ORDER_PENDING);
    suite_check_accounting(f, f->one, 0);
    uint64_t orders, units;
    assert_int_equal(ops(f)->order_totals(f->store, f->one, &orders, &units), STATUS_OK);
    assert_int_equal(orders, 1);
    assert_int_equal(units, 1);
}

static void an_event_is_confirmed_only_by_its_own_ticket_and_step(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[4];
    suite_add_win(f, f->one, 1, 1);
    ticket_number a = suite_add_win(f, f->one, 1, 1), b = suite_add_win(f, f->one, 1, 1);
    f->dispositions[1] = f->dispositions[2] = DISPOSE_REJECT;
    suite_must_send(f);
    assert_int_equal(suite_open_events(f, events, 4), 2);
    assert_int_equal(suite_open_events(f, events, 1), 1);
    assert_int_equal(events[0].settle.ticket, a); /* oldest first */
    suite_add_settle(f, b, SETTLE_RETURN);
    suite_must_send(f);
    assert_int_equal(suite_open_events(f, events, 4), 1);
    assert_int_equal(events[0].settle.ticket, a);
    suite_add_settle(f, a, SETTLE_SOLD);
    suite_must_send(f);
    assert_int_equal(suite_open_events(f, events, 4), 1);
}

static void the_limit_per_item_counts_units_up_to_the_edge(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->many, 1, 2);
    suite_add_win(f, f->many, 1, 1); /* 3 of 3 */
    suite_add_win(f, f->many, 2, 3);
    suite_must_send(f);
    suite_add_win(f, f->many, 3, 1);
    suite_add_win(f, f->many, 1, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_LIMIT);
    assert_int_equal(f->refusal.index, 1);
    suite_add_win(f, f->many, 4, 4); /* one past it at once */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_LIMIT);
    suite_add_win(f, f->one, 5, 2);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_LIMIT);
    assert_int_equal(suite_item_of(f, f->many).sold, 6);
    suite_check_accounting(f, f->many, 0);
}

static void log_sale_limit(struct fixture *f, uint32_t limit)
{
    suite_add(f, COMMAND_SALE)->command.sale = (struct command_sale){
        .sale = f->sale, .limit_per_user = limit, .start_ms = START_MS, .end_ms = END_MS
    };
}

static void the_limit_per_sale_counts_over_all_items(void **state)
{
    struct fixture *f = *state;
    log_sale_limit(f, 4);
    suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->free, 1, 3);
    suite_must_send(f);
    suite_add_win(f, f->free, 1, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_LIMIT);
    suite_add_win(f, f->free, 2, 4);
    suite_must_send(f);
}

static void a_limit_that_the_log_has_not_told_does_not_refuse(void **state)
{
    struct fixture *f = *state;
    struct sale sale;
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    sale.limit_per_user = 1;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_OK);
    suite_add_win(f, f->free, 1, 2);
    suite_must_send(f);
}

static void an_item_without_a_limit_takes_any_number_of_orders_of_a_user(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < UNITS; i++)
        suite_add_win(f, f->free, 1, 1);
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->free).sold, UNITS);
}

static void the_last_unit_is_sold_and_one_past_it_is_refused(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->free, 1, UNITS);
    suite_must_send(f);
    suite_add_win(f, f->free, 2, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_STOCK);
    assert_int_equal(f->refusal.index, 0);
    assert_int_equal(suite_item_of(f, f->free).sold, UNITS);
}

static void stock_that_came_earlier_in_the_batch_counts(void **state)
{
    struct fixture *f = *state;
    ticket_number all = suite_add_win(f, f->free, 1, UNITS);
    suite_add_settle(f, all, SETTLE_RETURN);
    suite_add_win(f, f->free, 2, UNITS);
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->free).sold, UNITS);
    suite_add_win(f, f->free, 3, 1); /* taken before it came: refused */
    struct queue_record *adjust = suite_add(f, COMMAND_ADJUST);
    adjust->command.adjust = (struct command_adjust){ .item = f->free, .delta = 1 };
    adjust->outcome.applied = 1;
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.index, 0);
    suite_check_accounting(f, f->free, 0);
}

static void a_returned_order_gives_back_slot_counters_and_units_once(void **state)
{
    struct fixture *f = *state;
    log_sale_limit(f, 4);
    ticket_number one = suite_add_win(f, f->one, 1, 1), many = suite_add_win(f, f->many, 1, 3);
    suite_must_send(f);
    suite_add_settle(f, one, SETTLE_RETURN);
    suite_add_settle(f, many, SETTLE_RETURN)->command.time_ms = START_MS + 1000 * WINDOW_MS;
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, one).state, ORDER_CLOSED);
    assert_int_equal(suite_order_of(f, one).reason, REASON_CANCELLED);
    assert_int_equal(suite_order_of(f, one).version, 2);
    assert_int_equal(suite_order_of(f, many).reason, REASON_EXPIRED);
    assert_int_equal(suite_item_of(f, f->one).sold, 0);
    assert_int_equal(suite_item_of(f, f->many).sold, 0);
    assert_true(order_state_move_is_legal(ORDER_PENDING, suite_order_of(f, one).state));
    suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->many, 1, 3);
    suite_must_send(f);                      /* all of the limit is free again */
    suite_add_settle(f, one, SETTLE_RETURN); /* an old return told again under a new position */
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_add_win(f, f->many, 1, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    suite_check_accounting(f, f->one, 0);
    suite_check_accounting(f, f->many, 0);
}

static void a_settled_sale_makes_the_order_paid_and_a_return_of_it_refunded(void **state)
{
    struct fixture *f = *state;
    ticket_number ticket = suite_add_win(f, f->one, 1, 1);
    suite_must_send(f);
    suite_add_settle(f, ticket, SETTLE_SOLD);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PAID);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_add_win(f, f->one, 1, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED); /* paid holds the slot */
    suite_add_settle(f, ticket, SETTLE_RETURN);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_REFUNDED);
    assert_int_equal(suite_order_of(f, ticket).reason, REASON_NONE);
    assert_int_equal(suite_item_of(f, f->one).sold, 0);
    suite_check_accounting(f, f->one, 0);
}

static void what_is_written_off_is_never_for_sale_again(void **state)
{
    struct fixture *f = *state;
    ticket_number ticket = suite_add_win(f, f->free, 1, 4);
    suite_add_settle(f, ticket, SETTLE_SOLD);
    suite_add_settle(f, ticket, SETTLE_WRITE_OFF);
    suite_must_send(f);
    const struct item item = suite_item_of(f, f->free);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_REFUNDED);
    assert_int_equal(item.sold, 0);
    assert_int_equal(item.locked, 4);
    assert_int_equal(item.total - item.locked - item.sold, UNITS - 4);
    suite_check_accounting(f, f->free, 0);
    ticket = suite_add_win(f, f->free, 2, 1);
    suite_add_settle(f, ticket, SETTLE_WRITE_OFF); /* never paid */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNKNOWN);
}

static void a_return_with_a_waiter_closes_one_order_and_opens_the_next(void **state)
{
    struct fixture *f = *state;
    ticket_number first = suite_add_win(f, f->one, 1, 1);
    suite_must_send(f);
    struct queue_record *record = suite_add_settle(f, first, SETTLE_RETURN);
    record->command.settle.waiter_count = 2; /* the first one is passed over */
    record->command.settle.waiters[0] = (struct waiter){ 8, 0, 2 };
    record->command.settle.waiters[1] = (struct waiter){ 9, 0, 1 };
    record->command.settle.waiter_window_ms = 50;
    record->outcome.detail = 2;
    record->outcome.ticket = ++f->ticket;
    record->outcome.unit_price = FLASH_PRICE;
    record->outcome.pay_by_ms = record->command.time_ms + 50;
    const uint64_t made_ms = record->command.time_ms;
    assert_int_equal(suite_send_again(f), STATUS_OK);
    suite_must_send(f); /* again: harmless */
    const struct order order = suite_order_of(f, f->ticket);
    assert_int_equal(suite_order_of(f, first).state, ORDER_CLOSED);
    assert_int_equal(order.user, 9);
    assert_int_equal(order.item, f->one);
    assert_int_equal(order.state, ORDER_PENDING);
    assert_int_equal(order.amount, FLASH_PRICE);
    assert_int_equal(order.pay_by_ms, made_ms + 50);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_check_accounting(f, f->one, 0);
}

static void a_rejected_waiter_still_lets_the_first_order_go(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[2];
    ticket_number first = suite_add_win(f, f->one, 1, 1);
    suite_add_win(f, f->one, 9, 1);
    suite_must_send(f);
    struct queue_record *record = suite_add_settle(f, first, SETTLE_RETURN);
    record->command.settle.waiter_count = 1;
    record->command.settle.waiters[0] = (struct waiter){ 9, 0, 1 };
    record->outcome.detail = 1;
    record->outcome.unit_price = FLASH_PRICE;
    record->outcome.ticket = ++f->ticket;
    assert_int_equal(suite_send_again(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNIQUE);
    f->dispositions[0] = DISPOSE_REJECT;
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, first).state, ORDER_CLOSED);
    assert_int_equal(suite_order_of(f, f->ticket).reason, REASON_REJECTED);
    assert_int_equal(suite_open_events(f, events, 2), 1);
    assert_int_equal(events[0].settle.ticket, f->ticket);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_check_accounting(f, f->one, 0);
}

static void a_dead_letter_is_kept_with_its_reason_and_changes_nothing_else(void **state)
{
    struct fixture *f = *state;
    struct dead_letter letters[2];
    struct stock_event events[1];
    uint32_t count;
    ticket_number ticket = suite_add_win(f, f->one, 1, 1);
    f->dispositions[0] = DISPOSE_DEAD;
    snprintf(f->refusal.text, sizeof f->refusal.text, "the shelf is on fire");
    assert_int_equal(ops(f)->apply(f->store, f->records, f->dispositions, 1, &f->refusal), STATUS_OK);
    f->count = 0;
    assert_false(suite_has_order(f, ticket));
    assert_int_equal(suite_item_of(f, f->one).sold, 0);
    assert_int_equal(suite_open_events(f, events, 1), 0);
    assert_int_equal(suite_position_of(f), 1);
    assert_int_equal(ops(f)->dead_letters(f->store, 0, DEAD_ANY, letters, 2, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(letters[0].ticket, ticket);
    assert_int_equal(letters[0].at.seq, 1);
    assert_int_equal(letters[0].time_ms, START_MS + 1);
    assert_string_equal(letters[0].reason, "the shelf is on fire");
    suite_add_settle(f, ticket, SETTLE_RETURN); /* what the person decided */
    suite_must_send(f);
    suite_check_accounting(f, f->one, 0);
}

static ticket_number bury(struct fixture *f, user_id user)
{
    const ticket_number ticket = suite_add_win(f, f->one, user, 1);
    f->dispositions[f->count - 1] = DISPOSE_DEAD;
    suite_must_send(f);
    return ticket;
}

static enum status decide(struct fixture *f, uint64_t id, enum dead_state to)
{
    const struct dead_decision decision = {
        .id = id, .to = (uint8_t)to, .now_ms = 777, .resolver = "ops", .note = "why not"
    };
    return ops(f)->dead_letter_decide(f->store, &decision, &f->refusal);
}

static void a_dead_letter_keeps_its_record_and_is_retried_once(void **state)
{
    struct fixture *f = *state;
    struct dead_letter letter;
    struct queue_record record;
    uint64_t open = 0;
    const ticket_number ticket = bury(f, 1);
    assert_int_equal(ops(f)->dead_letters_open(f->store, &open), STATUS_OK);
    assert_int_equal(open, 1);
    assert_int_equal(ops(f)->dead_letter_get(f->store, 2, &letter, &record), STATUS_NOT_FOUND);
    assert_int_equal(ops(f)->dead_letter_get(f->store, 1, &letter, &record), STATUS_OK);
    assert_int_equal(letter.state, DEAD_OPEN);
    assert_int_equal(letter.type, COMMAND_RESERVE);
    assert_int_equal(record.outcome.ticket, ticket);
    assert_int_equal(record.command.reserve.item, f->one);
    assert_int_equal(decide(f, 2, DEAD_RETRIED), STATUS_NOT_FOUND);
    assert_int_equal(decide(f, 1, DEAD_RETRIED), STATUS_OK);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PENDING);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_check_accounting(f, f->one, 0);
    assert_int_equal(ops(f)->dead_letter_get(f->store, 1, &letter, &record), STATUS_OK);
    assert_int_equal(letter.state, DEAD_RETRIED);
    assert_int_equal(letter.resolved_ms, 777);
    assert_string_equal(letter.resolver, "ops");
    assert_string_equal(letter.note, "why not");
    assert_int_equal(decide(f, 1, DEAD_RETRIED), STATUS_CONFLICT);
    assert_int_equal(decide(f, 1, DEAD_RETURNED), STATUS_CONFLICT);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    assert_int_equal(ops(f)->dead_letters_open(f->store, &open), STATUS_OK);
    assert_int_equal(open, 0);
}

static void a_retry_that_is_refused_again_changes_the_reason_only(void **state)
{
    struct fixture *f = *state;
    struct dead_letter letter;
    struct queue_record record;
    suite_add_win(f, f->one, 1, 1);
    suite_must_send(f);
    const ticket_number ticket = bury(f, 1); /* a second one of the same user: limit 1 */
    assert_int_equal(decide(f, 1, DEAD_RETRIED), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNIQUE);
    assert_false(suite_has_order(f, ticket));
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    assert_int_equal(ops(f)->dead_letter_get(f->store, 1, &letter, &record), STATUS_OK);
    assert_int_equal(letter.state, DEAD_OPEN);
    assert_string_equal(letter.reason, f->refusal.text);
}

static void a_returned_letter_is_a_rejected_order_with_its_event(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[2];
    const ticket_number ticket = bury(f, 1);
    assert_int_equal(decide(f, 1, DEAD_RETURNED), STATUS_OK);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_CLOSED);
    assert_int_equal(suite_order_of(f, ticket).reason, REASON_REJECTED);
    assert_int_equal(suite_open_events(f, events, 2), 1);
    assert_int_equal(events[0].settle.ticket, ticket);
    assert_int_equal(events[0].settle.step, SETTLE_RETURN);
    assert_false(events[0].settle.let_go);
    suite_check_accounting(f, f->one, 0);
}

static void a_dismissed_letter_changes_nothing_and_lists_go_by_state(void **state)
{
    struct fixture *f = *state;
    struct dead_letter letters[4];
    uint32_t count;
    const ticket_number first = bury(f, 1);
    bury(f, 2);
    bury(f, 3);
    assert_int_equal(decide(f, 2, DEAD_DISMISSED), STATUS_OK);
    assert_false(suite_has_order(f, first + 1));
    assert_int_equal(ops(f)->dead_letters(f->store, 0, DEAD_OPEN, letters, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(letters[0].id, 1);
    assert_int_equal(letters[1].id, 3);
    assert_int_equal(ops(f)->dead_letters(f->store, 1, DEAD_OPEN, letters, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ops(f)->dead_letters(f->store, 0, DEAD_ANY, letters, 2, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(letters[1].state, DEAD_DISMISSED);
    suite_add_settle(f, 0, SETTLE_RETURN); /* a control record can't be returned */
    f->records[0].command = (struct command){ .type = COMMAND_GATE, .gate = { .sale = f->sale } };
    f->dispositions[0] = DISPOSE_DEAD;
    suite_must_send(f);
    assert_int_equal(decide(f, 4, DEAD_RETURNED), STATUS_CONFLICT);
    assert_int_equal(decide(f, 4, DEAD_RETRIED), STATUS_OK);
    struct sale sale;
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    assert_int_equal(sale.gate, GATE_OPENED);
}

static void records_that_name_what_is_not_there_are_refused_as_unknown(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->one, 5, 1);
    suite_add_win(f, 4000, 1, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNKNOWN);
    assert_int_equal(f->refusal.index, 1);
    suite_add_settle(f, 4000, SETTLE_RETURN);
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNKNOWN);
    suite_add(f, COMMAND_GATE)->command.gate =
        (struct command_gate){ .sale = 4000, .move = GATE_MOVE_END };
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_UNKNOWN);
    suite_add(f, COMMAND_PREHEAT)->command.preheat =
        (struct command_preheat){ .item = f->one, .sale = 4000 };
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(suite_position_of(f), 0);
}

int suite_run_orders(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_ticket_becomes_one_pending_order_at_the_flash_price),
        SUITE_RULE(numbers_of_64_bits_survive),
        SUITE_RULE(a_batch_told_again_changes_nothing),
        SUITE_RULE(a_batch_that_overlaps_the_position_applies_only_the_new_part),
        SUITE_RULE(a_ticket_told_under_another_position_is_not_written_twice),
        SUITE_RULE(one_item_gets_one_new_version_per_batch),
        SUITE_RULE(a_second_live_order_of_a_user_is_refused_by_name_and_nothing_is_written),
        SUITE_RULE(the_same_slot_of_another_user_is_free),
        SUITE_RULE(a_rejected_ticket_is_a_closed_order_and_returns_its_units),
        SUITE_RULE(an_event_is_confirmed_only_by_its_own_ticket_and_step),
        SUITE_RULE(the_limit_per_item_counts_units_up_to_the_edge),
        SUITE_RULE(the_limit_per_sale_counts_over_all_items),
        SUITE_RULE(a_limit_that_the_log_has_not_told_does_not_refuse),
        SUITE_RULE(an_item_without_a_limit_takes_any_number_of_orders_of_a_user),
        SUITE_RULE(the_last_unit_is_sold_and_one_past_it_is_refused),
        SUITE_RULE(stock_that_came_earlier_in_the_batch_counts),
        SUITE_RULE(a_returned_order_gives_back_slot_counters_and_units_once),
        SUITE_RULE(a_settled_sale_makes_the_order_paid_and_a_return_of_it_refunded),
        SUITE_RULE(what_is_written_off_is_never_for_sale_again),
        SUITE_RULE(a_return_with_a_waiter_closes_one_order_and_opens_the_next),
        SUITE_RULE(a_rejected_waiter_still_lets_the_first_order_go),
        SUITE_RULE(a_dead_letter_is_kept_with_its_reason_and_changes_nothing_else),
        SUITE_RULE(a_dead_letter_keeps_its_record_and_is_retried_once),
        SUITE_RULE(a_retry_that_is_refused_again_changes_the_reason_only),
        SUITE_RULE(a_returned_letter_is_a_rejected_order_with_its_event),
        SUITE_RULE(a_dismissed_letter_changes_nothing_and_lists_go_by_state),
        SUITE_RULE(records_that_name_what_is_not_there_are_refused_as_unknown),
    };
    return cmocka_run_group_tests_name("order store: orders", rules, NULL, NULL);
}
