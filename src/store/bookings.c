/* SPDX-License-Identifier: Apache-2.0 */
/* Bookings of a presale (contract/booking.h). What became of the deposit and of the place is read from their
 * rows. items.booked counts those that are not over, for the cap. */
#include "contract/waitlist_rules.h"
#include "store/deposits.h"

const char store_booking_tables[] =
    "CREATE TABLE bookings("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  item INTEGER NOT NULL REFERENCES items(id), user_id INTEGER NOT NULL,"
    "  quantity INTEGER NOT NULL CHECK(quantity > 0), booked_ms INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 5),"
    "  has_deposit INTEGER NOT NULL CHECK(has_deposit IN (0, 1)),"
    "  deposit INTEGER NOT NULL, place INTEGER NOT NULL,"
    "  deposit_kept INTEGER NOT NULL DEFAULT 0 CHECK(deposit_kept BETWEEN 0 AND 2),"
    "  closed_deposit INTEGER NOT NULL DEFAULT 0" /* its money came late and paid `deposit` */
    ") STRICT;"
    "CREATE INDEX bookings_of_user ON bookings(item, user_id, id);"
    "CREATE INDEX bookings_open ON bookings(id){state, id} WHERE state < 3;"
    "CREATE INDEX bookings_of_deposit ON bookings(deposit);"
    "CREATE INDEX bookings_of_closed ON bookings(closed_deposit){closed_deposit}"
    " WHERE closed_deposit <> 0;";

static_assert(BOOKING_DUE == 1 && BOOKING_PLACED == 2 && BOOKING_REFUNDED == 5,
    "numbers in the database never change their meaning");

#define BOOKING_SELECT \
    "SELECT bookings.id, bookings.item, bookings.user_id, bookings.quantity, bookings.booked_ms," \
    " bookings.state, bookings.has_deposit, bookings.deposit, bookings.place, paid.state, " \
    "paid.reason," \
    " waitlist.state, waitlist.ticket, offered.reason, bookings.deposit_kept," \
    " bookings.closed_deposit, offered.state FROM bookings" \
    " LEFT JOIN orders AS paid ON paid.ticket = bookings.deposit AND bookings.deposit <> 0" \
    " LEFT JOIN waitlist ON waitlist.id = bookings.place AND bookings.place <> 0" \
    " LEFT JOIN orders AS offered ON offered.ticket = waitlist.ticket AND waitlist.ticket <> 0"

static enum status states_take(struct sql_row *row, void *out)
{
    struct booking *booking = out;
    booking->place_state =
        (uint8_t)waitlist_place_state(booking->place_state, column_u32(row, 16), column_u32(row, 13));
    return STATUS_OK;
}

static const struct sql_columns booking_columns = COLUMNS_ALSO(booking, states_take,
    FIELD(booking, id), FIELD(booking, item), FIELD(booking, user), FIELD(booking, quantity),
    FIELD(booking, booked_ms), FIELD(booking, state), FIELD(booking, has_deposit),
    FIELD(booking, deposit), FIELD(booking, place), FIELD(booking, deposit_state),
    FIELD(booking, deposit_reason), FIELD(booking, place_state), FIELD(booking, ticket),
    FIELD(booking, offer_reason), FIELD(booking, deposit_kept), FIELD(booking, closed_deposit));

static enum status booking_get(
    struct order_store *handle, item_id item, user_id user, struct booking *booking)
{
    return sql_one(store_of(handle),
        BOOKING_SELECT
        " WHERE bookings.item = ?1 AND bookings.user_id = ?2 ORDER BY bookings.id DESC LIMIT 1",
        VALUES(U64(item), U64(user)), &booking_columns, booking);
}

enum status store_booking_count(struct store *store, item_id item, int64_t add)
{
    return sql_do_one(store, "UPDATE items SET booked = booked + ?2 WHERE id = ?1",
        VALUES(U64(item), U64(add)), STATUS_NOT_FOUND);
}

/* Whoever waits already keeps that place. */
static enum status line_put(
    struct store *store, const struct booking *booking, uint64_t now_ms, uint64_t *place)
{
    struct waitlist_place row = {
        .item = booking->item, .user = booking->user, .quantity = booking->quantity, .joined_ms = now_ms
    };
    enum status status =
        sql_number(store, "SELECT id FROM waitlist WHERE item = ?1 AND user_id = ?2 AND state = 1",
            VALUES(U64(booking->item), U64(booking->user)), &row.id);
    if (status == STATUS_NOT_FOUND)
        status = store_waitlist_put(store, &row);
    *place = row.id;
    return status;
}

struct book_work {
    struct order_store *handle;
    struct booking wanted, *booking;
    uint32_t cap;
    uint8_t answer;
};

static enum status book_put(struct store *store, struct booking *booking)
{
    enum status status = STATUS_OK;
    booking->state = booking->has_deposit ? BOOKING_DUE : BOOKING_PLACED;
    booking->place_state = booking->has_deposit ? PLACE_NONE : PLACE_WAITING;
    if (!booking->has_deposit)
        status = line_put(store, booking, booking->booked_ms, &booking->place);
    if (status == STATUS_OK)
        status = sql_insert(store,
            "INSERT INTO bookings(item, user_id, quantity, booked_ms, state, has_deposit, deposit, "
            "place, deposit_kept)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8) RETURNING id",
            VALUES(U64(booking->item), U64(booking->user), U64(booking->quantity),
                U64(booking->booked_ms), U64(booking->state), U64(booking->has_deposit),
                U64(booking->place), U64(booking->deposit_kept)),
            &booking->id);
    return status == STATUS_OK ? store_booking_count(store, booking->item, 1) : status;
}

static enum status book_make(struct store *store, void *context)
{
    struct book_work *work = context;
    struct booking *booking = work->booking, old = { 0 };
    uint64_t booked = 0;
    *booking = work->wanted;
    enum status status = store_item_lock(store, booking->item);
    if (status == STATUS_OK)
        status = booking_get(work->handle, booking->item, booking->user, &old);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = sql_number(
            store, "SELECT booked FROM items WHERE id = ?1", VALUES(U64(booking->item)), &booked);
    if (status != STATUS_OK)
        return status;
    work->answer = (uint8_t)book_decide((enum booking_state)old.state, booked, work->cap);
    if (work->answer == BOOK_THERE)
        *booking = old;
    return work->answer == BOOK_DONE ? book_put(store, booking) : STATUS_OK;
}

static enum status booking_book(
    struct order_store *handle, struct booking *booking, uint32_t cap, uint8_t *answer)
{
    struct book_work work = { handle, *booking, booking, cap, 0 };
    const enum status status = store_transact(store_of(handle), true, book_make, &work);
    *answer = work.answer;
    return status;
}

static enum status booking_list(struct order_store *handle, item_id item, bool open_only,
    uint64_t after, struct booking *rows, uint32_t max, uint32_t *count)
{
    if (open_only && item == 0)
        return sql_rows(store_of(handle),
            BOOKING_SELECT
            " WHERE bookings.id > ?1 AND bookings.state < 3 ORDER BY bookings.id LIMIT ?2",
            VALUES(U64(after), U64(max)), &booking_columns, PAGE(rows, max, count));
    return sql_rows(store_of(handle),
        BOOKING_SELECT " WHERE bookings.item = ?1 AND bookings.id > ?2 AND bookings.state < ?3"
                       " ORDER BY bookings.id LIMIT ?4",
        VALUES(U64(item), U64(after), U64(open_only ? BOOKING_BOUGHT : BOOKING_STATES), U64(max)),
        &booking_columns, PAGE(rows, max, count));
}

/* What becomes of a booking: in line at now_ms, or over. */
struct booking_turn {
    const struct booking *booking;
    uint64_t now_ms;
    enum booking_state to;
};

static enum status place_make(struct store *store, void *context)
{
    const struct booking_turn *turn = context;
    uint64_t place = 0;
    enum status status = store_item_lock(store, turn->booking->item);
    if (status == STATUS_OK)
        status = sql_do_one(store, "UPDATE bookings SET state = 2 WHERE id = ?1 AND state = 1",
            VALUES(U64(turn->booking->id)), STATUS_CONFLICT);
    if (status == STATUS_OK)
        status = line_put(store, turn->booking, turn->now_ms, &place);
    return status != STATUS_OK ? status
                               : sql_do(store, "UPDATE bookings SET place = ?2 WHERE id = ?1",
                                   VALUES(U64(turn->booking->id), U64(place)));
}

static enum status booking_place(struct order_store *handle, const struct booking *booking, uint64_t now_ms)
{
    struct booking_turn turn = { booking, now_ms, BOOKING_PLACED };
    return store_transact(store_of(handle), false, place_make, &turn);
}

/* What was bought still counts toward the cap. */
enum status store_booking_end(struct store *store, const struct booking *booking, enum booking_state to)
{
    const enum status status = sql_do_one(store,
        "UPDATE bookings SET state = ?2 WHERE id = ?1 AND state < 3 AND deposit = ?3",
        VALUES(U64(booking->id), U64(to), U64(booking->deposit)), STATUS_CONFLICT);
    return status == STATUS_OK && to != BOOKING_BOUGHT ? store_booking_count(store, booking->item, -1)
                                                       : status;
}

static enum status finish_make(struct store *store, void *context)
{
    const struct booking_turn *turn = context;
    const enum status status = store_item_lock(store, turn->booking->item);
    return status == STATUS_OK ? store_booking_end(store, turn->booking, turn->to) : status;
}

static enum status booking_finish(
    struct order_store *handle, const struct booking *booking, enum booking_state to)
{
    struct booking_turn turn = { booking, 0, to };
    return store_transact(store_of(handle), false, finish_make, &turn);
}

static const struct sql_columns purchase_columns = COLUMNS(purchase_line, FIELD(purchase_line, item),
    FIELD(purchase_line, product), FIELD(purchase_line, name), FIELD(purchase_line, currency),
    FIELD(purchase_line, bookings), FIELD(purchase_line, units), FIELD(purchase_line, deposits),
    FIELD(purchase_line, deposits_amount), FIELD(purchase_line, due), FIELD(purchase_line, bought),
    FIELD(purchase_line, kept), FIELD(purchase_line, kept_amount));

static enum status booking_purchases(struct order_store *handle, item_id after,
    struct purchase_line *lines, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT items.id, items.product, products.name, products.currency,"
        " sum(CASE WHEN bookings.state = 2 THEN 1 ELSE 0 END),"
        " sum(CASE WHEN bookings.state = 2 THEN bookings.quantity ELSE 0 END),"
        " sum(CASE WHEN orders.state = 2 THEN 1 ELSE 0 END),"
        " sum(CASE WHEN orders.state = 2 THEN orders.amount ELSE 0 END),"
        " sum(CASE WHEN bookings.state = 1 THEN 1 ELSE 0 END),"
        " sum(CASE WHEN bookings.state = 3 THEN bookings.quantity ELSE 0 END),"
        " sum(CASE WHEN bookings.state = 4 AND orders.state = 2 THEN 1 ELSE 0 END),"
        " sum(CASE WHEN bookings.state = 4 AND orders.state = 2 THEN orders.amount ELSE 0 END)"
        " FROM bookings JOIN items ON items.id = bookings.item JOIN products ON products.id = "
        "items.product"
        " LEFT JOIN orders ON orders.ticket = bookings.deposit AND bookings.deposit <> 0"
        " WHERE bookings.item > ?1 GROUP BY items.id, items.product, products.name, "
        "products.currency"
        " ORDER BY items.id LIMIT ?2",
        VALUES(U64(after), U64(max)), &purchase_columns, PAGE(lines, max, count));
}

const struct booking_store_ops store_booking_ops = {
    .book = booking_book,
    .get = booking_get,
    .list = booking_list,
    .place = booking_place,
    .finish = booking_finish,
    .refund = store_booking_refund,
    .dismiss = store_booking_dismiss,
    .is_balance = store_booking_is_balance,
    .purchases = booking_purchases,
};

enum status store_booking_read(struct store *store, uint64_t id, struct booking *booking)
{
    return sql_one(store, BOOKING_SELECT " WHERE bookings.id = ?1", VALUES(U64(id)),
        &booking_columns, booking);
}

/* The log says that the deposit of a booking was won. */
enum status store_booking_deposit(
    struct store_batch *batch, uint64_t key, user_id user, ticket_number ticket)
{
    if (booking_of_key(key) == 0)
        return STATUS_OK;
    return store_batch_do(batch,
        "UPDATE bookings SET deposit = ?2 WHERE id = ?1 AND user_id = ?3 AND deposit = 0",
        VALUES(U64(booking_of_key(key)), U64(ticket), U64(user)));
}
