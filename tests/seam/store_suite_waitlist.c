/* SPDX-License-Identifier: Apache-2.0 */
/* The line: joining, leaving, who is named by a return, and what the log says became of it. */
#include "contract/waitlist.h"
#include "tests/seam/store_suite_parts.h"

enum { LINE_MAX = 4 };

static const struct waitlist_store_ops *line(struct fixture *f)
{
    return ops(f)->waitlist;
}

static struct waitlist_place joined(struct fixture *f, item_id item, user_id user, uint32_t quantity)
{
    struct waitlist_place place = {
        .item = item, .user = user, .quantity = quantity, .joined_ms = START_MS + user
    };
    uint8_t answer = JOIN_FULL;
    assert_int_equal(line(f)->join(f->store, &place, LINE_MAX, &answer), STATUS_OK);
    assert_int_equal(answer, JOIN_DONE);
    return place;
}

static struct waitlist_place place_of(struct fixture *f, item_id item, user_id user)
{
    struct waitlist_place place;
    assert_int_equal(line(f)->place(f->store, item, user, &place), STATUS_OK);
    return place;
}

static ticket_number bought(struct fixture *f, item_id item, user_id user, uint32_t quantity)
{
    const ticket_number ticket = suite_add_win(f, item, user, quantity);
    suite_must_send(f);
    return ticket;
}

static void cancel(struct fixture *f, ticket_number ticket)
{
    const struct order_move move = { .ticket = ticket, .event = ORDER_EVENT_CANCEL, .now_ms = START_MS + 5 };
    struct order after;
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(ops(f)->orders_move(f->store, &move, 1, &after, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
}

/* The engine did what the only open event asks for, and served these. */
static struct queue_record *settled(struct fixture *f, uint8_t served)
{
    struct stock_event event;
    assert_int_equal(suite_open_events(f, &event, 1), 1);
    struct queue_record *record = suite_add_settle(f, event.settle.ticket, SETTLE_RETURN);
    record->command.settle = event.settle;
    record->outcome.detail = served;
    record->outcome.user = suite_order_of(f, event.settle.ticket).user;
    if (served != 0) {
        record->outcome.ticket = f->ticket + 1;
        record->outcome.unit_price = FLASH_PRICE;
        record->outcome.pay_by_ms = record->command.time_ms + WINDOW_MS;
        f->ticket += (ticket_number)__builtin_popcount(served);
    }
    return record;
}

static void a_user_has_one_place_and_the_line_has_an_end(void **state)
{
    struct fixture *f = *state;
    struct waitlist_place again = { .item = f->free, .user = 2, .quantity = 9, .joined_ms = 1 }, none;
    struct waitlist_line lines[3];
    uint8_t answer = JOIN_DONE;
    uint32_t count = 0;
    assert_int_equal(line(f)->lines(f->store, 0, lines, 3, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(line(f)->place(f->store, f->free, 2, &none), STATUS_NOT_FOUND);
    for (user_id user = 1; user <= LINE_MAX; user++)
        assert_int_equal(joined(f, f->free, user, 1).position, user);
    assert_int_equal(line(f)->join(f->store, &again, LINE_MAX, &answer), STATUS_OK);
    assert_int_equal(answer, JOIN_THERE);
    assert_int_equal(again.position, 2);
    assert_int_equal(again.quantity, 1);
    assert_int_equal(again.joined_ms, START_MS + 2);
    again.user = 9;
    assert_int_equal(line(f)->join(f->store, &again, LINE_MAX, &answer), STATUS_OK);
    assert_int_equal(answer, JOIN_FULL);
    assert_int_equal(joined(f, f->one, 9, 1).position, 1); /* lines are apart */
    suite_restart(f);
    assert_int_equal(line(f)->lines(f->store, 0, lines, 3, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(lines[0].item, f->one);
    assert_int_equal(lines[1].waiting, LINE_MAX);
    assert_int_equal(line(f)->lines(f->store, f->one, lines, 3, &count), STATUS_OK);
    assert_int_equal(count, 1);
}

static void who_leaves_makes_room_and_may_join_again_at_the_end(void **state)
{
    struct fixture *f = *state;
    struct waitlist_place places[LINE_MAX];
    uint32_t count = 0;
    bool left = false;
    for (user_id user = 1; user <= 3; user++)
        (void)joined(f, f->free, user, 1);
    assert_int_equal(line(f)->leave(f->store, f->free, 1, &left), STATUS_OK);
    assert_true(left);
    assert_int_equal(line(f)->leave(f->store, f->free, 1, &left), STATUS_OK);
    assert_false(left);
    assert_int_equal(place_of(f, f->free, 1).state, PLACE_LEFT);
    assert_int_equal(place_of(f, f->free, 2).position, 1);
    assert_int_equal(joined(f, f->free, 1, 2).position, 3);
    assert_int_equal(line(f)->list(f->store, f->free, 0, places, LINE_MAX, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(places[0].user, 2);
    assert_int_equal(places[2].user, 1);
    assert_int_equal(line(f)->list(f->store, f->free, places[1].id, places, LINE_MAX, &count), STATUS_OK);
    assert_int_equal(count, 1);
}

static void a_return_names_the_first_that_fit_and_no_other_return_names_them(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[2];
    const ticket_number two = bought(f, f->free, 50, 2), one = bought(f, f->free, 51, 1);
    (void)joined(f, f->free, 1, 3); /* too many for either */
    (void)joined(f, f->free, 2, 1);
    (void)joined(f, f->free, 3, 2); /* no longer fits behind the one before */
    (void)joined(f, f->free, 4, 1);
    cancel(f, two);
    cancel(f, one);
    suite_restart(f);
    assert_int_equal(suite_open_events(f, events, 2), 2);
    assert_int_equal(events[0].settle.waiter_count, 2);
    assert_int_equal(events[0].settle.waiters[0].user, 2);
    assert_int_equal(events[0].settle.waiters[1].user, 4);
    assert_int_equal(waitlist_place_of(events[0].settle.waiters[1].key), place_of(f, f->free, 4).id);
    assert_int_equal(events[1].settle.waiter_count, 0);
    assert_int_equal(place_of(f, f->free, 2).state, PLACE_WAITING); /* nothing is offered yet */
    assert_int_equal(place_of(f, f->free, 2).position, 2);
}

static void the_record_says_who_was_served_and_the_others_keep_their_place(void **state)
{
    struct fixture *f = *state;
    struct waitlist_place next[LINE_MAX];
    uint32_t count = 0;
    const ticket_number two = bought(f, f->free, 50, 2);
    (void)joined(f, f->free, 1, 1);
    (void)joined(f, f->free, 2, 1);
    cancel(f, two);
    settled(f, 2);
    suite_must_send(f);
    assert_int_equal(place_of(f, f->free, 1).state, PLACE_WAITING);
    assert_int_equal(place_of(f, f->free, 1).position, 1);
    assert_int_equal(place_of(f, f->free, 2).state, PLACE_OFFERED);
    assert_int_equal(place_of(f, f->free, 2).ticket, f->ticket);
    assert_int_equal(suite_order_of(f, f->ticket).user, 2);
    /* Passed over: not asked for again, until something of the user's changes. */
    assert_int_equal(line(f)->next(f->store, f->free, 5, next, LINE_MAX, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(line(f)->again(f->store), STATUS_OK);
    assert_int_equal(line(f)->next(f->store, f->free, 5, next, LINE_MAX, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(next[0].user, 1);
    assert_int_equal(line(f)->pass(f->store, next[0].id), STATUS_OK);
    const ticket_number own = bought(f, f->many, 1, 1);
    suite_add_settle(f, own, SETTLE_SOLD)->outcome.user = 1;
    suite_must_send(f);
    assert_int_equal(line(f)->next(f->store, f->free, 5, next, LINE_MAX, &count), STATUS_OK);
    assert_int_equal(count, 1);
    suite_check_accounting(f, f->free, 0);
}

static void who_is_passed_over_and_moves_in_the_same_batch_is_asked_for_again(void **state)
{
    struct fixture *f = *state;
    struct waitlist_place next[1];
    uint32_t count = 0;
    const ticket_number own = bought(f, f->many, 1, 1), other = bought(f, f->free, 50, 1);
    (void)joined(f, f->free, 1, 1);
    cancel(f, other);
    settled(f, 0);
    suite_add_settle(f, own, SETTLE_SOLD)->outcome.user = 1;
    suite_must_send(f);
    assert_int_equal(line(f)->next(f->store, f->free, 5, next, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(next[0].user, 1);
}

static void an_offer_is_an_order_and_ends_as_one(void **state)
{
    struct fixture *f = *state;
    struct order_move expire = { .event = ORDER_EVENT_EXPIRE, .now_ms = END_MS * 10 };
    struct stock_event event;
    struct order after;
    uint8_t answer;
    (void)joined(f, f->free, 1, 1);
    (void)joined(f, f->free, 2, 1);
    cancel(f, bought(f, f->free, 50, 1));
    settled(f, 1);
    suite_must_send(f);
    expire.ticket = f->ticket;
    assert_int_equal(ops(f)->orders_move(f->store, &expire, 1, &after, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
    assert_int_equal(place_of(f, f->free, 1).state, PLACE_EXPIRED);
    assert_int_equal(suite_open_events(f, &event, 1), 1); /* and the unit goes on to the next */
    assert_int_equal(event.settle.waiters[0].user, 2);
    settled(f, 1);
    suite_must_send(f);
    suite_add_settle(f, f->ticket, SETTLE_SOLD);
    suite_must_send(f);
    assert_int_equal(place_of(f, f->free, 2).state, PLACE_BOUGHT);
    assert_int_equal(place_of(f, f->free, 2).position, 0);
    assert_int_equal(joined(f, f->free, 1, 1).position, 1); /* who let it expire may come back */
}

static void an_offer_by_a_purchase_marks_its_place_and_an_order_of_the_user_does_not(void **state)
{
    struct fixture *f = *state;
    const struct waitlist_place place = joined(f, f->free, 1, 1);
    bool left = false;
    (void)bought(f, f->free, 1, 1);
    assert_int_equal(place_of(f, f->free, 1).state, PLACE_WAITING);
    assert_int_equal(line(f)->leave(f->store, f->free, 1, &left), STATUS_OK);
    const ticket_number ticket = suite_add_win(f, f->free, 1, 1); /* it was on its way */
    f->records[f->count - 1].command.reserve.key = waitlist_key(place.id);
    f->records[f->count - 1].command.reserve.flags = RESERVE_OFFER;
    suite_must_send(f);
    assert_int_equal(place_of(f, f->free, 1).state, PLACE_OFFERED);
    assert_int_equal(place_of(f, f->free, 1).ticket, ticket);
}

static void a_rejected_order_and_a_return_by_somebody_else_serve_and_free_the_line(void **state)
{
    struct fixture *f = *state;
    struct stock_event event;
    struct waitlist_place next[1];
    uint32_t count = 0;
    (void)joined(f, f->free, 1, 1);
    const ticket_number ticket = suite_add_win(f, f->free, 60, 1);
    f->dispositions[0] = DISPOSE_REJECT;
    suite_must_send(f);
    assert_int_equal(suite_open_events(f, &event, 1), 1);
    assert_int_equal(event.settle.waiters[0].user, 1);
    assert_int_equal(line(f)->next(f->store, f->free, 5, next, 1, &count), STATUS_OK);
    assert_int_equal(count, 0); /* named: nobody else may offer it anything */
    suite_add_settle(f, ticket, SETTLE_RETURN)->outcome.user = 60; /* without those in line */
    suite_must_send(f);
    assert_int_equal(line(f)->next(f->store, f->free, 5, next, 1, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(line(f)->next(f->store, f->free, 0, next, 1, &count), STATUS_OK);
    assert_int_equal(count, 0);
}

int suite_run_waitlist(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_user_has_one_place_and_the_line_has_an_end),
        SUITE_RULE(who_leaves_makes_room_and_may_join_again_at_the_end),
        SUITE_RULE(a_return_names_the_first_that_fit_and_no_other_return_names_them),
        SUITE_RULE(the_record_says_who_was_served_and_the_others_keep_their_place),
        SUITE_RULE(who_is_passed_over_and_moves_in_the_same_batch_is_asked_for_again),
        SUITE_RULE(an_offer_is_an_order_and_ends_as_one),
        SUITE_RULE(an_offer_by_a_purchase_marks_its_place_and_an_order_of_the_user_does_not),
        SUITE_RULE(a_rejected_order_and_a_return_by_somebody_else_serve_and_free_the_line),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
