/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/picture_paper.h: a sheet with one ink, lines drawn on it, and the sheet as a PNG.
 * Thread: any. Memory: the caller's; zlib gives back what it allocates before paper_png returns. */
#ifndef STAMPEDE_FUNNEL_HUMAN_PICTURE_PAPER_H
#define STAMPEDE_FUNNEL_HUMAN_PICTURE_PAPER_H

#include "funnel/human/picture.h"

enum {
    PAPER_INK_MOST = 9, /* a point has 0 … 9 parts of ink: soft edges with four bits a point */
    PAPER_POINTS_MAX = PICTURE_SLIDER_WIDTH * PICTURE_SLIDER_HEIGHT,
};

struct paper {
    int width, height;
    uint8_t ink[PAPER_POINTS_MAX]; /* row by row */
};
struct paper_colours {
    uint8_t paper[3], ink[3]; /* red, green, blue */
};
struct spot {
    double x, y; /* the middle of the first point is 0.5, 0.5 */
};

void paper_clear(struct paper *paper, int width, int height);
/* A line with round ends, `thick` points wide. What lies outside the sheet is left out. */
void paper_ink_line(struct paper *paper, struct spot from, struct spot to, double thick);
void paper_erase_line(struct paper *paper, struct spot from, struct spot to, double thick);
/* STATUS_FULL: longer than PICTURE_BYTES_MAX, or zlib has no memory. */
MUST_CHECK enum status paper_png(
    const struct paper *paper, const struct paper_colours *colours, struct picture *out);

#endif
