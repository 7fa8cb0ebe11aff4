/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/options.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

/* Words separated by blanks. */
static bool read_words(struct rehearse_options *options, const char *line)
{
    static char words[256];
    char *argv[32] = { "rehearse" }, *rest = words;
    int argc = 1;
    FILE *errors = fopen("/dev/null", "w");
    snprintf(words, sizeof words, "%s", line);
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        argv[argc++] = word;
    const bool good = rehearse_options_read(options, argc, argv, errors);
    fclose(errors);
    return good;
}

static void standards_follow_from_what_is_played(void **state)
{
    (void)state;
    struct rehearse_options options;
    assert_true(read_words(&options, "--sale 3"));
    assert_int_equal(options.users, 10000);
    assert_int_equal(options.bots_percent, 20);
    assert_int_equal(options.expect_users, 10000);
    assert_int_equal(options.seconds, 60);
    assert_true(read_words(&options, "--example --bots 0"));
    assert_int_equal(options.users, 100000);
    assert_int_equal(options.bots_percent, 0);
    assert_true(read_words(&options, "--measure http://127.0.0.1:1/ --rate 7"));
    assert_int_equal(options.seconds, 5);
}

static void wrong_words_are_refused(void **state)
{
    (void)state;
    struct rehearse_options options;
    const char *const wrong[] = { "--users 5", "--sale 0", "--sale 1 --example", "--sale 1 --users 0",
        "--sale 1 --users 1000001", "--sale 1 --bots 101", "--sale 1 --seconds 901",
        "--sale 1 --connections 16001", "--sale 1 --server http://127.0.0.1:1",
        "--sale 1 --on-this-server", "--sale 1 --server http://127.0.0.1:1 --on-this-server",
        "--sale 1 --nonsense 1", "--sale", "--sale 1 --early 20 --seconds 21", "--sale 1 --seed x" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(read_words(&options, wrong[i]));
    assert_true(read_words(
        &options, "--sale 1 --server http://127.0.0.1:1 --server-key-file k --on-this-server"));
    assert_true(read_words(&options, "--help"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standards_follow_from_what_is_played),
        cmocka_unit_test(wrong_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
