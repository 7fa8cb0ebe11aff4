/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of admin requests: what is not exactly as it should be is refused by name. */
#include "api/json_fields.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static char error[FIELD_ERROR];
static struct {
    char title[9];
    uint32_t units;
    int32_t delta;
    uint64_t end_ms;
    bool open, open_given;
    struct asked_price price;
    json_t *list;
} into;

/* True: taken. */
static bool reads(const char *body)
{
    const struct field fields[] = {
        { "title", FIELD_TEXT, into.title, 1, 8, true, NULL },
        { "units", FIELD_U32, &into.units, 1, 100, false, NULL },
        { "delta", FIELD_I32, &into.delta, -5, 5, false, NULL },
        { "end_ms", FIELD_U64, &into.end_ms, 0, INT64_MAX, false, NULL },
        { "open", FIELD_FLAG, &into.open, 0, 0, false, &into.open_given },
        { "price", FIELD_PRICE, &into.price, 0, 1000000, false, NULL },
        { "list", FIELD_JSON, &into.list, 0, 0, false, NULL },
    };
    memset(&into, 0, sizeof into);
    memset(error, 0, sizeof error);
    json_t *object = admin_body_parse(span_from_string(body), error);
    if (object == NULL)
        return false;
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    json_decref(object);
    return good;
}

static void refuses(const char *body, const char *word)
{
    if (reads(body))
        fail_msg("accepted: %s", body);
    if (strstr(error, word) == NULL)
        fail_msg("%s: \"%s\" does not say %s", body, error, word);
}

static void what_is_right_is_taken_whole(void **state)
{
    (void)state;
    assert_true(reads("{\"title\":\"shoes\",\"units\":100,\"delta\":-5,\"end_ms\":9007199254740993,"
                      "\"open\":true,\"price\":\"99.00\"}"));
    assert_string_equal(into.title, "shoes");
    assert_int_equal(into.units, 100);
    assert_int_equal(into.delta, -5);
    assert_true(into.end_ms == UINT64_C(9007199254740993));
    assert_true(into.open && into.open_given);
    assert_string_equal(into.price.text, "99.00");
    assert_true(reads("{\"title\":\"12345678\"}"));
    assert_false(into.open_given);
}

static void what_is_not_an_object_is_refused(void **state)
{
    (void)state;
    refuses("", "empty");
    refuses("{", "not JSON");
    refuses("[1]", "object");
    refuses("{\"title\":\"a\"} x", "not JSON");
    refuses("{\"title\":\"a\",\"title\":\"b\"}", "not JSON"); /* which one would count? */
}

static void unknown_and_missing_fields_are_named(void **state)
{
    (void)state;
    refuses("{\"title\":\"a\",\"unit\":5}", "Unknown field: unit");
    refuses("{\"units\":5}", "title is missing");
    refuses("{}", "title is missing");
}

static void numbers_are_whole_and_within_their_bounds(void **state)
{
    (void)state;
    assert_true(reads("{\"title\":\"a\",\"units\":1}"));
    static const char *const wrong[] = { "0", "101", "-1", "1.0", "1.9", "\"1\"", "true", "null",
        "1e1", "4294967297" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char body[64];
        snprintf(body, sizeof body, "{\"title\":\"a\",\"units\":%s}", wrong[i]);
        refuses(body, "units must be a whole number from 1 to 100");
        assert_int_equal(into.units, 0);
    }
    refuses("{\"title\":\"a\",\"delta\":-6}", "delta must be");
    refuses("{\"title\":\"a\",\"delta\":1.9}", "delta must be"); /* not 1, and not 0 */
    refuses("{\"title\":\"a\",\"end_ms\":1.5}", "end_ms must be");
    refuses("{\"title\":\"a\",\"open\":1}", "open must be true or false");
}

static void texts_have_no_zero_byte_and_a_bounded_length(void **state)
{
    (void)state;
    refuses("{\"title\":\"\"}", "title must be a text");
    refuses("{\"title\":\"123456789\"}", "title must be a text");
    refuses("{\"title\":7}", "title must be a text");
    refuses("{\"title\":\"a\\u0000b\"}", "");
}

static void a_price_is_of_its_currency(void **state)
{
    static const struct {
        const char *said, *currency;
        uint64_t minor; /* UINT64_MAX: refused */
    } prices[] = { { "99.00", "CNY", 9900 }, { "99.0", "CNY", 9900 }, { "99", "CNY", UINT64_MAX },
        { "99.000", "CNY", UINT64_MAX }, { "99", "JPY", 99 }, { "99.00", "JPY", UINT64_MAX },
        { "1.000", "KWD", 1000 }, { "1.00", "KWD", 1000 }, { "1.0000", "KWD", UINT64_MAX },
        { "10000.01", "CNY", UINT64_MAX }, { "10000.00", "CNY", 1000000 },
        { "-1.00", "CNY", UINT64_MAX }, { "1.00", "XX", UINT64_MAX } };
    (void)state;
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        struct asked_price asked = { 0 };
        uint64_t minor = 0;
        snprintf(asked.text, sizeof asked.text, "%s", prices[i].said);
        const bool taken = admin_price_take("price", &asked, prices[i].currency, 1000000, &minor, error);
        if (taken != (prices[i].minor != UINT64_MAX) || (taken && minor != prices[i].minor))
            fail_msg("%s %s: %d %llu", prices[i].said, prices[i].currency, taken,
                (unsigned long long)minor);
    }
    assert_true(reads("{\"title\":\"a\",\"price\":9900}"));
    uint64_t minor = 0;
    assert_true(admin_price_take("price", &into.price, "XX", 1000000, &minor, error));
    assert_int_equal(minor, 9900);
    refuses("{\"title\":\"a\",\"price\":99.5}", "price must be");
    refuses("{\"title\":\"a\",\"price\":1000001}", "price must be");
    refuses("{\"title\":\"a\",\"price\":-1}", "price must be");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_right_is_taken_whole),
        cmocka_unit_test(what_is_not_an_object_is_refused),
        cmocka_unit_test(unknown_and_missing_fields_are_named),
        cmocka_unit_test(numbers_are_whole_and_within_their_bounds),
        cmocka_unit_test(texts_have_no_zero_byte_and_a_bounded_length),
        cmocka_unit_test(a_price_is_of_its_currency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
