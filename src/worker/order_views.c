/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/order_views.h"

#include "api/catalog.h"
#include "api/customers.h"
#include "api/handover.h"
#include "base/json_write.h"
#include "contract/fulfilment.h"
#include "contract/limit_uses.h"
#include "contract/order_state.h"
#include "contract/order_store.h"
#include "funnel/keys.h"
#include "worker/remedies.h"

#include <string.h>

void order_ids_json(const struct order_views *views, ticket_number ticket, struct text *out)
{
    text_literal(out, "{\"ticket\":\"");
    text_hex64(out, funnel_ticket_id(views->keys, ticket));
    text_literal(out, "\",\"order\":\"");
    text_hex64(out, funnel_order_id(views->keys, ticket));
    text_literal(out, "\"");
}

enum status order_contact_json(
    const struct order_views *views, const struct order *order, bool details, struct text *out)
{
    text_literal(out, ",\"customer\":");
    enum status status = customers_json(views->customers, views->store, order->user, out);
    if (status != STATUS_OK || !details)
        return status;
    text_literal(out, ",\"details\":");
    status = order_details_json(views, order->ticket, out);
    if (status != STATUS_NOT_FOUND)
        return status;
    text_literal(out, "null");
    return STATUS_OK;
}

static bool catalog_currency(const struct order_views *views, item_id id, char currency[4])
{
    if (views->catalog == NULL)
        return false;
    if (views->turns != NULL)
        reader_enter(views->turns, views->reader, views->entered);
    const struct catalog *catalog = handover_get(views->catalog);
    const struct catalog_item *item = catalog == NULL ? NULL : catalog_item_find(catalog, id);
    if (item != NULL)
        memcpy(currency, catalog_product_of(catalog, item)->currency, 4);
    if (views->turns != NULL)
        reader_left(views->turns, views->reader);
    return item != NULL;
}

/* From the catalog; of a sale that is not public, from the store. "" and false: the store is away. */
static bool order_currency(const struct order_views *views, item_id id, char currency[4])
{
    struct item row = { 0 };
    if (catalog_currency(views, id, currency))
        return true;
    const enum status status = views->store->ops->item_get(views->store, id, &row);
    memcpy(currency, row.currency, 4);
    return status == STATUS_OK || status == STATUS_NOT_FOUND;
}

/* The goods of an order that is or was paid. False: the database could not say. */
static bool shipment_members(const struct order_views *views, const struct order *order, struct text *out)
{
    struct shipment shipment;
    if (order->state != ORDER_PAID && order->state != ORDER_REFUNDED)
        return true;
    const enum status status = views->store->ops->fulfil->get(views->store, order->ticket, &shipment);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND;
    json_object_begin(out, "shipment");
    json_text(out, "state", fulfil_state_name((enum fulfil_state)shipment.state));
    json_text(out, "carrier", shipment.carrier);
    json_text(out, "tracking", shipment.tracking);
    json_u64(out, "shipped_ms", shipment.shipped_ms);
    if (shipment.state == FULFIL_DELIVERED)
        json_u64(out, "delivered_ms", shipment.delivered_ms);
    json_object_end(out);
    return true;
}

bool order_json(const struct order_views *views, const struct order *order, struct text *out)
{
    char currency[4];
    const bool priced = order_currency(views, order->item, currency);
    order_ids_json(views, order->ticket, out);
    order_state_members(order, out);
    text_format(out, ",\"item\":%u,\"quantity\":%u", order->item, order->quantity);
    text_format(out, ",\"unit_price\":%llu,\"amount\":%llu", (unsigned long long)order->unit_price,
        (unsigned long long)order->amount);
    currency_members(currency, out);
    if (order->ending != REASON_NONE)
        text_literal(out, ",\"closing\":true"); /* as soon as its payments are */
    text_format(out, ",\"created_ms\":%llu,\"pay_by_ms\":%llu,\"version\":%llu",
        (unsigned long long)order->created_ms, (unsigned long long)order->pay_by_ms,
        (unsigned long long)order->version);
    bool whole = order_payment_json(views, order, out) && priced;
    whole = shipment_members(views, order, out) && whole;
    if (order->state != ORDER_PENDING)
        whole = order_remedy_json(views, order->ticket, out) && whole;
    text_literal(out, "}");
    return whole && !out->overflow;
}

void order_state_members(const struct order *order, struct text *out)
{
    const char *reason = order_reason_name((enum order_reason)order->reason);
    /* The comma is written here: a problem's further members begin with one. */
    text_format(out, ",\"state\":\"%s\"", order_state_name((enum order_state)order->state));
    if (reason != NULL)
        json_text(out, "reason", reason);
    else
        text_literal(out, ",\"reason\":null");
    if (limit_kind_name(order->limited) != NULL)
        json_text(out, "limit", limit_kind_name(order->limited));
}
