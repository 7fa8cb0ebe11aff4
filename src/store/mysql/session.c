/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to the server: how it is made, what is set on it, how it is made again, how
 * another thread ends its statement.
 *
 * The server's defaults do not matter: everything that changes what a statement means is set here.
 * What can't be set for a connection, and would lose committed transactions in a power cut, is
 * looked at, and such a server refused: innodb_flush_log_at_trx_commit other than 1; with a binary
 * log also sync_binlog other than 1, because after a crash the server rolls back what is prepared
 * and missing there. And max_allowed_packet, below which a large batch could never be written.
 *
 * A lost connection is closed at once, with a transaction that it had. The first try to make it
 * again comes with the next `begin` or statement; after a failed one all are refused until a time
 * has passed, which doubles up to MYSQL_BACKOFF_MAX_MS, half of it by chance. Servers and
 * what stands before them close a connection that rests: one that has rested is tried first.
 *
 * interrupt: a second connection says KILL QUERY, under a lock that the end of the statement takes
 * too, so that it never meets a later one. A kill that came when the statement had ended already
 * is used up by an empty statement. If the server does not take the kill, the connection ends. */
#include "store/mysql/mysql.h"
#include "store/mysql/parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/span.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* clang-format off */
static const char *const settings[] = {
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,"
        "NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,NO_AUTO_VALUE_ON_ZERO,NO_UNSIGNED_SUBTRACTION',"
        " autocommit = 1, completion_type = 0, time_zone = '+00:00',"
        " foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_big_selects = 1,"
        " sql_select_limit = 18446744073709551615, auto_increment_increment = 1, auto_increment_offset = 1,"
        " default_storage_engine = InnoDB, lock_wait_timeout = 60",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
};
static const char *const settings_mariadb[] = {
    "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin",
    "SET SESSION max_statement_time = 0, check_constraint_checks = 1, sql_if_exists = 0,"
        " idle_transaction_timeout = 60",
};
static const char *const settings_mysql[] = {
    "SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin",
    "SET SESSION max_execution_time = 0, information_schema_stats_expiry = 0",
};
/* clang-format on */
static_assert(SQL_STATEMENT_BYTES_MAX == 2097152, "fitness_trouble names it");
enum { MARIADB_OLDEST = 100600, MYSQL_OLDEST = 80031, KILL_S = 2 };

static void library_start(void)
{
    const int failed = mysql_library_init(0, NULL, NULL);
    invariant(failed == 0);
}

/* A peer that is gone without a word is found by the system, not by waiting for an answer. */
static void socket_watch(MYSQL *mysql)
{
    const int fd = mysql_get_socket(mysql), on = 1, dead_ms = MYSQL_DEAD_S * 1000;
    const int idle_s = MYSQL_DEAD_S / 2, every_s = MYSQL_DEAD_S / 4, probes = 2;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on); /* a Unix socket needs none of it */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof dead_ms);
}

/* NULL: no memory. */
static MYSQL *server_connect(
    const struct mysql_where *where, unsigned connect_s, unsigned read_s, unsigned write_s)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, library_start);
    const bool by_socket = where->socket[0] != '\0';
    const unsigned protocol = by_socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP, no_files = 0;
    const my_bool no = 0;
    MYSQL *mysql = mysql_init(NULL);
    if (mysql == NULL)
        return NULL;
    (void)mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    (void)mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &read_s);
    (void)mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &write_s);
    (void)mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
    (void)mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &no_files); /* the server may not ask for our files */
    (void)mysql_options(mysql, MYSQL_OPT_RECONNECT, &no);
    (void)mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(mysql, by_socket ? NULL : where->host, where->user,
            where->password[0] == '\0' ? NULL : where->password, where->database, where->port,
            by_socket ? where->socket : NULL, 0)
        != NULL)
        socket_watch(mysql);
    return mysql; /* mysql_errno tells */
}

static bool all_do(MYSQL *mysql, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mysql_real_query(mysql, list[i], strlen(list[i])) != 0)
            return false;
    return true;
}
#define ALL_DO(mysql, list) all_do((mysql), (list), sizeof(list) / sizeof *(list))

/* NULL: it keeps what it commits, and takes our statements. Otherwise what is wrong with it, or ""
 * (mysql_errno tells). */
static const char *fitness_trouble(MYSQL *mysql)
{
    static const char ask[] = "SELECT @@global.innodb_flush_log_at_trx_commit, @@global.log_bin,"
                              " @@global.sync_binlog, @@global.binlog_format, @@max_allowed_packet";
    uint64_t packet;
    if (mysql_real_query(mysql, ask, sizeof ask - 1) != 0)
        return "";
    MYSQL_RES *rows = mysql_store_result(mysql);
    MYSQL_ROW row = rows == NULL ? NULL : mysql_fetch_row(rows);
    const char *trouble = NULL;
    if (row == NULL)
        trouble = "";
    else if (strcmp(row[0], "1") != 0)
        trouble = "innodb_flush_log_at_trx_commit must be 1, or a power cut loses orders";
    else if (strcmp(row[1], "0") != 0 && strcmp(row[2], "1") != 0)
        trouble = "sync_binlog must be 1 while there is a binary log, or a power cut loses orders";
    else if (strcmp(row[1], "0") != 0 && strcmp(row[3], "STATEMENT") == 0)
        trouble = "binlog_format must be ROW or MIXED";
    else if (span_to_u64(span_from_string(row[4]), &packet) != STATUS_OK || packet < SQL_STATEMENT_BYTES_MAX)
        trouble = "max_allowed_packet must be at least 2097152 (2 MiB), or a batch of orders does "
                  "not fit";
    mysql_free_result(rows);
    return trouble;
}

static const char *server_trouble(struct mysql_connection *connection, MYSQL *mysql)
{
    const bool is_mariadb = mariadb_connection(mysql) != 0;
    const unsigned long version = mysql_get_server_version(mysql);
    if (version < (is_mariadb ? MARIADB_OLDEST : MYSQL_OLDEST))
        return "the server is too old: MariaDB 10.6 or MySQL 8.0.31 is the oldest one that works";
    const char *trouble = fitness_trouble(mysql);
    if (trouble != NULL)
        return trouble;
    char times[128];
    snprintf(times, sizeof times, "SET SESSION innodb_lock_wait_timeout = %d, wait_timeout = %d",
        MYSQL_LOCK_WAIT_S, MYSQL_REST_MAX_S);
    const char *const more[] = { times,
        connection->is_reader ? "SET SESSION TRANSACTION READ ONLY"
                              : "SET SESSION TRANSACTION READ WRITE" };
    const bool done = ALL_DO(mysql, settings) && ALL_DO(mysql, more)
        && (is_mariadb ? ALL_DO(mysql, settings_mariadb) : ALL_DO(mysql, settings_mysql));
    connection->dialect =
        (struct mysql_dialect){ .collation = is_mariadb ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin",
            .checks_by_table = !is_mariadb };
    return done ? NULL : "";
}

/* STATUS_REFUSED: not by waiting. The message tells. */
static enum status session_open(struct mysql_connection *connection, unsigned connect_s)
{
    MYSQL *mysql = server_connect(&connection->where, connect_s, connection->read_s, MYSQL_WRITE_S);
    if (mysql == NULL)
        return mysql_failed_here(connection, SQL_ERROR_AWAY, "out of memory");
    const char *trouble = mysql_errno(mysql) != 0 ? "" : server_trouble(connection, mysql);
    const unsigned number = mysql_errno(mysql);
    if (trouble == NULL) {
        connection->mysql = mysql;
        connection->socket = fcntl(mysql_get_socket(mysql), F_DUPFD_CLOEXEC, 0);
        return STATUS_OK;
    }
    enum status status = mysql_failed_here(
        connection, SQL_ERROR_AWAY, trouble[0] == '\0' ? mysql_error(mysql) : trouble);
    if (trouble[0] != '\0' || number == 1044 || number == 1045 || number == 1049)
        status = STATUS_REFUSED; /* no right, no such database */
    mysql_close(mysql);
    return status;
}

enum status mysql_session_first(struct mysql_connection *connection, char *error, size_t error_bytes)
{
    const enum status status = session_open(connection, MYSQL_CONNECT_S);
    if (status != STATUS_OK)
        snprintf(error, error_bytes, "%s", connection->message);
    return status;
}

enum status mysql_session_need(struct mysql_connection *connection)
{
    const uint64_t now_ns = clock_monotonic_ns();
    const bool has_rested = now_ns - connection->used_ns > (uint64_t)MYSQL_REST_S * 1000000000;
    connection->used_ns = now_ns;
    if (connection->mysql != NULL && has_rested && !connection->is_begun
        && mysql_ping(connection->mysql) != 0)
        mysql_session_close(connection);
    if (connection->mysql != NULL)
        return STATUS_OK;
    if (now_ns < connection->retry_ns)
        return mysql_failed_here(connection, SQL_ERROR_AWAY, connection->message);
    if (session_open(connection, MYSQL_CONNECT_AGAIN_S) == STATUS_OK) {
        log_info("store", "connected to the database again");
        connection->backoff_ms = 0;
        return STATUS_OK;
    }
    connection->backoff_ms =
        connection->backoff_ms == 0 ? MYSQL_BACKOFF_FIRST_MS : 2 * connection->backoff_ms;
    if (connection->backoff_ms > MYSQL_BACKOFF_MAX_MS)
        connection->backoff_ms = MYSQL_BACKOFF_MAX_MS;
    const uint64_t half = connection->backoff_ms / 2;
    connection->retry_ns =
        clock_monotonic_ns() + (half + random_below(&connection->random, half + 1)) * 1000000;
    log_warn("store", "the database is unavailable: %s", connection->message);
    return STATUS_AWAY;
}

void mysql_session_close(struct mysql_connection *connection)
{
    if (connection->mysql == NULL)
        return;
    mysql_close(connection->mysql);
    connection->mysql = NULL;
    if (connection->socket >= 0)
        (void)close(connection->socket);
    connection->socket = -1;
    mysql_statements_forget(connection); /* now they send nothing any more */
    connection->is_given_up = connection->is_begun;
}

enum status mysql_session_do(struct mysql_connection *connection, const char *sql, size_t bytes)
{
    MYSQL *mysql = connection->mysql;
    if (mysql_real_query(mysql, sql, bytes) == 0)
        return STATUS_OK;
    return mysql_failed(connection, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
}

/* The library reads for `read_s` at most: it begins when the answer is there. */
enum status mysql_session_do_long(struct mysql_connection *connection, const char *sql, size_t bytes)
{
    MYSQL *mysql = connection->mysql;
    if (mysql_send_query(mysql, sql, bytes) == 0) {
        struct pollfd wait = { .fd = mysql_get_socket(mysql), .events = POLLIN };
        while (poll(&wait, 1, -1) < 0 && errno == EINTR)
            ;
        if (mysql_read_query_result(mysql) == 0)
            return STATUS_OK;
    }
    return mysql_failed(connection, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
}

void mysql_session_runs(struct mysql_connection *connection)
{
    (void)pthread_mutex_lock(&connection->lock);
    connection->running = mysql_thread_id(connection->mysql);
    connection->is_interrupted = false;
    (void)pthread_mutex_unlock(&connection->lock);
}

void mysql_session_ran(struct mysql_connection *connection)
{
    (void)pthread_mutex_lock(&connection->lock);
    const bool was_interrupted = connection->is_interrupted;
    connection->running = 0;
    (void)pthread_mutex_unlock(&connection->lock);
    if (was_interrupted)
        (void)mysql_real_query(connection->mysql, "DO 0", 4); /* it may be this one that is killed */
}

void mysql_session_interrupt(struct sql_connection *handle)
{
    struct mysql_connection *connection = mysql_of(handle);
    (void)pthread_mutex_lock(&connection->lock);
    if (connection->running != 0) {
        MYSQL *mysql = server_connect(&connection->where, KILL_S, KILL_S, KILL_S);
        char kill[48];
        const int bytes = snprintf(kill, sizeof kill, "KILL QUERY %lu", connection->running);
        if (mysql == NULL || mysql_errno(mysql) != 0
            || mysql_real_query(mysql, kill, (unsigned long)bytes) != 0) {
            log_warn("store", "a statement can't be interrupted, so its connection is closed: %s",
                mysql == NULL ? "out of memory" : mysql_error(mysql));
            (void)shutdown(connection->socket, SHUT_RDWR);
        }
        connection->is_interrupted = true;
        mysql_close(mysql);
    }
    (void)pthread_mutex_unlock(&connection->lock);
}
