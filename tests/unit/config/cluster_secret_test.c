/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that share a secret share the master secret and the data id; a secret that is short or missing is
 * refused. */
#include "config/cluster_secret.h"

#include "config/identity.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char folder_path[64], path[96];
static struct config config;
static char error[CONFIG_ERROR];

static void secret_write(const char *letter, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    for (size_t i = 0; i < count; i++)
        assert_true(fputs(letter, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    (void)state;
    memset(&config, 0, sizeof config);
    snprintf(folder_path, sizeof folder_path, "/tmp/stampede-secret.XXXXXX");
    assert_non_null(mkdtemp(folder_path));
    snprintf(path, sizeof path, "%s/secret", folder_path);
    snprintf(config.inventory_kind, sizeof config.inventory_kind, "redis");
    snprintf(config.cluster_secret_file, sizeof config.cluster_secret_file, "%s", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    rmdir(folder_path);
    return 0;
}

static void one_machine_keeps_what_its_folder_has(void **state)
{
    (void)state;
    struct data_folder folder = { .data_id = 7 };
    snprintf(config.inventory_kind, sizeof config.inventory_kind, "embedded");
    assert_false(cluster_is_set(&config));
    assert_int_equal(cluster_secret_use(&folder, &config, error), STATUS_OK); /* there is no file */
    assert_int_equal(folder.data_id, 7);
}

static void processes_with_one_secret_have_the_same_and_others_have_not(void **state)
{
    (void)state;
    struct data_folder one = { .data_id = 7 }, two = { .data_id = 8 }, other = { .data_id = 9 };
    assert_true(cluster_is_set(&config));
    secret_write("a", CLUSTER_SECRET_BYTES_MIN);
    assert_int_equal(cluster_secret_use(&one, &config, error), STATUS_OK);
    assert_int_equal(cluster_secret_use(&two, &config, error), STATUS_OK);
    secret_write("b", CLUSTER_SECRET_BYTES_MIN);
    assert_int_equal(cluster_secret_use(&other, &config, error), STATUS_OK);
    assert_true(one.data_id == two.data_id && one.data_id != other.data_id && one.data_id != 0);
    assert_memory_equal(one.master, two.master, sizeof one.master);
    assert_memory_not_equal(one.master, other.master, sizeof one.master);
}

static void a_secret_that_is_short_long_or_missing_is_refused_by_name(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, CLUSTER_SECRET_BYTES_MIN - 1, CLUSTER_SECRET_BYTES_MAX + 2 };
    struct data_folder folder = { .data_id = 7 };
    assert_int_equal(cluster_secret_use(&folder, &config, error), STATUS_BAD_INPUT);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        secret_write("a", sizes[i]);
        memset(error, 0, sizeof error);
        assert_int_equal(cluster_secret_use(&folder, &config, error), STATUS_BAD_INPUT);
        assert_non_null(strstr(error, "cluster.secret_file"));
        assert_int_equal(folder.data_id, 7);
    }
    secret_write("a", CLUSTER_SECRET_BYTES_MAX);
    assert_int_equal(cluster_secret_use(&folder, &config, error), STATUS_OK);
}

/* A shop that was moved: the file is the line of its folder's identity. */
static void the_identity_of_a_folder_is_taken_as_it_is_and_a_damaged_one_is_refused(void **state)
{
    (void)state;
    struct data_folder moved = { .data_id = 0x1122334455667788 }, folder = { .data_id = 7 };
    char line[IDENTITY_BYTES];
    memset(moved.master, 0x5a, sizeof moved.master);
    identity_line(&moved, line);
    for (size_t wrong = 0; wrong <= sizeof line; wrong++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        for (size_t i = 0; i < sizeof line; i++)
            fputc(line[i] ^ (i == wrong && i + 1 < sizeof line ? 1 : 0), file);
        fclose(file);
        const enum status status = cluster_secret_use(&folder, &config, error);
        if (wrong + 1 < sizeof line && wrong >= sizeof IDENTITY_WORD - 1) {
            assert_int_equal(status, STATUS_BAD_INPUT);
            assert_non_null(strstr(error, "cluster.secret_file"));
            assert_true(folder.data_id != moved.data_id);
        }
    }
    assert_int_equal(cluster_secret_use(&folder, &config, error), STATUS_OK);
    assert_true(folder.data_id == moved.data_id);
    assert_memory_equal(folder.master, moved.master, sizeof folder.master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_machine_keeps_what_its_folder_has, setup, teardown),
        cmocka_unit_test_setup_teardown(
            processes_with_one_secret_have_the_same_and_others_have_not, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_identity_of_a_folder_is_taken_as_it_is_and_a_damaged_one_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_secret_that_is_short_long_or_missing_is_refused_by_name, setup, teardown),
    };
    return cmocka_run_group_tests_name("config/cluster_secret", tests, NULL, NULL);
}
