/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_format.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/media/pictures.h"

#include <stdlib.h>
#include <string.h>

static void a_picture_says_its_format_and_size(void **state)
{
    (void)state;
    for (int format = PICTURE_JPEG; format < PICTURE_FORMATS; format++) {
        struct made made = picture_draw((enum picture_format)format, 321, 123);
        uint32_t width, height;
        assert_int_equal(picture_format_of(made_span(made)), format);
        assert_int_equal(picture_size_of(made_span(made), &width, &height), STATUS_OK);
        assert_int_equal(width, 321);
        assert_int_equal(height, 123);
        assert_null(picture_wrong(made_span(made)));
        free(made.bytes);
    }
}

static void the_two_other_kinds_of_webp_say_their_size_too(void **state)
{
    static const char extended[] =
        "RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xe7\x03\0\xf3\x01\0....";
    static const char lossless[] =
        "RIFF\x20\0\0\0WEBPVP8L\x10\0\0\0\x2f\x63\xc0\x31\x00............";
    uint32_t width, height;
    (void)state;
    assert_int_equal(picture_size_of(span_of(extended, sizeof extended - 1), &width, &height), STATUS_OK);
    assert_int_equal(width, 1000);
    assert_int_equal(height, 500);
    assert_int_equal(picture_size_of(span_of(lossless, sizeof lossless - 1), &width, &height), STATUS_OK);
    assert_int_equal(width, 100);
    assert_int_equal(height, 200);
}

static void what_is_cut_short_is_damaged_and_never_read_past_its_end(void **state)
{
    (void)state;
    for (int format = PICTURE_JPEG; format < PICTURE_FORMATS; format++) {
        struct made made = picture_draw((enum picture_format)format, 20, 10);
        for (size_t size = 0; size < made.size; size++) {
            char *cut = malloc(size + 1); /* so that a sanitizer sees one byte too many */
            uint32_t width, height;
            assert_non_null(cut);
            memcpy(cut, made.bytes, size);
            const struct span bytes = span_of(cut, size);
            if (picture_size_of(bytes, &width, &height) == STATUS_OK)
                assert_int_equal(width, 20);
            assert_in_range(picture_orientation_of(bytes), 1, 8);
            free(cut);
        }
        free(made.bytes);
    }
}

static void other_files_are_no_pictures(void **state)
{
    static const char *const others[] = { "", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        "GIF89a......", "RIFF....WAVEfmt ", "%PDF-1.7", "\x89PNG", "MZ" };
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_non_null(picture_wrong(span_from_string(others[i])));
}

static void too_many_pixels_are_refused_before_anything_is_decoded(void **state)
{
    (void)state;
    struct made made = picture_draw(PICTURE_PNG, 4, 4);
    const struct {
        uint32_t width, height;
        bool good;
    } sizes[] = { { 6000, 4000, true }, { 6001, 4000, false }, { 16384, 1, true },
        { 16385, 1, false }, { 0xffffffff, 0xffffffff, false }, { 0, 5, false }, { 5, 0, false } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t numbers[2] = { __builtin_bswap32(sizes[i].width),
            __builtin_bswap32(sizes[i].height) };
        memcpy(made.bytes + 16, numbers, sizeof numbers);
        assert_int_equal(picture_wrong(made_span(made)) == NULL, sizes[i].good);
    }
    free(made.bytes);
}

static void exif_says_which_way_up_and_nonsense_is_upright(void **state)
{
    (void)state;
    for (uint32_t said = 0; said <= 9; said++) {
        for (int big = 0; big <= 1; big++) {
            struct made segment = exif_segment(said, big == 1);
            struct made made = picture_with(picture_draw(PICTURE_JPEG, 8, 8), 2, made_span(segment));
            assert_int_equal(picture_orientation_of(made_span(made)), said >= 1 && said <= 8 ? said : 1);
            free(segment.bytes);
            free(made.bytes);
        }
    }
    struct made plain = picture_draw(PICTURE_PNG, 8, 8);
    assert_int_equal(picture_orientation_of(made_span(plain)), 1);
    free(plain.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_says_its_format_and_size),
        cmocka_unit_test(the_two_other_kinds_of_webp_say_their_size_too),
        cmocka_unit_test(what_is_cut_short_is_damaged_and_never_read_past_its_end),
        cmocka_unit_test(other_files_are_no_pictures),
        cmocka_unit_test(too_many_pixels_are_refused_before_anything_is_decoded),
        cmocka_unit_test(exif_says_which_way_up_and_nonsense_is_upright),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
