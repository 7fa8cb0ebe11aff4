/* SPDX-License-Identifier: Apache-2.0 */
/* redis/login.h: who we are for Redis: nobody, the default user with a password, or a user of its ACL.
 * Thread: any. */
#ifndef STAMPEDE_REDIS_LOGIN_H
#define STAMPEDE_REDIS_LOGIN_H

#include "base/span.h"

enum { REDIS_USER_MAX = 64, REDIS_PASSWORD_MAX = 512 };

struct redis_login {
    char user[REDIS_USER_MAX + 1]; /* empty: the default user */
    char password[REDIS_PASSWORD_MAX + 1];
    size_t password_bytes; /* 0: no login at all */
};

/* `user` may be empty; `password_path` NULL or empty: no login. STATUS_BAD_INPUT: the name is too long,
 * has no password, or the file is empty; STATUS_IO and STATUS_FULL: see base/secret_file.h. */
MUST_CHECK enum status redis_login_read(
    struct redis_login *login, const char *user, const char *password_path);

#endif
