/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include "store/sqlite/sqlite.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

void place_make(struct place *place)
{
    *place = (struct place){ .folder = "/tmp/stampede-place.XXXXXX" };
    assert_non_null(mkdtemp(place->folder));
    snprintf(place->path, sizeof place->path, "%s/orders.db", place->folder);
}

item_id place_item_add(struct place *place)
{
    struct item item = { .sale = 1, .product = 1, .flash_price = 1, .limit_per_user = 1 };
    item.total = PLACE_UNITS;
    assert_int_equal(place->store->ops->item_insert(place->store, &item), STATUS_OK);
    return item.id;
}

static void item_make(struct place *place)
{
    const struct order_store_ops *ops = place->store->ops;
    struct product product = { .name = "Phone", .images = "[]", .currency = "CNY", .list_price = 2 };
    struct sale sale = { .title = "Sale", .start_ms = 1, .end_ms = 2 };
    assert_int_equal(ops->product_insert(place->store, &product), STATUS_OK);
    assert_int_equal(ops->sale_insert(place->store, &sale), STATUS_OK);
    assert_int_equal(sale.id, 1);
    assert_int_equal(product.id, 1);
    assert_int_equal(place_item_add(place), 1);
}

enum status place_open(struct place *place, const char *vfs)
{
    uint32_t count = 0;
    struct item item;
    enum status status =
        sqlite_store_open(&place->store, place->path, vfs, place->error, sizeof place->error);
    if (status != STATUS_OK)
        return status;
    assert_int_equal(place->store->ops->items(place->store, 0, 0, &item, 1, &count), STATUS_OK);
    if (count == 0)
        item_make(place);
    place->item = 1;
    return STATUS_OK;
}

void place_ops_lend(struct place *place, struct place_ops *own)
{
    *own = (struct place_ops){ .ops = *place->store->ops,
        .cluster = *place->store->ops->cluster,
        .real = place->store->ops->cluster };
    own->ops.cluster = &own->cluster;
    place->store->ops = &own->ops;
}

enum status place_lease_away(
    struct order_store *store, const char *name, uint64_t holder, uint32_t ms, struct lease *lease)
{
    (void)store;
    (void)name;
    (void)holder;
    (void)ms;
    *lease = (struct lease){ 0 };
    return STATUS_AWAY;
}

void place_close(struct place *place)
{
    if (place->store != NULL)
        place->store->ops->close(place->store);
    place->store = NULL;
}

void place_remove(struct place *place)
{
    static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
    char name[128];
    place_close(place);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", place->path, endings[i]);
        unlink(name);
    }
    rmdir(place->folder);
}

struct queue_record place_win(struct place *place, user_id user)
{
    const lsn_t lsn = ++place->lsn;
    return (struct queue_record){ .at.seq = lsn,
        .command = { .type = COMMAND_RESERVE,
            .reserve = { .user = user, .item = place->item, .quantity = 1 } },
        .outcome = { .answer = ANSWER_WON, .ticket = lsn, .unit_price = 1, .changed = true } };
}

enum status place_apply(struct place *place, const struct queue_record *records, uint32_t count)
{
    static const uint8_t dispositions[ORDER_BATCH_MAX];
    place->refusal = (struct refusal){ 0 };
    return place->store->ops->apply(place->store, records, dispositions, count, &place->refusal);
}

enum status place_sell(struct place *place, user_id user)
{
    const struct queue_record record = place_win(place, user);
    const enum status status = place_apply(place, &record, 1);
    if (status == STATUS_REFUSED) /* it is not in: the next record has its number */
        place->lsn--;
    return status;
}

int place_try(const struct place *place, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(place->path, &database), SQLITE_OK);
    int result = sqlite3_exec(database, sql, NULL, NULL, NULL);
    sqlite3_close(database);
    return result;
}

void place_execute(const struct place *place, const char *sql)
{
    assert_int_equal(place_try(place, sql), SQLITE_OK);
}

int64_t place_number(const struct place *place, const char *sql)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(place->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}

bool place_plan_has(const struct place *place, const char *sql, const char *words)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    bool has = false;
    assert_int_equal(sqlite3_open(place->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        has |= strstr((const char *)sqlite3_column_text(statement, 3), words) != NULL;
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return has;
}
