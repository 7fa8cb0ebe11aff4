/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A letter is drawn by a hand of its own: turned, stretched, bent by two waves. Letters touch
 * and overlap, stand at uneven distances and heights, and have one ink, which a line as thick as their
 * strokes has too; another line cuts through them in the colour of the paper. So neither colour nor
 * gaps tell where a letter ends. */
#include "funnel/human/picture_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LETTER_STEP_LEAST = 31, /* points from one letter to the next */
    LETTER_STEP_MOST = 40,
    LETTER_SHIFT_MOST = 9, /* up or down */
    MARGIN = 24,
};

static const struct hand_habits habits = {
    .size = PICTURE_LETTER_SIZE,
    .turn_most = 36,
    .slant_most = 20,
    .wide_least = 85,
    .wide_most = 130,
    .high_least = 80,
    .high_most = 118,
    .wave_least = 14,
    .wave_most = 26,
    .length_least = 22,
    .length_most = 36,
    .thick = PICTURE_LETTER_THICK,
};

static void letter_draw(struct paper *paper, struct random *random, char letter, int middle_x)
{
    const char *known = strchr(picture_letters, letter);
    invariant(letter != 0 && known != NULL);
    const int shift = picture_between(random, -LETTER_SHIFT_MOST, LETTER_SHIFT_MOST);
    const struct hand hand =
        hand_make(random, &habits, (struct spot){ middle_x, PICTURE_CODE_HEIGHT / 2.0 + shift });
    hand_draw(paper, random, &letter_outlines[known - picture_letters], &hand, 0, 0);
}

/* A wave from edge to edge. */
static void wave_draw(struct paper *paper, struct random *random, double thick,
    void (*line_draw)(struct paper *paper, struct spot from, struct spot to, double thick))
{
    enum { STEP = 4 };
    const int from = picture_between(random, 14, PICTURE_CODE_HEIGHT - 14);
    const int to = picture_between(random, 14, PICTURE_CODE_HEIGHT - 14);
    const double high = picture_between(random, 6, 14), length = picture_between(random, 70, 130);
    const double phase = picture_between(random, 0, 628) / 100.0;
    struct spot last = { 0, from + high * sin(phase) };
    for (int x = STEP; x <= PICTURE_CODE_WIDTH; x += STEP) {
        const struct spot next = { x,
            from + (to - from) * x / (double)PICTURE_CODE_WIDTH
                + high * sin(x / length * 2 * M_PI + phase) };
        line_draw(paper, last, next, thick);
        last = next;
    }
}

enum status picture_code(struct random *random, const char *code, struct picture *out)
{
    enum { LETTERS_MAX = 5 };
    static_assert((LETTERS_MAX - 1) * LETTER_STEP_MOST <= PICTURE_CODE_WIDTH - 2 * MARGIN, "they fit");
    int places[LETTERS_MAX] = { 0 };
    struct paper paper;
    struct paper_colours colours;
    const int letters = (int)strlen(code);
    invariant(letters > 0 && letters <= LETTERS_MAX);
    picture_colours(random, 100, &colours);
    paper_clear(&paper, PICTURE_CODE_WIDTH, PICTURE_CODE_HEIGHT);
    for (int i = 1; i < letters; i++)
        places[i] = places[i - 1] + picture_between(random, LETTER_STEP_LEAST, LETTER_STEP_MOST);
    const int first =
        MARGIN + picture_between(random, 0, PICTURE_CODE_WIDTH - 2 * MARGIN - places[letters - 1]);
    for (int i = 0; i < letters; i++)
        letter_draw(&paper, random, code[i], first + places[i]);
    wave_draw(&paper, random, 2, paper_erase_line);
    wave_draw(&paper, random, 5, paper_ink_line);
    return paper_png(&paper, &colours, out);
}
