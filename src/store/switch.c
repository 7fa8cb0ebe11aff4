/* SPDX-License-Identifier: Apache-2.0 */
/* store/switch.c: the switches of many machines (contract/cluster_store.h). */
#include "store/cluster.h"
#include "store/parts.h"

enum status store_switch_set(struct order_store *handle, const struct switch_row *row)
{
    struct store *store = store_of(handle);
    if (row->name[0] == 0)
        return STATUS_BAD_INPUT;
    if (row->item != 0 && row->value == 0)
        return sql_do(store, "DELETE FROM switches WHERE name = ?1 AND item = ?2",
            VALUES(TEXT(row->name), U64(row->item)));
    return sql_do(store,
        "INSERT INTO switches(name, item, value) VALUES(?1, ?2, ?3)"
        " ON CONFLICT(name, item) DO UPDATE SET value = excluded.value",
        VALUES(TEXT(row->name), U64(row->item), U64(row->value)));
}

static const struct sql_columns switch_columns =
    COLUMNS(switch_row, FIELD(switch_row, name), FIELD(switch_row, item), FIELD(switch_row, value));

enum status store_switch_list(
    struct order_store *handle, struct switch_row *rows, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT name, item, value FROM switches ORDER BY name, item LIMIT ?1", VALUES(U64(max)),
        &switch_columns, PAGE(rows, max, count));
}
