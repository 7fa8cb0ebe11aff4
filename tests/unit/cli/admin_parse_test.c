/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admin_parts.h"

#include "tests/unit/base/unit.h"

static char error[ADMIN_ERROR_BYTES];

/* The body that `switches set` makes of one option and its value; NULL: refused. */
static char *body_of(char *option, char *value)
{
    char *words[] = { "switches", "set", option, value };
    struct admin_request request;
    int verb_words;
    const struct admin_verb *verb = admin_verb_find(4, words, &verb_words);
    assert_non_null(verb);
    assert_int_equal(verb_words, 2);
    if (admin_request_parse(&request, verb, 2, words + 2, 0, error) != STATUS_OK)
        return NULL;
    char *text = json_dumps(request.body, JSON_COMPACT);
    admin_request_free(&request);
    return text;
}

static void makes(char *option, char *value, const char *body)
{
    char *text = body_of(option, value);
    assert_non_null(text);
    assert_string_equal(text, body);
    free(text);
}

static void yes_and_no_are_true_and_false_and_nothing_else_is(void **state)
{
    (void)state;
    makes("--refuse-new", "yes", "{\"refuse_new\":true}");
    makes("--refuse-new", "no", "{\"refuse_new\":false}");
    char *wrong[] = { "", "y", "yess", "true", "1", "NO" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(body_of("--refuse-new", wrong[i]));
        assert_string_equal(error, "--refuse-new must be yes or no");
    }
}

static void numbers_are_a_list_and_none_is_an_empty_one(void **state)
{
    (void)state;
    makes("--sold-out-items", "7", "{\"sold_out_items\":[7]}");
    makes("--sold-out-items", "1,22,3", "{\"sold_out_items\":[1,22,3]}");
    makes("--sold-out-items", "none", "{\"sold_out_items\":[]}");
    char *wrong[] = { "1,x", "1,,2", "-1", "1 ,2", "9223372036854775808", "nones" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(body_of("--sold-out-items", wrong[i]));
        assert_string_equal(error, "--sold-out-items must be item numbers like 1,2,3, or none");
    }
}

static void one_word_shows_and_two_set(void **state)
{
    (void)state;
    char *words[] = { "switches", "--help" };
    int verb_words;
    const struct admin_verb *verb = admin_verb_find(1, words, &verb_words);
    assert_non_null(verb);
    assert_string_equal(verb->method, "GET");
    assert_int_equal(verb_words, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yes_and_no_are_true_and_false_and_nothing_else_is),
        cmocka_unit_test(numbers_are_a_list_and_none_is_an_empty_one),
        cmocka_unit_test(one_word_shows_and_two_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
