/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void a_file_is_read_whole_and_without_its_line_end_or_not_at_all(void **state)
{
    char path[] = "/tmp/stampede-kit-XXXXXX", out[16];
    size_t size = 0;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "secret\r\n", 8), 8);
    assert_int_equal(secret_file_read(path, out, sizeof out, &size), STATUS_OK);
    assert_int_equal(size, 6);
    assert_string_equal(out, "secret");
    assert_int_equal(secret_file_read(path, out, 9, &size), STATUS_OK);
    memset(out, '#', sizeof out);
    assert_int_equal(secret_file_read(path, out, 8, &size), STATUS_FULL);
    assert_int_equal(out[0], 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(secret_file_read(path, out, sizeof out, &size), STATUS_BAD_INPUT);
    close(fd);
    unlink(path);
    assert_int_equal(secret_file_read(path, out, sizeof out, &size), STATUS_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_whole_and_without_its_line_end_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
