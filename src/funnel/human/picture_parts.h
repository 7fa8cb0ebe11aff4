/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/picture_parts.h: what drawing codes and drawing figures share. */
#ifndef STAMPEDE_FUNNEL_HUMAN_PICTURE_PARTS_H
#define STAMPEDE_FUNNEL_HUMAN_PICTURE_PARTS_H

#include "funnel/human/picture.h"

#include <assert.h>
#include <gd.h>
#include <stdbool.h>

int picture_between(struct random *random, int least, int most); /* [least, most] */
int picture_colour(struct random *random, int least, int most);  /* each of the three parts */
MUST_CHECK enum status picture_png(gdImagePtr image, struct picture *out);

/* What a figure looks like. */
enum { FIGURE_POINTS_MAX = 48, FIGURE_WAYS = 2, FIGURE_LIFT = 127 };
struct figure_point {
    int8_t x, y;
};
struct figure_outline {
    uint8_t count;
    struct figure_point points[FIGURE_POINTS_MAX];
};
extern const struct figure_outline figure_outlines[PICTURE_FIGURES][FIGURE_WAYS];

#endif
