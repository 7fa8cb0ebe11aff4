/* SPDX-License-Identifier: Apache-2.0 */
/* store/archive_wishes.c: which sale leaves for a bundle next (contract/archive.h). */
#include "store/archive.h"
#include "store/parts.h"

static const struct sql_columns wish_columns =
    COLUMNS(archive_wish, FIELD(archive_wish, sale), FIELD(archive_wish, asked),
        FIELD(archive_wish, tries), FIELD(archive_wish, due_ms), FIELD(archive_wish, why));

enum status store_wish_get(struct order_store *handle, sale_id sale, struct archive_wish *wish)
{
    return sql_one(store_of(handle),
        "SELECT sale, asked, tries, due_ms, why FROM archive_wishes WHERE sale = ?1",
        VALUES(U64(sale)), &wish_columns, wish);
}

enum status store_wish_put(struct order_store *handle, const struct archive_wish *wish)
{
    return sql_do(store_of(handle),
        "INSERT INTO archive_wishes(sale, asked, tries, due_ms, why) VALUES(?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT(sale) DO UPDATE SET asked = excluded.asked, tries = excluded.tries,"
        " due_ms = excluded.due_ms, why = excluded.why",
        VALUES(U64(wish->sale), U64(wish->asked), U64(wish->tries), U64(wish->due_ms), TEXT(wish->why)));
}

enum status store_wishes_count(struct order_store *handle, uint64_t *open, uint64_t *failed)
{
    uint64_t numbers[2] = { 0 };
    const enum status status = sql_numbers(store_of(handle),
        "SELECT coalesce(sum(CASE WHEN asked = 1 AND tries = 0 THEN 1 ELSE 0 END), 0),"
        " coalesce(sum(CASE WHEN tries > 0 THEN 1 ELSE 0 END), 0) FROM archive_wishes",
        NO_VALUES, numbers, 2);
    *open = numbers[0];
    *failed = numbers[1];
    return status;
}

enum status store_archive_next(struct order_store *handle, uint64_t now_ms, uint64_t ended_ms,
    sale_id after, sale_id *sale, bool *asked)
{
    struct store *store = store_of(handle);
    uint64_t found = 0;
    enum status status = sql_number(store,
        "SELECT sale FROM archive_wishes WHERE asked = 1 AND due_ms <= ?1 AND NOT EXISTS"
        "(SELECT 1 FROM archives WHERE archives.sale = archive_wishes.sale) ORDER BY due_ms, sale "
        "LIMIT 1",
        VALUES(U64(now_ms)), &found);
    *asked = status == STATUS_OK;
    if (status == STATUS_NOT_FOUND)
        status = sql_number(store,
            "SELECT id FROM sales WHERE id > ?2 AND end_ms <= ?3"
            " AND NOT EXISTS(SELECT 1 FROM archives WHERE archives.sale = sales.id)"
            " AND NOT EXISTS(SELECT 1 FROM archive_wishes WHERE archive_wishes.sale = sales.id"
            " AND due_ms > ?1) ORDER BY id LIMIT 1",
            VALUES(U64(now_ms), U64(after), U64(ended_ms)), &found);
    *sale = (sale_id)found;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
