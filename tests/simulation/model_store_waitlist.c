/* SPDX-License-Identifier: Apache-2.0 */
/* The waitlist of the model store: one array, searched from the front. */
#include "contract/waitlist_rules.h"
#include "tests/simulation/model_store_parts.h"

static bool waits(const struct model_place *row, item_id item)
{
    return row->place.item == item && row->place.state == PLACE_WAITING;
}

static struct model_place *note(struct model_store *model, struct model_place *row)
{
    model_store_note(model, row, sizeof *row);
    return row;
}

/* Outside a batch: nothing of it is taken back. */
static void settled_here(struct model_store *model)
{
    model_store_undo_forget(model);
}

static uint8_t state_shown(struct order_store *store, const struct waitlist_place *place)
{
    struct order order = { .state = ORDER_NONE };
    if (place->state == PLACE_OFFERED)
        (void)store->ops->order_by_ticket(store, place->ticket, &order); /* perhaps not written yet */
    return (uint8_t)waitlist_place_state((enum place_state)place->state,
        (enum order_state)order.state, (enum order_reason)order.reason);
}

static enum status model_place(
    struct order_store *store, item_id item, user_id user, struct waitlist_place *place)
{
    const struct model_store *model = model_of(store);
    for (uint32_t i = model->at.places; i > 0; i--) {
        const struct model_place *row = &model->places[i - 1];
        if (row->place.item != item || row->place.user != user)
            continue;
        *place = row->place;
        place->state = state_shown(store, &row->place);
        if (row->place.state == PLACE_WAITING)
            place->position = 1;
        for (uint32_t j = 0; j + 1 < i && place->position != 0; j++)
            place->position += waits(&model->places[j], item);
        return STATUS_OK;
    }
    return STATUS_NOT_FOUND;
}

static uint32_t line_count(const struct model_store *model, item_id item)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < model->at.places; i++)
        waiting += waits(&model->places[i], item);
    return waiting;
}

bool model_waitlist_waits(const struct model_store *model, item_id item, user_id user, uint64_t *place)
{
    for (uint32_t i = 0; i < model->at.places; i++) {
        if (!waits(&model->places[i], item) || model->places[i].place.user != user)
            continue;
        *place = i + 1;
        return true;
    }
    return false;
}

void model_waitlist_put(struct model_store *model, struct waitlist_place *place)
{
    settled_here(model);
    MODEL_ROOM(model, places, 1);
    place->id = model->at.places + 1;
    place->state = PLACE_WAITING;
    place->ticket = place->position = 0;
    model->places[model->at.places++] = (struct model_place){ .place = *place };
}

uint8_t model_place_state(struct order_store *store, uint64_t place, ticket_number *ticket)
{
    if (place == 0)
        return PLACE_NONE;
    const struct waitlist_place *row = &model_of(store)->places[place - 1].place;
    *ticket = row->ticket;
    return state_shown(store, row);
}

static enum status model_join(
    struct order_store *store, struct waitlist_place *place, uint32_t line_max, uint8_t *answer)
{
    struct model_store *model = model_of(store);
    struct waitlist_place old = { .state = PLACE_NONE };
    (void)model_place(store, place->item, place->user, &old); /* perhaps the first one */
    *answer = (uint8_t)waitlist_join_decide(
        (enum place_state)old.state, line_count(model, place->item), line_max);
    if (*answer == JOIN_THERE)
        *place = old;
    if (*answer != JOIN_DONE)
        return STATUS_OK;
    model_waitlist_put(model, place);
    return model_place(store, place->item, place->user, place);
}

static enum status model_leave(struct order_store *store, item_id item, user_id user, bool *left)
{
    struct model_store *model = model_of(store);
    *left = false;
    settled_here(model);
    for (uint32_t i = 0; i < model->at.places; i++) {
        if (!waits(&model->places[i], item) || model->places[i].place.user != user)
            continue;
        model->places[i].place.state = PLACE_LEFT;
        *left = true;
    }
    return STATUS_OK;
}

static enum status model_list(struct order_store *store, item_id item, uint64_t after,
    struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = 0; i < model->at.places && *count < max; i++)
        if (waits(&model->places[i], item) && model->places[i].place.id > after)
            places[(*count)++] = model->places[i].place;
    return STATUS_OK;
}

static enum status model_next(struct order_store *store, item_id item, uint32_t units,
    struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = 0; i < model->at.places && *count < max; i++) {
        const struct model_place *row = &model->places[i];
        if (waits(row, item) && row->place.quantity <= units && row->named == 0 && !row->passed)
            places[(*count)++] = row->place;
    }
    return STATUS_OK;
}

static enum status model_lines(struct order_store *store, item_id after,
    struct waitlist_line *lines, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (item_id item = after + 1; item <= model->at.items && *count < max; item++) {
        const uint32_t waiting = line_count(model, item);
        if (waiting > 0)
            lines[(*count)++] = (struct waitlist_line){ .item = item,
                .waiting = waiting,
                .window_ms = model->items[item - 1].item.offer.balance_ms };
    }
    return STATUS_OK;
}

static enum status model_pass(struct order_store *store, uint64_t place)
{
    struct model_store *model = model_of(store);
    settled_here(model);
    if (place > 0 && place <= model->at.places && model->places[place - 1].place.state == PLACE_WAITING)
        model->places[place - 1].passed = true;
    return STATUS_OK;
}

static enum status model_again(struct order_store *store)
{
    struct model_store *model = model_of(store);
    settled_here(model);
    for (uint32_t i = 0; i < model->at.places; i++)
        model->places[i].passed = false;
    return STATUS_OK;
}

const struct waitlist_store_ops model_waitlist_ops = {
    .join = model_join,
    .leave = model_leave,
    .place = model_place,
    .list = model_list,
    .lines = model_lines,
    .next = model_next,
    .pass = model_pass,
    .again = model_again,
};

/* ---- parts of a batch ---- */

void model_waitlist_pick(struct model_store *model, struct stock_event *event, const struct order *order)
{
    struct command_settle *settle = &event->settle;
    uint32_t left = order->quantity;
    for (uint32_t i = 0; i < model->at.places && settle->waiter_count < WAITERS_PER_RETURN; i++) {
        struct model_place *row = &model->places[i];
        if (!waits(row, order->item) || row->named != 0 || row->passed
            || !waitlist_take(&left, row->place.quantity))
            continue;
        note(model, row)->named = order->ticket;
        settle->waiters[settle->waiter_count++] =
            (struct waiter){ row->place.user, waitlist_key(row->place.id), row->place.quantity };
    }
}

void model_waitlist_offer(struct model_store *model, uint64_t key, user_id user, ticket_number ticket)
{
    const uint64_t id = waitlist_place_of(key);
    if (id == 0 || id > model->at.places)
        return;
    struct model_place *row = &model->places[id - 1];
    if (row->place.user != user || row->place.state == PLACE_OFFERED)
        return;
    note(model, row)->place.state = PLACE_OFFERED;
    row->place.ticket = ticket;
    row->named = 0;
    row->passed = false;
}

void model_waitlist_settled(struct model_store *model, const struct queue_record *record)
{
    const struct command_settle *settle = &record->command.settle;
    for (uint32_t i = 0; i < settle->waiter_count; i++) {
        const struct waiter *waiter = &settle->waiters[i];
        const struct waiter_verdict verdict = waitlist_waiter_verdict(record, i);
        const uint64_t id = verdict.place;
        if (verdict.ticket != 0 && !model_booking_is_over(model, waiter->key))
            model_waitlist_offer(model, waiter->key, waiter->user, verdict.ticket);
        else if (verdict.ticket == 0 && id != 0 && id <= model->at.places
            && model->places[id - 1].place.state == PLACE_WAITING)
            note(model, &model->places[id - 1])->passed = true;
    }
    for (uint32_t i = 0; i < model->at.places; i++) {
        struct model_place *row = &model->places[i];
        if (row->named == settle->ticket && settle->step == SETTLE_RETURN)
            note(model, row)->named = 0;
        if (row->passed && row->place.user == record->outcome.user)
            note(model, row)->passed = false;
    }
}

void model_waitlist_terms(struct model_store *model)
{
    for (uint32_t i = 0; i < model->at.places; i++)
        if (model->places[i].passed)
            note(model, &model->places[i])->passed = false;
}
