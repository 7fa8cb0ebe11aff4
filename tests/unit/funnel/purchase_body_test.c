/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/purchase_body.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>

static const struct {
    const char *text;
    enum body_answer answer;
    uint32_t quantity;
    const char *channel;
} table[] = {
    { "", BODY_OK, 1, NULL },
    { "{}", BODY_OK, 1, NULL },
    { " { } ", BODY_OK, 1, NULL },
    { "{\"quantity\":1}", BODY_OK, 1, NULL },
    { "{\"quantity\":1000}", BODY_OK, 1000, NULL },
    { "{\"channel\":\"web\"}", BODY_OK, 1, "web" },
    { "{\"quantity\":2,\"channel\":\"app\"}", BODY_OK, 2, "app" },
    { "{\"channel\":\"app\",\"quantity\":2}", BODY_OK, 2, "app" },
    { "\t{\r\n \"channel\" : \"a b\" ,\n\"quantity\"\t:\t42 }\n", BODY_OK, 42, "a b" },
    { " null\n", BODY_OK, 1, NULL },
    { "{\"channel\":\"1234567890123456\"}", BODY_OK, 1, "1234567890123456" },

    { "{\"quantity\":0}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":00}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":01}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":-1}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":+1}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":1.0}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":1e3}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":1E0}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":\"2\"}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":null}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":true}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":[1]}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":1001}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":2147483648}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":4294967297}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":18446744073709551616}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":18446744073709551617}", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":", BODY_BAD_QUANTITY, 0, NULL },
    { "{\"quantity\":}", BODY_BAD_QUANTITY, 0, NULL },

    { "{\"channel\":\"\"}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":\"12345678901234567\"}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":\"w\\u0065b\"}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":\"w\xc3\xa9\"}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":\"we\nb\"}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":\"web", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":web}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":1}", BODY_BAD_CHANNEL, 0, NULL },
    { "{\"channel\":null}", BODY_BAD_CHANNEL, 0, NULL },

    { " ", BODY_MALFORMED, 0, NULL },
    { "{", BODY_MALFORMED, 0, NULL },
    { "}", BODY_MALFORMED, 0, NULL },
    { "null{}", BODY_MALFORMED, 0, NULL },
    { "nul", BODY_MALFORMED, 0, NULL },
    { "[]", BODY_MALFORMED, 0, NULL },
    { "1", BODY_MALFORMED, 0, NULL },
    { "{}{}", BODY_MALFORMED, 0, NULL },
    { "{} x", BODY_MALFORMED, 0, NULL },
    { "{,}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\":1,}", BODY_MALFORMED, 0, NULL },
    { "{,\"quantity\":1}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\":1", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\":1 2}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\":1x}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\" 1}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\"", BODY_MALFORMED, 0, NULL },
    { "{quantity:1}", BODY_MALFORMED, 0, NULL },
    { "{'quantity':1}", BODY_MALFORMED, 0, NULL },
    { "{\"Quantity\":1}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity \":1}", BODY_MALFORMED, 0, NULL },
    { "{\"quantit\\u0079\":1}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\":1,\"quantity\":2}", BODY_MALFORMED, 0, NULL },
    { "{\"channel\":\"web\",\"channel\":\"web\"}", BODY_MALFORMED, 0, NULL },
    { "{\"price\":1}", BODY_MALFORMED, 0, NULL },
    { "{\"quantity\":1,\"channel\":\"web\",\"x\":1}", BODY_MALFORMED, 0, NULL },
    { "\xef\xbb\xbf{}", BODY_MALFORMED, 0, NULL },
};

/* In memory of exactly its size, so that ASan sees a read past the end. */
static enum body_answer read_tight(const char *text, size_t size, struct purchase_body *body, char **copy)
{
    *copy = malloc(size > 0 ? size : 1);
    assert_non_null(*copy);
    memcpy(*copy, text, size);
    return purchase_body_read(span_of(*copy, size), body);
}

static void each_text_of_the_table_reads_as_it_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct purchase_body body;
        char *copy;
        enum body_answer answer = read_tight(table[i].text, strlen(table[i].text), &body, &copy);
        if (answer != table[i].answer)
            fail_msg("%s: answer %d instead of %d", table[i].text, (int)answer, (int)table[i].answer);
        if (answer == BODY_OK) {
            assert_int_equal(body.quantity, table[i].quantity);
            assert_true(span_equal(body.channel, span_from_string(table[i].channel)));
            assert_true((body.channel.data == NULL) == (table[i].channel == NULL));
        }
        free(copy);
    }
}

static void no_beginning_of_a_good_text_is_good(void **state)
{
    (void)state;
    static const char text[] = "{\"quantity\":2,\"channel\":\"app\"}";
    for (size_t size = 1; size < sizeof text - 1; size++) {
        struct purchase_body body;
        char *copy;
        assert_int_not_equal(read_tight(text, size, &body, &copy), BODY_OK);
        free(copy);
    }
}

static void a_text_of_the_greatest_length_is_read_and_one_more_is_refused(void **state)
{
    (void)state;
    char text[PURCHASE_BODY_BYTES_MAX + 1];
    memset(text, ' ', sizeof text);
    memcpy(text, "{}", 2);
    struct purchase_body body;
    assert_int_equal(purchase_body_read(span_of(text, sizeof text - 1), &body), BODY_OK);
    assert_int_equal(purchase_body_read(span_of(text, sizeof text), &body), BODY_MALFORMED);
}

static void a_nul_byte_is_refused_anywhere(void **state)
{
    (void)state;
    char text[] = "{\"quantity\":2,\"channel\":\"app\"}";
    for (size_t at = 0; at < sizeof text - 1; at++) {
        char was = text[at];
        struct purchase_body body;
        text[at] = '\0';
        assert_int_not_equal(purchase_body_read(span_of(text, sizeof text - 1), &body), BODY_OK);
        text[at] = was;
    }
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test(each_text_of_the_table_reads_as_it_says),
        cmocka_unit_test(no_beginning_of_a_good_text_is_good),
        cmocka_unit_test(a_text_of_the_greatest_length_is_read_and_one_more_is_refused),
        cmocka_unit_test(a_nul_byte_is_refused_anywhere),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
