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

/* Green that can't be seen does not colour the pixel that it shares with red. */
static void glass_stays_glass_and_colours_nothing_beside_it(void **state)
{
    static const int widths[] = { 64, 3210 };
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct made made = picture_draw_glass(widths[i], 8);
        const struct span cleaned = cleaned_of(made_span(made));
        const struct shade seen = picture_shade(cleaned, 20, 50), glass = picture_shade(cleaned, 80, 50);
        assert_true(seen.alpha == 255 && seen.red == 255 && seen.green == 0);
        assert_int_equal(glass.alpha, 0);
        const struct shade edge = picture_shade(cleaned, 50, 50);
        assert_true(edge.alpha == 0 || (edge.red == 255 && edge.green == 0));
        clean_free(cleaned);
        free(made.bytes);
    }
}

/* An opaque picture is stored without an alpha channel: a quarter fewer bytes. */
static void a_picture_without_glass_is_stored_without_alpha(void **state)
{
    enum { COLOUR_TYPE = 25, RGB = 2, RGBA = 6 };
    (void)state;
    struct made opaque = picture_draw(PICTURE_PNG, 16, 8), see_through = picture_draw_glass(16, 8);
    const struct span one = cleaned_of(made_span(opaque)), other = cleaned_of(made_span(see_through));
    assert_int_equal(one.data[COLOUR_TYPE], RGB);
    assert_int_equal(other.data[COLOUR_TYPE], RGBA);
    clean_free(one);
    clean_free(other);
    free(opaque.bytes);
    free(see_through.bytes);
}

static void a_decoder_refuses_another_size_than_was_promised(void **state)
{
    (void)state;
    struct made made = picture_draw(PICTURE_PNG, 64, 32);
    for (uint32_t width = 63; width <= 65; width++) {
        struct pixels pixels;
        assert_int_equal(pixels_make(&pixels, width, 32), STATUS_OK);
        assert_int_equal(png_decode(made_span(made), &pixels), width == 64 ? STATUS_OK : STATUS_BAD_INPUT);
        pixels_free(&pixels);
    }
    free(made.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glass_stays_glass_and_colours_nothing_beside_it),
        cmocka_unit_test(a_picture_without_glass_is_stored_without_alpha),
        cmocka_unit_test(a_decoder_refuses_another_size_than_was_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
