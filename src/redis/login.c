/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/login.h"

#include "base/secret_file.h"

enum status redis_login_read(struct redis_login *login, const char *user, const char *password_path)
{
    const struct span name = span_from_string(user);
    *login = (struct redis_login){ 0 };
    const bool without = password_path == NULL || password_path[0] == 0;
    if (name.size > REDIS_USER_MAX || (without && name.size > 0))
        return STATUS_BAD_INPUT;
    if (without)
        return STATUS_OK;
    const enum status status = secret_file_read(
        password_path, login->password, sizeof login->password, &login->password_bytes);
    if (status == STATUS_OK && name.size > 0)
        memcpy(login->user, name.data, name.size);
    return status;
}
