/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/config/settings_kit.h: a settings file. path_make and path_remove are setup and teardown of a
 * group. */
#ifndef STAMPEDE_TESTS_SETTINGS_KIT_H
#define STAMPEDE_TESTS_SETTINGS_KIT_H

#include "config/config.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char error[CONFIG_ERROR];
static char path[] = "/tmp/stampede-settings-XXXXXX";

static int path_make(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int path_remove(void **state)
{
    (void)state;
    return unlink(path);
}

static void file_write(const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct config defaults(void)
{
    struct config config;
    config_defaults(&config);
    return config;
}

#endif
