/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A slider picture shows many simple figures (a star, a fish, a key…) as outlines of one ink on
 * one paper, and pieces that show two of them again. A person sees at once which one is meant. The piece is
 * another drawing of the figure: turned, stretched and bent in its own way, so that laying the one over
 * the other fits badly. Between the figures stand halves of the same figures that are joined to
 * halves of others, and loose strokes: they fit as well as the right one, part by part, but they are no
 * fish. There is no gap, no outline of a piece and no colour to look for. */
#include "funnel/human/picture_parts.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum {
    COLUMNS = 6,
    ROWS = 3,
    PLACES = COLUMNS * ROWS,
    PLACE_WIDTH = 46,
    ROW_SHIFT_MOST = PICTURE_SLIDER_WIDTH - COLUMNS * PLACE_WIDTH, /* no columns: x says nothing */
    PLACE_HEIGHT = PICTURE_SLIDER_HEIGHT / ROWS,
    HALVES_EVERY = 3, /* one of this many places has the half of a wanted figure */
    STROKES = 12,
    THICK = 2,
    PIECE_TURN_MOST = 25, /* degrees; the picture's figures are turned further */
    INK_MOST = 90,
};
static_assert((int)PLACES == (int)PICTURE_SLIDER_PLACES, "the caller chooses among them");

static const struct hand_habits habits_of_whole = {
    .size = PICTURE_FIGURE_SIZE,
    .turn_most = 70,
    .slant_most = 25,
    .wide_least = 78,
    .wide_most = 118,
    .high_least = 78,
    .high_most = 118,
    .wave_least = 7,
    .wave_most = 16,
    .length_least = 24,
    .length_most = 40,
    .thick = THICK,
};

/* ---- the picture */

struct layout {
    const struct figure_outline *first[PLACES], *second[PLACES]; /* halves; the same: a whole figure */
};

/* The wanted figures stand where the caller says, and nowhere else whole. In the picture they are drawn in
 * the other way than on the piece; the halves elsewhere in the same way. */
static void layout_make(
    struct random *random, const struct picture_slider_plan *plan, struct layout *layout)
{
    for (int i = 0; i < PLACES; i++) {
        const int wanted = plan->figure[i / HALVES_EVERY % PICTURE_PIECES];
        const int way = plan->way[i / HALVES_EVERY % PICTURE_PIECES];
        uint64_t figure;
        do
            figure = random_below(random, PICTURE_FIGURES);
        while (figure == plan->figure[0] || figure == plan->figure[1]);
        layout->first[i] = &figure_outlines[figure][random_below(random, FIGURE_WAYS)];
        layout->second[i] = i % HALVES_EVERY == 0 ? &figure_outlines[wanted][way] : layout->first[i];
    }
    for (int i = PLACES - 1; i > 0; i--) {
        const uint64_t with = random_below(random, (uint64_t)i + 1);
        const struct figure_outline *first = layout->first[i], *second = layout->second[i];
        layout->first[i] = layout->first[with];
        layout->second[i] = layout->second[with];
        layout->first[with] = first;
        layout->second[with] = second;
    }
    for (int i = 0; i < PICTURE_PIECES; i++)
        layout->first[plan->place[i]] = layout->second[plan->place[i]] =
            &figure_outlines[plan->figure[i]][1 - plan->way[i]];
}

/* A part of an oval. */
static void arc_draw(
    struct paper *paper, struct spot middle, int wide, int high, int from_degrees, int to_degrees)
{
    enum { STEP = 6 };
    struct spot last = { 0, 0 };
    for (int degrees = from_degrees; degrees < to_degrees + STEP; degrees += STEP) {
        const double angle = (degrees < to_degrees ? degrees : to_degrees) * M_PI / 180;
        const struct spot next = { middle.x + wide / 2.0 * cos(angle),
            middle.y + high / 2.0 * sin(angle) };
        if (degrees > from_degrees)
            paper_ink_line(paper, last, next, THICK);
        last = next;
    }
}

static void strokes_draw(struct paper *paper, struct random *random)
{
    for (int i = 0; i < STROKES; i++) {
        const int x = picture_between(random, 0, PICTURE_SLIDER_WIDTH);
        const int y = picture_between(random, 0, PICTURE_SLIDER_HEIGHT);
        const int wide = picture_between(random, 14, 60), high = picture_between(random, 14, 60);
        const int from = picture_between(random, 0, 359), to = from + picture_between(random, 40, 120);
        arc_draw(paper, (struct spot){ x, y }, wide, high, from, to);
    }
}

static enum status whole_draw(struct random *random, const struct picture_slider_plan *plan,
    uint32_t x[PICTURE_PIECES], const struct paper_colours *colours, struct picture *out)
{
    struct layout layout;
    struct paper paper;
    int shift = 0;
    paper_clear(&paper, PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT);
    layout_make(random, plan, &layout);
    for (int i = 0; i < PLACES; i++) {
        if (i % COLUMNS == 0)
            shift = picture_between(random, 0, ROW_SHIFT_MOST);
        const int middle_x =
            shift + i % COLUMNS * PLACE_WIDTH + PLACE_WIDTH / 2 + picture_between(random, -5, 5);
        const int middle_y =
            i / COLUMNS * PLACE_HEIGHT + PLACE_HEIGHT / 2 + picture_between(random, -5, 5);
        const struct hand hand =
            hand_make(random, &habits_of_whole, (struct spot){ middle_x, middle_y });
        const double line = picture_between(random, 0, 314) / 100.0;
        const bool whole = layout.first[i] == layout.second[i];
        hand_draw(&paper, random, layout.first[i], &hand, whole ? 0 : 1, line);
        if (!whole)
            hand_draw(&paper, random, layout.second[i], &hand, -1, line);
        for (int piece = 0; piece < PICTURE_PIECES; piece++)
            if (plan->place[piece] == i)
                x[piece] = (uint32_t)middle_x;
    }
    strokes_draw(&paper, random);
    return paper_png(&paper, colours, out);
}

static enum status piece_draw(struct random *random, const struct figure_outline *figure,
    const struct paper_colours *colours, struct picture *out)
{
    struct hand_habits habits = habits_of_whole;
    struct paper paper;
    habits.turn_most = PIECE_TURN_MOST;
    paper_clear(&paper, PICTURE_PIECE_SIZE, PICTURE_PIECE_SIZE);
    const struct hand hand = hand_make(
        random, &habits, (struct spot){ PICTURE_PIECE_SIZE / 2.0, PICTURE_PIECE_SIZE / 2.0 });
    hand_draw(&paper, random, figure, &hand, 0, 0);
    return paper_png(&paper, colours, out);
}

enum status picture_slider(struct random *random, const struct picture_slider_plan *plan,
    uint32_t x[PICTURE_PIECES], struct picture *whole, struct picture pieces[PICTURE_PIECES])
{
    struct paper_colours colours;
    picture_colours(random, INK_MOST, &colours);
    enum status status = whole_draw(random, plan, x, &colours, whole);
    for (int i = 0; i < PICTURE_PIECES && status == STATUS_OK; i++)
        status =
            piece_draw(random, &figure_outlines[plan->figure[i]][plan->way[i]], &colours, &pieces[i]);
    return status;
}
