/* SPDX-License-Identifier: Apache-2.0 */
/* Bookings, and products with a stock of their own: for each store, that of the simulator included. */
#include "contract/booking.h"
#include "tests/seam/store_suite_parts.h"

static struct booking book(struct fixture *f, user_id user, bool deposit, uint32_t cap, uint8_t wanted)
{
    struct booking booking = {
        .item = f->many, .user = user, .quantity = 1, .booked_ms = START_MS, .has_deposit = deposit
    };
    uint8_t answer = UINT8_MAX;
    assert_int_equal(ops(f)->bookings->book(f->store, &booking, cap, &answer), STATUS_OK);
    assert_int_equal(answer, wanted);
    return booking;
}

static struct booking booking_of(struct fixture *f, user_id user)
{
    struct booking booking;
    assert_int_equal(ops(f)->bookings->get(f->store, f->many, user, &booking), STATUS_OK);
    return booking;
}

static void bookings_stop_at_the_cap_and_those_that_end_make_room(void **state)
{
    struct fixture *f = *state;
    const struct booking first = book(f, 1, false, 2, BOOK_DONE),
                         second = book(f, 2, false, 2, BOOK_DONE);
    assert_int_equal(book(f, 1, false, 2, BOOK_THERE).id, first.id);
    book(f, 3, false, 2, BOOK_FULL);
    assert_int_equal(ops(f)->bookings->finish(f->store, &first, BOOKING_BOUGHT), STATUS_OK);
    book(f, 3, false, 2, BOOK_FULL);
    assert_int_equal(ops(f)->bookings->finish(f->store, &second, BOOKING_ENDED), STATUS_OK);
    assert_int_equal(ops(f)->bookings->finish(f->store, &second, BOOKING_ENDED), STATUS_CONFLICT);
    suite_restart(f);
    assert_true(book(f, 3, false, 2, BOOK_DONE).id > second.id);
}

/* As a purchase of the item `free` under the key of the booking. */
static ticket_number deposit_win(struct fixture *f, const struct booking *booking)
{
    const ticket_number ticket = suite_add_win(f, f->free, booking->user, booking->quantity);
    struct command_reserve *reserve = &f->records[f->count - 1].command.reserve;
    reserve->key = booking_key(booking->id);
    reserve->flags = RESERVE_OFFER;
    suite_must_send(f);
    return ticket;
}

static void a_deposit_is_that_of_its_booking_and_a_paid_one_stands_in_line_once(void **state)
{
    struct fixture *f = *state;
    const struct booking due = book(f, 1, true, 0, BOOK_DONE);
    struct waitlist_place places[4];
    uint32_t count = 0;
    assert_int_equal(due.state, BOOKING_DUE);
    const ticket_number ticket = deposit_win(f, &due);
    suite_restart(f);
    assert_int_equal(booking_of(f, 1).deposit, ticket);
    assert_int_equal(booking_of(f, 1).deposit_state, ORDER_PENDING);
    assert_int_equal(ops(f)->bookings->place(f->store, &due, START_MS), STATUS_OK);
    assert_int_equal(ops(f)->bookings->place(f->store, &due, START_MS), STATUS_CONFLICT);
    assert_int_equal(ops(f)->waitlist->list(f->store, f->many, 0, places, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(booking_of(f, 1).place, places[0].id);
    assert_int_equal(booking_of(f, 1).place_state, PLACE_WAITING);
}

static void open_bookings_are_listed_in_the_order_of_booking(void **state)
{
    struct fixture *f = *state;
    struct booking rows[4];
    uint32_t count = 0;
    for (user_id user = 1; user <= 3; user++)
        book(f, user, user == 2, 0, BOOK_DONE);
    const struct booking first = booking_of(f, 1);
    assert_int_equal(ops(f)->bookings->finish(f->store, &first, BOOKING_ENDED), STATUS_OK);
    assert_int_equal(ops(f)->bookings->list(f->store, 0, true, 0, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].user, 2);
    assert_int_equal(rows[1].user, 3);
    assert_int_equal(ops(f)->bookings->list(f->store, f->many, false, 0, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(rows[0].state, BOOKING_ENDED);
}

static void the_time_to_pay_of_a_line_is_that_of_its_item(void **state)
{
    struct fixture *f = *state;
    const struct sold_out_offer offer = { .kind = SOLD_OUT_PRESALE, .balance_ms = 4321 };
    struct waitlist_line line;
    uint32_t count = 0;
    assert_int_equal(ops(f)->item_offer(f->store, f->many, &offer), STATUS_OK);
    book(f, 1, false, 0, BOOK_DONE);
    assert_int_equal(ops(f)->waitlist->lines(f->store, 0, &line, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(line.window_ms, 4321);
}

/* ---- stock of products ---- */

static int64_t stock_of(struct fixture *f)
{
    static struct product product; /* large */
    assert_int_equal(ops(f)->product_get(f->store, 1, &product), STATUS_OK);
    return product.stock;
}

static void units_take(struct fixture *f, item_id item, int32_t units, bool gone)
{
    struct queue_record *record = suite_add(f, COMMAND_ADJUST);
    record->command.adjust = (struct command_adjust){ .item = item, .delta = -units, .gone = gone };
    record->outcome.applied = -units;
    suite_must_send(f);
}

static void items_take_from_a_product_once_and_give_back_what_did_not_leave_the_shop(void **state)
{
    struct fixture *f = *state;
    struct item one = { .id = f->one }, many = { .id = f->many }, pooled[4];
    uint32_t count = 0;
    assert_int_equal(stock_of(f), STOCK_NONE);
    assert_int_equal(ops(f)->item_draw(f->store, &one), STATUS_OK);
    assert_false(one.pooled);
    assert_int_equal(ops(f)->product_stock(f->store, 1, UNITS + 3), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ops(f)->item_draw(f->store, &one), STATUS_OK);
        assert_int_equal(one.total, UNITS);
        assert_int_equal(stock_of(f), 3);
        suite_restart(f);
    }
    assert_int_equal(ops(f)->item_draw(f->store, &many), STATUS_OK);
    assert_int_equal(many.total, 3);
    assert_int_equal(stock_of(f), 0);
    units_take(f, f->one, 4, false);
    assert_int_equal(stock_of(f), 4);
    units_take(f, f->one, 2, true); /* sold elsewhere, or damaged */
    assert_int_equal(stock_of(f), 4);
    assert_int_equal(suite_item_of(f, f->one).total, UNITS - 6);
    units_take(f, f->free, 1, false); /* its units are its own */
    assert_int_equal(stock_of(f), 4);
    assert_int_equal(ops(f)->items_pooled(f->store, 0, 0, END_MS - 1, pooled, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ops(f)->items_pooled(f->store, 0, 0, END_MS, pooled, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(pooled[1].id, f->many);
}

int suite_run_policy(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(bookings_stop_at_the_cap_and_those_that_end_make_room),
        SUITE_RULE(a_deposit_is_that_of_its_booking_and_a_paid_one_stands_in_line_once),
        SUITE_RULE(open_bookings_are_listed_in_the_order_of_booking),
        SUITE_RULE(the_time_to_pay_of_a_line_is_that_of_its_item),
        SUITE_RULE(items_take_from_a_product_once_and_give_back_what_did_not_leave_the_shop),
    };
    return cmocka_run_group_tests_name("order store: merchant policy", rules, NULL, NULL);
}
