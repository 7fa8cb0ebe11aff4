/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, crashing, catalog and reads of the model store; model_store_apply.c has the rules of a
 * batch. */
#include "tests/simulation/model_store.h"

#include "tests/simulation/model_store_parts.h"

#include <string.h>

void *model_grown(void *array, uint32_t *room, uint32_t needed, size_t bytes_each)
{
    if (needed <= *room)
        return array;
    *room = needed * 2 > 16 ? needed * 2 : 16;
    array = realloc(array, *room * bytes_each);
    invariant(array != NULL);
    return array;
}

static void model_close(struct order_store *store)
{
    struct model_store *model = model_of(store);
    model_store_group_drop(model, true);
    model_store_arrays_free(model);
    free(model->undo);
    free(model->undo_data);
    free(model);
}

void model_store_crash(struct order_store *store)
{
    struct model_store *model = model_of(store);
    model->fault = MODEL_FAULT_NONE;
    model_store_undo_forget(model);
    model_store_group_drop(model, false);
}

void model_store_fail(struct order_store *store, enum model_fault fault, uint32_t times)
{
    model_of(store)->fault = fault;
    model_of(store)->fault_times = times;
}

static enum status model_identity(struct order_store *store, uint64_t *data_id)
{
    *data_id = model_of(store)->data_id;
    return STATUS_OK;
}

static enum status model_applied(struct order_store *store, uint32_t part, struct position *position)
{
    invariant(part < MODEL_PARTS);
    *position = (struct position){ part, model_of(store)->at.seqs[part] };
    return STATUS_OK;
}

static enum status model_identity_set(struct order_store *store, uint64_t data_id)
{
    struct model_store *model = model_of(store);
    if (data_id == 0)
        return STATUS_BAD_INPUT;
    if (model->data_id != 0)
        return STATUS_CONFLICT;
    model->data_id = data_id;
    return STATUS_OK;
}

static enum status model_stock_events(struct order_store *store, uint64_t after,
    struct stock_event *events, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = model->at.events_open; i < model->at.events && *count < max; i++) {
        if (model->events[i].confirmed || model->events[i].event.id <= after)
            continue;
        const struct order *order = model_store_order(model, model->events[i].event.settle.ticket);
        struct stock_event *event = &events[(*count)++];
        *event = model->events[i].event;
        if (order != NULL && event->settle.waiter_count > 0)
            event->settle.waiter_window_ms = model->items[order->item - 1].item.offer.balance_ms;
        event->settle.let_go = event->settle.step == SETTLE_RETURN && order != NULL
            && order->state == ORDER_CLOSED && order->reason != REASON_REJECTED;
    }
    return STATUS_OK;
}

struct order *model_store_order(const struct model_store *model, ticket_number ticket)
{
    const uint64_t there = model->tickets.slots == 0 ? 0 : map_at(&model->tickets, ticket, 0, 0)->value;
    return there == 0 ? NULL : &model->orders[there - 1];
}

static enum status model_order_by_ticket(
    struct order_store *store, ticket_number ticket, struct order *order)
{
    const struct order *found = model_store_order(model_of(store), ticket);
    if (found == NULL)
        return STATUS_NOT_FOUND;
    *order = *found;
    return STATUS_OK;
}

static int highest_first(const void *a, const void *b)
{
    const struct order *left = a, *right = b;
    return (left->ticket < right->ticket) - (left->ticket > right->ticket);
}

static int newest_first(const void *a, const void *b)
{
    const struct order *left = a, *right = b;
    const int later = (left->created_ms < right->created_ms) - (left->created_ms > right->created_ms);
    return later != 0 ? later : highest_first(a, b);
}

/* Orders lie in the order of the log, which is nearly that of tickets (a late one may come by a
 * settle). */
static bool order_is_asked(
    const struct model_store *model, const struct order_filter *asked, const struct order *order)
{
    return (asked->user == 0 || order->user == asked->user)
        && (asked->item == 0 || order->item == asked->item)
        && (asked->sale == 0 || model->items[order->item - 1].item.sale == asked->sale)
        && (asked->state == ORDER_NONE || order->state == asked->state)
        && order->created_ms >= asked->from_ms
        && (asked->to_ms == 0 || order->created_ms < asked->to_ms);
}

static enum status model_orders_list(struct order_store *store, const struct order_filter *filter,
    struct order *orders, uint32_t max, uint32_t *count, ticket_number *next)
{
    const struct model_store *model = model_of(store);
    int (*const compare)(const void *, const void *) = filter->by_ticket ? highest_first : newest_first;
    const struct order numbered = { .ticket = filter->before };
    const struct order *before = filter->before == 0 ? NULL
        : filter->by_ticket                          ? &numbered
                                                     : model_store_order(model, filter->before);
    *count = 0;
    *next = 0;
    if (filter->before != 0 && before == NULL)
        return STATUS_NOT_FOUND;
    struct order *found = malloc((model->at.orders + 1) * sizeof *found);
    uint32_t matches = 0;
    invariant(found != NULL);
    for (uint32_t i = 0; i < model->at.orders; i++) {
        const struct order *order = &model->orders[i];
        if (order_is_asked(model, filter, order) && (before == NULL || compare(before, order) < 0))
            found[matches++] = *order;
    }
    qsort(found, matches, sizeof *found, compare);
    *count = matches < max ? matches : max;
    *next = matches >= max && max > 0 ? found[max - 1].ticket : 0;
    memcpy(orders, found, *count * sizeof *found);
    free(found);
    return STATUS_OK;
}

static enum status model_order_totals(
    struct order_store *store, item_id item, uint64_t *orders, uint64_t *units)
{
    const struct model_store *model = model_of(store);
    *orders = *units = 0;
    for (uint32_t i = 0; i < model->at.orders; i++) {
        if (model->orders[i].item == item && model->orders[i].reason != REASON_REJECTED) {
            *units += model->orders[i].quantity;
            ++*orders;
        }
    }
    return STATUS_OK;
}

static enum status model_live_units(struct order_store *store, item_id item, uint64_t *units)
{
    const struct model_store *model = model_of(store);
    *units = 0;
    for (uint32_t i = 0; i < model->at.orders; i++) {
        const struct order *order = &model->orders[i];
        if (order->item == item && (order->state == ORDER_PENDING || order->state == ORDER_PAID))
            *units += order->quantity;
    }
    return STATUS_OK;
}

static enum status model_product_insert(struct order_store *store, struct product *product)
{
    struct model_store *model = model_of(store);
    if (strlen(product->currency) != 3)
        return STATUS_REFUSED;
    model_store_undo_forget(model);
    MODEL_ROOM(model, products, 1);
    product->id = model->at.products + 1;
    product->stock = STOCK_NONE; /* see product_stock */
    model->products[model->at.products++] = *product;
    return STATUS_OK;
}

static enum status model_products(struct order_store *store, uint32_t after,
    struct product *products, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = after; i < model->at.products && *count < max; i++)
        products[(*count)++] = model->products[i];
    return STATUS_OK;
}

static enum status model_product_get(struct order_store *store, uint32_t id, struct product *product)
{
    if (id == 0 || id > model_of(store)->at.products)
        return STATUS_NOT_FOUND;
    *product = model_of(store)->products[id - 1];
    return STATUS_OK;
}

static enum status model_sale_insert(struct order_store *store, struct sale *sale)
{
    struct model_store *model = model_of(store);
    if (sale->end_ms <= sale->start_ms || model->at.sales + 1 >= SALES_LIMIT)
        return STATUS_REFUSED;
    model_store_undo_forget(model);
    MODEL_ROOM(model, sales, 1);
    sale->id = model->at.sales + 1;
    sale->gate = GATE_SCHEDULED;
    sale->shards += sale->shards == 0;
    model->sales[model->at.sales++] = (struct model_sale){ .sale = *sale };
    return STATUS_OK;
}

static enum status model_sale_update(struct order_store *store, const struct sale *sale)
{
    struct model_store *model = model_of(store);
    if (sale->id == 0 || sale->id > model->at.sales)
        return STATUS_NOT_FOUND;
    if (sale->end_ms <= sale->start_ms)
        return STATUS_REFUSED;
    struct sale *row = &model->sales[sale->id - 1].sale;
    const struct sale before = *row;
    *row = *sale;
    row->gate = before.gate;
    memcpy(row->beacon_value, before.beacon_value, sizeof row->beacon_value);
    row->beacon_state = before.beacon_state;
    row->beacon_until_ms = before.beacon_until_ms;
    if (row->terms_lsn < before.terms_lsn)
        row->terms_lsn = before.terms_lsn;
    return STATUS_OK;
}

static enum status model_sale_beacon(struct order_store *store, const struct sale *sale)
{
    struct model_store *model = model_of(store);
    if (sale->id == 0 || sale->id > model->at.sales)
        return STATUS_CONFLICT;
    struct sale *row = &model->sales[sale->id - 1].sale;
    if (row->beacon_state != BEACON_OPEN || row->beacon_name[0] == 0)
        return STATUS_CONFLICT;
    if ((sale->beacon_value[0] != 0) != (sale->beacon_state == BEACON_GIVEN))
        return STATUS_REFUSED;
    memcpy(row->beacon_value, sale->beacon_value, sizeof row->beacon_value);
    row->beacon_state = sale->beacon_state;
    row->beacon_until_ms = sale->beacon_until_ms;
    return STATUS_OK;
}

static enum status model_sale_get(struct order_store *store, sale_id id, struct sale *sale)
{
    if (id == 0 || id > model_of(store)->at.sales)
        return STATUS_NOT_FOUND;
    *sale = model_of(store)->sales[id - 1].sale;
    return STATUS_OK;
}

static enum status model_sales(
    struct order_store *store, sale_id after, struct sale *sales, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = after; i < model->at.sales && *count < max; i++)
        sales[(*count)++] = model->sales[i].sale;
    return STATUS_OK;
}

static enum status model_item_insert(struct order_store *store, struct item *item)
{
    struct model_store *model = model_of(store);
    if (item->sale == 0 || item->sale > model->at.sales || item->product == 0
        || item->product > model->at.products)
        return STATUS_REFUSED;
    if ((int64_t)item->total - item->locked - item->sold < 0 || model->at.items + 1 >= ITEMS_LIMIT)
        return STATUS_REFUSED;
    model_store_undo_forget(model);
    MODEL_ROOM(model, items, 1);
    item->id = model->at.items + 1;
    item->version = 1;
    item->preheated = item->pooled = false;
    model->items[model->at.items++] = (struct model_item){ .item = *item, .sold_before = item->sold };
    return STATUS_OK;
}

static enum status model_sale_insert_with_items(
    struct order_store *store, struct sale *sale, struct item *items, uint32_t count)
{
    struct model_store *model = model_of(store);
    const uint32_t sales_before = model->at.sales, items_before = model->at.items;
    enum status status = model_sale_insert(store, sale);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        items[i].sale = sale->id;
        status = model_item_insert(store, &items[i]);
    }
    if (status != STATUS_OK) {
        model->at.sales = sales_before;
        model->at.items = items_before;
    }
    return status;
}

static enum status model_item_get(struct order_store *store, item_id id, struct item *item)
{
    if (id == 0 || id > model_of(store)->at.items)
        return STATUS_NOT_FOUND;
    *item = model_of(store)->items[id - 1].item;
    return STATUS_OK;
}

static enum status model_items(struct order_store *store, sale_id sale, item_id after,
    struct item *items, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = after; i < model->at.items && *count < max; i++) {
        if (sale == 0 || model->items[i].item.sale == sale)
            items[(*count)++] = model->items[i].item;
    }
    return STATUS_OK;
}

static enum status model_audit_append(struct order_store *store, const struct audit_entry *entry)
{
    struct model_store *model = model_of(store);
    MODEL_ROOM(model, audit, 1);
    model->audit[model->at.audit] = *entry;
    model->audit[model->at.audit].id = model->at.audit + 1;
    model->at.audit++;
    model_store_undo_forget(model); /* the counts it noted are older */
    return STATUS_OK;
}

static enum status model_audit_list(struct order_store *store, uint64_t after,
    struct audit_entry *entries, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint64_t i = after; i < model->at.audit && *count < max; i++)
        entries[(*count)++] = model->audit[i];
    return STATUS_OK;
}

/* Nobody can reach into the model, so nothing can be bad. */
static enum status model_audit_verify(struct order_store *store, uint64_t *entries, uint64_t *first_bad)
{
    *entries = model_of(store)->at.audit;
    *first_bad = 0;
    return STATUS_OK;
}

static const struct order_store_ops model_ops = {
    .payment = &model_payment_ops,
    .waitlist = &model_waitlist_ops,
    .bookings = &model_booking_ops,
    .close = model_close,
    .group_begin = model_group_begin,
    .group_is_open = model_group_is_open,
    .group_end = model_group_end,
    .identity = model_identity,
    .applied = model_applied,
    .identity_set = model_identity_set,
    .apply = model_store_apply,
    .stock_events = model_stock_events,
    .orders_move = model_orders_move,
    .orders_due = model_orders_due,
    .order_by_ticket = model_order_by_ticket,
    .orders_list = model_orders_list,
    .dead_letters = model_dead_letters,
    .dead_letter_get = model_dead_letter_get,
    .dead_letters_open = model_dead_letters_open,
    .dead_letter_decide = model_dead_letter_decide,
    .order_totals = model_order_totals,
    .live_units = model_live_units,
    .product_insert = model_product_insert,
    .product_get = model_product_get,
    .product_stock = model_product_stock,
    .products = model_products,
    .sale_insert = model_sale_insert,
    .sale_insert_with_items = model_sale_insert_with_items,
    .sale_update = model_sale_update,
    .sale_beacon = model_sale_beacon,
    .sale_get = model_sale_get,
    .sales = model_sales,
    .item_insert = model_item_insert,
    .item_offer = model_item_offer,
    .item_draw = model_item_draw,
    .items_pooled = model_items_pooled,
    .item_get = model_item_get,
    .items = model_items,
    .audit_append = model_audit_append,
    .audit_list = model_audit_list,
    .audit_verify = model_audit_verify,
};

enum status model_store_open(struct order_store **store, const struct model_store_config *config)
{
    struct model_store *model = calloc(1, sizeof *model);
    *store = NULL;
    if (model == NULL)
        return STATUS_AWAY;
    model->store.ops = &model_ops;
    if (config != NULL && config->orders > 0)
        MODEL_ROOM(model, orders, config->orders);
    *store = &model->store;
    return STATUS_OK;
}
