/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture_parts.h"
#include "tests/unit/base/unit.h"

#include <string.h>

static const struct hand_habits habits = { .size = 46,
    .turn_most = 20,
    .wide_least = 80,
    .wide_most = 120,
    .high_least = 80,
    .high_most = 120,
    .wave_least = 5,
    .wave_most = 10,
    .length_least = 20,
    .length_most = 40,
    .thick = 2 };

static void drawn(struct paper *paper, uint64_t seed, int side)
{
    struct random random;
    random_seed(&random, seed);
    paper_clear(paper, PICTURE_PIECE_SIZE, PICTURE_PIECE_SIZE);
    const struct hand hand = hand_make(&random, &habits, (struct spot){ 28, 28 });
    hand_draw(paper, &random, &figure_outlines[0][0], &hand, side, 0);
}

static bool same(const struct paper *a, const struct paper *b)
{
    return memcmp(a->ink, b->ink, (size_t)a->width * (size_t)a->height) == 0;
}

static void no_two_drawings_of_an_outline_are_alike(void **state)
{
    static struct paper one, other;
    (void)state;
    drawn(&one, 1, 0);
    for (uint64_t seed = 2; seed < 50; seed++) {
        drawn(&other, seed, 0);
        assert_false(same(&one, &other));
    }
    drawn(&other, 1, 0);
    assert_true(same(&one, &other)); /* it depends on nothing else */
}

static void two_halves_are_the_whole(void **state)
{
    static struct paper whole, left, right;
    (void)state;
    drawn(&whole, 3, 0);
    drawn(&left, 3, -1);
    drawn(&right, 3, 1);
    assert_false(same(&left, &right));
    for (int i = 0; i < whole.width * whole.height; i++)
        assert_int_equal(whole.ink[i], left.ink[i] > right.ink[i] ? left.ink[i] : right.ink[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_drawings_of_an_outline_are_alike),
        cmocka_unit_test(two_halves_are_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
