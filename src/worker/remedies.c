/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/remedies.h"

#include "api/catalog.h"
#include "base/json_write.h"
#include "contract/currency.h"
#include "contract/remedy.h"
#include "policy/remedy.h"
#include "worker/order_views.h"

#include <stdio.h>

static enum status step_note(
    struct order_store *store, const struct remedy_case *remedy, uint64_t now_ms, uint32_t orders)
{
    struct remedy_note note = { .case_id = remedy->id, .time_ms = now_ms, .way = "step" };
    snprintf(note.actor, sizeof note.actor, "%s", remedy->opened_by);
    snprintf(note.text, sizeof note.text,
        "Opened: channel %.40s reports %u units more than it had; %u orders are proposed.",
        remedy->channel, remedy->missing, orders);
    return store->ops->remedy->note_add(store, &note);
}

enum status remedies_propose(
    struct order_store *store, const struct remedy_case *remedy, uint64_t now_ms, uint32_t *added)
{
    struct order orders[CASE_ORDERS_MAX];
    ticket_number tickets[CASE_ORDERS_MAX];
    uint32_t count = 0;
    *added = 0;
    const enum status status =
        store->ops->remedy->affected(store, remedy->item, orders, CASE_ORDERS_MAX, &count);
    if (status != STATUS_OK)
        return status;
    count = remedy_orders_enough(orders, count, remedy->missing);
    for (uint32_t i = 0; i < count; i++)
        tickets[i] = orders[i].ticket;
    return store->ops->remedy->orders_add(store, remedy->id, tickets, count, now_ms, added);
}

enum status remedies_open(
    struct order_store *store, struct remedy_case *remedy, uint64_t now_ms, bool *fresh)
{
    uint32_t added = 0;
    remedy->created_ms = now_ms;
    enum status status = store->ops->remedy->open(store, remedy, fresh);
    if (status != STATUS_OK || !*fresh)
        return status;
    status = remedies_propose(store, remedy, now_ms, &added);
    if (status == STATUS_OK)
        status = step_note(store, remedy, now_ms, added);
    return status == STATUS_OK ? store->ops->remedy->get(store, remedy->id, remedy) : status;
}

void remedy_members(const struct remedy_order *done, struct text *out)
{
    json_u64(out, "case", done->case_id);
    json_text(out, "remedy", remedy_name((enum remedy)done->remedy));
    json_u64(out, "done_ms", done->done_ms);
    if (done->coupon[0] == '\0')
        return;
    json_object_begin(out, "coupon");
    json_text(out, "code", done->coupon);
    json_u64(out, "value", done->coupon_value);
    currency_members(done->currency, out);
    json_u64(out, "until_ms", done->coupon_until_ms);
    json_object_end(out);
}

bool order_remedy_json(const struct order_views *views, ticket_number ticket, struct text *out)
{
    struct remedy_order done;
    const enum status status = views->store->ops->remedy->of_ticket(views->store, ticket, &done);
    if (status != STATUS_OK || done.remedy == REMEDY_DISMISS)
        return status == STATUS_OK || status == STATUS_NOT_FOUND;
    json_object_begin(out, "remedy");
    remedy_members(&done, out);
    json_object_end(out);
    return true;
}
