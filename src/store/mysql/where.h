/* SPDX-License-Identifier: Apache-2.0 */
/* store/mysql/where.h: which server and database, from a URL (mysql.h). Thread: any. */
#ifndef STAMPEDE_STORE_MYSQL_WHERE_H
#define STAMPEDE_STORE_MYSQL_WHERE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { MYSQL_NAME_MAX = 255, MYSQL_PASSWORD_MAX = 1023, MYSQL_SOCKET_MAX = 107 };

struct mysql_where {
    char user[MYSQL_NAME_MAX + 1];
    char password[MYSQL_PASSWORD_MAX + 1]; /* empty: none */
    char host[MYSQL_NAME_MAX + 1];
    char database[MYSQL_NAME_MAX + 1];
    char socket[MYSQL_SOCKET_MAX + 1]; /* empty: by TCP */
    uint32_t port;
};

/* STATUS_BAD_INPUT: `error` says what is wrong, without repeating what was given. */
MUST_CHECK enum status mysql_where_read(struct mysql_where *where, const char *url,
    const char *password, char *error, size_t error_bytes);

#endif
