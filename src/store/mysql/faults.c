/* SPDX-License-Identifier: Apache-2.0 */
/* Errors by their numbers; one without a row by the class of its SQLSTATE. The numbers are those
 * of MySQL and MariaDB (1000 …, 4000 … are MariaDB's own), 2000 … 2999 those of the library. */
#include "store/mysql/parts.h"

#include "base/span.h"

#include <stdio.h>

struct fault {
    unsigned number;
    enum sql_error error;
    bool is_lost; /* the server has closed the connection or is about to */
};
static const struct fault faults[] = {
    { 1022, SQL_ERROR_UNIQUE, false }, /* duplicate key */
    { 1062, SQL_ERROR_UNIQUE, false }, /* duplicate entry */
    { 1586, SQL_ERROR_UNIQUE, false }, /* the same with the name of the key */
    { 1048, SQL_ERROR_CHECK, false },  /* NULL */
    { 1216, SQL_ERROR_CHECK, false },  /* foreign keys */
    { 1217, SQL_ERROR_CHECK, false }, { 1451, SQL_ERROR_CHECK, false },
    { 1452, SQL_ERROR_CHECK, false }, { 1264, SQL_ERROR_CHECK, false }, /* out of range */
    { 1265, SQL_ERROR_CHECK, false },                                   /* truncated */
    { 1300, SQL_ERROR_CHECK, false },                                   /* not UTF-8 */
    { 1364, SQL_ERROR_CHECK, false },                                   /* no default */
    { 1366, SQL_ERROR_CHECK, false },                                   /* wrong kind of value */
    { 1406, SQL_ERROR_CHECK, false },                                   /* too long */
    { 1690, SQL_ERROR_CHECK, false },  /* a sum or difference out of range */
    { 3819, SQL_ERROR_CHECK, false },  /* CHECK, MySQL */
    { 4025, SQL_ERROR_CHECK, false },  /* CHECK, MariaDB */
    { 1020, SQL_ERROR_AGAIN, false },  /* a row has changed since it was read */
    { 1205, SQL_ERROR_LOCKED, false }, /* waited too long for a lock */
    { 1213, SQL_ERROR_AGAIN, false },  /* deadlock */
    { 1021, SQL_ERROR_AWAY, false },   /* disk full */
    { 1026, SQL_ERROR_AWAY, false },   /* error while writing a file */
    { 1030, SQL_ERROR_AWAY, false },   /* from the engine; mostly a full disk */
    { 1037, SQL_ERROR_AWAY, false },   /* out of memory */
    { 1038, SQL_ERROR_AWAY, false }, { 1040, SQL_ERROR_AWAY, true }, /* too many connections */
    { 1041, SQL_ERROR_AWAY, false },
    { 1044, SQL_ERROR_AWAY, false }, /* not allowed: an operator can give the right back */
    { 1045, SQL_ERROR_AWAY, true }, { 1053, SQL_ERROR_AWAY, true },  /* the server ends */
    { 1079, SQL_ERROR_AWAY, true }, { 1114, SQL_ERROR_AWAY, false }, /* table full */
    { 1142, SQL_ERROR_AWAY, false },                                 /* not allowed */
    { 1143, SQL_ERROR_AWAY, false }, { 1152, SQL_ERROR_AWAY, true }, /* connection aborted */
    { 1158, SQL_ERROR_AWAY, true }, { 1159, SQL_ERROR_AWAY, true }, { 1160, SQL_ERROR_AWAY, true },
    { 1161, SQL_ERROR_AWAY, true }, { 1184, SQL_ERROR_AWAY, true },
    { 1203, SQL_ERROR_AWAY, true }, /* too many connections of this user */
    { 1226, SQL_ERROR_AWAY, false }, { 1227, SQL_ERROR_AWAY, false },
    { 1243, SQL_ERROR_AWAY, true },     /* the statement is not known: another server answers */
    { 1290, SQL_ERROR_AWAY, false },    /* --read-only: the server is a replica now */
    { 1317, SQL_ERROR_AWAY, false },    /* interrupted */
    { 1461, SQL_ERROR_AWAY, false },    /* too many prepared statements */
    { 1792, SQL_ERROR_AWAY, false },    /* a reader reads only */
    { 1836, SQL_ERROR_AWAY, false },    /* read-only */
    { 1927, SQL_ERROR_AWAY, true },     /* connection killed */
    { 1969, SQL_ERROR_AWAY, false },    /* took too long, MariaDB */
    { 3024, SQL_ERROR_AWAY, false },    /* the same, MySQL */
    { 4031, SQL_ERROR_AWAY, true },     /* closed after a long rest */
    { 1033, SQL_ERROR_CORRUPT, false }, /* the tables are not ours or are damaged */
    { 1034, SQL_ERROR_CORRUPT, false }, { 1712, SQL_ERROR_CORRUPT, false },
    { 1877, SQL_ERROR_CORRUPT, false }, { 1932, SQL_ERROR_CORRUPT, false },
    { 1967, SQL_ERROR_CORRUPT, false }, { 1050, SQL_ERROR_MADE, false }, /* a table is there */
    { 1051, SQL_ERROR_MADE, false }, /* a table to drop is not */
    { 1060, SQL_ERROR_MADE, false }, /* a column is there */
    { 1061, SQL_ERROR_MADE, false }, /* an index is there */
    { 1091, SQL_ERROR_MADE, false }, /* a column or an index to drop is not */
};

static const struct fault *fault_of(unsigned number)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].number == number)
            return &faults[i];
    return NULL;
}

enum sql_error mysql_error_of(unsigned number, const char *sqlstate)
{
    static const struct {
        const char *begins;
        enum sql_error error;
    } classes[] = {
        { "22", SQL_ERROR_CHECK },   /* values */
        { "23", SQL_ERROR_CHECK },   /* rules of the tables */
        { "40", SQL_ERROR_AGAIN },   /* the transaction was rolled back */
        { "42", SQL_ERROR_CORRUPT }, /* our statements are right, so the tables are not */
        { "21", SQL_ERROR_CORRUPT },
    };
    const struct fault *fault = fault_of(number);
    if (fault != NULL)
        return fault->error;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (span_starts_with(span_from_string(sqlstate), span_from_string(classes[i].begins)))
            return classes[i].error;
    return SQL_ERROR_AWAY; /* it may come back */
}

bool mysql_is_lost(unsigned number)
{
    const struct fault *fault = fault_of(number);
    return (number >= 2000 && number < 3000) || (fault != NULL && fault->is_lost);
}

enum status mysql_status_of(enum sql_error error)
{
    static const enum status statuses[] = {
        [SQL_ERROR_NONE] = STATUS_OK,
        [SQL_ERROR_UNIQUE] = STATUS_REFUSED,
        [SQL_ERROR_CHECK] = STATUS_REFUSED,
        [SQL_ERROR_AGAIN] = STATUS_AWAY,
        [SQL_ERROR_LOCKED] = STATUS_AWAY,
        [SQL_ERROR_AWAY] = STATUS_AWAY,
        [SQL_ERROR_CORRUPT] = STATUS_CORRUPT,
        [SQL_ERROR_MADE] = STATUS_CORRUPT,
    };
    return statuses[error];
}

enum status mysql_failed_here(struct mysql_connection *connection, enum sql_error error, const char *message)
{
    connection->error = error;
    if (connection->is_begun)
        connection->spoiled = mysql_status_of(error);
    if (message != connection->message)
        snprintf(connection->message, sizeof connection->message, "%s", message);
    return mysql_status_of(error);
}

/* Values of rows belong into no log: the server's words only where it has none in them. */
static const char *words_of(unsigned number, enum sql_error error, const char *message)
{
    static const unsigned plain[] = { 1048, 1264, 1265, 1364, 1406, 1451, 1452, 3819, 4025 };
    if (error == SQL_ERROR_UNIQUE) {
        const char *key = strstr(message, " for key ");
        for (const char *next = key; next != NULL; next = strstr(next + 1, " for key "))
            key = next; /* the value may say so too */
        return key == NULL ? "a key is taken" : key + 1;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i] == number)
            return message;
    return error == SQL_ERROR_CHECK ? "a value does not fit" : message;
}

enum status mysql_failed(
    struct mysql_connection *connection, unsigned number, const char *sqlstate, const char *message)
{
    const enum sql_error error = mysql_error_of(number, sqlstate);
    snprintf(connection->message, sizeof connection->message, "%s (%u)",
        words_of(number, error, message), number);
    if (mysql_is_lost(number)) {
        mysql_session_close(connection);
    } else if ((error == SQL_ERROR_AGAIN || error == SQL_ERROR_LOCKED) && connection->is_begun) {
        /* A deadlock has rolled back everything, a lock that was waited for maybe only the
         * statement: now both have. If even this fails, closing does it. */
        if (mysql_real_query(connection->mysql, "ROLLBACK", 8) != 0)
            mysql_session_close(connection);
        connection->is_given_up = true;
    }
    return mysql_failed_here(connection, error, connection->message);
}
