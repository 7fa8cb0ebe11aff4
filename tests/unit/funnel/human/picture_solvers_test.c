/* SPDX-License-Identifier: Apache-2.0 */
/* The bars of the human check: how many pictures our own solvers may solve. The pictures are the
 * generator's, with fixed seeds, so a run is like any other. SOLVER_PICTURES=500 looks at more of them;
 * docs/human-check.md has the figures. The last rule of each kind has no bar: it says what a program
 * achieves that was written for just these pictures, so that nobody takes them for more than they are. */
#include "funnel/human/picture_pool.h"
#include "tests/support/code_solvers.h"
#include "tests/support/picture_solvers.h"
#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_SEED = 7000, SLIDER_SEED = 9000, SLIDER_PERCENT_MAX = 5, CODE_PERCENT_MAX = 20 };

static struct picture code_picture, whole, pieces[PICTURE_PIECES];

static uint32_t pictures_wanted(uint32_t usual)
{
    const char *wanted = getenv("SOLVER_PICTURES");
    return wanted != NULL ? (uint32_t)strtoul(wanted, NULL, 10) : usual;
}

/* ---- codes */

static void code_draw(uint32_t number, char code[PUZZLE_CODE_CHARS + 1])
{
    struct random random;
    random_seed(&random, CODE_SEED + number);
    for (int i = 0; i < PUZZLE_CODE_CHARS; i++)
        code[i] = picture_letters[random_below(&random, strlen(picture_letters))];
    code[PUZZLE_CODE_CHARS] = 0;
    assert_int_equal(picture_code(&random, code, &code_picture), STATUS_OK);
}

/* Percent of all codes that were read. */
static double codes_read(
    const char *name, uint32_t count, void (*solver)(const struct picture *, char *code))
{
    uint32_t codes = 0, letters = 0;
    for (uint32_t i = 0; i < count; i++) {
        char code[PUZZLE_CODE_CHARS + 1], read[SOLVER_LETTERS + 1];
        code_draw(i, code);
        solver(&code_picture, read);
        codes += strcmp(code, read) == 0;
        for (int at = 0; at < PUZZLE_CODE_CHARS; at++)
            letters += code[at] == read[at];
    }
    const double percent = 100.0 * codes / count;
    print_message("%s: %.1f %% of %u codes, %.1f %% of the letters\n", name, percent, count,
        100.0 * letters / count / PUZZLE_CODE_CHARS);
    return percent;
}

static void cutting_a_code_into_letters_reads_few(void **state)
{
    (void)state;
    assert_true(codes_read("cut and compare", pictures_wanted(100), solver_segments) <= CODE_PERCENT_MAX);
}

static void a_code_without_cutting(void **state)
{
    (void)state;
    codes_read("look for each letter", pictures_wanted(2), solver_letters);
}

/* ---- sliders */

static void slider_draw(uint32_t number, uint32_t x[PICTURE_PIECES])
{
    struct random random;
    random_seed(&random, SLIDER_SEED + number);
    struct picture_slider_plan plan = { .figure = { (uint8_t)random_below(&random, PICTURE_FIGURES) },
        .way = { (uint8_t)random_below(&random, 2), (uint8_t)random_below(&random, 2) },
        .place = { (uint8_t)random_below(&random, PICTURE_SLIDER_PLACES) } };
    plan.figure[1] =
        (uint8_t)((plan.figure[0] + 1 + random_below(&random, PICTURE_FIGURES - 1)) % PICTURE_FIGURES);
    plan.place[1] = (uint8_t)((plan.place[0] + 1 + random_below(&random, PICTURE_SLIDER_PLACES - 1))
        % PICTURE_SLIDER_PLACES);
    assert_int_equal(picture_slider(&random, &plan, x, &whole, pieces), STATUS_OK);
}

static bool hit(uint32_t guess, uint32_t x)
{
    return guess <= x + PUZZLE_TOLERANCE && x <= guess + PUZZLE_TOLERANCE;
}

/* Percent of all pictures with both pieces in their places. */
static double sliders_solved(const char *name, uint32_t count,
    uint32_t (*solver)(const struct picture *, const struct picture *))
{
    uint32_t solved = 0, placed = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x[PICTURE_PIECES], right = 0;
        slider_draw(i, x);
        for (int piece = 0; piece < PICTURE_PIECES; piece++)
            right += hit(solver(&whole, &pieces[piece]), x[piece]);
        placed += right;
        solved += right == PICTURE_PIECES;
    }
    const double percent = 100.0 * solved / count;
    print_message("%s: %.1f %% of %u sliders, %.1f %% of the pieces\n", name, percent, count,
        100.0 * placed / count / PICTURE_PIECES);
    return percent;
}

static void laying_the_piece_over_the_picture_solves_few(void **state)
{
    (void)state;
    assert_true(sliders_solved("lay over", pictures_wanted(40), solver_overlay) <= SLIDER_PERCENT_MAX);
}

static void matching_edges_turned_and_in_all_sizes_solves_few(void **state)
{
    (void)state;
    assert_true(sliders_solved("match edges", pictures_wanted(40), solver_edges) <= SLIDER_PERCENT_MAX);
}

/* The best that one can answer without looking: always the same two places. */
static void guessing_without_looking_solves_few(void **state)
{
    (void)state;
    enum { COUNT = 150 };
    static uint32_t x[COUNT][PICTURE_PIECES];
    uint32_t best = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        slider_draw(i, x[i]);
    for (uint32_t guess = 0; guess < PICTURE_SLIDER_WIDTH * PICTURE_SLIDER_WIDTH; guess++) {
        uint32_t solved = 0;
        for (uint32_t i = 0; i < COUNT; i++)
            solved += hit(guess % PICTURE_SLIDER_WIDTH, x[i][0])
                && hit(guess / PICTURE_SLIDER_WIDTH, x[i][1]);
        best = solved > best ? solved : best;
    }
    print_message("always the same guess: at most %.1f %%\n", 100.0 * best / COUNT);
    assert_true(best * 100 <= SLIDER_PERCENT_MAX * COUNT);
}

static void a_slider_with_our_outlines_copied(void **state)
{
    (void)state;
    sliders_solved("search with our own outlines", pictures_wanted(1), solver_outlines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cutting_a_code_into_letters_reads_few),
        cmocka_unit_test(a_code_without_cutting),
        cmocka_unit_test(laying_the_piece_over_the_picture_solves_few),
        cmocka_unit_test(matching_edges_turned_and_in_all_sizes_solves_few),
        cmocka_unit_test(guessing_without_looking_solves_few),
        cmocka_unit_test(a_slider_with_our_outlines_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
