/* SPDX-License-Identifier: Apache-2.0 */
/* store/partition.c: the partitions of a sale, the epoch of each, which fences its log, and the entries of
 * that log (contract/cluster_store.h).
 *
 * A sale gets all its partitions in one transaction, which locks the sale's row first. Whoever makes them at
 * the same time, or changes the sale's number of shards, waits for that row, and looks for the partitions
 * after it has it (READ COMMITTED: each statement sees what is committed when it begins). */
#include "contract/ticket_number.h"
#include "store/cluster.h"
#include "store/parts.h"

#include <stdio.h>

static_assert(
    LEASE_NAME_MAX == 40 && SWITCH_NAME_MAX == 40 && EPOCH_MAX == 4095, "said in the tables, too");
const char store_cluster_tables[] =
    "CREATE TABLE leases("
    "  name TEXT{40} NOT NULL, holder INTEGER NOT NULL, token INTEGER NOT NULL,"
    "  until_ms INTEGER NOT NULL,"
    "  PRIMARY KEY(name)"
    ") STRICT;"
    "CREATE TABLE journal_entries("
    "  part INTEGER NOT NULL, first_seq INTEGER NOT NULL, epoch INTEGER NOT NULL,"
    "  bytes BLOB NOT NULL,"
    "  PRIMARY KEY(part, first_seq)"
    ") STRICT;"
    "CREATE TABLE switches("
    "  name TEXT{40} NOT NULL, item INTEGER NOT NULL, value INTEGER NOT NULL,"
    "  PRIMARY KEY(name, item)"
    ") STRICT;"
    "CREATE TABLE members("
    "  process INTEGER PRIMARY KEY, role TEXT NOT NULL, name TEXT NOT NULL,"
    "  version TEXT NOT NULL, channels TEXT NOT NULL, settings INTEGER NOT NULL,"
    "  clock_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL"
    ") STRICT;";

static_assert((int)JOURNAL_ENTRY_BYTES_MAX + 1024 <= (int)SQL_STATEMENT_BYTES_MAX, "an entry fits");

#define PART_COLUMNS "part, epoch, seq, shards, sales"
static const struct sql_columns part_columns =
    COLUMNS(part_state, FIELD(part_state, part), FIELD(part_state, epoch), FIELD(part_state, seq),
        FIELD(part_state, shards), FIELD(part_state, sales));

enum status store_part_state(struct order_store *handle, uint32_t part, struct part_state *state)
{
    *state = (struct part_state){ .part = part };
    const enum status status = sql_one(store_of(handle),
        "SELECT " PART_COLUMNS " FROM parts WHERE part = ?1", VALUES(U64(part)), &part_columns, state);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* nobody has opened it yet */
}

enum status store_parts_list(struct order_store *handle, uint32_t from, struct part_state *states,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " PART_COLUMNS " FROM parts WHERE part >= ?1 AND (part > 0 OR sales > 0)"
        " ORDER BY part LIMIT ?2",
        VALUES(U64(from), U64(max)), &part_columns, PAGE(states, max, count));
}

/* With how many shards the partitions of the sale were made. STATUS_NOT_FOUND: they were not. */
static enum status shards_made(struct store *store, sale_id sale, uint64_t *shards)
{
    return sql_number(store, "SELECT shards FROM parts WHERE part = ?1 OR (part = 0 AND sales >= ?2)",
        VALUES(U64(part_of_sale(sale, 0)), U64(sale)), shards);
}

static enum status shards_lock(struct store *store, sale_id sale, uint64_t *shards)
{
    return sql_number(
        store, "SELECT shards FROM sales WHERE id = ?1 FOR UPDATE", VALUES(U64(sale)), shards);
}

enum status store_shards_take(struct store *store, sale_id sale, uint32_t shards)
{
    uint64_t before = 0, made = 0;
    enum status status = shards_lock(store, sale, &before);
    if (status != STATUS_OK || before == shards)
        return status;
    status = shards_made(store, sale, &made);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    return status == STATUS_OK && made != shards ? STATUS_CONFLICT : status;
}

/* `taken`: the answer if it is there. */
static enum status part_insert(struct store *store, uint32_t part, uint64_t shards, enum status taken)
{
    return sql_do_one(store,
        "INSERT INTO parts(part, seq, shards) VALUES(?1, 0, ?2) ON CONFLICT(part) DO NOTHING",
        VALUES(U64(part), U64(shards)), taken);
}

enum status store_parts_make(struct store *store, uint32_t part)
{
    const sale_id sale = part_sale(part);
    uint64_t shards = 0, made = 0;
    bool archived = false;
    enum status status = shards_lock(store, sale, &shards);
    if (status == STATUS_NOT_FOUND)
        return part_insert(store, part, 1, STATUS_OK);
    if (status == STATUS_OK)
        status =
            sql_found(store, "SELECT 1 FROM archives WHERE sale = ?1", VALUES(U64(sale)), &archived);
    if (status == STATUS_OK && archived)
        return STATUS_OK; /* its units were sold, and its log has left (contract/archive.h) */
    if (status == STATUS_OK)
        status = shards_made(store, sale, &made);
    if (status != STATUS_NOT_FOUND)
        return status;
    status = STATUS_OK;
    for (uint32_t shard = 0; shard < shards && status == STATUS_OK; shard++)
        status = part_insert(store, part_of_sale(sale, shard), shards, STATUS_CONFLICT);
    return status == STATUS_CONFLICT ? store_conflict(store) : status;
}

static enum status want_try(struct store *store, uint32_t part)
{
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = store_parts_make(store, part);
    return store_end(store, status);
}

enum status store_part_want(struct order_store *handle, uint32_t part)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { .repeatable = true };
    struct part_state state;
    if (part == PART_EMBEDDED || part > PART_MAX)
        return STATUS_BAD_INPUT;
    enum status status = store_part_state(handle, part, &state); /* what is there needs no lock */
    if (status != STATUS_OK || state.shards != 0)
        return status;
    STORE_TRIES (store, &tries, &status)
        status = want_try(store, part);
    return status;
}

static enum status raise_try(struct store *store, uint32_t part, uint32_t from)
{
    struct position position;
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = store_part_take(store, part, &position);
    if (status == STATUS_OK)
        status = sql_do_one(store, "UPDATE parts SET epoch = ?2 + 1 WHERE part = ?1 AND epoch = ?2",
            VALUES(U64(part), U64(from)), STATUS_CONFLICT);
    return store_end(store, status);
}

/* Not repeated when its answer was lost: the epoch may be this one's or another's, who must not share it. */
enum status store_epoch_raise(struct order_store *handle, uint32_t part, uint32_t from)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { 0 };
    enum status status;
    if (part > PART_MAX || from >= EPOCH_MAX || (part == PART_EMBEDDED && from < EPOCH_MOVED))
        return STATUS_BAD_INPUT;
    STORE_TRIES (store, &tries, &status)
        status = raise_try(store, part, from);
    return status;
}

static enum status fence_refuse(
    struct store_batch *batch, uint64_t epoch, const struct journal_entry *entry)
{
    snprintf(batch->refusal->text, sizeof batch->refusal->text,
        "partition %u is at epoch %llu, the records are of epoch %u", entry->part,
        (unsigned long long)epoch, entry->epoch);
    return STATUS_CONFLICT;
}

static enum status entry_refuse(struct store_batch *batch, const struct journal_entry *entry)
{
    snprintf(batch->refusal->text, sizeof batch->refusal->text,
        "the entry of partition %u from position %llu on does not go on after position %llu",
        entry->part, (unsigned long long)entry->first_seq, (unsigned long long)batch->position.seq);
    return STATUS_CORRUPT;
}

/* All of its records are in: by the same entry, when the answer of its commit was lost. Another one there was
 * written by somebody else. */
static enum status entry_compare(struct store_batch *batch, const struct journal_entry *entry)
{
    bool same = false;
    const enum status status = sql_found(batch->store,
        "SELECT part FROM journal_entries"
        " WHERE part = ?1 AND first_seq = ?2 AND epoch = ?3 AND bytes = ?4",
        VALUES(U64(entry->part), U64(entry->first_seq), U64(entry->epoch),
            BLOB(entry->bytes.data, entry->bytes.size)),
        &same);
    if (status != STATUS_OK || same)
        return status;
    snprintf(batch->refusal->text, sizeof batch->refusal->text,
        "partition %u has another entry from position %llu on", entry->part,
        (unsigned long long)entry->first_seq);
    return STATUS_CONFLICT;
}

enum status store_entry_write(struct store_batch *batch, const struct journal_entry *entry, uint64_t last)
{
    uint64_t epoch = 0;
    const enum status status = sql_number(
        batch->store, "SELECT epoch FROM parts WHERE part = ?1", VALUES(U64(entry->part)), &epoch);
    if (status != STATUS_OK)
        return status;
    if (epoch != entry->epoch)
        return fence_refuse(batch, epoch, entry);
    if (last <= batch->position.seq)
        return entry_compare(batch, entry);
    if (entry->first_seq != batch->position.seq + 1)
        return entry_refuse(batch, entry);
    return sql_do(batch->store,
        "INSERT INTO journal_entries(part, first_seq, epoch, bytes) VALUES(?1, ?2, ?3, ?4)",
        VALUES(U64(entry->part), U64(entry->first_seq), U64(entry->epoch),
            BLOB(entry->bytes.data, entry->bytes.size)));
}

enum status store_journal_next(struct order_store *handle, uint32_t part, uint64_t after,
    struct journal_entry *entry, uint8_t *buffer)
{
    struct sql_row *row;
    enum status status = sql_query(store_of(handle),
        "SELECT first_seq, epoch, bytes FROM journal_entries WHERE part = ?1 AND first_seq > ?2"
        " ORDER BY first_seq LIMIT 1",
        VALUES(U64(part), U64(after)), &row);
    if (status != STATUS_OK)
        return status;
    status = sql_next(row);
    if (status == STATUS_OK) {
        *entry = (struct journal_entry){ .part = part,
            .epoch = column_u32(row, 1),
            .first_seq = column_u64(row, 0),
            .bytes = { (const char *)buffer, column_blob(row, 2, buffer, JOURNAL_ENTRY_BYTES_MAX) } };
        if (entry->bytes.size == 0)
            status = STATUS_CORRUPT;
    }
    sql_finish(row);
    return status;
}
