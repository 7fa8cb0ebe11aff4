/* SPDX-License-Identifier: Apache-2.0 */
#include "redis/login.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void a_login_is_nobody_a_password_or_a_user_with_one(void **state)
{
    (void)state;
    struct redis_login login;
    char path[] = "/tmp/stampede-login-XXXXXX", longest[REDIS_USER_MAX + 2];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(redis_login_read(&login, "", NULL), STATUS_OK);
    assert_int_equal(login.password_bytes, 0);
    assert_int_equal(redis_login_read(&login, "", ""), STATUS_OK);
    assert_int_equal(redis_login_read(&login, "shop", ""), STATUS_BAD_INPUT);
    assert_int_equal(redis_login_read(&login, "", path), STATUS_BAD_INPUT); /* empty */
    assert_int_equal(write(fd, "secret\n", 7), 7);
    assert_int_equal(redis_login_read(&login, "", path), STATUS_OK);
    assert_string_equal(login.user, "");
    assert_string_equal(login.password, "secret");
    assert_int_equal(login.password_bytes, 6);
    assert_int_equal(redis_login_read(&login, "shop", path), STATUS_OK);
    assert_string_equal(login.user, "shop");
    memset(longest, 'a', sizeof longest);
    longest[REDIS_USER_MAX + 1] = 0;
    assert_int_equal(redis_login_read(&login, longest, path), STATUS_BAD_INPUT);
    longest[REDIS_USER_MAX] = 0;
    assert_int_equal(redis_login_read(&login, longest, path), STATUS_OK);
    assert_string_equal(login.user, longest);
    close(fd);
    unlink(path);
    assert_int_equal(redis_login_read(&login, "shop", path), STATUS_IO);
    assert_string_equal(login.user, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_login_is_nobody_a_password_or_a_user_with_one) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
