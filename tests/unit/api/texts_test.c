/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in further languages: what is taken, how it is kept, and what is refused by name. */
#include "api/texts.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <string.h>

static char error[FIELD_ERROR], kept[PRODUCT_TEXTS_BYTES_MAX + 1];

static bool takes_in(const char *body, const struct texts_member *members, size_t most)
{
    json_t *sent = json_loads(body, JSON_DECODE_ANY, NULL);
    assert_non_null(sent);
    error[0] = 0;
    const bool good = texts_take(sent, members, kept, most, error);
    json_decref(sent);
    return good;
}

static bool takes(const char *body)
{
    return takes_in(body, texts_of_products, PRODUCT_TEXTS_BYTES_MAX);
}

static void texts_are_kept_as_they_were_sent_and_an_empty_object_removes_them(void **state)
{
    (void)state;
    assert_true(
        takes("{ \"en\": {\"name\": \"Tea \\\"pot\\\"\"}, \"zh-CN\": {\"description\": \"壶\"} }"));
    assert_string_equal(
        kept, "{\"en\":{\"name\":\"Tea \\\"pot\\\"\"},\"zh-CN\":{\"description\":\"壶\"}}");
    assert_true(texts_take(NULL, texts_of_products, kept, PRODUCT_TEXTS_BYTES_MAX, error));
    assert_true(strlen(kept) > 0);
    assert_true(takes("{}"));
    assert_string_equal(kept, "");
}

static void what_is_wrong_is_told_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const bodies[][2] = {
        { "[]", "texts must be an object of at most 8 languages." },
        { "{\"EN\":{\"name\":\"a\"}}", "texts.EN is not named by the tag of a language, like en or zh-CN." },
        { "{\"en/..\":{\"name\":\"a\"}}",
            "texts.en/.. is not named by the tag of a language, like en or zh-CN." },
        { "{\"en\":\"Tea\"}", "texts.en must be an object with texts." },
        { "{\"en\":{}}", "texts.en must be an object with texts." },
        { "{\"en\":{\"title\":\"a\"}}", "texts.en has a member that is not known." },
        { "{\"en\":{\"name\":\"\"}}", "texts.en.name must be a text of 1 to 200 bytes." },
        { "{\"en\":{\"name\":7}}", "texts.en.name must be a text of 1 to 200 bytes." },
        { "{\"aa\":{\"name\":\"a\"},\"bb\":{\"name\":\"a\"},\"cc\":{\"name\":\"a\"},\"dd\":{"
          "\"name\":\"a\"},"
          "\"ee\":{\"name\":\"a\"},\"ff\":{\"name\":\"a\"},\"gg\":{\"name\":\"a\"},\"hh\":{"
          "\"name\":\"a\"},"
          "\"ii\":{\"name\":\"a\"}}",
            "texts must be an object of at most 8 languages." },
    };
    assert_true(takes("{\"en\":{\"name\":\"before\"}}"));
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_false(takes(bodies[i][0]));
        assert_string_equal(error, bodies[i][1]);
        assert_string_equal(kept, "{\"en\":{\"name\":\"before\"}}");
    }
}

static void a_text_has_the_bounds_of_the_one_without_a_language(void **state)
{
    char name[NAME_BYTES_MAX + 2], body[NAME_BYTES_MAX + 64];
    (void)state;
    memset(name, 'x', sizeof name);
    for (size_t size = NAME_BYTES_MAX; size <= NAME_BYTES_MAX + 1; size++) {
        snprintf(body, sizeof body, "{\"en\":{\"title\":\"%.*s\"}}", (int)size, name);
        assert_int_equal(takes_in(body, texts_of_sales, SALE_TEXTS_BYTES_MAX), size == NAME_BYTES_MAX);
    }
    assert_true(takes_in("{\"en\":{\"title\":\"abc\"}}", texts_of_sales, 22));
    assert_false(takes_in("{\"en\":{\"title\":\"abcd\"}}", texts_of_sales, 22));
    assert_string_equal(error, "texts are too long: 23 bytes of JSON, at most 22.");
}

static void tags_of_languages_are_those_that_can_stand_in_an_address(void **state)
{
    (void)state;
    static const char *const good[] = { "en", "zh-CN", "yue", "zh-Hant-TW", "es-419" },
                             *const bad[] = { "", "e", "engl", "En", "en-", "-en", "en_US", "en/x",
                                 "en.", "zh-Hant-Hongkong", "en-abcdefghi" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(language_tag_is(span_from_string(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(language_tag_is(span_from_string(bad[i])));
}

static const char *names_of(const char *texts)
{
    static char bytes[512];
    struct text out = text_in(bytes, sizeof bytes - 1);
    json_t *parsed = texts_parse(texts);
    texts_json_of(parsed, "name", &out);
    json_decref(parsed);
    bytes[out.size] = 0;
    return bytes;
}

static void lists_have_the_names_alone(void **state)
{
    (void)state;
    assert_string_equal(names_of(""), "");
    assert_string_equal(names_of("{\"en\":{\"description\":\"a\"}}"), "");
    assert_string_equal(names_of("{\"de\":{\"name\":\"Tee\"},\"fr\":{\"description\":\"a\"},\"en\":"
                                 "{\"description\":\"a\","
                                 "\"name\":\"Tea\"}}"),
        ",\"texts\":{\"de\":{\"name\":\"Tee\"},\"en\":{\"name\":\"Tea\"}}");
    assert_null(texts_parse("not JSON"));
    assert_null(texts_parse("[1]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_kept_as_they_were_sent_and_an_empty_object_removes_them),
        cmocka_unit_test(what_is_wrong_is_told_and_changes_nothing),
        cmocka_unit_test(a_text_has_the_bounds_of_the_one_without_a_language),
        cmocka_unit_test(tags_of_languages_are_those_that_can_stand_in_an_address),
        cmocka_unit_test(lists_have_the_names_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
