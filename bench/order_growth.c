/* SPDX-License-Identifier: Apache-2.0 */
/* How the cost of writing an order grows with the orders of an item: the order store alone, without
 * inventory, journal or network. Users come in random order, as hashed names do.
 * usage: order_growth --to DB [--orders N] [--step N] [--batch N] [--cache-mib N] [--lot N] [--raw N]
 * --to: a file of SQLite, or the URL of a server with an empty database (tools/with-postgres …).
 * --lot: orders in a lot of the item (store/lots.h). --cache-mib 0: as a program that is not the server
 * opens the database.
 * --raw N: after each batch the same rows once more, by the same connection, into a table of their own
 * with the columns, rules and indexes of the table of orders, N by one statement (SQLite: one by one,
 * prepared), as many in a transaction; nothing else is read or written. That is the yardstick: raw_per_s,
 * and ratio, orders a second in parts of it.
 * A line of JSON for each step: orders so far, orders/s in it, µs of processor time an order, bytes
 * written an order, the longest transaction, and µs to look for the orders of one user. */
#include "store/mysql/mysql.h"
#include "store/postgres/postgres.h"
#include "store/schema.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { LOOKS = 5000 };

struct options {
    const char *to_path;
    uint32_t orders, step, batch, cache_mib, raw, lot;
};

struct moment {
    double wall_s, cpu_s, written;
};

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "order_growth: %s: %s\n", what, detail);
    exit(2);
}

static void must(enum status status, const char *what)
{
    if (status != STATUS_OK)
        fail(what, status_name(status));
}

static double written_bytes(void)
{
    char line[128];
    double bytes = 0;
    FILE *io = fopen("/proc/self/io", "r");
    while (io != NULL && fgets(line, sizeof line, io) != NULL)
        if (strncmp(line, "write_bytes: ", 13) == 0)
            bytes = strtod(line + 13, NULL);
    if (io != NULL)
        fclose(io);
    return bytes;
}

static struct moment moment_now(void)
{
    struct timespec wall, cpu;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (struct moment){ (double)wall.tv_sec + (double)wall.tv_nsec / 1e9,
        (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9, written_bytes() };
}

static struct order_store *file_open(const char *path, uint32_t cache_mib)
{
    struct order_store *store;
    char error[200];
    if (sqlite_store_open(&store, path, NULL, error, sizeof error) != STATUS_OK)
        fail("the database can't be opened", error);
    if (cache_mib > 0)
        must(sqlite_store_serve(store, cache_mib), "serve");
    return store;
}

static struct order_store *server_open(const char *url)
{
    struct sql_connection *connection;
    struct order_store *store;
    char error[200] = "";
    uint64_t before;
    enum status status = strncmp(url, "mysql:", 6) == 0
        ? mysql_store_connect(&connection, url, NULL, error, sizeof error)
        : postgres_connect(&connection, url, NULL, error, sizeof error);
    if (status == STATUS_OK)
        status = store_schema_migrate(connection, &before, error, sizeof error);
    if (status == STATUS_OK)
        status = store_make(connection, &store);
    if (status != STATUS_OK)
        fail("the database can't be opened", error);
    return store;
}

static struct order_store *item_make(const char *path, uint32_t cache_mib)
{
    struct product product = { .name = "Phone", .images = "[]", .currency = "CNY", .list_price = 2 };
    struct sale sale = { .title = "Sale", .start_ms = 1, .end_ms = 2 };
    struct item item = { .flash_price = 1, .limit_per_user = 1, .total = UNITS_MAX };
    struct order_store *store =
        strstr(path, "://") != NULL ? server_open(path) : file_open(path, cache_mib);
    must(store->ops->product_insert(store, &product), "product");
    must(store->ops->sale_insert(store, &sale), "sale");
    item.sale = sale.id;
    item.product = product.id;
    must(store->ops->item_insert(store, &item), "item");
    return store;
}

/* Each number once, in an order that looks like chance. */
static user_id user_of(uint64_t number)
{
    uint64_t mixed = number * UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

static void batch_write(struct order_store *store, uint64_t after, uint32_t count)
{
    static struct queue_record records[ORDER_BATCH_MAX];
    static const uint8_t dispositions[ORDER_BATCH_MAX];
    struct refusal refusal = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        const lsn_t lsn = after + i + 1;
        records[i] = (struct queue_record){ .at.seq = lsn,
            .command = { .type = COMMAND_RESERVE,
                .time_ms = 1700000000000 + lsn / 50,
                .reserve = { .user = user_of(lsn), .item = 1, .quantity = 1 } },
            .outcome = { .answer = ANSWER_WON,
                .ticket = lsn,
                .unit_price = 1,
                .pay_by_ms = 1700000900000 + lsn / 50,
                .changed = true } };
    }
    if (store->ops->apply(store, records, dispositions, count, &refusal) != STATUS_OK)
        fail("a batch was not written", refusal.text);
}

static double own_us(struct order_store *store, uint32_t orders)
{
    const struct moment began = moment_now();
    for (uint64_t i = 1; i <= LOOKS; i++) {
        const struct order_filter filter = { .user = user_of(i * orders / LOOKS) };
        struct order own[2];
        ticket_number next;
        uint32_t count;
        must(store->ops->orders_list(store, &filter, own, 2, &count, &next), "orders of a user");
        if (count != 1 || own[0].user != filter.user)
            fail("orders of a user", "not one");
    }
    return (moment_now().cpu_s - began.cpu_s) * 1e6 / LOOKS;
}

/* ---- raw rows ---- */

enum { RAW_COLUMNS = 13 };
#define RAW_HEAD \
    "INSERT INTO raw_orders(ticket, item, user_id, quantity, channel, unit_price, amount," \
    " created_ms, pay_by_ms, slot, version, state, reason)"

/* The statements that make the orders and their indexes, for another table. */
static void raw_table_make(struct sql_connection *connection)
{
    static const char table[] = "CREATE TABLE orders(";
    const char *const *text = store_tables;
    while (*text != NULL && strncmp(*text, table, sizeof table - 1) != 0)
        text++;
    if (*text == NULL)
        fail("tables", "there is no table of orders");
    int made = 0;
    for (const char *one = *text; *one != '\0'; one += strcspn(one, ";") + 1) {
        char sql[4096], head[64] = "CREATE TABLE";
        const char *columns = one + strcspn(one, "(");
        if (made++ > 0)
            snprintf(head, sizeof head, "CREATE INDEX raw_index_%d ON", made);
        snprintf(sql, sizeof sql, "%s raw_orders%.*s;", head, (int)strcspn(columns, ";"), columns);
        if (connection->driver->script(connection, sql) != STATUS_OK)
            fail("the raw table can't be made", connection->driver->message(connection));
    }
}

static enum status raw_row_write(struct sql_connection *connection, const uint64_t *row)
{
    struct sql_value values[RAW_COLUMNS];
    struct sql_row *cursor;
    for (uint32_t i = 0; i < RAW_COLUMNS; i++)
        values[i] = (struct sql_value){ .kind = SQL_NUMBER, .number = row[i] };
    enum status status = connection->driver->query(connection,
        RAW_HEAD " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        (struct sql_values){ values, RAW_COLUMNS }, &cursor);
    if (status != STATUS_OK)
        return status;
    status = connection->driver->next(cursor);
    connection->driver->finish(cursor);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status raw_rows_write(struct sql_connection *connection, const uint64_t *rows, uint32_t count)
{
    if (connection->driver->insert_many != NULL)
        return connection->driver->insert_many(connection, RAW_HEAD, rows, RAW_COLUMNS, count);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = raw_row_write(connection, rows + (size_t)i * RAW_COLUMNS);
    return status;
}

static void raw_batch_write(
    struct sql_connection *connection, uint64_t after, uint32_t count, uint32_t at_once)
{
    static uint64_t rows[ORDER_BATCH_MAX * RAW_COLUMNS];
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t ticket = after + i + 1, ms = 1700000000000 + ticket / 50;
        const uint64_t row[RAW_COLUMNS] = { ticket, 1, user_of(ticket), 1, 0, 1, 1, ms, ms + 900000,
            0, 1, ORDER_PENDING, 0 };
        memcpy(&rows[(size_t)i * RAW_COLUMNS], row, sizeof row);
    }
    enum status status = connection->driver->begin(connection);
    for (uint32_t done = 0; done < count && status == STATUS_OK; done += at_once) {
        const uint32_t left = count - done;
        status = raw_rows_write(
            connection, &rows[(size_t)done * RAW_COLUMNS], left < at_once ? left : at_once);
    }
    if (status == STATUS_OK)
        status = connection->driver->commit(connection);
    if (status != STATUS_OK)
        fail("raw rows were not written", connection->driver->message(connection));
}

static struct options options_read(int argc, char **argv)
{
    static const struct option names[] = { { "to", required_argument, NULL, 't' },
        { "orders", required_argument, NULL, 'o' }, { "step", required_argument, NULL, 's' },
        { "batch", required_argument, NULL, 'b' }, { "cache-mib", required_argument, NULL, 'c' },
        { "raw", required_argument, NULL, 'r' }, { "lot", required_argument, NULL, 'l' }, { 0 } };
    struct options options = { .orders = 4000000, .step = 500000, .batch = ORDER_BATCH_MAX, .cache_mib = 64 };
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == 't')
            options.to_path = optarg;
        else if (option == 'o')
            options.orders = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 's')
            options.step = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'b')
            options.batch = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'c')
            options.cache_mib = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            options.raw = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'l')
            options.lot = (uint32_t)strtoul(optarg, NULL, 10);
        else
            exit(2);
    }
    if (options.to_path == NULL || options.step == 0 || options.batch == 0 || options.batch > ORDER_BATCH_MAX)
        fail("usage", "--to DB [--orders N] [--step N] [--batch N]");
    return options;
}

struct step_times {
    double orders_s, orders_cpu_s, written, raw_s, longest_s;
};

/* One batch of orders, and the same rows raw. */
static void pair_write(struct order_store *store, const struct options *options, uint32_t done,
    uint32_t count, struct step_times *times)
{
    const struct moment began = moment_now();
    batch_write(store, done, count);
    const struct moment ended = moment_now();
    const double took_s = ended.wall_s - began.wall_s;
    times->orders_s += took_s;
    times->orders_cpu_s += ended.cpu_s - began.cpu_s;
    times->written += ended.written - began.written;
    times->longest_s = took_s > times->longest_s ? took_s : times->longest_s;
    if (options->raw == 0)
        return;
    raw_batch_write(store_connection(store), done, count, options->raw);
    times->raw_s += moment_now().wall_s - ended.wall_s;
}

static void step_tell(const struct options *options, uint32_t done, double count,
    struct step_times times, double look_us)
{
    printf(
        "{\"orders\":%u,\"orders_per_s\":%.0f,\"cpu_us\":%.1f,\"bytes\":%.0f,\"longest_ms\":%.0f,"
        "\"own_us\":%.1f",
        done, count / times.orders_s, times.orders_cpu_s * 1e6 / count, times.written / count,
        times.longest_s * 1000, look_us);
    if (options->raw > 0)
        printf(",\"raw_per_s\":%.0f,\"ratio\":%.2f", count / times.raw_s, times.raw_s / times.orders_s);
    puts("}");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    const struct options options = options_read(argc, argv);
    struct order_store *store = item_make(options.to_path, options.cache_mib);
    if (options.lot > 0)
        store_lots_set(store, options.lot);
    if (options.raw > 0)
        raw_table_make(store_connection(store));
    for (uint32_t done = 0; done < options.orders;) {
        const uint32_t first = done;
        struct step_times times = { 0 };
        while (done < first + options.step && done < options.orders) {
            const uint32_t left = first + options.step - done;
            const uint32_t count = left < options.batch ? left : options.batch;
            pair_write(store, &options, done, count, &times);
            done += count;
        }
        step_tell(&options, done, done - first, times, own_us(store, done));
    }
    store->ops->close(store);
    return 0;
}
