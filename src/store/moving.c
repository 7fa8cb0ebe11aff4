/* SPDX-License-Identifier: Apache-2.0 */
#include "store/moving.h"

#include "contract/ticket_number.h"
#include "store/cluster.h"
#include "store/parts.h"

enum status store_move_read(struct sql_connection *connection, struct store_move *move)
{
    uint64_t numbers[4] = { 0 };
    const enum status status = sql_numbers_of(connection,
        "SELECT data_id, secret_check, move, filling FROM store_identity WHERE id = 1", numbers, 4);
    *move = (struct store_move){ numbers[0], numbers[1], numbers[2], numbers[3] != 0 };
    return status;
}

enum shop_moving store_move_state(const struct store_move *move)
{
    if (!move->filling)
        return SHOP_STAYS;
    return move->move % 2 == 1 ? SHOP_COMES : move->move == STORE_SEALED ? SHOP_LEAVES : SHOP_LEFT;
}

enum status store_moving(struct order_store *handle, enum shop_moving *moving)
{
    struct store_move move;
    const enum status status = store_move_read(store_of(handle)->connection, &move);
    *moving = status == STATUS_OK ? store_move_state(&move) : SHOP_STAYS;
    return status;
}

/* One statement that changes one row, or STATUS_CONFLICT. */
static enum status row_change(struct sql_connection *connection, const char *sql, struct sql_values values)
{
    const enum status status = sql_run(connection, sql, values);
    return status == STATUS_OK && connection->driver->matched(connection) != 1 ? STATUS_CONFLICT : status;
}

enum status store_move_begin(struct sql_connection *connection, const struct store_move *move)
{
    enum status status = connection->driver->begin(connection);
    if (status != STATUS_OK)
        return status;
    status = row_change(connection,
        "UPDATE store_identity SET data_id = ?1, secret_check = ?2, move = ?3, filling = 1"
        " WHERE id = 1 AND data_id = 0 AND move = 0",
        VALUES(U64(move->data_id), U64(move->secret_check), U64(move->move)));
    if (status == STATUS_OK) /* the folder's comes with its other rows */
        status = sql_run(connection, "DELETE FROM audit_head", NO_VALUES);
    if (status == STATUS_OK)
        status = connection->driver->commit(connection);
    if (status != STATUS_OK)
        connection->driver->rollback(connection);
    return status;
}

enum status store_move_log_end(struct sql_connection *connection, uint64_t *first_seq)
{
    *first_seq = 0;
    const enum status status = sql_numbers_of(connection,
        "SELECT first_seq FROM journal_entries WHERE part = 0 ORDER BY first_seq DESC LIMIT 1",
        first_seq, 1);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status store_move_entry(struct sql_connection *connection, const struct journal_entry *entry)
{
    return sql_run(connection,
        "INSERT INTO journal_entries(part, first_seq, epoch, bytes) VALUES(0, ?1, 0, ?2)",
        VALUES(U64(entry->first_seq), BLOB(entry->bytes.data, entry->bytes.size)));
}

enum status store_move_part(struct sql_connection *connection, uint64_t seq, uint64_t sales)
{
    return row_change(connection,
        "UPDATE parts SET seq = ?1, epoch = ?2, shards = 1, sales = ?3 WHERE part = 0",
        VALUES(U64(seq), U64(EPOCH_MOVED), U64(sales)));
}

enum status store_move_open(struct sql_connection *connection, uint64_t move)
{
    return row_change(connection,
        "UPDATE store_identity SET filling = 0 WHERE id = 1 AND move = ?1", VALUES(U64(move)));
}

enum status store_move_seal(struct sql_connection *connection)
{
    return row_change(connection,
        "UPDATE store_identity SET filling = 1, move = ?1"
        " WHERE id = 1 AND filling = 0 AND data_id <> 0",
        VALUES(U64(STORE_SEALED)));
}

enum status store_move_leave(struct sql_connection *connection, uint64_t move)
{
    return row_change(connection,
        "UPDATE store_identity SET move = ?1 WHERE id = 1 AND filling = 1 AND move = ?2",
        VALUES(U64(move), U64(STORE_SEALED)));
}

enum status store_move_position(struct sql_connection *connection, uint64_t seq)
{
    return row_change(connection, "UPDATE parts SET seq = ?1 WHERE part = 0", VALUES(U64(seq)));
}

enum status store_move_dead(struct sql_connection *connection, uint64_t *open)
{
    return sql_numbers_of(connection, "SELECT count(*) FROM dead_letters WHERE state = 1", open, 1);
}

enum status store_move_sales(struct sql_connection *connection, uint64_t *last)
{
    *last = 0;
    const enum status status =
        sql_numbers_of(connection, "SELECT id FROM sales ORDER BY id DESC LIMIT 1", last, 1);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static_assert(CHANNEL_LINE == 7, "said in the statement, too");
enum status store_move_last_channel(struct sql_connection *connection, uint64_t *items)
{
    return sql_numbers_of(connection, "SELECT count(*) FROM items WHERE channel_7 <> 0", items, 1);
}
