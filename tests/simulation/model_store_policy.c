/* SPDX-License-Identifier: Apache-2.0 */
/* Bookings and stock of products in the model store: arrays, searched from the front. What is decided is
 * decided by the product's own rules (policy/), as in the real store. */
#include "policy/booking_rules.h"
#include "policy/stock_share.h"
#include "tests/simulation/model_store_parts.h"

/* ---- bookings ---- */

static void booking_show(struct order_store *store, struct booking *row)
{
    const struct order *deposit =
        row->deposit == 0 ? NULL : model_store_order(model_of(store), row->deposit);
    row->deposit_state = deposit == NULL ? ORDER_NONE : deposit->state;
    row->deposit_reason = deposit == NULL ? REASON_NONE : deposit->reason;
    row->ticket = 0;
    row->place_state = model_place_state(store, row->place, &row->ticket);
    const struct order *offered =
        row->ticket == 0 ? NULL : model_store_order(model_of(store), row->ticket);
    row->offer_reason = offered == NULL ? REASON_NONE : offered->reason;
}

static struct booking *latest(const struct model_store *model, item_id item, user_id user)
{
    for (uint32_t i = model->at.bookings; i > 0; i--)
        if (model->bookings[i - 1].item == item && model->bookings[i - 1].user == user)
            return &model->bookings[i - 1];
    return NULL;
}

static void line_put(struct model_store *model, struct booking *row, uint64_t now_ms)
{
    struct waitlist_place place = {
        .item = row->item, .user = row->user, .quantity = row->quantity, .joined_ms = now_ms
    };
    row->state = BOOKING_PLACED;
    if (model_waitlist_waits(model, row->item, row->user, &row->place))
        return;
    model_waitlist_put(model, &place);
    row->place = place.id;
}

static enum status model_book(
    struct order_store *store, struct booking *booking, uint32_t cap, uint8_t *answer)
{
    struct model_store *model = model_of(store);
    const struct booking *old = latest(model, booking->item, booking->user);
    uint64_t booked = 0;
    if (booking->item == 0 || booking->item > model->at.items)
        return STATUS_NOT_FOUND;
    for (uint32_t i = 0; i < model->at.bookings; i++)
        booked += model->bookings[i].item == booking->item && model->bookings[i].state <= BOOKING_BOUGHT;
    *answer =
        (uint8_t)book_decide(old == NULL ? BOOKING_NONE : (enum booking_state)old->state, booked, cap);
    if (*answer == BOOK_DONE) {
        model_store_undo_forget(model);
        MODEL_ROOM(model, bookings, 1);
        booking->id = model->at.bookings + 1;
        booking->deposit = booking->closed_deposit = booking->place = 0;
        booking->state = BOOKING_DUE;
        if (!booking->has_deposit)
            line_put(model, booking, booking->booked_ms);
        model->bookings[model->at.bookings++] = *booking;
    } else if (*answer == BOOK_THERE) {
        invariant(old != NULL);
        *booking = *old;
    }
    if (*answer != BOOK_FULL)
        booking_show(store, booking);
    return STATUS_OK;
}

static enum status model_booking_get(
    struct order_store *store, item_id item, user_id user, struct booking *booking)
{
    const struct booking *row = latest(model_of(store), item, user);
    if (row == NULL)
        return STATUS_NOT_FOUND;
    *booking = *row;
    booking_show(store, booking);
    return STATUS_OK;
}

static enum status model_booking_list(struct order_store *store, item_id item, bool open_only,
    uint64_t after, struct booking *rows, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint64_t i = after; i < model->at.bookings && *count < max; i++) {
        const struct booking *row = &model->bookings[i];
        if ((item != 0 && row->item != item) || (open_only && row->state >= BOOKING_BOUGHT))
            continue;
        rows[*count] = *row;
        booking_show(store, &rows[(*count)++]);
    }
    return STATUS_OK;
}

static enum status model_booking_place(
    struct order_store *store, const struct booking *booking, uint64_t now_ms)
{
    struct model_store *model = model_of(store);
    struct booking *row = &model->bookings[booking->id - 1];
    if (row->state != BOOKING_DUE)
        return STATUS_CONFLICT;
    model_store_undo_forget(model);
    line_put(model, row, now_ms);
    return STATUS_OK;
}

static enum status model_booking_finish(
    struct order_store *store, const struct booking *booking, enum booking_state to)
{
    struct model_store *model = model_of(store);
    struct booking *row = &model->bookings[booking->id - 1];
    if (row->state >= BOOKING_BOUGHT || row->deposit != booking->deposit)
        return STATUS_CONFLICT;
    model_store_undo_forget(model);
    row->state = (uint8_t)to;
    return STATUS_OK;
}

static enum status model_booking_refund(
    struct order_store *store, const struct booking *booking, uint64_t now_ms, uint8_t *state)
{
    struct booking now = model_of(store)->bookings[booking->id - 1];
    const struct order_move move = { .ticket = now.deposit, .event = ORDER_EVENT_REFUND, .now_ms = now_ms };
    struct order after;
    uint8_t answer = MOVE_UNKNOWN;
    booking_show(store, &now);
    if (booking_step(&now, now_ms) != BOOKING_REFUND)
        return STATUS_CONFLICT;
    const enum status status = model_orders_move(store, &move, 1, &after, &answer);
    *state = answer == MOVE_DONE || answer == MOVE_REPEATED ? BOOKING_REFUNDED : BOOKING_ENDED;
    return status == STATUS_OK ? model_booking_finish(store, &now, (enum booking_state) * state) : status;
}

static enum status model_booking_dismiss(struct order_store *store, const struct booking *booking)
{
    struct booking *row = &model_of(store)->bookings[booking->id - 1];
    bool left;
    if (row->state >= BOOKING_BOUGHT)
        return STATUS_OK;
    model_store_undo_forget(model_of(store));
    row->deposit_kept = DEPOSIT_KEPT_NEVER;
    return store->ops->waitlist->leave(store, row->item, row->user, &left);
}

static const struct booking *booking_of_place(const struct model_store *model, uint64_t place)
{
    for (uint32_t i = 0; i < model->at.bookings && place != 0; i++)
        if (model->bookings[i].place == place && model->bookings[i].has_deposit)
            return &model->bookings[i];
    return NULL;
}

static enum status model_booking_is_balance(struct order_store *store, ticket_number ticket, bool *is)
{
    const struct model_store *model = model_of(store);
    *is = false;
    for (uint32_t i = 0; i < model->at.places; i++)
        if (model->places[i].place.state == PLACE_OFFERED && model->places[i].place.ticket == ticket)
            *is |= booking_of_place(model, model->places[i].place.id) != NULL;
    return STATUS_OK;
}

const struct booking_store_ops model_booking_ops = {
    .book = model_book,
    .get = model_booking_get,
    .list = model_booking_list,
    .place = model_booking_place,
    .finish = model_booking_finish,
    .refund = model_booking_refund,
    .dismiss = model_booking_dismiss,
    .is_balance = model_booking_is_balance,
};

bool model_booking_is_over(const struct model_store *model, uint64_t key)
{
    const struct booking *row = booking_of_place(model, waitlist_place_of(key));
    return row != NULL && row->state > BOOKING_BOUGHT;
}

struct booking *model_booking_late(struct order_store *store, ticket_number first, bool *joins)
{
    struct model_store *model = model_of(store);
    struct booking *row = NULL;
    for (uint32_t i = 0; i < model->at.bookings && first != 0; i++)
        if (model->bookings[i].deposit == first || model->bookings[i].closed_deposit == first)
            row = &model->bookings[i];
    *joins = false;
    if (row == NULL)
        return NULL;
    const struct sold_out_offer *offer = &model->items[row->item - 1].item.offer;
    const struct booking *newest = latest(model, row->item, row->user);
    struct booking_late late = { .booking = *row,
        .takes_bookings = offer->kind == SOLD_OUT_PRESALE && offer->presale_item == 0,
        .latest = newest == row ? BOOKING_NONE : (enum booking_state)newest->state,
        .cap = offer->presale_cap };
    for (uint32_t i = 0; i < model->at.bookings; i++)
        late.booked += model->bookings[i].item == row->item && model->bookings[i].state <= BOOKING_BOUGHT;
    booking_show(store, &late.booking);
    *joins = booking_late_joins(&late);
    return row;
}

void model_booking_deposit(struct model_store *model, uint64_t key, user_id user, ticket_number ticket)
{
    const uint64_t id = booking_of_key(key);
    if (id == 0 || id > model->at.bookings)
        return;
    struct booking *row = &model->bookings[id - 1];
    if (row->user != user || row->deposit != 0)
        return;
    model_store_note(model, row, sizeof *row);
    row->deposit = ticket;
}

enum status model_item_offer(struct order_store *store, item_id id, const struct sold_out_offer *offer)
{
    if (id == 0 || id > model_of(store)->at.items)
        return STATUS_NOT_FOUND;
    model_of(store)->items[id - 1].item.offer = *offer;
    return STATUS_OK;
}

/* ---- stock of products ---- */

enum status model_product_stock(struct order_store *store, uint32_t id, int64_t stock)
{
    if (id == 0 || id > model_of(store)->at.products)
        return STATUS_NOT_FOUND;
    model_store_undo_forget(model_of(store));
    model_of(store)->products[id - 1].stock = stock;
    return STATUS_OK;
}

enum status model_item_draw(struct order_store *store, struct item *item)
{
    struct model_store *model = model_of(store);
    if (item->id == 0 || item->id > model->at.items)
        return STATUS_NOT_FOUND;
    struct item *row = &model->items[item->id - 1].item;
    int64_t *stock = &model->products[row->product - 1].stock;
    if (!row->preheated && !row->pooled && *stock >= 0) {
        model_store_undo_forget(model);
        *stock -= stock_share(row, *stock > UNITS_MAX ? UNITS_MAX : (uint32_t)*stock);
        row->pooled = true;
        row->version++;
    }
    *item = *row;
    return STATUS_OK;
}

enum status model_items_pooled(struct order_store *store, item_id after, uint64_t from_ms,
    uint64_t to_ms, struct item *items, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = after; i < model->at.items && *count < max; i++) {
        const struct item *row = &model->items[i].item;
        const uint64_t end_ms = model->sales[row->sale - 1].sale.end_ms;
        if (row->pooled && end_ms > from_ms && end_ms <= to_ms)
            items[(*count)++] = *row;
    }
    return STATUS_OK;
}

void model_pool_return(struct model_store *model, const struct item *item, int64_t units)
{
    struct product *product = &model->products[item->product - 1];
    if (!item->pooled || product->stock < 0)
        return;
    model_store_note(model, &product->stock, sizeof product->stock);
    product->stock += units;
}
