/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A slider picture shows many simple figures (a star, a fish, a key…) as outlines of one ink on
 * one paper, and pieces that show two of them again. A person sees at once which one is meant. The piece is
 * another drawing of the figure: turned, stretched and bent in its own way, so that laying the one over
 * the other fits badly. Between the figures stand halves of the same figures that are joined to
 * halves of others, and loose strokes: they fit as well as the right one, part by part, but they are no
 * fish. There is no gap, no outline of a piece and no colour to look for. */
#include "funnel/human/picture_parts.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = 6,
    ROWS = 3,
    PLACES = COLUMNS * ROWS,
    PLACE_WIDTH = 46,
    ROW_SHIFT_MOST = PICTURE_SLIDER_WIDTH - COLUMNS * PLACE_WIDTH, /* no columns: x says nothing */
    PLACE_HEIGHT = PICTURE_SLIDER_HEIGHT / ROWS,
    HALVES_EVERY = 3, /* one of this many places has the half of a wanted figure */
    STROKES = 12,
    SHAKE = 5,
    PIECE_TURN_MOST = 25, /* degrees */
    WHOLE_TURN_MOST = 70,
    FINE = 3, /* drawn so much larger, then made smaller: soft edges */
    LEVELS = FINE * FINE,
};
static_assert((int)PLACES == (int)PICTURE_SLIDER_PLACES, "the caller chooses among them");

enum { PAPER, INK }; /* colours of the fine drawing */

/* How one figure is laid on the paper. */
struct hand {
    double a, b, c, d; /* turn, stretch and slant */
    double middle_x, middle_y;
    double wave, phase_x, phase_y, length;
};

static struct hand hand_make(struct random *random, double middle_x, double middle_y, int turn_most)
{
    const double turn = picture_between(random, -turn_most, turn_most) * M_PI / 180;
    const double wide = PICTURE_FIGURE_SIZE / 200.0 * picture_between(random, 78, 118) / 100;
    const double high = PICTURE_FIGURE_SIZE / 200.0 * picture_between(random, 78, 118) / 100;
    const double slant = picture_between(random, -25, 25) / 100.0;
    return (struct hand){ .a = wide * cos(turn),
        .b = high * (slant * cos(turn) - sin(turn)),
        .c = wide * sin(turn),
        .d = high * (slant * sin(turn) + cos(turn)),
        .middle_x = middle_x,
        .middle_y = middle_y,
        .wave = picture_between(random, 7, 16) / 10.0,
        .phase_x = picture_between(random, 0, 628) / 100.0,
        .phase_y = picture_between(random, 0, 628) / 100.0,
        .length = picture_between(random, 24, 40) };
}

static void hand_place(const struct hand *hand, double x, double y, double *out_x, double *out_y)
{
    const double turned_x = hand->a * x + hand->b * y, turned_y = hand->c * x + hand->d * y;
    const double bend = 2 * M_PI / hand->length;
    *out_x = hand->middle_x + turned_x + hand->wave * sin(turned_y * bend + hand->phase_x);
    *out_y = hand->middle_y + turned_y + hand->wave * sin(turned_x * bend + hand->phase_y);
}

/* A stroke between two points of the outline, in short steps so that it bends. */
static void stroke_draw(
    gdImagePtr image, const struct hand *hand, struct figure_point from, struct figure_point to)
{
    enum { STEPS = 8 };
    double last_x = 0, last_y = 0;
    for (int i = 0; i <= STEPS; i++) {
        double x, y;
        hand_place(hand, from.x + (to.x - from.x) * i / (double)STEPS,
            from.y + (to.y - from.y) * i / (double)STEPS, &x, &y);
        if (i > 0)
            gdImageLine(image, (int)(last_x * FINE), (int)(last_y * FINE), (int)(x * FINE),
                (int)(y * FINE), INK);
        last_x = x;
        last_y = y;
    }
}

/* An unsteady hand: each point lies a little off, but where an outline closes it stays closed. */
static void shaken(struct random *random, const struct figure_outline *figure, struct figure_point *points)
{
    for (int i = 0; i < figure->count; i++) {
        points[i] = figure->points[i];
        for (int before = 0; before < i; before++) {
            if (figure->points[before].x == points[i].x && figure->points[before].y == points[i].y) {
                points[i] = points[before];
                break;
            }
            if (before == i - 1 && points[i].x != FIGURE_LIFT) {
                points[i].x = (int8_t)(points[i].x + picture_between(random, -SHAKE, SHAKE));
                points[i].y = (int8_t)(points[i].y + picture_between(random, -SHAKE, SHAKE));
            }
        }
    }
}

/* The part of the figure whose strokes begin on one side of a line through its middle; side 0: all. */
static void figure_draw(gdImagePtr image, struct random *random,
    const struct figure_outline *figure, const struct hand *hand, int side, double line)
{
    struct figure_point points[FIGURE_POINTS_MAX];
    shaken(random, figure, points);
    for (int i = 1; i < figure->count; i++) {
        const struct figure_point from = points[i - 1], to = points[i];
        if (from.x == FIGURE_LIFT || to.x == FIGURE_LIFT)
            continue;
        const double across = (from.x + to.x) * cos(line) + (from.y + to.y) * sin(line);
        if (side == 0 || (side > 0) == (across > 0))
            stroke_draw(image, hand, from, to);
    }
}

/* ---- the picture */

struct colours {
    int paper, ink;
};

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

static gdImagePtr paper_make(int width, int height)
{
    gdImagePtr image = gdImageCreate(width * FINE, height * FINE);
    if (image != NULL) {
        const int paper = gdImageColorAllocate(image, 255, 255, 255); /* also fills the image */
        const int ink = gdImageColorAllocate(image, 0, 0, 0);
        invariant(paper == PAPER && ink == INK);
        gdImageSetThickness(image, FINE * 2);
    }
    return image;
}

static int mixed(int paper, int ink, int much)
{
    return paper + (ink - paper) * much / LEVELS;
}

static void levels_allocate(gdImagePtr image, const struct colours *colours)
{
    for (int much = 0; much <= LEVELS; much++) {
        const int level = gdImageColorAllocate(image,
            mixed(gdTrueColorGetRed(colours->paper), gdTrueColorGetRed(colours->ink), much),
            mixed(gdTrueColorGetGreen(colours->paper), gdTrueColorGetGreen(colours->ink), much),
            mixed(gdTrueColorGetBlue(colours->paper), gdTrueColorGetBlue(colours->ink), much));
        invariant(level == much);
    }
}

/* Each point as dark as there is ink in its part of the fine drawing. */
static enum status paper_finish(
    gdImagePtr fine, int width, int height, const struct colours *colours, struct picture *out)
{
    gdImagePtr image = gdImageCreate(width, height);
    if (image == NULL)
        return STATUS_FULL;
    levels_allocate(image, colours);
    for (int i = 0; i < width * height; i++) {
        const int x = i % width, y = i / width;
        int much = 0;
        for (int at = 0; at < LEVELS; at++)
            much += gdImagePalettePixel(fine, x * FINE + at % FINE, y * FINE + at / FINE) == INK;
        gdImagePalettePixel(image, x, y) = (unsigned char)much;
    }
    const enum status status = picture_png(image, out);
    gdImageDestroy(image);
    return status;
}

static void strokes_draw(gdImagePtr image, struct random *random)
{
    for (int i = 0; i < STROKES; i++) {
        const int x = picture_between(random, 0, PICTURE_SLIDER_WIDTH) * FINE;
        const int y = picture_between(random, 0, PICTURE_SLIDER_HEIGHT) * FINE;
        const int wide = picture_between(random, 14, 60) * FINE;
        const int high = picture_between(random, 14, 60) * FINE;
        const int from = picture_between(random, 0, 359), to = from + picture_between(random, 40, 120);
        gdImageArc(image, x, y, wide, high, from, to, INK);
    }
}

static enum status whole_draw(struct random *random, const struct picture_slider_plan *plan,
    uint32_t x[PICTURE_PIECES], const struct colours *colours, struct picture *out)
{
    struct layout layout;
    int shift = 0;
    gdImagePtr image = paper_make(PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT);
    if (image == NULL)
        return STATUS_FULL;
    layout_make(random, plan, &layout);
    for (int i = 0; i < PLACES; i++) {
        if (i % COLUMNS == 0)
            shift = picture_between(random, 0, ROW_SHIFT_MOST);
        const int middle_x =
            shift + i % COLUMNS * PLACE_WIDTH + PLACE_WIDTH / 2 + picture_between(random, -5, 5);
        const int middle_y =
            i / COLUMNS * PLACE_HEIGHT + PLACE_HEIGHT / 2 + picture_between(random, -5, 5);
        const struct hand hand = hand_make(random, middle_x, middle_y, WHOLE_TURN_MOST);
        const double line = picture_between(random, 0, 314) / 100.0;
        const bool whole = layout.first[i] == layout.second[i];
        figure_draw(image, random, layout.first[i], &hand, whole ? 0 : 1, line);
        if (!whole)
            figure_draw(image, random, layout.second[i], &hand, -1, line);
        for (int piece = 0; piece < PICTURE_PIECES; piece++)
            if (plan->place[piece] == i)
                x[piece] = (uint32_t)middle_x;
    }
    strokes_draw(image, random);
    const enum status status =
        paper_finish(image, PICTURE_SLIDER_WIDTH, PICTURE_SLIDER_HEIGHT, colours, out);
    gdImageDestroy(image);
    return status;
}

static enum status piece_draw(struct random *random, const struct figure_outline *figure,
    const struct colours *colours, struct picture *out)
{
    gdImagePtr image = paper_make(PICTURE_PIECE_SIZE, PICTURE_PIECE_SIZE);
    if (image == NULL)
        return STATUS_FULL;
    const struct hand hand =
        hand_make(random, PICTURE_PIECE_SIZE / 2.0, PICTURE_PIECE_SIZE / 2.0, PIECE_TURN_MOST);
    figure_draw(image, random, figure, &hand, 0, 0);
    const enum status status = paper_finish(image, PICTURE_PIECE_SIZE, PICTURE_PIECE_SIZE, colours, out);
    gdImageDestroy(image);
    return status;
}

enum status picture_slider(struct random *random, const struct picture_slider_plan *plan,
    uint32_t x[PICTURE_PIECES], struct picture *whole, struct picture pieces[PICTURE_PIECES])
{
    const struct colours colours = { .paper = picture_colour(random, 215, 250),
        .ink = picture_colour(random, 10, 90) };
    enum status status = whole_draw(random, plan, x, &colours, whole);
    for (int i = 0; i < PICTURE_PIECES && status == STATUS_OK; i++)
        status =
            piece_draw(random, &figure_outlines[plan->figure[i]][plan->way[i]], &colours, &pieces[i]);
    return status;
}
