/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_clean.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/media/pictures.h"

#include <stdlib.h>
#include <string.h>

/* What it becomes; the caller picture_frees it. */
static struct span cleaned_of(struct span bytes)
{
    void *cleaned;
    size_t size;
    assert_int_equal(picture_clean(bytes, &cleaned, &size), STATUS_OK);
    return span_of(cleaned, size);
}

static void clean_free(struct span cleaned)
{
    picture_free((void *)(uintptr_t)cleaned.data);
}

static void a_picture_stays_what_it_shows_in_its_own_format(void **state)
{
    (void)state;
    for (int format = PICTURE_JPEG; format < PICTURE_FORMATS; format++) {
        struct made made = picture_draw((enum picture_format)format, 64, 32);
        const struct span cleaned = cleaned_of(made_span(made));
        uint32_t width, height;
        assert_int_equal(picture_format_of(cleaned), format);
        assert_int_equal(picture_size_of(cleaned, &width, &height), STATUS_OK);
        assert_int_equal(width, 64);
        assert_int_equal(height, 32);
        assert_true(picture_is_red(cleaned, 20, 50));
        assert_false(picture_is_red(cleaned, 80, 50));
        clean_free(cleaned);
        free(made.bytes);
    }
}

static void nothing_hidden_survives(void **state)
{
    static const char comment[] = "\xff\xfe\0\x12<script>alert(1)";
    static const char chunk[] = "\0\0\0\x0ctEXtHidden\0words\x8d\xc6\x4b\x24";
    (void)state;
    struct made jpeg =
        picture_with(picture_draw(PICTURE_JPEG, 16, 16), 2, span_of(comment, sizeof comment - 1));
    jpeg = picture_with(jpeg, jpeg.size, SPAN("PK\3\4 a second file behind the first"));
    struct made png =
        picture_with(picture_draw(PICTURE_PNG, 16, 16), 33, span_of(chunk, sizeof chunk - 1));
    png = picture_with(png, png.size, SPAN("Hidden behind the end"));
    struct made webp = picture_draw(PICTURE_WEBP, 16, 16);
    webp = picture_with(webp, webp.size, SPAN("Hidden behind the end"));
    const struct made all[] = { jpeg, png, webp };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct span cleaned = cleaned_of(made_span(all[i]));
        assert_null(memmem(cleaned.data, cleaned.size, "script", 6));
        assert_null(memmem(cleaned.data, cleaned.size, "Hidden", 6));
        assert_null(memmem(cleaned.data, cleaned.size, "PK\3\4", 4));
        clean_free(cleaned);
        free(all[i].bytes);
    }
}

/* Red is on the left of the stored picture; where it is afterwards, for each of EXIF's ways. */
static void a_photo_is_turned_the_way_its_camera_says(void **state)
{
    static const struct {
        int x, y; /* percent: a red point */
        bool sideways;
    } wanted[] = { { 0, 0, false }, { 20, 50, false }, { 80, 50, false }, { 80, 50, false },
        { 20, 50, false }, { 50, 20, true }, { 50, 20, true }, { 50, 80, true }, { 50, 80, true } };
    (void)state;
    for (uint32_t way = 1; way <= 8; way++) {
        struct made segment = exif_segment(way, true);
        struct made made = picture_with(picture_draw(PICTURE_JPEG, 64, 32), 2, made_span(segment));
        const struct span cleaned = cleaned_of(made_span(made));
        uint32_t width, height;
        assert_int_equal(picture_size_of(cleaned, &width, &height), STATUS_OK);
        assert_int_equal(width, wanted[way].sideways ? 32 : 64);
        assert_int_equal(height, wanted[way].sideways ? 64 : 32);
        assert_true(picture_is_red(cleaned, wanted[way].x, wanted[way].y));
        assert_false(picture_is_red(cleaned, 100 - wanted[way].x, 100 - wanted[way].y));
        assert_int_equal(picture_orientation_of(cleaned), 1);
        clean_free(cleaned);
        free(made.bytes);
        free(segment.bytes);
    }
}

static void a_large_picture_is_scaled_down_and_a_thin_one_keeps_a_pixel(void **state)
{
    static const int sizes[][4] = { { 3200, 800, 1600, 400 }, { 1600, 1600, 1600, 1600 },
        { 900, 1800, 800, 1600 }, { 4000, 1, 1600, 1 } };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct made made = picture_draw(PICTURE_PNG, sizes[i][0], sizes[i][1]);
        const struct span cleaned = cleaned_of(made_span(made));
        uint32_t width, height;
        assert_int_equal(picture_size_of(cleaned, &width, &height), STATUS_OK);
        assert_int_equal(width, sizes[i][2]);
        assert_int_equal(height, sizes[i][3]);
        clean_free(cleaned);
        free(made.bytes);
    }
}

static void what_can_not_be_decoded_is_refused(void **state)
{
    void *cleaned;
    size_t size;
    (void)state;
    for (int format = PICTURE_JPEG; format < PICTURE_FORMATS; format++) {
        struct made made = picture_draw((enum picture_format)format, 64, 64);
        assert_int_equal(
            picture_clean(span_of(made.bytes, made.size / 2), &cleaned, &size), STATUS_BAD_INPUT);
        assert_null(cleaned);
        free(made.bytes);
    }
    assert_int_equal(picture_clean(SPAN("GIF89a"), &cleaned, &size), STATUS_BAD_INPUT);
    assert_int_equal(picture_clean(SPAN_NONE, &cleaned, &size), STATUS_BAD_INPUT);
    picture_free(NULL);
}

/* The decoder of a format may find its size elsewhere than we did: what was checked is what is decoded. */
static void a_picture_that_says_two_sizes_is_refused(void **state)
{
    static const char small_frame[] = "\xff\xc0\0\x0b\x08\0\x10\0\x10\1\1\x11\0";
    void *cleaned;
    size_t size;
    (void)state;
    struct made jpeg = picture_draw(PICTURE_JPEG, 64, 64);
    jpeg = picture_with(jpeg, 2, span_of(small_frame, sizeof small_frame - 1));
    assert_int_equal(picture_clean(made_span(jpeg), &cleaned, &size), STATUS_BAD_INPUT);
    free(jpeg.bytes);
    struct made png = picture_draw(PICTURE_PNG, 64, 64);
    png.bytes[19] = 32; /* the width; its sum is wrong now */
    assert_int_equal(picture_clean(made_span(png), &cleaned, &size), STATUS_BAD_INPUT);
    free(png.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_stays_what_it_shows_in_its_own_format),
        cmocka_unit_test(nothing_hidden_survives),
        cmocka_unit_test(a_photo_is_turned_the_way_its_camera_says),
        cmocka_unit_test(a_large_picture_is_scaled_down_and_a_thin_one_keeps_a_pixel),
        cmocka_unit_test(what_can_not_be_decoded_is_refused),
        cmocka_unit_test(a_picture_that_says_two_sizes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
