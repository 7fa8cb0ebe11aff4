/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_pixels.h"

#include "tests/unit/base/unit.h"

#include <string.h>

/* Three wide, two high; each pixel is its number, opaque. */
static struct pixels numbered(void)
{
    struct pixels pixels;
    assert_int_equal(pixels_make(&pixels, 3, 2), STATUS_OK);
    for (uint8_t i = 0; i < 6; i++)
        memcpy(pixels.at + i * PIXEL_BYTES, (const uint8_t[]){ i, i, i, 255 }, PIXEL_BYTES);
    return pixels;
}

static void each_of_the_eight_ways_puts_each_pixel_in_its_place(void **state)
{
    static const struct {
        uint32_t width;
        uint8_t order[6];
    } wanted[] = { { 0 }, { 3, { 0, 1, 2, 3, 4, 5 } }, { 3, { 2, 1, 0, 5, 4, 3 } },
        { 3, { 5, 4, 3, 2, 1, 0 } }, { 3, { 3, 4, 5, 0, 1, 2 } }, { 2, { 0, 3, 1, 4, 2, 5 } },
        { 2, { 3, 0, 4, 1, 5, 2 } }, { 2, { 5, 2, 4, 1, 3, 0 } }, { 2, { 2, 5, 1, 4, 0, 3 } } };
    (void)state;
    for (uint32_t way = 1; way <= 8; way++) {
        struct pixels pixels = numbered();
        assert_int_equal(pixels_upright(&pixels, way), STATUS_OK);
        assert_int_equal(pixels.width, wanted[way].width);
        assert_int_equal(pixels.height, 6 / wanted[way].width);
        for (int i = 0; i < 6; i++)
            assert_int_equal(pixels.at[i * PIXEL_BYTES], wanted[way].order[i]);
        pixels_free(&pixels);
    }
}

static void a_smaller_picture_has_the_mean_of_what_each_pixel_covers(void **state)
{
    struct pixels pixels = numbered();
    (void)state;
    assert_int_equal(pixels_shrink(&pixels, 3), STATUS_OK);
    assert_int_equal(pixels.width, 3);
    assert_int_equal(pixels_shrink(&pixels, 2), STATUS_OK); /* 2 wide, 1 high: each covers 1.5 by 2 */
    assert_int_equal(pixels.width, 2);
    assert_int_equal(pixels.height, 1);
    assert_int_equal(pixels.at[0], 2);           /* (0 + 3 + (1 + 4) / 2) / 3 = 1.83 */
    assert_int_equal(pixels.at[PIXEL_BYTES], 3); /* (2 + 5 + (1 + 4) / 2) / 3 = 3.17 */
    assert_int_equal(pixels.at[3], 255);
    pixels_free(&pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_of_the_eight_ways_puts_each_pixel_in_its_place),
        cmocka_unit_test(a_smaller_picture_has_the_mean_of_what_each_pixel_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
