/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/fulfilment.h"

#include <stdio.h>
#include <string.h>

/* The table is the specification; an empty cell is a refusal. */
static const enum fulfil_state fulfil_next[ORDER_STATES][FULFIL_STATES][FULFIL_EVENTS] = {
    [ORDER_PAID] = {
        [FULFIL_NONE] = { [FULFIL_SHIP] = FULFIL_SHIPPED },
        [FULFIL_SHIPPED] = { [FULFIL_SHIP] = FULFIL_SHIPPED, [FULFIL_DELIVER] = FULFIL_DELIVERED },
    },
    [ORDER_REFUNDED] = {
        [FULFIL_SHIPPED] = { [FULFIL_DELIVER] = FULFIL_DELIVERED }, /* it was on its way */
    },
};

static const char *const state_names[] = { "none", "shipped", "delivered" };
static_assert(sizeof state_names / sizeof *state_names == FULFIL_STATES, "a name for each");
static const char *const answer_texts[] = {
    [FULFIL_DONE] = "done",
    [FULFIL_REPEATED] = "nothing to change",
    [FULFIL_UNKNOWN] = "there is no such order",
    [FULFIL_NOT_PAID] = "the order is not paid",
    [FULFIL_NOT_SHIPPED] = "the order is not shipped",
    [FULFIL_OTHER] = "the order is shipped with another carrier or tracking number",
    [FULFIL_OVER] = "the order is delivered, with another carrier or tracking number",
};
static_assert(sizeof answer_texts / sizeof *answer_texts == FULFIL_ANSWERS, "a text for each");

const char *fulfil_state_name(enum fulfil_state state)
{
    invariant(state < FULFIL_STATES);
    return state_names[state];
}

const char *fulfil_answer_text(enum fulfil_answer answer)
{
    invariant(answer < FULFIL_ANSWERS);
    return answer_texts[answer];
}

static bool is_same_parcel(const struct fulfil_move *move, const struct shipment *shipment)
{
    return strcmp(move->carrier, shipment->carrier) == 0
        && strcmp(move->tracking, shipment->tracking) == 0;
}

static enum fulfil_answer ship_decide(
    const struct fulfil_move *move, enum fulfil_state to, struct shipment *shipment)
{
    const bool known = shipment->state != FULFIL_NONE;
    if (known && is_same_parcel(move, shipment))
        return FULFIL_REPEATED; /* also when the order was refunded or delivered meanwhile */
    if (shipment->state == FULFIL_DELIVERED)
        return FULFIL_OVER;
    if (to == FULFIL_NONE)
        return FULFIL_NOT_PAID;
    if (known && !move->replace)
        return FULFIL_OTHER;
    snprintf(shipment->carrier, sizeof shipment->carrier, "%s", move->carrier);
    snprintf(shipment->tracking, sizeof shipment->tracking, "%s", move->tracking);
    shipment->shipped_ms = known ? shipment->shipped_ms : move->now_ms;
    return FULFIL_DONE;
}

static enum fulfil_answer deliver_decide(
    const struct fulfil_move *move, enum fulfil_state to, struct shipment *shipment)
{
    if (shipment->state == FULFIL_DELIVERED)
        return FULFIL_REPEATED;
    if (shipment->state == FULFIL_NONE)
        return FULFIL_NOT_SHIPPED;
    if (to == FULFIL_NONE)
        return FULFIL_NOT_PAID;
    shipment->delivered_ms = move->now_ms;
    return FULFIL_DONE;
}

enum fulfil_answer fulfil_decide(
    const struct fulfil_move *move, const struct order *order, struct shipment *shipment)
{
    invariant(move->event < FULFIL_EVENTS && shipment->state < FULFIL_STATES);
    const enum fulfil_state to = fulfil_next[order->state][shipment->state][move->event];
    const enum fulfil_answer answer = move->event == FULFIL_SHIP ? ship_decide(move, to, shipment)
                                                                 : deliver_decide(move, to, shipment);
    if (answer == FULFIL_DONE) {
        shipment->ticket = order->ticket;
        shipment->state = (uint8_t)to;
    }
    return answer;
}
