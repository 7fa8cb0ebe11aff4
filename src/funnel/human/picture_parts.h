/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/picture_parts.h: what drawing codes and drawing figures share: outlines, and the hand
 * that draws them, each time differently. */
#ifndef STAMPEDE_FUNNEL_HUMAN_PICTURE_PARTS_H
#define STAMPEDE_FUNNEL_HUMAN_PICTURE_PARTS_H

#include "funnel/human/picture_paper.h"

/* What a figure or a letter looks like: within -100…100; LIFT lifts the pen. */
enum { FIGURE_POINTS_MAX = 48, FIGURE_WAYS = 2, FIGURE_LIFT = 127, LETTERS = 25 };
struct figure_point {
    int8_t x, y;
};
struct figure_outline {
    uint8_t count;
    struct figure_point points[FIGURE_POINTS_MAX];
};
extern const struct figure_outline figure_outlines[PICTURE_FIGURES][FIGURE_WAYS];
extern const struct figure_outline letter_outlines[LETTERS]; /* in the order of picture_letters */

#define LIFT \
    { \
        FIGURE_LIFT, 0 \
    }
#define OUTLINE(...) \
    { \
        .count = sizeof((struct figure_point[]){ __VA_ARGS__ }) / sizeof(struct figure_point), \
        .points = { \
            __VA_ARGS__ \
        } \
    }

int picture_between(struct random *random, int least, int most); /* [least, most] */
void picture_colours(struct random *random, int ink_most, struct paper_colours *colours);

/* How a hand may draw. */
struct hand_habits {
    int size;       /* points of the picture that an outline is high */
    int turn_most;  /* degrees, both ways */
    int slant_most; /* percent, both ways */
    int wide_least, wide_most, high_least, high_most; /* percent of the size */
    int wave_least, wave_most;                        /* tenths of a point */
    int length_least, length_most;                    /* of a wave, in points */
    double thick;
};
/* How it draws this time. */
struct hand {
    double a, b, c, d; /* turn, stretch and slant */
    struct spot middle;
    double wave, phase_x, phase_y, length, thick;
};
struct hand hand_make(struct random *random, const struct hand_habits *habits, struct spot middle);
/* The part of the outline whose strokes begin on one side of a line through its middle; side 0: all. */
void hand_draw(struct paper *paper, struct random *random, const struct figure_outline *outline,
    const struct hand *hand, int side, double line);

#endif
