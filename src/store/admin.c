/* SPDX-License-Identifier: Apache-2.0 */
/* store/admin.c: requests of administrators (contract/admin_store.h), and the audit rows of the
 * commands that are in the log. A record that names its actor gets one row in the transaction that
 * takes it in, so there is exactly one, whatever happens to the request that gave the command. Lists of
 * users come as many records: those of one request that are side by side have one row. */
#include "contract/admin_store.h"

#include "base/clock.h"
#include "store/parts.h"

#include <inttypes.h>
#include <stdio.h>

const char store_admin_tables[] =
    "CREATE TABLE admin_requests("
    "  request_key INTEGER PRIMARY KEY,"
    "  request INTEGER NOT NULL, time_ms INTEGER NOT NULL, status INTEGER NOT NULL,"
    "  body TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX admin_requests_by_time ON admin_requests(time_ms);";

static const struct sql_columns request_columns = COLUMNS(kept_request, FIELD(kept_request, key),
    FIELD(kept_request, request), FIELD(kept_request, time_ms), FIELD(kept_request, status));

static const char request_name[] = "request";

static enum status admin_begin(struct order_store *handle)
{
    struct store *store = store_of(handle);
    invariant(!store->together);
    struct sql_connection *connection = store->connection;
    enum status status = store_group_enter(store);
    if (status == STATUS_OK && store_is_lost(store))
        status = STATUS_AWAY;
    if (status == STATUS_OK)
        status = store->grouped ? connection->driver->part_begin(connection, request_name)
                                : connection->driver->begin(connection);
    store->together = status == STATUS_OK;
    if (!store->grouped)
        store->begun_ns = clock_monotonic_ns();
    store->changes_before = store->changes;
    store_stock_mark(store);
    return status;
}

static void request_drop(struct store *store)
{
    store->together = false;
    if (!store->grouped) {
        store_rollback(store);
        return;
    }
    store->connection->driver->part_drop(store->connection, request_name);
    store_stock_back(store);
}

static bool admin_pause(struct order_store *handle)
{
    struct store *store = store_of(handle);
    if (!store->together)
        return false;
    invariant(store->changes == store->changes_before);
    request_drop(store);
    return true;
}

static bool admin_is_open(const struct order_store *handle)
{
    return ((const struct store *)(const void *)handle)->together;
}

static enum status admin_end(struct order_store *handle, bool keep)
{
    struct store *store = store_of(handle);
    invariant(store->together);
    enum status status = keep && store_is_lost(store) ? STATUS_AWAY : STATUS_OK;
    if (keep && status == STATUS_OK && store->grouped)
        status = store->connection->driver->part_keep(store->connection, request_name);
    store->together = false;
    if (keep && status == STATUS_OK && !store->grouped)
        status = store_commit(store);
    if (!keep || status != STATUS_OK)
        request_drop(store);
    return status;
}

static enum status request_get(struct order_store *handle, uint64_t key,
    struct kept_request *request, char *room, size_t room_bytes)
{
    struct sql_row *row;
    enum status status = sql_query(store_of(handle),
        "SELECT request_key, request, time_ms, status, body FROM admin_requests"
        " WHERE request_key = ?1",
        VALUES(U64(key)), &row);
    if (status != STATUS_OK)
        return status;
    status = sql_next(row);
    if (status == STATUS_OK) {
        status = sql_columns_take(&request_columns, row, request);
        column_text(row, 4, room, room_bytes);
        request->body = span_from_string(room);
    }
    sql_finish(row);
    return status;
}

static enum status request_put(struct order_store *handle, const struct kept_request *request)
{
    struct store *store = store_of(handle);
    const struct span body = request->body;
    invariant(store->together && request->key != 0 && body.size <= REQUEST_BODY_MAX);
    const enum status status = sql_do(store, "DELETE FROM admin_requests WHERE time_ms < ?1",
        VALUES(U64(request->time_ms < REQUEST_KEPT_MS ? 0 : request->time_ms - REQUEST_KEPT_MS)));
    if (status != STATUS_OK)
        return status;
    return sql_do(store,
        "INSERT INTO admin_requests(request_key, request, time_ms, status, body)"
        " VALUES(?1, ?2, ?3, ?4, ?5)",
        VALUES(U64(request->key), U64(request->request), U64(request->time_ms),
            U64(request->status), TEXT_OF(body.data, body.size)));
}

static void channel_names(
    struct order_store *handle, const char names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1])
{
    memcpy(store_of(handle)->channel_names, names, sizeof store_of(handle)->channel_names);
}

const struct admin_store_ops store_admin_ops = {
    .begin = admin_begin,
    .pause = admin_pause,
    .is_open = admin_is_open,
    .end = admin_end,
    .request_get = request_get,
    .request_put = request_put,
    .channel_names = channel_names,
};

/* ---- audit rows of records ------------------------------------------------------------------- */

static const char *place_name(
    const struct store *store, channel_index channel, char out[CHANNEL_NAME_MAX + 1])
{
    if (channel == CHANNEL_SAFETY)
        return "safety";
    if (channel < CHANNELS_MAX && store->channel_names[channel][0] != 0)
        return store->channel_names[channel];
    snprintf(out, CHANNEL_NAME_MAX + 1, "channel %u", channel);
    return out;
}

static const char *yes(bool flag)
{
    return flag ? "true" : "false";
}

static void describe_sale(const struct command_sale *sale, struct audit_entry *entry)
{
    snprintf(entry->action, sizeof entry->action, "sale.terms");
    snprintf(entry->detail, sizeof entry->detail,
        "sale %u start_ms %" PRIu64 " end_ms %" PRIu64
        " limit_per_user %u eligible_only %s one_open_order %s cooldown_s %u return_draw_ms %u",
        sale->sale, sale->start_ms, sale->end_ms, sale->limit_per_user, yes(sale->eligible_only),
        yes(sale->one_open_order), sale->cooldown_s, sale->return_draw_ms);
}

static void describe_gate(const struct command_gate *gate, struct audit_entry *entry)
{
    static const char *const actions[] = { "sale.open", "sale.pause", "sale.resume", "sale.end",
        "sale.reopen" };
    static_assert(sizeof actions / sizeof *actions == GATE_MOVES, "a name for each");
    snprintf(entry->action, sizeof entry->action, "%s", actions[gate->move]);
    snprintf(entry->detail, sizeof entry->detail, "sale %u", gate->sale);
}

static void describe_preheat(const struct command_preheat *preheat, struct audit_entry *entry)
{
    if (preheat->change) {
        snprintf(entry->action, sizeof entry->action, "item.terms");
        snprintf(entry->detail, sizeof entry->detail,
            "item %u of sale %u price %" PRIu64 " limit_per_user %u pay_window_ms %u", preheat->item,
            preheat->sale, preheat->unit_price, preheat->limit_per_user, preheat->pay_window_ms);
        return;
    }
    snprintf(entry->action, sizeof entry->action, "item.preheat");
    snprintf(entry->detail, sizeof entry->detail,
        "item %u of sale %u price %" PRIu64 " sellable %u", preheat->item, preheat->sale,
        preheat->unit_price, preheat->total - preheat->locked - preheat->sold_before);
}

static void describe_stock(
    const struct store *store, const struct queue_record *record, struct audit_entry *entry)
{
    char one[CHANNEL_NAME_MAX + 1], other[CHANNEL_NAME_MAX + 1];
    const struct command *command = &record->command;
    if (command->type == COMMAND_ADJUST) {
        snprintf(entry->action, sizeof entry->action, "item.adjust");
        snprintf(entry->detail, sizeof entry->detail, "item %u %s asked %d applied %d",
            command->adjust.item, place_name(store, command->adjust.channel, one),
            command->adjust.delta, record->outcome.applied);
    } else {
        snprintf(entry->action, sizeof entry->action, "item.move");
        snprintf(entry->detail, sizeof entry->detail, "item %u %s to %s asked %u applied %d",
            command->move.item, place_name(store, command->move.from, one),
            place_name(store, command->move.to, other), command->move.quantity, record->outcome.applied);
    }
}

static bool same_list(const struct store_users *users, const struct command *command)
{
    return users->loaded > 0 && users->sale == command->users.sale
        && users->removed == command->users.remove && users->origin.key == command->origin.key
        && strcmp(users->origin.actor, command->origin.actor) == 0;
}

enum status store_audit_users_flush(struct store_batch *batch)
{
    struct store_users *users = &batch->users;
    struct audit_entry entry = { .time_ms = users->time_ms, .action = "sale.users" };
    if (users->loaded == 0)
        return STATUS_OK;
    snprintf(entry.actor, sizeof entry.actor, "%s", users->origin.actor);
    snprintf(entry.detail, sizeof entry.detail, "sale %u %s %u", users->sale,
        users->removed ? "removed" : "loaded", users->loaded);
    users->loaded = 0;
    return store_audit_add(batch->store, &entry);
}

static enum status users_note(struct store_batch *batch, const struct queue_record *record)
{
    const struct command *command = &record->command;
    enum status status = STATUS_OK;
    if (!same_list(&batch->users, command))
        status = store_audit_users_flush(batch);
    batch->users.sale = command->users.sale;
    batch->users.removed = command->users.remove;
    batch->users.loaded += (uint32_t)record->outcome.applied;
    batch->users.time_ms = command->time_ms;
    batch->users.origin = command->origin;
    return status;
}

enum status store_audit_record(struct store_batch *batch, const struct queue_record *record)
{
    const struct command *command = &record->command;
    if (!command_has_origin(command->type) || command->origin.actor[0] == 0)
        return STATUS_OK;
    if (command->type == COMMAND_USERS)
        return users_note(batch, record);
    struct audit_entry entry = { .time_ms = command->time_ms };
    snprintf(entry.actor, sizeof entry.actor, "%s", command->origin.actor);
    if (command->type == COMMAND_SALE)
        describe_sale(&command->sale, &entry);
    else if (command->type == COMMAND_GATE)
        describe_gate(&command->gate, &entry);
    else if (command->type == COMMAND_PREHEAT)
        describe_preheat(&command->preheat, &entry);
    else
        describe_stock(batch->store, record, &entry);
    const enum status status = store_audit_users_flush(batch); /* in the order of the log */
    return status == STATUS_OK ? store_audit_add(batch->store, &entry) : status;
}
