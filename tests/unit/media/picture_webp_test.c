/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_pixels.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/media/pictures.h"

#include <stdlib.h>

static void a_decoder_refuses_another_size_than_was_promised(void **state)
{
    (void)state;
    struct made made = picture_draw(PICTURE_WEBP, 64, 32);
    for (uint32_t width = 63; width <= 65; width++) {
        struct pixels pixels;
        assert_int_equal(pixels_make(&pixels, width, 32), STATUS_OK);
        assert_int_equal(
            webp_decode(made_span(made), &pixels), width == 64 ? STATUS_OK : STATUS_BAD_INPUT);
        pixels_free(&pixels);
    }
    free(made.bytes);
}

/* The decoder gets the first bytes of a moving picture: its size is right, but no single picture follows. */
static void a_moving_picture_is_refused(void **state)
{
    static const char moving[] = "RIFF\x2c\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x07\0\0"
                                 "ANIM\6\0\0\0\0\0\0\0\0\0";
    struct pixels pixels;
    (void)state;
    assert_int_equal(pixels_make(&pixels, 16, 8), STATUS_OK);
    assert_int_equal(webp_decode(span_of(moving, sizeof moving - 1), &pixels), STATUS_BAD_INPUT);
    pixels_free(&pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decoder_refuses_another_size_than_was_promised),
        cmocka_unit_test(a_moving_picture_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
