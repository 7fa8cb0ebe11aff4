/* SPDX-License-Identifier: Apache-2.0 */
/* Bans (contract/bans.h). A user is only here as the keyed hash. Blocks are kept as text, so that a
 * person with a SQLite shell can read them. Nothing is deleted: a ban that is over or lifted tells what
 * happened. The indexes hold those that are not lifted: by their end, by what they are about, and those
 * that ended sessions. So what is in force now is found without looking at history. */
#include "contract/bans.h"

#include "store/parts.h"

const char store_bans_tables[] =
    "CREATE TABLE bans("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  kind INTEGER NOT NULL CHECK(kind IN (1, 2)),"
    "  block TEXT{60} CHECK((block IS NOT NULL) = (kind = 1)),"
    "  user_id INTEGER CHECK((user_id IS NOT NULL) = (kind = 2)),"
    "  reason TEXT NOT NULL, banned_by TEXT NOT NULL,"
    "  created_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL CHECK(until_ms > created_ms),"
    "  lifted_ms INTEGER NOT NULL CHECK(lifted_ms >= 0),"
    "  sessions_ms INTEGER NOT NULL DEFAULT 0 CHECK(sessions_ms >= 0)"
    ") STRICT;"
    "CREATE INDEX bans_in_force ON bans(until_ms){lifted_ms, until_ms} WHERE lifted_ms = 0;"
    "CREATE INDEX bans_of_sessions ON bans(sessions_ms){lifted_ms, sessions_ms} WHERE (lifted_ms = "
    "0 AND sessions_ms > "
    "0);" STORE_BANS_ABOUT;

static_assert(BAN_ADDRESS == 1 && BAN_USER == 2, "numbers in the database never change their meaning");

#define BAN_COLUMNS \
    "id, kind, user_id, reason, banned_by, created_ms, until_ms, lifted_ms, sessions_ms, block"

static const char bans_all[] =
    "SELECT " BAN_COLUMNS " FROM bans WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char bans_in_force[] =
    "SELECT " BAN_COLUMNS " FROM bans"
    " WHERE id > ?1 AND lifted_ms = 0 AND until_ms > ?3 ORDER BY id LIMIT ?2";
static const char bans_in_effect[] =
    "SELECT " BAN_COLUMNS " FROM bans WHERE lifted_ms = 0 AND until_ms > ?1"
    " UNION ALL SELECT " BAN_COLUMNS " FROM bans WHERE lifted_ms = 0 AND until_ms <= ?1"
    " AND sessions_ms > 0 AND sessions_ms > ?1 - 86400000";
static_assert(BAN_SESSIONS_MS == 86400000, "as in the statement");
/* A ban that ended sessions did so when it began: what is over longer than sessions live does nothing. */
#define EFFECT_OF(column) \
    "SELECT coalesce(max(until_ms), 0), coalesce(max(sessions_ms), 0) FROM bans" \
    " WHERE lifted_ms = 0 AND " column " = ?1 AND until_ms > ?2"

static enum status block_take(struct sql_row *row, void *out)
{
    struct ban *ban = out;
    char block[ADDRESS_BLOCK_CHARS_MAX + 1];
    column_text(row, 9, block, sizeof block);
    if (ban->kind == BAN_ADDRESS && address_block_parse(span_from_string(block), &ban->block) != STATUS_OK)
        return STATUS_CORRUPT;
    return STATUS_OK;
}

static const struct sql_columns ban_columns = COLUMNS_ALSO(ban, block_take, FIELD(ban, id),
    FIELD(ban, kind), FIELD(ban, user), FIELD(ban, reason), FIELD(ban, by), FIELD(ban, created_ms),
    FIELD(ban, until_ms), FIELD(ban, lifted_ms), FIELD(ban, sessions_ms));

static struct sql_value block_value(
    const struct address_block *block, char room[ADDRESS_BLOCK_CHARS_MAX + 1])
{
    struct text text = text_in(room, ADDRESS_BLOCK_CHARS_MAX);
    address_block_text(&text, block);
    return TEXT_OF(room, text.size);
}

static enum status get(struct order_store *handle, uint64_t id, struct ban *ban)
{
    return sql_one(store_of(handle), "SELECT " BAN_COLUMNS " FROM bans WHERE id = ?1",
        VALUES(U64(id)), &ban_columns, ban);
}

static enum status insert(struct order_store *handle, struct ban *ban)
{
    struct store *store = store_of(handle);
    char block[ADDRESS_BLOCK_CHARS_MAX + 1];
    const bool address = ban->kind == BAN_ADDRESS;
    return sql_insert(store,
        "INSERT INTO bans(kind, block, user_id, reason, banned_by, created_ms, until_ms, lifted_ms,"
        " sessions_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8) RETURNING id",
        VALUES(U64(ban->kind), address ? block_value(&ban->block, block) : NOTHING,
            address ? NOTHING : U64(ban->user), TEXT(ban->reason), TEXT(ban->by),
            U64(ban->created_ms), U64(ban->until_ms), U64(ban->sessions_ms)),
        &ban->id);
}

static enum status lift(struct order_store *handle, uint64_t id, uint64_t now_ms, bool *lifted)
{
    struct store *store = store_of(handle);
    struct ban ban;
    *lifted = false;
    enum status status = get(handle, id, &ban);
    if (status == STATUS_OK)
        status = sql_do(store,
            "UPDATE bans SET lifted_ms = ?2 WHERE id = ?1 AND lifted_ms = 0 AND until_ms > ?2",
            VALUES(U64(id), U64(now_ms)));
    *lifted = status == STATUS_OK && sql_matched(store) == 1;
    return status;
}

static enum status in_effect(struct order_store *handle, uint64_t now_ms,
    bool (*take)(void *context, const struct ban *), void *context)
{
    struct ban ban;
    struct sql_row *row;
    enum status status = sql_query(store_of(handle), bans_in_effect, VALUES(U64(now_ms)), &row);
    if (status != STATUS_OK)
        return status;
    while ((status = sql_next(row)) == STATUS_OK
        && (status = sql_columns_take(&ban_columns, row, &ban)) == STATUS_OK && take(context, &ban))
        ;
    sql_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status effect(
    struct order_store *handle, const struct ban *about, uint64_t now_ms, struct ban_entry *entry)
{
    struct store *store = store_of(handle);
    char block[ADDRESS_BLOCK_CHARS_MAX + 1];
    uint64_t times[2] = { 0 };
    const uint64_t since_ms = now_ms < BAN_SESSIONS_MS ? 0 : now_ms - BAN_SESSIONS_MS;
    const enum status status = about->kind == BAN_ADDRESS
        ? sql_numbers(store, EFFECT_OF("block"),
            VALUES(block_value(&about->block, block), U64(since_ms)), times, 2)
        : sql_numbers(store, EFFECT_OF("user_id"), VALUES(U64(about->user), U64(since_ms)), times, 2);
    *entry = (struct ban_entry){ about->kind, about->block, about->user, times[0], times[1] };
    return status;
}

static enum status ended(
    struct order_store *handle, uint64_t from_ms, uint64_t to_ms, struct bans_ended *out)
{
    uint64_t numbers[3] = { 0 };
    const enum status status = sql_numbers(store_of(handle),
        "SELECT count(CASE WHEN kind = 1 THEN 1 END), count(CASE WHEN kind = 2 THEN 1 END),"
        " (SELECT coalesce(min(until_ms), 0) FROM bans WHERE lifted_ms = 0 AND until_ms > ?2)"
        " FROM bans WHERE lifted_ms = 0 AND until_ms > ?1 AND until_ms <= ?2",
        VALUES(U64(from_ms), U64(to_ms)), numbers, 3);
    *out = (struct bans_ended){ .next_ms = numbers[2] };
    out->count[BAN_ADDRESS] = numbers[0];
    out->count[BAN_USER] = numbers[1];
    return status;
}

static enum status list(struct order_store *handle, uint64_t after, uint64_t in_force_ms,
    struct ban *bans, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), in_force_ms == 0 ? bans_all : bans_in_force,
        in_force_ms == 0 ? VALUES(U64(after), U64(max)) : VALUES(U64(after), U64(max), U64(in_force_ms)),
        &ban_columns, PAGE(bans, max, count));
}

const struct ban_store_ops store_bans_ops = {
    .insert = insert,
    .get = get,
    .lift = lift,
    .list = list,
    .in_effect = in_effect,
    .effect = effect,
    .ended = ended,
};
