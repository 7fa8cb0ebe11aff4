/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture_paper.h"

#include "tests/support/png_read.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static struct paper paper;
static struct picture picture;
static const struct paper_colours colours = { .paper = { 250, 240, 230 }, .ink = { 10, 20, 30 } };

static uint8_t ink_at(int x, int y)
{
    return paper.ink[y * paper.width + x];
}

static void a_line_is_as_thick_as_it_should_be_and_its_edges_are_soft(void **state)
{
    (void)state;
    paper_clear(&paper, 20, 10);
    paper_ink_line(&paper, (struct spot){ 5, 5 }, (struct spot){ 15, 5 }, 3);
    for (int y = 0; y < 10; y++)
        assert_int_equal(ink_at(10, y),
            y == 4 || y == 5       ? PAPER_INK_MOST
                : y == 3 || y == 6 ? PAPER_INK_MOST / 2 + (ink_at(10, 3) > 4)
                                   : 0);
    assert_int_equal(ink_at(2, 5), 0);
    assert_int_equal(ink_at(17, 5), 0);
    assert_true(ink_at(4, 5) > 0 && ink_at(15, 5) > 0);
    paper_erase_line(&paper, (struct spot){ 10.5, 0 }, (struct spot){ 10.5, 10 }, 1);
    assert_int_equal(ink_at(10, 5), 0);
    assert_int_equal(ink_at(8, 5), PAPER_INK_MOST);
    paper_ink_line(&paper, (struct spot){ 3.5, 3.5 }, (struct spot){ 3.5, 3.5 }, 2); /* a dot */
    assert_int_equal(ink_at(3, 3), PAPER_INK_MOST);
}

static void what_lies_outside_the_sheet_is_left_out(void **state)
{
    static const struct spot far[] = { { -1e9, 5 }, { 1e9, 5 }, { 5, -1e9 }, { 5, 1e9 }, { -50, -50 } };
    (void)state;
    paper_clear(&paper, PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT);
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        for (size_t to = 0; to < sizeof far / sizeof *far; to++)
            paper_ink_line(&paper, far[i], far[to], 6);
    assert_int_equal(ink_at(100, 5), PAPER_INK_MOST);
    assert_int_equal(ink_at(100, 100), 0);
}

static void the_png_has_each_point_in_its_mixture(void **state)
{
    static uint8_t points[16][3];
    uint32_t width, height;
    (void)state;
    paper_clear(&paper, 8, 2);
    for (uint8_t i = 0; i < 16; i++)
        paper.ink[i] = i % (PAPER_INK_MOST + 1);
    assert_int_equal(paper_png(&paper, &colours, &picture), STATUS_OK);
    png_read(picture.png, picture.size, &width, &height, &points[0][0], sizeof points);
    assert_int_equal(width, 8);
    assert_int_equal(height, 2);
    for (int i = 0; i < 16; i++)
        for (int part = 0; part < 3; part++)
            assert_int_equal(points[i][part],
                colours.paper[part]
                    + (colours.ink[part] - colours.paper[part]) * paper.ink[i] / PAPER_INK_MOST);
}

static void a_sheet_of_noise_does_not_fit_and_leaves_nothing(void **state)
{
    struct random random;
    (void)state;
    random_seed(&random, 5);
    paper_clear(&paper, PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT);
    for (int i = 0; i < PAPER_POINTS_MAX; i++)
        paper.ink[i] = (uint8_t)random_below(&random, PAPER_INK_MOST + 1);
    assert_int_equal(paper_png(&paper, &colours, &picture), STATUS_FULL);
    assert_int_equal(picture.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_as_thick_as_it_should_be_and_its_edges_are_soft),
        cmocka_unit_test(what_lies_outside_the_sheet_is_left_out),
        cmocka_unit_test(the_png_has_each_point_in_its_mixture),
        cmocka_unit_test(a_sheet_of_noise_does_not_fit_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
