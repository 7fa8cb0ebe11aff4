/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "base/random.h"

#include "unit.h"

static void check_pair(const char *plain, const char *coded)
{
    char text[64];
    unsigned char bytes[64];
    size_t size = base64_encode(plain, strlen(plain), text);
    assert_int_equal(size, strlen(coded));
    assert_memory_equal(text, coded, size);
    size = strlen(plain);
    assert_int_equal(base64_decode(span_from_string(coded), bytes, &size), STATUS_OK);
    assert_int_equal(size, strlen(plain));
    assert_memory_equal(bytes, plain, size);
}

static void the_rfc_4648_vectors_come_out_without_padding(void **state)
{
    (void)state;
    check_pair("", "");
    check_pair("f", "Zg");
    check_pair("fo", "Zm8");
    check_pair("foo", "Zm9v");
    check_pair("foob", "Zm9vYg");
    check_pair("fooba", "Zm9vYmE");
    check_pair("foobar", "Zm9vYmFy");
    check_pair("\xfb\xff\xbf", "-_-_");
}

static void every_size_comes_back_and_writes_nothing_past_its_end(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 2);
    for (size_t size = 0; size <= 100; size++) {
        unsigned char data[100], back[101];
        char text[137];
        for (size_t i = 0; i < size; i++)
            data[i] = (unsigned char)random_next(&random);
        memset(text, '#', sizeof text);
        memset(back, '#', sizeof back);
        size_t coded = base64_encode(data, size, text);
        assert_int_equal(coded, (size * 4 + 2) / 3);
        assert_int_equal(text[coded], '#');
        size_t decoded = size;
        assert_int_equal(base64_decode(span_of(text, coded), back, &decoded), STATUS_OK);
        assert_int_equal(decoded, size);
        if (size > 0)
            assert_memory_equal(back, data, size);
        assert_int_equal(back[size], '#');
    }
}

static void only_the_sixty_four_characters_are_taken_in_any_place(void **state)
{
    (void)state;
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t place = 0; place < 48; place++) {
        for (int c = 0; c < 256; c++) {
            char text[48];
            unsigned char bytes[36];
            size_t size = sizeof bytes;
            memset(text, 'A', sizeof text);
            text[place] = (char)c;
            bool known = c != 0 && strchr(alphabet, c) != NULL;
            assert_int_equal(base64_decode(span_of(text, sizeof text), bytes, &size),
                known ? STATUS_OK : STATUS_BAD_INPUT);
        }
    }
    unsigned char bytes[8];
    size_t size = sizeof bytes;
    assert_int_equal(base64_decode(SPAN("Zg=="), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("Zm8="), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("Z="), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("=g"), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("Zm="), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(size, sizeof bytes);
}

static void one_spelling_per_text_so_stray_bits_and_sizes_are_refused(void **state)
{
    (void)state;
    unsigned char bytes[8];
    size_t size = sizeof bytes;
    assert_int_equal(base64_decode(SPAN("Zh"), bytes, &size), STATUS_BAD_INPUT); /* lowest stray */
    assert_int_equal(base64_decode(SPAN("Zo"), bytes, &size), STATUS_BAD_INPUT); /* highest stray */
    assert_int_equal(base64_decode(SPAN("Zm9"), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("Zm-"), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("Z"), bytes, &size), STATUS_BAD_INPUT);
    assert_int_equal(base64_decode(SPAN("Zm9vY"), bytes, &size), STATUS_BAD_INPUT);
}

static void too_little_room_is_refused_before_anything_is_written(void **state)
{
    (void)state;
    unsigned char bytes[4] = { '#', '#', '#', '#' };
    size_t size = 3;
    assert_int_equal(base64_decode(SPAN("Zm9vYg"), bytes, &size), STATUS_FULL);
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "####", 4);
    size = 4;
    assert_int_equal(base64_decode(SPAN("Zm9vYg"), bytes, &size), STATUS_OK);
    size = 0;
    assert_int_equal(base64_decode(SPAN_NONE, NULL, &size), STATUS_OK);
    assert_int_equal(size, 0);
}

static void the_standard_alphabet_has_padding_and_one_spelling(void **state)
{
    static const char *const pairs[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
        { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "\xff\xef\xbe", "/+++" } };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[16], bytes[16];
        size_t size = base64_standard_encode(pairs[i][0], strlen(pairs[i][0]), text);
        assert_int_equal(size, strlen(pairs[i][1]));
        assert_int_equal(size, BASE64_STANDARD_CHARS(strlen(pairs[i][0])));
        assert_memory_equal(text, pairs[i][1], size);
        size_t back = sizeof bytes;
        assert_int_equal(base64_standard_decode(span_of(text, size), bytes, &back), STATUS_OK);
        assert_int_equal(back, strlen(pairs[i][0]));
        assert_memory_equal(bytes, pairs[i][0], back);
    }
    static const char *const wrong[] = { "Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "_-__",
        "Zg==Zg==", "Zm9v\n", "Zm 9v", "=Zm9" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char bytes[16];
        size_t size = sizeof bytes;
        assert_int_equal(
            base64_standard_decode(span_from_string(wrong[i]), bytes, &size), STATUS_BAD_INPUT);
    }
}

static void check_48(const char text[BASE64_48_CHARS])
{
    uint8_t fast[BASE64_48_ROOM], plain[BASE64_48_BYTES];
    size_t size = sizeof plain;
    const bool good = base64_decode(span_of(text, BASE64_48_CHARS), plain, &size) == STATUS_OK;
    assert_int_equal(base64_decode_48(text, fast), good);
    if (good)
        assert_memory_equal(fast, plain, sizeof plain);
}

static void forty_eight_characters_are_decoded_as_any_others(void **state)
{
    (void)state;
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char text[BASE64_48_CHARS];
    struct random random;
    random_seed(&random, 48);
    for (int i = 0; i < 2000; i++) {
        for (size_t at = 0; at < sizeof text; at++)
            text[at] = letters[random_next(&random) % 64];
        check_48(text);
    }
    for (size_t at = 0; at < sizeof text; at++) { /* each byte in each place */
        const char before = text[at];
        for (int byte = 0; byte < 256; byte++) {
            text[at] = (char)byte;
            check_48(text);
        }
        text[at] = before;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rfc_4648_vectors_come_out_without_padding),
        cmocka_unit_test(every_size_comes_back_and_writes_nothing_past_its_end),
        cmocka_unit_test(only_the_sixty_four_characters_are_taken_in_any_place),
        cmocka_unit_test(one_spelling_per_text_so_stray_bits_and_sizes_are_refused),
        cmocka_unit_test(too_little_room_is_refused_before_anything_is_written),
        cmocka_unit_test(the_standard_alphabet_has_padding_and_one_spelling),
        cmocka_unit_test(forty_eight_characters_are_decoded_as_any_others),
    };
    return cmocka_run_group_tests_name("base/base64", tests, NULL, NULL);
}
