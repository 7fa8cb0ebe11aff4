/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mint_command.h"

#include "base/clock.h"
#include "funnel/token.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[] = "/tmp/stampede-mint-XXXXXX";
static struct funnel_keys keys;
static char lines[200 * (TOKEN_CHARS + 1) + 1];

static int data_make(void **state)
{
    (void)state;
    struct data_folder folder;
    char error[CONFIG_ERROR];
    assert_non_null(mkdtemp(path));
    assert_int_equal(data_folder_open(&folder, path, DATA_SERVE, error), STATUS_OK);
    assert_int_equal(funnel_keys_derive(&keys, folder.master, sizeof folder.master), STATUS_OK);
    data_folder_close(&folder);
    return 0;
}

static int data_remove(void **state)
{
    (void)state;
    tree_remove(path);
    return 0;
}

static bool minted(const struct mint_options *options, char *error)
{
    memset(lines, 0, sizeof lines);
    FILE *out = fmemopen(lines, sizeof lines, "w");
    assert_non_null(out);
    const bool done = mint_run(options, out, error);
    fclose(out);
    return done;
}

static void every_line_is_a_pass_of_its_user_for_the_item(void **state)
{
    (void)state;
    char error[CONFIG_ERROR] = "";
    const struct mint_options options = {
        .folder = path, .item = 7, .first = 99, .count = 150, .life_s = 60
    };
    assert_true(minted(&options, error));
    assert_int_equal(strlen(lines), 150 * (TOKEN_CHARS + 1));
    const uint64_t now_ms = clock_wall_ms();
    funnel_keys_turn(&keys, now_ms);
    for (uint32_t i = 0; i < 150; i++) {
        struct pass pass;
        char subject[32];
        const char *line = lines + i * (TOKEN_CHARS + 1);
        snprintf(subject, sizeof subject, "mint-%u", 99 + i);
        assert_int_equal(line[TOKEN_CHARS], '\n');
        assert_int_equal(pass_verify(&keys, span_of(line, TOKEN_CHARS), now_ms, &pass), TOKEN_OK);
        assert_int_equal(pass.item, 7);
        assert_true(pass.user == funnel_user_id(&keys, span_from_string(subject)));
        assert_int_equal(
            pass_verify(&keys, span_of(line, TOKEN_CHARS), now_ms + 61000, &pass), TOKEN_EXPIRED);
    }
}

static void sessions_are_sessions(void **state)
{
    (void)state;
    char error[CONFIG_ERROR] = "";
    struct session session;
    const struct mint_options options = { .folder = path, .count = 1, .sessions = true };
    assert_true(minted(&options, error));
    funnel_keys_turn(&keys, clock_wall_ms());
    assert_int_equal(
        session_verify(&keys, span_of(lines, TOKEN_CHARS), clock_wall_ms(), &session), TOKEN_OK);
    assert_true(session.user == funnel_user_id(&keys, SPAN("mint-0")));
    assert_false(session.guest);
}

static void a_life_beyond_the_bound_is_refused_and_the_bound_is_not(void **state)
{
    (void)state;
    char error[CONFIG_ERROR] = "";
    struct mint_options options = { .folder = path, .item = 1, .count = 1, .life_s = PASS_LIFE_MAX_S };
    assert_true(minted(&options, error));
    options.life_s++;
    assert_false(minted(&options, error));
    assert_non_null(strstr(error, "at most 3600 seconds"));
    options.sessions = true;
    assert_true(minted(&options, error));
}

static void a_folder_without_identity_is_named_and_not_made(void **state)
{
    (void)state;
    char error[CONFIG_ERROR] = "";
    const struct mint_options options = { .folder = "/tmp/stampede-no-such", .item = 1, .count = 1 };
    assert_false(minted(&options, error));
    assert_non_null(strstr(error, "/tmp/stampede-no-such is not a data folder"));
    assert_int_not_equal(access("/tmp/stampede-no-such", F_OK), 0);
}

static int quietly(int argc, char **argv)
{
    const int quiet = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    fflush(stdout);
    dup2(quiet, STDOUT_FILENO);
    dup2(quiet, STDERR_FILENO);
    const int result = mint_main(argc, argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    close(quiet);
    close(out);
    close(errors);
    return result;
}

static void the_command_line_takes_a_folder_or_a_configuration(void **state)
{
    (void)state;
    char file[64], *folder[] = { "mint", "--data", path, "--item", "3", "--users", "0:5", NULL };
    char *from_config[] = { "mint", "--config", file, "--session", "--users", "0:5", NULL };
    snprintf(file, sizeof file, "%s/stampede.ini", path);
    FILE *config = fopen(file, "we");
    assert_non_null(config);
    fprintf(config, "[data]\nfolder = %s\n", path);
    fclose(config);
    assert_int_equal(quietly(7, folder), 0);
    assert_int_equal(quietly(6, from_config), 0);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    char *cases[][8] = { { "mint" }, { "mint", "--data", path, "--users", "0:5" },
        { "mint", "--data", path, "--item", "0", "--users", "0:5" },
        { "mint", "--data", path, "--item", "1", "--users", "5" },
        { "mint", "--data", path, "--item", "1", "--users", "0:1000000001" },
        { "mint", "--data", path, "--item", "1", "--users", "18446744073709551615:2" },
        { "mint", "--data", path, "--item", "1", "--what", "0:5" },
        { "mint", "--data", path, "--item", "1", "--users" }, { "mint", "--config", "/no/such" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = 0;
        while (count < 8 && cases[i][count] != NULL)
            count++;
        assert_int_equal(quietly(count, cases[i]), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_a_pass_of_its_user_for_the_item),
        cmocka_unit_test(sessions_are_sessions),
        cmocka_unit_test(a_life_beyond_the_bound_is_refused_and_the_bound_is_not),
        cmocka_unit_test(a_folder_without_identity_is_named_and_not_made),
        cmocka_unit_test(the_command_line_takes_a_folder_or_a_configuration),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, data_make, data_remove);
}
