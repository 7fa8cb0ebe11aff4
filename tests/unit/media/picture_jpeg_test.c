/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_clean.h"
#include "media/picture_pixels.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/media/pictures.h"

#include <stdlib.h>

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

/* Printers' pictures: cyan and black, stored in both ways that there are. */
static void a_picture_of_four_inks_becomes_one_of_three_colours(void **state)
{
    (void)state;
    for (int adobe = 0; adobe < 2; adobe++) {
        struct made made = picture_draw_inks(adobe != 0);
        const struct span cleaned = cleaned_of(made_span(made));
        const struct shade left = picture_shade(cleaned, 20, 50), right = picture_shade(cleaned, 80, 50);
        assert_true(left.red < 40 && left.green > 215 && left.blue > 215);
        assert_true(right.red < 40 && right.green < 40 && right.blue < 40);
        clean_free(cleaned);
        free(made.bytes);
    }
}

static void a_picture_with_very_many_scans_is_refused(void **state)
{
    void *cleaned;
    size_t size;
    (void)state;
    struct made made = picture_draw_scans();
    assert_int_equal(picture_clean(made_span(made), &cleaned, &size), STATUS_BAD_INPUT);
    free(made.bytes);
}

static void a_decoder_refuses_another_size_than_was_promised(void **state)
{
    (void)state;
    struct made made = picture_draw(PICTURE_JPEG, 64, 32);
    for (uint32_t width = 63; width <= 65; width++) {
        struct pixels pixels;
        assert_int_equal(pixels_make(&pixels, width, 32), STATUS_OK);
        assert_int_equal(
            jpeg_decode(made_span(made), &pixels), width == 64 ? STATUS_OK : STATUS_BAD_INPUT);
        pixels_free(&pixels);
    }
    free(made.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_of_four_inks_becomes_one_of_three_colours),
        cmocka_unit_test(a_picture_with_very_many_scans_is_refused),
        cmocka_unit_test(a_decoder_refuses_another_size_than_was_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
