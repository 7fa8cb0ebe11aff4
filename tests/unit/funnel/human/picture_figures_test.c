/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct picture whole, pieces[PICTURE_PIECES];

static bool is_png(const struct picture *picture, uint32_t width, uint32_t height)
{
    static const uint8_t magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    const uint8_t size[8] = { 0, 0, (uint8_t)(width >> 8), (uint8_t)width, 0, 0,
        (uint8_t)(height >> 8), (uint8_t)height };
    return picture->size > 100 && picture->size <= PICTURE_BYTES_MAX
        && memcmp(picture->png, magic, sizeof magic) == 0
        && memcmp(picture->png + 16, size, sizeof size) == 0;
}

static void every_figure_is_drawn_both_ways_at_every_place(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 2);
    for (uint32_t i = 0; i < PICTURE_FIGURES * PICTURE_SLIDER_PLACES; i++) {
        const uint8_t figure = (uint8_t)(i % PICTURE_FIGURES),
                      place = (uint8_t)(i % PICTURE_SLIDER_PLACES);
        const struct picture_slider_plan plan = { .figure = { figure,
                                                      (uint8_t)((figure + 1) % PICTURE_FIGURES) },
            .way = { (uint8_t)(i % 2), (uint8_t)(i / 2 % 2) },
            .place = { place, (uint8_t)((place + 7) % PICTURE_SLIDER_PLACES) } };
        uint32_t x[PICTURE_PIECES] = { 0, 0 };
        assert_int_equal(picture_slider(&random, &plan, x, &whole, pieces), STATUS_OK);
        assert_true(is_png(&whole, PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT));
        for (int piece = 0; piece < PICTURE_PIECES; piece++) {
            assert_true(is_png(&pieces[piece], PICTURE_PIECE_SIZE, PICTURE_PIECE_SIZE));
            assert_true(x[piece] > 10 && x[piece] < PICTURE_SLIDER_WIDTH - 10);
        }
    }
}

static void the_same_plan_is_drawn_differently_each_time(void **state)
{
    (void)state;
    static struct picture again, others[PICTURE_PIECES];
    const struct picture_slider_plan plan = { .figure = { 1, 2 }, .place = { 3, 4 } };
    struct random random;
    uint32_t x[PICTURE_PIECES];
    random_seed(&random, 3);
    assert_int_equal(picture_slider(&random, &plan, x, &whole, pieces), STATUS_OK);
    assert_int_equal(picture_slider(&random, &plan, x, &again, others), STATUS_OK);
    assert_false(whole.size == again.size && memcmp(whole.png, again.png, whole.size) == 0);
    assert_false(pieces[0].size == others[0].size
        && memcmp(pieces[0].png, others[0].png, pieces[0].size) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_is_drawn_both_ways_at_every_place),
        cmocka_unit_test(the_same_plan_is_drawn_differently_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
