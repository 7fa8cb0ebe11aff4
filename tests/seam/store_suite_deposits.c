/* SPDX-License-Identifier: Apache-2.0 */
/* Deposits of bookings: kept, given back, and money that comes late; for each store. The item `many`
 * takes the bookings, `free` is the deposit. */
#include "contract/booking.h"
#include "tests/seam/store_suite_money.h"

static const struct booking_store_ops *bookings(struct fixture *f)
{
    return ops(f)->bookings;
}

static struct booking latest(struct fixture *f, user_id user)
{
    struct booking booking;
    assert_int_equal(bookings(f)->get(f->store, f->many, user, &booking), STATUS_OK);
    return booking;
}

static void offer_set(struct fixture *f, uint32_t cap, uint8_t kept)
{
    const struct sold_out_offer offer = { .kind = SOLD_OUT_PRESALE,
        .presale_cap = cap,
        .deposit_item = f->free,
        .balance_ms = 4321,
        .deposit_kept = kept };
    assert_int_equal(ops(f)->item_offer(f->store, f->many, &offer), STATUS_OK);
    assert_int_equal(suite_item_of(f, f->many).offer.deposit_kept, kept);
}

/* A booking whose deposit's order waits to be paid. */
static struct booking due(struct fixture *f, user_id user, uint32_t cap, uint8_t kept)
{
    struct booking booking = { .item = f->many,
        .user = user,
        .quantity = 1,
        .booked_ms = START_MS,
        .has_deposit = true,
        .deposit_kept = kept };
    uint8_t answer = BOOK_FULL;
    assert_int_equal(bookings(f)->book(f->store, &booking, cap, &answer), STATUS_OK);
    assert_int_equal(answer, BOOK_DONE);
    suite_add_win(f, f->free, user, 1);
    struct command_reserve *reserve = &f->records[f->count - 1].command.reserve;
    reserve->key = booking_key(booking.id);
    reserve->flags = RESERVE_OFFER;
    suite_must_send(f);
    return latest(f, user);
}

static struct booking placed(struct fixture *f, user_id user, uint8_t kept)
{
    const struct booking booking = due(f, user, 0, kept);
    char reference[16];
    struct order after;
    snprintf(reference, sizeof reference, "d%llu", (unsigned long long)booking.id);
    assert_int_equal(money_shop_pays(f, booking.deposit, reference, &after), MOVE_DONE);
    assert_int_equal(bookings(f)->place(f->store, &booking, START_MS), STATUS_OK);
    return latest(f, user);
}

static void leave(struct fixture *f, user_id user)
{
    bool left = false;
    assert_int_equal(ops(f)->waitlist->leave(f->store, f->many, user, &left), STATUS_OK);
    assert_true(left);
}

/* An offer of units that arrived, for the place of this booking. */
static ticket_number offered(struct fixture *f, const struct booking *booking)
{
    const ticket_number ticket = suite_add_win(f, f->many, booking->user, 1);
    struct command_reserve *reserve = &f->records[f->count - 1].command.reserve;
    reserve->key = waitlist_key(booking->place);
    reserve->flags = RESERVE_OFFER;
    suite_must_send(f);
    return ticket;
}

static void a_deposit_goes_back_and_its_booking_ends_in_one_step(void **state)
{
    struct fixture *f = *state;
    uint8_t to = BOOKING_NONE;
    const struct booking booking = placed(f, 1, DEPOSIT_KEPT_UNPAID);
    assert_int_equal(booking.deposit_kept, DEPOSIT_KEPT_UNPAID);
    assert_int_equal(bookings(f)->refund(f->store, &booking, NEWS_MS, &to), STATUS_CONFLICT);
    assert_int_equal(suite_order_of(f, booking.deposit).state, ORDER_PAID);
    leave(f, 1);
    assert_int_equal(bookings(f)->refund(f->store, &booking, NEWS_MS, &to), STATUS_OK);
    assert_int_equal(to, BOOKING_REFUNDED);
    assert_int_equal(bookings(f)->refund(f->store, &booking, NEWS_MS, &to), STATUS_CONFLICT);
    suite_restart(f);
    assert_int_equal(latest(f, 1).state, BOOKING_REFUNDED);
    assert_int_equal(suite_order_of(f, booking.deposit).state, ORDER_REFUNDED);
    suite_check_accounting(f, f->free, 0);
}

static void an_offer_that_comes_after_its_deposit_went_back_is_closed_from_the_start(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[4];
    uint8_t to;
    bool balance;
    const struct booking early = placed(f, 1, DEPOSIT_KEPT_NEVER),
                         late = placed(f, 2, DEPOSIT_KEPT_NEVER);
    leave(f, 1);
    leave(f, 2);
    const ticket_number first = offered(f, &early); /* before: it is made, and the deposit stays */
    assert_int_equal(suite_order_of(f, first).state, ORDER_PENDING);
    assert_int_equal(bookings(f)->refund(f->store, &early, NEWS_MS, &to), STATUS_CONFLICT);
    assert_int_equal(bookings(f)->is_balance(f->store, first, &balance), STATUS_OK);
    assert_true(balance);
    assert_int_equal(bookings(f)->is_balance(f->store, early.deposit, &balance), STATUS_OK);
    assert_false(balance);
    assert_int_equal(bookings(f)->refund(f->store, &late, NEWS_MS, &to), STATUS_OK);
    const ticket_number second = offered(f, &late);
    assert_int_equal(suite_order_of(f, second).state, ORDER_CLOSED);
    assert_int_equal(suite_order_of(f, second).reason, REASON_REJECTED);
    assert_int_equal(latest(f, 2).place_state, PLACE_LEFT);
    assert_true(suite_open_events(f, events, 4) >= 2); /* the deposit's unit and this one go back */
    suite_check_accounting(f, f->many, 0);
}

static void a_waiter_of_a_return_whose_deposit_went_back_gets_no_order(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[4];
    struct order_move move = { .event = ORDER_EVENT_CANCEL, .now_ms = NEWS_MS };
    struct order after;
    uint8_t answer, to;
    uint32_t at = 0;
    offer_set(f, 0, DEPOSIT_KEPT_NEVER);
    const struct booking booking = placed(f, 1, DEPOSIT_KEPT_NEVER);
    move.ticket = suite_add_win(f, f->many, 5, 1); /* a walk-in */
    suite_must_send(f);
    assert_int_equal(ops(f)->orders_move(f->store, &move, 1, &after, &answer), STATUS_OK);
    const uint32_t count = suite_open_events(f, events, 4);
    while (at < count && events[at].settle.ticket != move.ticket)
        at++;
    assert_true(at < count);
    assert_int_equal(events[at].settle.waiter_count, 1);
    assert_int_equal(events[at].settle.waiter_window_ms, 4321); /* the item's time to pay */
    leave(f, 1);
    assert_int_equal(bookings(f)->refund(f->store, &booking, NEWS_MS, &to), STATUS_OK);
    struct queue_record *record = suite_add_settle(f, move.ticket, SETTLE_RETURN);
    record->command.settle.waiter_count = 1;
    record->command.settle.waiters[0] = (struct waiter){ 1, waitlist_key(booking.place), 1 };
    record->outcome.detail = 1;
    record->outcome.ticket = ++f->ticket;
    record->outcome.unit_price = FLASH_PRICE;
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, f->ticket).reason, REASON_REJECTED);
    assert_int_equal(latest(f, 1).place_state, PLACE_LEFT);
    suite_check_accounting(f, f->many, 0);
}

static void what_the_shop_ends_is_not_kept(void **state)
{
    struct fixture *f = *state;
    uint8_t to;
    const struct booking booking = placed(f, 1, DEPOSIT_KEPT_GIVEN_UP);
    assert_int_equal(bookings(f)->dismiss(f->store, &booking), STATUS_OK);
    assert_int_equal(latest(f, 1).place_state, PLACE_LEFT);
    assert_int_equal(bookings(f)->refund(f->store, &booking, NEWS_MS, &to), STATUS_OK);
    assert_int_equal(latest(f, 1).state, BOOKING_REFUNDED);
    const struct booking kept = placed(f, 2, DEPOSIT_KEPT_GIVEN_UP);
    leave(f, 2);
    assert_int_equal(bookings(f)->refund(f->store, &kept, NEWS_MS, &to), STATUS_CONFLICT);
    assert_int_equal(bookings(f)->finish(f->store, &kept, BOOKING_ENDED), STATUS_OK);
    const struct booking over = latest(f, 2);
    assert_true(booking_deposit_is_kept(&over));
}

/* The deposit's order is closed, then its money comes. */
static struct payment late_money(struct fixture *f, const struct booking *booking, const char *reference)
{
    struct payment payment;
    struct order after;
    uint32_t live;
    money_started(f, booking->deposit, "alpha", reference);
    assert_int_equal(
        money(f)->closing(f->store, booking->deposit, REASON_EXPIRED, NEWS_MS, &live), STATUS_OK);
    assert_int_equal(money_closed(f, "alpha", reference, &after), LEARN_CLOSED);
    assert_int_equal(money_captured(f, "alpha", reference, &payment, &after), LEARN_LATE);
    assert_int_equal(bookings(f)->finish(f->store, booking, BOOKING_ENDED), STATUS_OK);
    return payment;
}

static bool relink(struct fixture *f, const struct payment *payment, ticket_number ticket)
{
    struct order after;
    bool done = false;
    assert_int_equal(money(f)->relink(f->store, payment->id, ticket, NEWS_MS, &after, &done), STATUS_OK);
    return done;
}

static void late_money_of_a_deposit_joins_its_booking_again(void **state)
{
    struct fixture *f = *state;
    offer_set(f, 1, DEPOSIT_KEPT_NEVER);
    const struct booking booking = due(f, 1, 1, DEPOSIT_KEPT_NEVER);
    const struct payment payment = late_money(f, &booking, "a1");
    const ticket_number ticket = suite_add_win(f, f->free, 1, 1);
    suite_must_send(f);
    for (int i = 0; i < 2; i++) { /* told again after a crash: the same */
        assert_true(relink(f, &payment, ticket));
        suite_restart(f);
        const struct booking again = latest(f, 1);
        assert_int_equal(again.id, booking.id);
        assert_int_equal(again.state, BOOKING_DUE);
        assert_int_equal(again.deposit, ticket);
        assert_int_equal(again.closed_deposit, booking.deposit);
        assert_int_equal(again.deposit_state, ORDER_PAID);
    }
    assert_int_equal(bookings(f)->finish(f->store, &booking, BOOKING_ENDED), STATUS_CONFLICT); /* of before */
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .paid = FLASH_PRICE });
    struct booking other = {
        .item = f->many, .user = 2, .quantity = 1, .booked_ms = START_MS, .has_deposit = true
    };
    uint8_t answer;
    assert_int_equal(bookings(f)->book(f->store, &other, 1, &answer), STATUS_OK);
    assert_int_equal(answer, BOOK_FULL); /* it counts again */
}

static void late_money_of_a_deposit_that_can_not_join_goes_back(void **state)
{
    struct fixture *f = *state;
    struct order after;
    offer_set(f, 1, DEPOSIT_KEPT_NEVER);
    const struct booking booking = due(f, 1, 1, DEPOSIT_KEPT_NEVER);
    const struct payment payment = late_money(f, &booking, "a1");
    due(f, 2, 1, DEPOSIT_KEPT_NEVER); /* somebody else took the place */
    const ticket_number ticket = suite_add_win(f, f->free, 1, 1);
    suite_must_send(f);
    assert_false(relink(f, &payment, ticket));
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_CLOSED); /* nobody can pay it */
    assert_int_equal(latest(f, 1).state, BOOKING_ENDED);
    assert_int_equal(money_of(f, "a1").use, USE_REFUND);
    assert_false(relink(f, &payment, ticket));
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .wanted = FLASH_PRICE });
    /* Somebody was quick and has paid it by other money: that goes back, too. */
    const struct booking third = due(f, 3, 9, DEPOSIT_KEPT_NEVER);
    const struct payment more = late_money(f, &third, "a2");
    const ticket_number paid = suite_add_win(f, f->free, 3, 1);
    suite_must_send(f);
    assert_int_equal(money_shop_pays(f, paid, "s1", &after), MOVE_DONE);
    assert_false(relink(f, &more, paid));
    assert_int_equal(suite_order_of(f, paid).state, ORDER_REFUNDED);
    suite_check_accounting(f, f->free, 0);
}

int suite_run_deposits(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_deposit_goes_back_and_its_booking_ends_in_one_step),
        SUITE_RULE(an_offer_that_comes_after_its_deposit_went_back_is_closed_from_the_start),
        SUITE_RULE(a_waiter_of_a_return_whose_deposit_went_back_gets_no_order),
        SUITE_RULE(what_the_shop_ends_is_not_kept),
        SUITE_RULE(late_money_of_a_deposit_joins_its_booking_again),
        SUITE_RULE(late_money_of_a_deposit_that_can_not_join_goes_back),
    };
    return cmocka_run_group_tests_name("order store: deposits", rules, NULL, NULL);
}
