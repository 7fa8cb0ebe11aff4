/* SPDX-License-Identifier: Apache-2.0 */
/* store/member.c: the processes of a shop on many machines (contract/cluster_store.h). */
#include "store/cluster.h"
#include "store/parts.h"

#include <stdio.h>

enum status store_member_set(struct order_store *handle, const struct member *member)
{
    if (member->process == 0)
        return STATUS_BAD_INPUT;
    return sql_do(store_of(handle),
        "INSERT INTO members(process, role, name, version, channels, settings, clock_ms, seen_ms)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        " ON CONFLICT(process) DO UPDATE SET role = excluded.role, name = excluded.name,"
        " version = excluded.version, channels = excluded.channels, settings = excluded.settings,"
        " clock_ms = excluded.clock_ms, seen_ms = excluded.seen_ms",
        VALUES(U64(member->process), TEXT(member->role), TEXT(member->name), TEXT(member->version),
            TEXT(member->channels), U64(member->settings), U64(member->clock_ms), U64(member->seen_ms)));
}

static const struct sql_columns member_columns = COLUMNS(member, FIELD(member, process),
    FIELD(member, role), FIELD(member, name), FIELD(member, version), FIELD(member, channels),
    FIELD(member, settings), FIELD(member, clock_ms), FIELD(member, seen_ms));

enum status store_member_list(
    struct order_store *handle, struct member *members, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT process, role, name, version, channels, settings, clock_ms, seen_ms FROM members"
        " ORDER BY process LIMIT ?1",
        VALUES(U64(max)), &member_columns, PAGE(members, max, count));
}

enum status store_member_remove(struct order_store *handle, uint64_t process)
{
    return sql_do(store_of(handle), "DELETE FROM members WHERE process = ?1", VALUES(U64(process)));
}

enum status store_members_forget(struct order_store *handle, uint64_t before_ms)
{
    return sql_do(store_of(handle), "DELETE FROM members WHERE seen_ms < ?1", VALUES(U64(before_ms)));
}

/* No row has this number. A database that is read-only, or a user without rights, is told all the same. */
enum status store_write_check(struct order_store *handle, char *what, size_t what_bytes)
{
    struct store *store = store_of(handle);
    const enum status status =
        sql_do(store, "UPDATE members SET seen_ms = 0 WHERE process = ?1", VALUES(U64(0)));
    snprintf(what, what_bytes, "%s", status == STATUS_OK ? "" : store_message(store));
    return status;
}
