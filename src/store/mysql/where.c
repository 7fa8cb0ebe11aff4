/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mysql/where.h"

#include "base/span.h"

#include <stdio.h>

static const char *find(struct span text, char c)
{
    return text.data == NULL ? NULL : memchr(text.data, c, text.size);
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: empty, too long, a byte 0 or a bad %XX. */
static bool part_copy(char *out, size_t out_bytes, struct span part)
{
    size_t size = 0;
    for (size_t i = 0; i < part.size; i++) {
        char c = part.data[i];
        if (c == '%') {
            const int high = i + 2 < part.size ? hex_of(part.data[i + 1]) : -1;
            const int low = i + 2 < part.size ? hex_of(part.data[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0' || size + 1 >= out_bytes)
            return false;
        out[size++] = c;
    }
    out[size] = '\0';
    return size > 0;
}

/* "host", "host:port", "[::1]:port". */
static const char *host_read(struct mysql_where *where, struct span host)
{
    struct span name = host, port = SPAN_NONE;
    const char *bracket = host.size > 0 && host.data[0] == '[' ? find(host, ']') : NULL;
    if (bracket != NULL) {
        name = span_of(host.data + 1, (size_t)(bracket - host.data) - 1);
        port = span_of(bracket + 1, (size_t)(host.data + host.size - bracket) - 1);
    } else {
        const char *colon = find(host, ':');
        if (colon != NULL) {
            name.size = (size_t)(colon - host.data);
            port = span_of(colon, host.size - name.size);
        }
    }
    if (!part_copy(where->host, sizeof where->host, name))
        return "the host is missing or too long";
    where->port = 3306;
    if (port.size == 0)
        return NULL;
    const struct span digits = span_of(port.data + 1, port.size - 1);
    if (port.data[0] != ':' || span_to_u32(digits, &where->port) != STATUS_OK || where->port == 0
        || where->port > 65535)
        return "the port is not a number from 1 to 65535";
    return NULL;
}

static const char *url_read(struct mysql_where *where, struct span url)
{
    static const struct span scheme = { "mysql://", 8 }, option = { "socket=", 7 };
    struct span user, host, database;
    if (!span_starts_with(url, scheme))
        return "it does not begin with mysql://";
    url = span_of(url.data + scheme.size, url.size - scheme.size);
    if (find(url, '@') == NULL || !span_take_until(&url, '@', &user))
        return "the user is missing (mysql://user@host/database)";
    if (find(user, ':') != NULL)
        return "a password does not belong into it";
    if (!part_copy(where->user, sizeof where->user, user))
        return "the user is missing, too long or has a bad %XX";
    if (!span_take_until(&url, '/', &host))
        return "the host is missing";
    const char *trouble = host_read(where, host);
    if (trouble != NULL)
        return trouble;
    if (!span_take_until(&url, '?', &database)
        || !part_copy(where->database, sizeof where->database, database))
        return "the database is missing, too long or has a bad %XX";
    if (url.size == 0)
        return NULL;
    if (!span_starts_with(url, option)
        || !part_copy(where->socket, sizeof where->socket,
            span_of(url.data + option.size, url.size - option.size)))
        return "only socket=/path may stand after the question mark";
    return NULL;
}

enum status mysql_where_read(struct mysql_where *where, const char *url, const char *password,
    char *error, size_t error_bytes)
{
    memset(where, 0, sizeof *where);
    const char *trouble = url_read(where, span_from_string(url));
    if (trouble != NULL) {
        snprintf(error, error_bytes, "the URL of the database: %s", trouble);
        return STATUS_BAD_INPUT;
    }
    const size_t bytes = password == NULL ? 0 : strlen(password);
    if (bytes >= sizeof where->password) {
        snprintf(error, error_bytes, "the password of the database is too long");
        return STATUS_BAD_INPUT;
    }
    if (bytes > 0)
        memcpy(where->password, password, bytes + 1);
    return STATUS_OK;
}
