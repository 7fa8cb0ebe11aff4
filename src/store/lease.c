/* SPDX-License-Identifier: Apache-2.0 */
/* store/lease.c: leases (contract/cluster_store.h). The row is locked first and the clock is asked then, so
 * that who waited for the row judges by a time that is not older than its last change. */
#include "store/cluster.h"
#include "store/parts.h"

const struct cluster_store_ops store_cluster_ops = {
    .now = store_now,
    .audit_last = store_audit_last,
    .lease_take = store_lease_take,
    .lease_give = store_lease_give,
    .lease_look = store_lease_look,
    .switch_set = store_switch_set,
    .switch_list = store_switch_list,
    .member_set = store_member_set,
    .member_list = store_member_list,
    .member_remove = store_member_remove,
    .members_forget = store_members_forget,
    .write_check = store_write_check,
    .moving = store_moving,
    .part = store_part_state,
    .parts = store_parts_list,
    .part_want = store_part_want,
    .epoch_raise = store_epoch_raise,
    .apply = store_apply_entry,
    .journal_next = store_journal_next,
};

static enum status now_read(struct store *store, uint64_t *now_ms)
{
    return sql_number(store, store->connection->driver->clock_sql, NO_VALUES, now_ms);
}

enum status store_now(struct order_store *handle, uint64_t *now_ms)
{
    return now_read(store_of(handle), now_ms);
}

static bool lease_is_free(const struct lease *lease, uint64_t holder)
{
    return lease->holder == 0 || lease->holder == holder || lease->until_ms <= lease->now_ms;
}

static const struct sql_columns lease_columns =
    COLUMNS(lease, FIELD(lease, holder), FIELD(lease, token), FIELD(lease, until_ms));

#define LEASE_SELECT "SELECT holder, token, until_ms FROM leases WHERE name = ?1"

static enum status lease_read(struct store *store, const char *name, struct lease *lease)
{
    return sql_one(store, store_locks(store) ? LEASE_SELECT " FOR UPDATE" : LEASE_SELECT,
        VALUES(TEXT(name)), &lease_columns, lease);
}

static enum status lease_try(
    struct store *store, const char *name, uint64_t holder, uint32_t ms, struct lease *lease)
{
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = sql_do(store,
            "INSERT INTO leases(name, holder, token, until_ms) VALUES(?1, 0, 0, 0)"
            " ON CONFLICT(name) DO NOTHING",
            VALUES(TEXT(name)));
    if (status == STATUS_OK)
        status = lease_read(store, name, lease);
    if (status == STATUS_OK)
        status = now_read(store, &lease->now_ms);
    if (status == STATUS_OK && !lease_is_free(lease, holder))
        status = STATUS_CONFLICT;
    if (status == STATUS_OK) {
        lease->token += lease->holder != holder;
        lease->holder = holder;
        lease->until_ms = lease->now_ms + ms;
        status = sql_do(store, "UPDATE leases SET holder = ?2, token = ?3, until_ms = ?4 WHERE name = ?1",
            VALUES(TEXT(name), U64(holder), U64(lease->token), U64(lease->until_ms)));
    }
    return store_end(store, status);
}

enum status store_lease_take(
    struct order_store *handle, const char *name, uint64_t holder, uint32_t ms, struct lease *lease)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { .repeatable = true };
    enum status status;
    *lease = (struct lease){ 0 };
    if (holder == 0 || strlen(name) > LEASE_NAME_MAX)
        return STATUS_BAD_INPUT;
    STORE_TRIES (store, &tries, &status)
        status = lease_try(store, name, holder, ms, lease);
    return status;
}

enum status store_lease_give(struct order_store *handle, const char *name, uint64_t holder)
{
    return sql_do(store_of(handle),
        "UPDATE leases SET holder = 0, until_ms = 0 WHERE name = ?1 AND holder = ?2",
        VALUES(TEXT(name), U64(holder)));
}

enum status store_lease_look(struct order_store *handle, const char *name, struct lease *lease)
{
    struct store *store = store_of(handle);
    *lease = (struct lease){ 0 };
    const enum status status = sql_one(store, LEASE_SELECT, VALUES(TEXT(name)), &lease_columns, lease);
    return status == STATUS_OK || status == STATUS_NOT_FOUND ? now_read(store, &lease->now_ms) : status;
}
