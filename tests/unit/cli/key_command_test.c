/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/key_command.h"

#include "config/admin_keys.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char file[64];
static int input = -1; /* standard input of the next command */
static char out_text[4096], error_text[4096];

static int file_fresh(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "/tmp/stampede-keys-%d", (int)getpid());
    unlink(file);
    return 0;
}

static int file_gone(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

static int run(int argc, char **argv)
{
    memset(out_text, 0, sizeof out_text);
    memset(error_text, 0, sizeof error_text);
    FILE *out = fmemopen(out_text, sizeof out_text, "w"),
         *errors = fmemopen(error_text, sizeof error_text, "w");
    const int result = key_command_run(argc, argv, input, out, errors);
    fclose(out);
    fclose(errors);
    return result;
}

static int key_new(char *name, char *role)
{
    char *arguments[] = { "key", "new", "--name", name, "--role", role, "--file", file, NULL };
    return run(8, arguments);
}

static void a_new_key_is_shown_once_and_found_again_by_its_hash(void **state)
{
    (void)state;
    static struct admin_keys keys;
    char error[ADMIN_ERROR], key[64];
    assert_int_equal(key_new("ops", "operator"), KEY_DONE);
    assert_int_equal(strlen(out_text), 3 + 43 + 1);
    assert_memory_equal(out_text, "sk_", 3);
    memcpy(key, out_text, 46);
    assert_int_equal(admin_keys_load(&keys, file, error), STATUS_OK);
    const struct admin_key *found = admin_keys_find(&keys, span_of(key, 46));
    assert_non_null(found);
    assert_string_equal(found->name, "ops");
    assert_int_equal(found->right.role, ADMIN_OPERATOR);
    char bytes[512] = "";
    FILE *stored = fopen(file, "re");
    assert_true(fread(bytes, 1, sizeof bytes - 1, stored) > 0);
    fclose(stored);
    key[46] = 0;
    assert_null(strstr(bytes, key)); /* the key itself is nowhere */
}

static void only_the_owner_may_read_the_file(void **state)
{
    (void)state;
    struct stat entry;
    assert_int_equal(key_new("ops", "admin"), KEY_DONE);
    assert_int_equal(stat(file, &entry), 0);
    assert_int_equal(entry.st_mode & 0777, 0600);
    assert_int_equal(chmod(file, 0644), 0); /* as an editor or a copy may leave it */
    assert_int_equal(key_new("more", "admin"), KEY_DONE);
    assert_int_equal(stat(file, &entry), 0);
    assert_int_equal(entry.st_mode & 0777, 0600);
}

static void keys_differ_and_all_are_listed_without_hashes(void **state)
{
    (void)state;
    char first[64], *list[] = { "key", "list", "--file", file, NULL };
    assert_int_equal(key_new("ops", "operator"), KEY_DONE);
    memcpy(first, out_text, 47);
    assert_int_equal(key_new("watch", "viewer"), KEY_DONE);
    assert_memory_not_equal(first, out_text, 46);
    assert_int_equal(run(4, list), KEY_DONE);
    assert_string_equal(out_text, "ops                      operator\nwatch                    viewer\n");
}

static void a_name_that_is_there_is_refused_and_the_file_stays(void **state)
{
    (void)state;
    struct stat before, after;
    assert_int_equal(key_new("ops", "operator"), KEY_DONE);
    assert_int_equal(stat(file, &before), 0);
    assert_int_equal(key_new("ops", "admin"), KEY_FAILED);
    assert_string_equal(out_text, "");
    assert_non_null(strstr(error_text, "has a key named ops already"));
    assert_int_equal(stat(file, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

static void a_last_line_without_its_end_is_ended_first(void **state)
{
    (void)state;
    static struct admin_keys keys;
    char error[ADMIN_ERROR];
    FILE *edited = fopen(file, "we");
    fprintf(edited, "# ours\nold:viewer:%064d", 0);
    fclose(edited);
    assert_int_equal(key_new("ops", "operator"), KEY_DONE);
    assert_int_equal(admin_keys_load(&keys, file, error), STATUS_OK);
    assert_int_equal(keys.count, 2);
}

static void a_damaged_file_is_named_and_not_touched(void **state)
{
    (void)state;
    FILE *edited = fopen(file, "we");
    fputs("this is no key\n", edited);
    fclose(edited);
    assert_int_equal(key_new("ops", "operator"), KEY_FAILED);
    assert_non_null(strstr(error_text, "line 1"));
}

static int password_new(char *name, char *role, const char *typed)
{
    char *arguments[] = { "key", "password", "--name", name, "--role", role, "--file", file, NULL };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], typed, strlen(typed)), strlen(typed));
    close(ends[1]);
    input = ends[0];
    const int result = run(8, arguments);
    close(ends[0]);
    input = -1;
    return result;
}

static void a_password_is_kept_as_a_salted_hash_and_shown_nowhere(void **state)
{
    (void)state;
    static struct admin_keys keys;
    char error[ADMIN_ERROR], bytes[1024] = "";
    char *list[] = { "key", "list", "--file", file, NULL };
    uint8_t hash[HASH_SHA256_BYTES];
    assert_int_equal(key_new("anna", "viewer"), KEY_DONE); /* the same person may have both */
    assert_int_equal(password_new("anna", "operator", "battery staple\n"), KEY_DONE);
    assert_int_equal(password_new("bert", "admin", "battery staple\n"), KEY_DONE);
    assert_string_equal(out_text, "");
    assert_string_equal(error_text, "");
    assert_int_equal(admin_keys_load(&keys, file, error), STATUS_OK);
    const struct admin_key *anna = admin_keys_find_password(&keys, SPAN("anna")),
                           *bert = admin_keys_find_password(&keys, SPAN("bert"));
    assert_int_equal(anna->right.role, ADMIN_OPERATOR);
    assert_int_equal(password_hash(SPAN("battery staple"), anna->salt, hash), STATUS_OK);
    assert_memory_equal(hash, anna->hash, sizeof hash);
    assert_memory_not_equal(anna->hash, bert->hash, sizeof hash); /* of the same password */
    FILE *stored = fopen(file, "re");
    assert_true(fread(bytes, 1, sizeof bytes - 1, stored) > 0);
    fclose(stored);
    assert_null(strstr(bytes, "battery"));
    assert_int_equal(run(4, list), KEY_DONE);
    assert_non_null(strstr(out_text, "anna                     operator (password)\n"));
}

static void a_password_that_is_refused_changes_nothing(void **state)
{
    (void)state;
    struct stat before, after;
    assert_int_equal(password_new("anna", "operator", "battery staple\n"), KEY_DONE);
    assert_int_equal(stat(file, &before), 0);
    assert_int_equal(password_new("anna", "operator", "another staple\n"), KEY_FAILED);
    assert_non_null(strstr(error_text, "has a password named anna already"));
    assert_int_equal(password_new("bert", "operator", "short\n"), KEY_FAILED);
    assert_non_null(strstr(error_text, "at least 12"));
    assert_int_equal(stat(file, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
}

static void bad_names_roles_and_arguments_are_refused(void **state)
{
    (void)state;
    char *nothing[] = { "key", NULL }, *other[] = { "key", "melt", NULL },
         *half[] = { "key", "new", "--name", NULL };
    char *no_file[] = { "key", "list", NULL };
    char long_name[ADMIN_NAME_MAX + 2];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    static char *const bad[] = { "", "a:b", "a b", "a\n", "#a", "\xc3\xa9" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(key_new(bad[i], "admin"), KEY_USAGE);
    assert_int_equal(key_new(long_name, "admin"), KEY_USAGE);
    assert_int_equal(key_new(long_name + 1, "admin"), KEY_DONE);
    assert_int_equal(key_new("ops", "root"), KEY_USAGE);
    assert_int_equal(key_new("ops", "nobody"), KEY_USAGE);
    assert_int_equal(key_new("ops", "channel=web"), KEY_USAGE);
    assert_int_equal(password_new("ops", "channel=tmall", "a long password\n"), KEY_USAGE);
    assert_int_equal(key_new("market", "channel=tmall"), KEY_DONE);
    assert_int_equal(run(1, nothing), KEY_USAGE);
    assert_int_equal(run(2, other), KEY_USAGE);
    assert_int_equal(run(3, half), KEY_USAGE);
    assert_int_equal(run(2, no_file), KEY_USAGE);
}

#define each(test) cmocka_unit_test_setup_teardown(test, file_fresh, file_gone)

int main(void)
{
    const struct CMUnitTest tests[] = {
        each(a_new_key_is_shown_once_and_found_again_by_its_hash),
        each(only_the_owner_may_read_the_file),
        each(keys_differ_and_all_are_listed_without_hashes),
        each(a_name_that_is_there_is_refused_and_the_file_stays),
        each(a_last_line_without_its_end_is_ended_first),
        each(a_damaged_file_is_named_and_not_touched),
        each(a_password_is_kept_as_a_salted_hash_and_shown_nowhere),
        each(a_password_that_is_refused_changes_nothing),
        each(bad_names_roles_and_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
