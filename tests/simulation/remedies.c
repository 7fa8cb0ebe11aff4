/* SPDX-License-Identifier: Apache-2.0 */
/* A channel has reported more units than it had: some orders can't be filled. The product's rules say which
 * remedies an order may get (policy/remedy.h), by its state and by whether its goods have left
 * (contract/fulfilment.h); a refund writes the unit off, because the channel has sold it. */
#include "contract/fulfilment.h"
#include "policy/remedy.h"
#include "tests/simulation/world.h"

#include <inttypes.h>

enum { ORDERS_MAX = 16 };

/* Every third paid order was shipped before anybody heard of the report. */
static struct remedy_facts facts_of(const struct order *order)
{
    const struct fulfil_move ship = {
        .ticket = order->ticket, .event = FULFIL_SHIP, .carrier = "SF", .tracking = "1"
    };
    struct shipment shipment = { .state = FULFIL_NONE };
    const bool shipped = order->ticket % 3 == 0 && fulfil_decide(&ship, order, &shipment) == FULFIL_DONE;
    if (shipped && order->state != ORDER_PAID)
        violation("goods", "ticket %" PRIu64 " is shipped in state %u", order->ticket, order->state);
    return (struct remedy_facts){ .order_state = order->state, .shipped = shipped };
}

static void order_remedy(struct world *world, const struct order *order)
{
    const struct remedy_facts facts = facts_of(order);
    enum remedy proposals[REMEDIES];
    const uint32_t count = remedy_proposals(&facts, proposals);
    if (count == 0)
        violation("remedies", "there is none for ticket %" PRIu64, order->ticket);
    const enum order_event event = remedy_event(proposals[world_below(world, count)], &facts);
    struct order_move move = { .ticket = order->ticket,
        .event = (uint8_t)event,
        .refund_to = REFUND_TO_WRITE_OFF,
        .now_ms = world->now_ms };
    struct order after = { 0 };
    uint8_t answer = MOVE_ANSWERS;
    if (event == ORDER_EVENTS)
        return;
    if (facts.shipped)
        violation("remedies", "the money of ticket %" PRIu64 " goes back, its goods are gone",
            order->ticket);
    world->by_hand[order->ticket] |= event == ORDER_EVENT_REFUND;
    world_look(world, order->ticket);
    const enum status status = world->store->ops->orders_move(world->store, &move, 1, &after, &answer);
    trace_step("remedy", order->ticket, event, status == STATUS_OK ? answer : 100u);
    if (status == STATUS_OK)
        world_move_told(world, &move, &after, answer);
}

void world_remedies(struct world *world, item_id item, uint32_t missing)
{
    struct order orders[ORDERS_MAX];
    const struct order_filter filter = { .item = item };
    ticket_number next;
    uint32_t count = 0;
    if (world->sim_store.away
        || world->store->ops->orders_list(world->store, &filter, orders, ORDERS_MAX, &count, &next)
            != STATUS_OK)
        return;
    const uint32_t enough = remedy_orders_enough(orders, count, missing);
    for (uint32_t i = 0; i < enough; i++)
        if (world_order_is_ours(world, orders[i].ticket))
            order_remedy(world, &orders[i]);
}
