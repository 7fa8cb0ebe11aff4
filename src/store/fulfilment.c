/* SPDX-License-Identifier: Apache-2.0 */
/* Shipments (contract/fulfilment.h): a row for each order that was shipped, in a table of its own, so that
 * the orders of a sale that runs stay as small as they are. */
#include "contract/fulfilment.h"
#include "store/parts.h"

static_assert(FULFIL_SHIPPED == 1 && FULFIL_DELIVERED == 2,
    "numbers in the database never change their meaning");

const char store_fulfilment_tables[] =
    "CREATE TABLE shipments("
    "  ticket INTEGER PRIMARY KEY REFERENCES orders(ticket),"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 2),"
    "  carrier TEXT NOT NULL, tracking TEXT NOT NULL,"
    "  shipped_ms INTEGER NOT NULL, delivered_ms INTEGER NOT NULL,"
    "  CHECK((delivered_ms <> 0) = (state = 2))"
    ") STRICT;";

static const struct sql_columns shipment_columns =
    COLUMNS(shipment, FIELD(shipment, ticket), FIELD(shipment, state), FIELD(shipment, carrier),
        FIELD(shipment, tracking), FIELD(shipment, shipped_ms), FIELD(shipment, delivered_ms));

static enum status shipment_get(struct order_store *handle, ticket_number ticket, struct shipment *shipment)
{
    return sql_one(store_of(handle),
        "SELECT ticket, state, carrier, tracking, shipped_ms, delivered_ms FROM shipments"
        " WHERE ticket = ?1",
        VALUES(U64(ticket)), &shipment_columns, shipment);
}

/* Nothing is changed here. */
static enum status move_look(struct store *store, const struct fulfil_move *move,
    struct order *order, struct shipment *shipment, uint8_t *answer)
{
    *shipment = (struct shipment){ .state = FULFIL_NONE };
    *answer = FULFIL_UNKNOWN;
    enum status status = store_order_lock(store, move->ticket);
    if (status == STATUS_OK)
        status = store_order_by_ticket(&store->store, move->ticket, order);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    status = shipment_get(&store->store, move->ticket, shipment);
    if (status == STATUS_NOT_FOUND) {
        *shipment = (struct shipment){ .state = FULFIL_NONE };
        status = STATUS_OK;
    }
    if (status == STATUS_OK)
        *answer = (uint8_t)fulfil_decide(move, order, shipment);
    return status;
}

static enum status shipment_write(struct store *store, const struct shipment *shipment,
    struct order *order, enum fulfil_event event)
{
    const struct sql_values values =
        VALUES(U64(shipment->ticket), U64(shipment->state), TEXT(shipment->carrier),
            TEXT(shipment->tracking), U64(shipment->shipped_ms), U64(shipment->delivered_ms));
    enum status status = sql_do(store,
        "INSERT INTO shipments(ticket, state, carrier, tracking, shipped_ms, delivered_ms)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(ticket) DO NOTHING",
        values);
    if (status == STATUS_OK && sql_matched(store) == 0)
        status = sql_do(store,
            "UPDATE shipments SET state = ?2, carrier = ?3, tracking = ?4, shipped_ms = ?5,"
            " delivered_ms = ?6 WHERE ticket = ?1",
            values);
    if (status != STATUS_OK)
        return status;
    return store_order_news(store, order, event == FULFIL_SHIP ? TOPIC_SHIPPED : TOPIC_DELIVERED, 0);
}

static enum status moves_once(struct store *store, const struct fulfil_move *moves, uint32_t count,
    bool check, struct order *after, uint8_t *answers)
{
    struct store_change change;
    bool changed = false;
    enum status status = store_change_begin(&change, store);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        struct shipment shipment;
        status = move_look(store, &moves[i], &after[i], &shipment, &answers[i]);
        if (status != STATUS_OK || answers[i] != FULFIL_DONE || check)
            continue;
        changed = true;
        status = shipment_write(store, &shipment, &after[i], (enum fulfil_event)moves[i].event);
    }
    return store_change_end(&change, status, changed);
}

static enum status moves_make(struct order_store *handle, const struct fulfil_move *moves,
    uint32_t count, bool check, struct order *after, uint8_t *answers)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    invariant(count <= FULFIL_MOVES_MAX);
    STORE_TRIES (store_of(handle), &tries, &status)
        status = moves_once(store_of(handle), moves, count, check, after, answers);
    for (uint32_t i = 0; i < count && tries.unknown; i++)
        if (answers[i] == FULFIL_REPEATED) /* by the try that was kept */
            answers[i] = FULFIL_DONE;
    return status;
}

const struct fulfil_store_ops store_fulfil_ops = {
    .get = shipment_get,
    .move = moves_make,
};
