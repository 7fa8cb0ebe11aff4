/* SPDX-License-Identifier: Apache-2.0 */
/* The audit chain. hash(n) = SHA-256 over: hash(n − 1) (32 bytes; zeros before the first), id,
 * time_ms (8 bytes each, little-endian), then actor, action and detail, each as its size (4 bytes)
 * and its bytes. audit_head repeats the number of entries and the last hash, so that cutting off
 * the end shows too. */
#include "base/bytes.h"
#include "base/hash.h"
#include "store/cluster.h"
#include "store/parts.h"

enum {
    AUDIT_PAGE = 500, /* entries that are read at once */
    AUDIT_BYTES_MAX = HASH_SHA256_BYTES + 8 + 8 + 3 * 4 + sizeof((struct audit_entry *)0)->actor
        + sizeof((struct audit_entry *)0)->action + sizeof((struct audit_entry *)0)->detail,
};

static const char audit_rows[] =
    "SELECT id, time_ms, actor, action, detail, hash FROM audit WHERE id > ?1"
    " ORDER BY id LIMIT ?2";

static size_t audit_put_text(uint8_t *at, const char *text)
{
    size_t bytes = strlen(text);
    bytes_put_u32(at, (uint32_t)bytes);
    memcpy(at + 4, text, bytes);
    return 4 + bytes;
}

static void audit_hash(const uint8_t *before, const struct audit_entry *entry, uint8_t *hash)
{
    uint8_t bytes[AUDIT_BYTES_MAX];
    size_t size = HASH_SHA256_BYTES;
    memcpy(bytes, before, size);
    bytes_put_u64(bytes + size, entry->id);
    bytes_put_u64(bytes + size + 8, entry->time_ms);
    size += 16;
    size += audit_put_text(bytes + size, entry->actor);
    size += audit_put_text(bytes + size, entry->action);
    size += audit_put_text(bytes + size, entry->detail);
    invariant(size <= sizeof bytes);
    hash_sha256(bytes, size, hash);
}

static bool column_hash(struct sql_row *row, int at, uint8_t *hash)
{
    return column_blob(row, at, hash, HASH_SHA256_BYTES) == HASH_SHA256_BYTES;
}

struct audit_head {
    uint64_t entries;
    uint8_t hash[HASH_SHA256_BYTES];
};

static enum status head_hash_take(struct sql_row *row, void *out)
{
    struct audit_head *head = out;
    return column_hash(row, 1, head->hash) ? STATUS_OK : STATUS_CORRUPT;
}

static const struct sql_columns head_columns =
    COLUMNS_ALSO(audit_head, head_hash_take, FIELD(audit_head, entries));

static enum status audit_head_read(struct store *store, struct audit_head *head)
{
    const enum status status =
        sql_one(store, "SELECT entries, hash FROM audit_head", NO_VALUES, &head_columns, head);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

static enum status audit_write(struct store *store, const struct audit_entry *entry, const uint8_t *hash)
{
    const enum status status = sql_do(
        store, "INSERT INTO audit(id, time_ms, actor, action, detail, hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        VALUES(U64(entry->id), U64(entry->time_ms), TEXT(entry->actor), TEXT(entry->action),
            TEXT(entry->detail), BLOB(hash, HASH_SHA256_BYTES)));
    if (status != STATUS_OK)
        return status;
    return sql_do(store, "UPDATE audit_head SET entries = ?1, hash = ?2",
        VALUES(U64(entry->id), BLOB(hash, HASH_SHA256_BYTES)));
}

enum status store_audit_add(struct store *store, const struct audit_entry *entry)
{
    struct audit_entry next = *entry;
    uint8_t hash[HASH_SHA256_BYTES];
    struct audit_head head;
    enum status status = store_audit_lock(store);
    if (status == STATUS_OK)
        status = audit_head_read(store, &head);
    if (status != STATUS_OK)
        return status;
    next.id = head.entries + 1;
    audit_hash(head.hash, &next, hash);
    return audit_write(store, &next, hash);
}

static enum status entry_add(struct store *store, void *entry)
{
    return store_audit_add(store, entry);
}

enum status store_audit_append(struct order_store *handle, const struct audit_entry *entry)
{
    struct store *store = store_of(handle);
    struct audit_entry copy = *entry;
    if (store->together) /* a request without its audit row is not kept at all */
        return store_audit_add(store, entry);
    return store_transact(store, false, entry_add, &copy);
}

static const struct sql_columns entry_columns =
    COLUMNS(audit_entry, FIELD(audit_entry, id), FIELD(audit_entry, time_ms),
        FIELD(audit_entry, actor), FIELD(audit_entry, action), FIELD(audit_entry, detail));

/* Text that was cut to fit, or has a NUL, was not written by us. */
static bool row_is_whole(struct sql_row *row, const struct audit_entry *entry)
{
    return column_bytes(row, 2) == strlen(entry->actor) && column_bytes(row, 3) == strlen(entry->action)
        && column_bytes(row, 4) == strlen(entry->detail);
}

enum status store_audit_list(struct order_store *handle, uint64_t after,
    struct audit_entry *entries, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), audit_rows, VALUES(U64(after), U64(max)), &entry_columns,
        PAGE(entries, max, count));
}

enum status store_audit_last(struct order_store *handle, uint64_t *id)
{
    return sql_number(
        store_of(handle), "SELECT entries FROM audit_head WHERE id = ?1", VALUES(U64(1)), id);
}

/* As far as it was looked at. */
struct audit_walk {
    uint64_t seen, first_bad;
    uint8_t hash[HASH_SHA256_BYTES];
};

/* A page of it: a database server sends what was asked for at once. */
static enum status walk_on(struct store *store, struct audit_walk *walk, bool *more)
{
    const uint64_t before = walk->seen;
    uint8_t stored[HASH_SHA256_BYTES];
    struct sql_row *list;
    enum status status = sql_query(store, audit_rows, VALUES(U64(before), U64(AUDIT_PAGE)), &list);
    if (status != STATUS_OK)
        return status;
    while (walk->first_bad == 0 && (status = sql_next(list)) == STATUS_OK) {
        struct audit_entry entry;
        (void)!sql_columns_take(&entry_columns, list, &entry);
        audit_hash(walk->hash, &entry, walk->hash);
        walk->seen++;
        if (entry.id != walk->seen || !row_is_whole(list, &entry) || !column_hash(list, 5, stored)
            || memcmp(stored, walk->hash, sizeof stored) != 0)
            walk->first_bad = walk->seen;
    }
    sql_finish(list);
    *more = walk->first_bad == 0 && walk->seen == before + AUDIT_PAGE;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status chain_walk(struct store *store, struct audit_walk *walk)
{
    struct audit_head head;
    bool more = true;
    enum status status = audit_head_read(store, &head);
    while (status == STATUS_OK && more)
        status = walk_on(store, walk, &more);
    if (status != STATUS_OK || walk->first_bad != 0)
        return status;
    if (walk->seen < head.entries)
        walk->first_bad = walk->seen + 1; /* the end was cut off */
    else if (walk->seen > head.entries || memcmp(head.hash, walk->hash, sizeof head.hash) != 0)
        walk->first_bad = walk->seen;
    return STATUS_OK;
}

/* Head and pages are of one moment: others may write meanwhile. */
enum status store_audit_verify(struct order_store *handle, uint64_t *entries, uint64_t *first_bad)
{
    struct store *store = store_of(handle);
    const struct driver *driver = store->connection->driver;
    const bool views = store_is_alone(store);
    struct audit_walk walk = { 0 };
    enum status status = views ? driver->begin_view(store->connection) : STATUS_OK;
    if (status == STATUS_OK)
        status = chain_walk(store, &walk);
    if (views)
        driver->rollback(store->connection);
    *entries = walk.seen;
    *first_bad = walk.first_bad;
    return status;
}
