/* SPDX-License-Identifier: Apache-2.0 */
/* Deposits of bookings (contract/booking.h): those that go back, offers that come too late for one, and money
 * that comes too late itself. Whoever writes an offer has the item locked, and so has everything here: a
 * deposit that goes back and an offer for its booking never miss each other. */
#include "store/deposits.h"

static_assert(BOOKING_DUE == 1 && BOOKING_PLACED == 2 && BOOKING_BOUGHT == 3,
    "said in numbers in the statements");

/* The items in their order, then the order of the deposit. */
static enum status booking_lock(struct store *store, const struct booking *booking)
{
    uint64_t items[2] = { booking->item };
    if (!store_locks(store))
        return STATUS_OK;
    enum status status = sql_number(store, "SELECT item FROM orders WHERE ticket = ?1",
        VALUES(U64(booking->deposit)), &items[1]);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = store_items_lock(store, items, 2);
    if (status == STATUS_OK)
        status = store_order_lock(store, booking->deposit);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status refund_once(
    struct store *store, const struct booking *asked, uint64_t now_ms, uint8_t *state)
{
    const struct order_move move = {
        .ticket = asked->deposit, .event = ORDER_EVENT_REFUND, .refund_to = REFUND_TO_STOCK, .now_ms = now_ms
    };
    struct store_change change;
    struct booking booking = { 0 };
    struct order after;
    enum move_answer answer = MOVE_UNKNOWN;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = booking_lock(store, asked);
    if (status == STATUS_OK)
        status = store_booking_read(store, asked->id, &booking);
    if (status == STATUS_OK
        && (booking.deposit != asked->deposit || booking_step(&booking, now_ms) != BOOKING_REFUND))
        status = STATUS_CONFLICT;
    if (status == STATUS_OK)
        status = store_move_one(&change.batch, &move, &after, &answer);
    *state = answer == MOVE_DONE || answer == MOVE_REPEATED ? BOOKING_REFUNDED : BOOKING_ENDED;
    if (status == STATUS_OK)
        status = store_booking_end(store, &booking, (enum booking_state) * state);
    return store_change_end(&change, status, status == STATUS_OK);
}

enum status store_booking_refund(
    struct order_store *handle, const struct booking *booking, uint64_t now_ms, uint8_t *state)
{
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = refund_once(store_of(handle), booking, now_ms, state);
    return status;
}

static enum status dismiss_make(struct store *store, void *context)
{
    const struct booking *booking = context;
    bool left;
    enum status status = store_item_lock(store, booking->item);
    if (status == STATUS_OK)
        status = sql_do(store, "UPDATE bookings SET deposit_kept = 0 WHERE id = ?1 AND state < 3",
            VALUES(U64(booking->id)));
    if (status != STATUS_OK || sql_matched(store) == 0)
        return status;
    return store_waitlist_leave(store, booking->item, booking->user, &left);
}

enum status store_booking_dismiss(struct order_store *handle, const struct booking *booking)
{
    struct booking work = *booking;
    return store_transact(store_of(handle), true, dismiss_make, &work);
}

enum status store_booking_is_over(struct store *store, uint64_t key, bool *over)
{
    *over = false;
    if (waitlist_place_of(key) == 0)
        return STATUS_OK;
    return sql_found(store,
        "SELECT 1 FROM waitlist JOIN bookings ON bookings.item = waitlist.item"
        " AND bookings.user_id = waitlist.user_id AND bookings.place = waitlist.id"
        " WHERE waitlist.id = ?1 AND bookings.has_deposit = 1 AND bookings.state > 3",
        VALUES(U64(waitlist_place_of(key))), over);
}

/* ---- late money ---- */

enum status store_booking_is_balance(struct order_store *handle, ticket_number ticket, bool *is)
{
    return sql_found(store_of(handle),
        "SELECT 1 FROM waitlist JOIN bookings ON bookings.item = waitlist.item"
        " AND bookings.user_id = waitlist.user_id AND bookings.place = waitlist.id"
        " WHERE waitlist.state = 2 AND waitlist.ticket = ?1 AND bookings.has_deposit = 1",
        VALUES(U64(ticket)), is);
}

/* Items before orders; what is locked twice is locked once. */
static enum status late_lock(struct store *store, ticket_number first, ticket_number second, item_id item)
{
    const ticket_number tickets[2] = { first, second };
    uint64_t items[3] = { [2] = item };
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
        status = sql_number(
            store, "SELECT item FROM orders WHERE ticket = ?1", VALUES(U64(tickets[i])), &items[i]);
        if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
    }
    return status == STATUS_OK && !store->grouped ? store_items_lock(store, items, 3) : status;
}

static enum status late_read(struct store *store, struct booking_late *late)
{
    const struct booking *booking = &late->booking;
    struct booking latest = { 0 };
    struct item item = { 0 };
    enum status status = store_booking_ops.get(&store->store, booking->item, booking->user, &latest);
    if (status == STATUS_OK)
        status = store_item_get(&store->store, booking->item, &item);
    if (status == STATUS_OK)
        status = sql_number(store, "SELECT booked FROM items WHERE id = ?1",
            VALUES(U64(booking->item)), &late->booked);
    late->latest = latest.id == booking->id ? BOOKING_NONE : (enum booking_state)latest.state;
    late->cap = item.offer.presale_cap;
    late->takes_bookings = item.offer.kind == SOLD_OUT_PRESALE && item.offer.presale_item == 0;
    return status;
}

enum status store_booking_late(
    struct store *store, ticket_number first, ticket_number second, struct booking_late *late)
{
    uint64_t row[2] = { 0 };
    *late = (struct booking_late){ 0 };
    enum status status = sql_numbers(
        store, "SELECT id, item FROM bookings WHERE deposit = ?1", VALUES(U64(first)), row, 2);
    if (status == STATUS_NOT_FOUND) /* other money of it has joined before */
        status = sql_numbers(store,
            "SELECT id, item FROM bookings WHERE closed_deposit = ?1 AND closed_deposit <> 0",
            VALUES(U64(first)), row, 2);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (store_locks(store))
        status = late_lock(store, first, second, (item_id)row[1]);
    if (status == STATUS_OK)
        status = store_booking_read(store, row[0], &late->booking);
    return status == STATUS_OK ? late_read(store, late) : status;
}

enum status store_booking_join(struct store *store, const struct booking_late *late, ticket_number second)
{
    const struct booking *booking = &late->booking;
    const enum status status = sql_do_one(store,
        "UPDATE bookings SET state = 1, deposit = ?2, closed_deposit = ?3 WHERE id = ?1",
        VALUES(U64(booking->id), U64(second), U64(booking->deposit)), STATUS_CORRUPT);
    return status == STATUS_OK && booking->state == BOOKING_ENDED
        ? store_booking_count(store, booking->item, 1)
        : status;
}
